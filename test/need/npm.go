package need

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// Packages is a folder with the packages of npm that the package-lock.json in the test's folder
// pins. They are installed once for each lock file, into the user's cache, so that later runs
// don't; two runs at once are fine.
func Packages(t testing.TB) string {
	t.Helper()
	npm := Tool(t, "npm")
	lock, err := os.ReadFile("package-lock.json")
	fatal(t, err)
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}
	sum := sha256.Sum256(lock)
	dir := filepath.Join(cache, "ubl-test-npm", hex.EncodeToString(sum[:8]))
	if _, err := os.Stat(filepath.Join(dir, "node_modules")); err == nil {
		return dir
	}
	fatal(t, os.MkdirAll(filepath.Dir(dir), 0o755))
	making, err := os.MkdirTemp(filepath.Dir(dir), "making-")
	fatal(t, err)
	defer os.RemoveAll(making)
	for _, name := range []string{"package.json", "package-lock.json"} {
		content, err := os.ReadFile(name)
		fatal(t, err)
		fatal(t, os.WriteFile(filepath.Join(making, name), content, 0o600))
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	ci := exec.CommandContext(ctx, npm, "ci", "--ignore-scripts", "--prefer-offline", "--no-audit", "--no-fund", "--no-progress")
	ci.Dir = making
	if out, err := ci.CombinedOutput(); err != nil {
		t.Fatalf("npm ci: %v\n%s", err, out)
	}
	if err := os.Rename(making, dir); err != nil { // another run may have been faster; its folder is as good
		_, missing := os.Stat(filepath.Join(dir, "node_modules"))
		fatal(t, missing)
	}
	return dir
}

func fatal(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
