package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestProgramName: what the program prints to be copied runs it again.
func TestProgramName(t *testing.T) {
	dir := t.TempDir()
	program := func(path string) string {
		path = filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o700); err != nil {
			t.Fatal(err)
		}
		return path
	}
	onPath, here, spaced := program("bin/ubl"), program("here/ubl"), program("my own/ubl")
	fresh, cached := program("go-build123/b001/exe/ubl"), program("cache/24/"+strings.Repeat("9c", 32)+"-d/ubl")
	t.Chdir(filepath.Dir(here))
	for _, c := range []struct{ path, argv0, executable, want string }{
		{"bin", "ubl", onPath, "ubl"},
		{"bin", onPath, onPath, "ubl"},
		{"bin", "./ubl", here, "./ubl"},
		{"none", "./ubl", here, "./ubl"},
		{"none", onPath, onPath, onPath},
		{"none", spaced, spaced, "'" + spaced + "'"},
		{"none", "renamed", here, here},
		{"bin", fresh, fresh, "go run ./cmd/ubl"},
		{"none", cached, cached, "go run ./cmd/ubl"},
	} {
		t.Setenv("PATH", filepath.Join(dir, c.path))
		if got := programName(c.argv0, c.executable); got != c.want {
			t.Errorf("%s, called %s: %s, want %s", c.executable, c.argv0, got, c.want)
		}
	}
}

// TestCopyable: a hint's commands get the program's name, and nothing else does.
func TestCopyable(t *testing.T) {
	for text, want := range map[string]string{
		`export UBL_TOKEN=$(ubl token EMAIL)`:         `export UBL_TOKEN=$(./ubl token EMAIL)`,
		`ubl export | ubl verify -`:                   `./ubl export | ./ubl verify -`,
		`"ubl serve" makes one`:                       `"./ubl serve" makes one`,
		"couldn't read /srv/ubl data":                 "couldn't read /srv/ubl data",
		"ubl: it failed":                              "ubl: it failed",
		"ubl serve --oidc-audience ubl":               "./ubl serve --oidc-audience ubl",
		"couldn't open /srv/my-ubl here: the ubl --x": "couldn't open /srv/my-ubl here: the ./ubl --x",
	} {
		if got := (&program{name: "./ubl"}).copyable(text); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
		if got := (&program{name: "ubl"}).copyable(text); got != text {
			t.Errorf("%s: %s", text, got)
		}
	}
}
