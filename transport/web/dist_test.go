package web

import (
	"context"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ubl/test/built"
	"ubl/test/need"
)

// TestApp builds a copy of app/, compares it with what is committed, byte by byte,
// and runs the app's own tests.
func TestApp(t *testing.T) {
	if testing.Short() {
		t.Skip("building the app takes a while")
	}
	needs(t)
	dir := t.TempDir()
	app := filepath.Join(dir, "app")
	copySource(t, app)
	t.Run("dist is what the source makes", func(t *testing.T) {
		run(t, app, "./build.sh", filepath.Join(dir, "built"))
		compare(t, os.DirFS(filepath.Join(dir, "built")), os.DirFS("dist"))
	})
	t.Run("npm test", func(t *testing.T) {
		t.Setenv("UBL_BIN", built.Path(t))       // some of them talk to it
		tests, err := filepath.Abs("../../test") // and read what is kept there
		if err != nil {
			t.Fatal(err)
		}
		t.Setenv("TESTS_FOLDER", tests)
		run(t, app, "npm", "test")
	})
}

func run(t *testing.T, dir, name string, args ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
}

func compare(t *testing.T, builtFiles, committedFiles fs.FS) {
	t.Helper()
	built, committed := read(t, builtFiles), read(t, committedFiles)
	for name, text := range built {
		if committed[name] != text {
			t.Errorf("dist/%s is not what the source makes: run transport/web/app/build.sh", name)
		}
	}
	for name := range committed {
		if _, ok := built[name]; !ok {
			t.Errorf("dist/%s is left over: run transport/web/app/build.sh", name)
		}
	}
}

// needs leaves the test out where the app can't be built.
func needs(t *testing.T) {
	t.Helper()
	need.Tool(t, "bash")
	need.Tool(t, "npm")
	need.Node(t)
}

// copySource copies app/ without what building leaves there: two builds must not
// share that.
func copySource(t *testing.T, to string) {
	t.Helper()
	err := filepath.WalkDir("app", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		target := filepath.Join(to, strings.TrimPrefix(name, "app"))
		switch {
		case name == filepath.Join("app", "node_modules"), name == filepath.Join("app", "build"):
			return fs.SkipDir
		case d.IsDir():
			return os.MkdirAll(target, 0o700)
		}
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		return os.WriteFile(target, data, 0o700)
	})
	if err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, from fs.FS) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := fs.WalkDir(from, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(from, name)
		out[name] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}
