//go:build !powerloss

package powerloss

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// patience bounds a run of the go tool, compiling included: a minute on a quiet machine.
const patience = 20 * time.Minute

// TestPowerLoss runs the rig against a copy of bbolt with a hook.
func TestPowerLoss(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("the rig is compiled with the go tool, which is not here")
	}
	for _, compiled := range []string{"*.go", "../../*.go", "../../durable/*.go", "../../storage/*.go", "../../storage/storetest/*.go",
		"../../actors/*.go", "../../actors/*/*.go", "../harness/*.go", "../counter/*.go"} {
		dependOn(t, compiled)
	}
	dir := t.TempDir()
	module := hookedBbolt(t, dir)
	modfile := filepath.Join(dir, "go.mod")
	copyTo(t, filepath.Join("..", "..", "go.mod"), modfile)
	copyTo(t, filepath.Join("..", "..", "go.sum"), filepath.Join(dir, "go.sum"))
	goTool(t, "mod", "edit", "-replace=go.etcd.io/bbolt="+module, modfile)
	args := []string{"test", "-mod=mod", "-modfile=" + modfile, "-tags=powerloss", "-count=1", "-timeout", patience.String()}
	if testing.Verbose() {
		args = append(args, "-v")
	}
	t.Logf("%s", goTool(t, append(args, ".")...))
}

// dependOn looks at files, which is how go test learns that its cached result
// depends on them: it does not see what the rig is compiled from.
func dependOn(t *testing.T, pattern string) {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("no files %s: %v", pattern, err)
	}
	for _, file := range files {
		if _, err := os.Stat(file); err != nil {
			t.Fatal(err)
		}
	}
}

// hookedBbolt copies the module that the product uses and lets the rig do each
// sync of a data file.
func hookedBbolt(t *testing.T, dir string) string {
	t.Helper()
	goTool(t, "mod", "download", "go.etcd.io/bbolt")
	var source struct{ Dir string }
	if err := json.Unmarshal(goTool(t, "list", "-m", "-json", "go.etcd.io/bbolt"), &source); err != nil {
		t.Fatal(err)
	}
	module := filepath.Join(dir, "bbolt")
	if err := os.CopyFS(module, os.DirFS(source.Dir)); err != nil {
		t.Fatal(err)
	}
	hook := strings.Join([]string{
		"package bbolt",
		`import "os"`,
		"// SyncHook syncs a file: the rig's, in place of the system's.",
		"var SyncHook = (*os.File).Sync",
		"func fdatasync(db *DB) error { return SyncHook(db.file) }", "",
	}, "\n")
	platform, err := filepath.Glob(filepath.Join(module, "bolt_*.go"))
	if err != nil {
		t.Fatal(err)
	}
	replaced := 0
	for _, path := range append(platform, filepath.Join(module, "boltsync_unix.go")) {
		replaced += replace(t, path, "func fdatasync(db *DB) error {", "func systemFdatasync(db *DB) error {")
	}
	// A file that grows is synced by another way than the commits.
	grows := replace(t, filepath.Join(module, "db.go"), "db.file.Sync()", "SyncHook(db.file)")
	if replaced == 0 || grows != 1 {
		t.Fatalf("bbolt has changed: %d functions fdatasync, %d syncs when a file grows; teach this test its new shape", replaced, grows)
	}
	if err := os.WriteFile(filepath.Join(module, "hook.go"), []byte(hook), 0o600); err != nil {
		t.Fatal(err)
	}
	return module
}

// replace edits a file and counts; files of a module are read-only.
func replace(t *testing.T, path, from, to string) int {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	n := bytes.Count(text, []byte(from))
	if n == 0 {
		return 0
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, bytes.ReplaceAll(text, []byte(from), []byte(to)), 0o600); err != nil {
		t.Fatal(err)
	}
	return n
}

func copyTo(t *testing.T, from, to string) {
	t.Helper()
	text, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, text, 0o600); err != nil {
		t.Fatal(err)
	}
}

// goTool runs the go tool and gives what it printed.
func goTool(t *testing.T, args ...string) []byte {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, "go", args...)
	var out, problems bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &problems
	if err := cmd.Run(); err != nil {
		t.Fatalf("go %s: %v\n%s%s", strings.Join(args, " "), err, out.Bytes(), problems.Bytes())
	}
	return out.Bytes()
}
