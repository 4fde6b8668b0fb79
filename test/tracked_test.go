package test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// maxTracked is the largest file that the repository takes, in bytes. Whoever clones it has each
// version of each file for good.
const maxTracked = 1 << 20

// TestNothingBigIsTracked: a built program, committed once, would make every clone larger for good.
func TestNothingBigIsTracked(t *testing.T) {
	root := ".."
	if _, err := os.Stat(filepath.Join(root, ".git")); err != nil {
		t.Skip("no repository here, only its files")
	}
	out, err := exec.Command("git", "-C", root, "ls-files", "-z").Output()
	if err != nil {
		t.Skipf("git can't list the files: %v", err)
	}
	names := bytes.Split(bytes.TrimSuffix(out, []byte{0}), []byte{0})
	if len(names) < 100 {
		t.Fatalf("git lists %d files", len(names))
	}
	for _, name := range names {
		f, err := os.Lstat(filepath.Join(root, string(name)))
		if err == nil && f.Size() > maxTracked {
			t.Errorf("%s has %d bytes: what is built or fetched is not tracked", name, f.Size())
		}
	}
}
