package test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ubl/actors"
	"ubl/actors/families"
)

// TestFamiliesAreComplete: each folder below actors with a Kind is a family of that name in the
// list. It tells its keys in doc.go, says which records count and which run without a hole, and
// has the tests that all families have.
func TestFamiliesAreComplete(t *testing.T) {
	list := families.All.In(families.World{})
	const actorsFolder = "../actors"
	folders, err := os.ReadDir(actorsFolder)
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, entry := range folders {
		name, folder := entry.Name(), filepath.Join(actorsFolder, entry.Name())
		if !entry.IsDir() || !hasKind(t, folder) {
			continue
		}
		found++
		for _, file := range []string{"doc.go", "again_test.go", "form_test.go", "replay_test.go"} {
			if _, err := os.Stat(filepath.Join(folder, file)); err != nil {
				t.Errorf("the family %s has no %s: %v", name, file, err)
			}
		}
		i := slices.IndexFunc(list, func(f actors.Family) bool { return f.Name == name })
		switch {
		case i < 0:
			t.Errorf("actors/families lists no family %s", name)
		case len(list[i].Numbers) == 0 || len(list[i].Content) == 0:
			t.Errorf("the family %s doesn't say which records run without a hole (Numbers), or which count as stored (Content)", name)
		}
	}
	if found < 4 {
		t.Errorf("only %d families were found", found)
	}
}

func hasKind(t *testing.T, folder string) bool {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	return slices.ContainsFunc(paths, func(path string) bool {
		source, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return !strings.HasSuffix(path, "_test.go") && strings.Contains(string(source), "actors.Kind[")
	})
}

// TestFamiliesShareNoKeys: the keys of two families begin with different bytes.
func TestFamiliesShareNoKeys(t *testing.T) {
	owner := map[byte]string{}
	for _, f := range families.All.In(families.World{}) {
		var spaces []byte
		for _, n := range f.Numbers {
			spaces = append(spaces, n.Space)
		}
		for _, c := range f.Content {
			spaces = append(spaces, c.Space)
		}
		for _, space := range spaces {
			if other, ok := owner[space]; ok && other != f.Name {
				t.Errorf("keys of %s and of %s begin with %q", other, f.Name, space)
			}
			owner[space] = f.Name
		}
	}
}
