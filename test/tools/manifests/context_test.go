package manifests

import (
	"debug/elf"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/moby/patternmatcher"
	"github.com/moby/patternmatcher/ignorefile"
)

// root is the repository's, which is the build's context.
const root = "../../.."

// TestContextIsWhole copies what Docker would send to the builder: nothing that the
// build needs is ignored.
func TestContextIsWhole(t *testing.T) {
	dir := t.TempDir()
	copyContext(t, dir)
	cmd := exec.Command("go", "list", "-deps", "./cmd/ubl") // which finds every package and what it embeds
	cmd.Dir = dir
	if said, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", cmd, err, said)
	}
}

// TestContextBuilds runs the Dockerfile's own build there: what comes out is static.
// `make test` leaves it to `make soak`, by -short: it compiles everything once more.
func TestContextBuilds(t *testing.T) {
	if testing.Short() {
		t.Skip("it compiles the program")
	}
	dir := t.TempDir()
	copyContext(t, dir)
	build := regexp.MustCompile(`(?m)^RUN (\S+) (go build [^&\\]+)`).FindStringSubmatch(string(readFile(t, "Dockerfile")))
	if build == nil {
		t.Fatal("the Dockerfile builds nothing")
	}
	out := filepath.Join(t.TempDir(), "ubl")
	cmd := exec.Command("sh", "-c", strings.Replace(build[2], "/out/ubl", out, 1))
	cmd.Dir, cmd.Env = dir, append(os.Environ(), build[1])
	if said, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", cmd, err, said)
	}
	program, err := elf.Open(out)
	if err != nil {
		t.Fatal(err)
	}
	defer program.Close()
	for _, p := range program.Progs {
		if p.Type == elf.PT_INTERP {
			t.Error("the program needs a dynamic linker, which the image doesn't have")
		}
	}
}

// copyContext copies what the ignore file leaves.
func copyContext(t *testing.T, to string) {
	t.Helper()
	patterns, err := ignorefile.ReadAll(strings.NewReader(string(readFile(t, "Dockerfile.dockerignore"))))
	if err != nil {
		t.Fatal(err)
	}
	ignored, err := patternmatcher.New(patterns)
	if err != nil {
		t.Fatal(err)
	}
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil || name == "." {
			return err
		}
		skip, err := ignored.MatchesOrParentMatches(name)
		switch {
		case err != nil:
			return err
		case skip && d.IsDir():
			return fs.SkipDir
		case d.IsDir():
			return os.Mkdir(filepath.Join(to, name), 0o755)
		case skip || !d.Type().IsRegular():
			return nil
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, name), data, 0o644)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestContextHoldsNoSecrets: what lies around in a working copy gets into no
// layer.
func TestContextHoldsNoSecrets(t *testing.T) {
	patterns, err := ignorefile.ReadAll(strings.NewReader(string(readFile(t, "Dockerfile.dockerignore"))))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"ubl-data/identity.key", "identity.key", "deploy/secrets/cluster-secret", "deploy/.env", "monday.tar", ".git/config"} {
		if skip, err := patternmatcher.MatchesOrParentMatches(name, patterns); err != nil || !skip {
			t.Errorf("%s would be sent to the builder (%v)", name, err)
		}
	}
}
