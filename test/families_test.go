package test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
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
		for file, test := range map[string]string{"again_test.go": "TestAnsweredAgain", "form_test.go": "TestStored", "replay_test.go": "TestStateIsDerived", "snapshot_test.go": "TestSnapshotHasEveryField"} {
			if !strings.Contains(source(t, folder, file), "\nfunc "+test) {
				t.Errorf("the family %s has no %s in %s", name, test, file)
			}
		}
		i := slices.IndexFunc(list, func(f actors.Family) bool { return f.Name == name })
		switch {
		case i < 0:
			t.Errorf("actors/families lists no family %s", name)
		case list[i].Kind == nil:
			t.Errorf("the family %s names no Kind: nobody hears of what is Told, and nothing compares its Spaces", name)
		case !list[i].Snapshots():
			t.Errorf("the family %s has no Snapshot: it is as slow to load as its history is long", name)
		case len(list[i].Numbers) == 0 || len(list[i].Content) == 0:
			t.Errorf("the family %s doesn't say which records run without a hole (Numbers), or which count as stored (Content)", name)
		default:
			for _, space := range list[i].Spaces() {
				if !regexp.MustCompile(`(?m)^//\t(\w, )*` + string(space) + `\b`).MatchString(source(t, folder, "doc.go")) {
					t.Errorf("the doc.go of the family %s doesn't list its keys that begin with %q", name, space)
				}
			}
		}
	}
	if found < 4 {
		t.Errorf("only %d families were found", found)
	}
}

// source is a file of a folder, "" where there is none.
func source(t *testing.T, folder, file string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(folder, file))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return string(text)
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

// shared are bytes with which keys of two families begin, and what tells these apart. Data that
// is stored has them: no other family is added here.
var shared = map[byte]string{
	's': "of a tenant there follows nothing, 0 or 1, of a container its id",
	'v': "of a room there follows its id, of a container its own, which differ",
}

// TestFamiliesShareNoKeys: the keys of two families begin with different bytes, and none with a
// byte of the kernel's. What a family writes under another byte panics (TestKindKeepsToItsSpaces).
func TestFamiliesShareNoKeys(t *testing.T) {
	owner := map[byte]string{}
	for _, f := range families.All.In(families.World{}) {
		for _, space := range []byte(f.Spaces()) {
			other, taken := owner[space]
			switch {
			case strings.IndexByte(actors.KernelSpaces, space) >= 0:
				t.Errorf("keys of %s begin with %q, as keys of the kernel do", f.Name, space)
			case taken && shared[space] == "":
				t.Errorf("keys of %s and of %s begin with %q", other, f.Name, space)
			}
			owner[space] = f.Name
		}
		counted := []byte{}
		for _, n := range f.Numbers {
			counted = append(counted, n.Space)
		}
		for _, c := range f.Content {
			counted = append(counted, c.Space)
		}
		for _, space := range counted {
			if !strings.Contains(f.Spaces(), string(space)) {
				t.Errorf("%s counts keys that begin with %q, which is none of its Spaces", f.Name, space)
			}
		}
	}
}
