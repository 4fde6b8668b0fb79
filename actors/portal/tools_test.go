package portal_test

import (
	"fmt"
	"strings"
	"testing"

	"ubl"
	"ubl/actors/portal"
)

func definition(v string) []byte { return []byte(`{"v":"` + v + `"}`) }

// listing is a server's list of one tool, "" for an empty list.
func listing(v string) []ubl.ToolDefinition {
	if v == "" {
		return nil
	}
	return []ubl.ToolDefinition{{Name: "read", Definition: definition(v)}}
}

// TestLifeOfADefinition: what becomes of one tool while its server lists it again
// and again, each time with the definition named here.
func TestLifeOfADefinition(t *testing.T) {
	for _, test := range []struct {
		name         string
		lists        []string // "" where the tool is missing
		pinned, held string
		callable     bool
	}{
		{"first seen", []string{"1"}, "1", "", true},
		{"unchanged", []string{"1", "1", "1"}, "1", "", true},
		{"changed", []string{"1", "2"}, "1", "2", false},
		{"changed twice", []string{"1", "2", "3"}, "1", "3", false},
		{"changed and back", []string{"1", "2", "1"}, "1", "", true},
		{"changed and still", []string{"1", "2", "2"}, "1", "2", false},
		{"vanished", []string{"1", ""}, "1", "", false},
		{"vanished and back", []string{"1", "", "", "1"}, "1", "", true},
		{"vanished and back as another", []string{"1", "", "2"}, "1", "2", false},
		{"vanished while held", []string{"1", "2", ""}, "1", "", false},
		{"vanished while held, back as pinned", []string{"1", "2", "", "1"}, "1", "", true},
		{"vanished while held, back as held", []string{"1", "2", "", "2"}, "1", "2", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			known := map[string]*ubl.PortalTool{}
			for _, v := range test.lists {
				known, _ = portal.Merge(known, "files", listing(v))
			}
			got := known["files.read"]
			if string(got.Definition) != string(definition(test.pinned)) || got.Hash != ubl.BodyHash(definition(test.pinned)) {
				t.Errorf("pinned is %s", got.Definition)
			}
			if test.held == "" && (got.Held != nil || got.HeldHash != "") ||
				test.held != "" && (string(got.Held) != string(definition(test.held)) || got.HeldHash != ubl.BodyHash(definition(test.held))) {
				t.Errorf("held is %s %s", got.Held, got.HeldHash)
			}
			if got.Callable() != test.callable {
				t.Errorf("callable is %v", got.Callable())
			}
		})
	}
}

// TestLeftOut: what a server may list that isn't taken in.
func TestLeftOut(t *testing.T) {
	good := ubl.ToolDefinition{Name: "good", Definition: definition("1")}
	large := []byte(`{"v":"` + strings.Repeat("x", ubl.MaxDefinition) + `"}`)
	many := func(n int, size int) (list []ubl.ToolDefinition) {
		for i := range n {
			list = append(list, ubl.ToolDefinition{Name: fmt.Sprint("t", i), Definition: definition(strings.Repeat("x", size))})
		}
		return list
	}
	for _, test := range []struct {
		name       string
		list       []ubl.ToolDefinition
		kept, left int
	}{
		{"nothing", nil, 0, 0},
		{"a definition that is too large", []ubl.ToolDefinition{good, {Name: "large", Definition: large}}, 1, 1},
		{"a name with a blank", []ubl.ToolDefinition{{Name: "my tool", Definition: definition("1")}, good}, 1, 1},
		{"a name that is no UTF-8", []ubl.ToolDefinition{{Name: "\xff", Definition: definition("1")}, good}, 1, 1},
		{"no name", []ubl.ToolDefinition{{Definition: definition("1")}, good}, 1, 1},
		{"a name that is too long", []ubl.ToolDefinition{{Name: strings.Repeat("n", ubl.MaxToolName-5), Definition: definition("1")}, good}, 1, 1},
		{"one name twice", []ubl.ToolDefinition{good, {Name: "good", Definition: definition("2")}}, 1, 1},
		{"no JSON", []ubl.ToolDefinition{good, {Name: "bad", Definition: []byte("{")}}, 1, 1},
		{"nothing at all", []ubl.ToolDefinition{good, {Name: "bad"}}, 1, 1},
		{"no object", []ubl.ToolDefinition{good, {Name: "bad", Definition: []byte("7")}}, 1, 1},
		{"not canonical", []ubl.ToolDefinition{good, {Name: "bad", Definition: []byte(`{"b":1,"a":2}`)}}, 1, 1},
		{"as many as there may be", many(ubl.MaxServerTools, 1), ubl.MaxServerTools, 0},
		{"too many", many(ubl.MaxServerTools+3, 1), ubl.MaxServerTools, 3},
		{"too much together", many(200, 60_000), ubl.MaxDefinitions / 60_008, 200 - ubl.MaxDefinitions/60_008},
	} {
		known, left := portal.Merge(nil, "files", test.list)
		if len(known) != test.kept || left != test.left {
			t.Errorf("%s: %d kept and %d left out, want %d and %d", test.name, len(known), left, test.kept, test.left)
		}
	}
}

// TestLeftOutIsNotCallable: a tool whose new definition can't be kept is not the
// one that was pinned.
func TestLeftOutIsNotCallable(t *testing.T) {
	known, _ := portal.Merge(nil, "files", listing("1"))
	known, left := portal.Merge(known, "files", listing(strings.Repeat("x", ubl.MaxDefinition)))
	if got := known["files.read"]; left != 1 || !got.Gone || got.Callable() {
		t.Errorf("%d left out; the tool is %+v", left, got)
	}
}

// TestManyNames: a server that lists other names every day doesn't fill memory,
// and can't have a pinned definition forgotten.
func TestManyNames(t *testing.T) {
	known, _ := portal.Merge(nil, "files", listing("1"))
	for day := range 5 {
		var list []ubl.ToolDefinition
		for i := range ubl.MaxServerTools {
			list = append(list, ubl.ToolDefinition{Name: fmt.Sprint("day", day, "-", i), Definition: definition("1")})
		}
		known, _ = portal.Merge(known, "files", list)
	}
	if len(known) > 2*ubl.MaxServerTools {
		t.Errorf("%d tools are remembered", len(known))
	}
	known, _ = portal.Merge(known, "files", listing("2"))
	if got := known["files.read"]; got.Callable() || got.Hash != ubl.BodyHash(definition("1")) {
		t.Errorf("the tool came back as %+v", got)
	}
}
