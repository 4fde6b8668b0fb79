package search_test

import (
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
)

// TestADamagedIndexIsMadeAnew: whatever happens to its files, a search finds what
// the documents say.
func TestADamagedIndexIsMadeAnew(t *testing.T) {
	h := &history{}
	for _, id := range []string{"a", "b", "c", "d"} {
		h.put("d:"+id, "Title "+id, "some text about "+id)
	}
	files := func(dir string) (out []string) {
		_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() {
				out = append(out, path)
			}
			return nil
		})
		return out
	}
	random := rand.New(rand.NewPCG(1, 1))
	for name, damage := range map[string]func(path string, size int64) error{
		"deleted":   func(path string, _ int64) error { return os.Remove(path) },
		"emptied":   func(path string, _ int64) error { return os.Truncate(path, 0) },
		"cut":       func(path string, size int64) error { return os.Truncate(path, random.Int64N(size+1)) },
		"scribbled": func(path string, size int64) error { return scribble(path, size) },
	} {
		t.Run(name, func(t *testing.T) {
			for victim := 0; ; victim++ {
				dir := t.TempDir()
				x := open(t, dir)
				expect(t, h, x, "text", "a b c d")
				x.Close()
				all := files(dir)
				if victim >= len(all) {
					break
				}
				info, err := os.Stat(all[victim])
				if err != nil {
					t.Fatal(err)
				}
				if err := damage(all[victim], info.Size()); err != nil {
					t.Fatal(err)
				}
				x = open(t, dir)
				expect(t, h, x, "text", "a b c d")
				expect(t, h, x, `"about c"`, "c")
			}
		})
	}
}

// scribble changes the end of a file, where most formats keep what leads to the
// rest.
func scribble(path string, size int64) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = f.WriteAt([]byte("damaged!"), max(0, size-8))
	return err
}

// TestAFolderThatIsGone: someone deleted everything while the server was stopped.
func TestAFolderThatIsGone(t *testing.T) {
	h, dir := &history{}, t.TempDir()
	h.put("d:a", "Apples", "red")
	x := open(t, dir)
	expect(t, h, x, "red", "a")
	x.Close()
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	expect(t, h, open(t, dir), "red", "a")
}
