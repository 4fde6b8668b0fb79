package hashes

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"ubl"
)

// tables are those of a chapter of DESIGN.md, by the heads of their columns: the first cell of each row.
func tables(t *testing.T, chapter string) map[string][]string {
	t.Helper()
	text, err := os.ReadFile("../../DESIGN.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(text), "\n### "+chapter+"\n")
	rest, _, _ = strings.Cut(rest, "\n### ")
	if !found {
		t.Fatalf("DESIGN.md has no chapter %q", chapter)
	}
	all, head := map[string][]string{}, ""
	for line := range strings.Lines(rest) {
		cells := strings.Split(strings.Trim(line, "| \n"), " | ")
		switch {
		case !strings.HasPrefix(line, "|"):
			head = ""
		case head == "":
			head = strings.Join(cells, ", ")
		case !strings.HasPrefix(line, "|---"):
			all[head] = append(all[head], cells[0])
		}
	}
	return all
}

// quoted are names in a cell.
var quoted = regexp.MustCompile("`([a-z_.*]+)`")

// TestDesignHasEveryHash: who opens what a ledger commits to has DESIGN.md alone. Its tables have
// every member of the two lists, and no other.
func TestDesignHasEveryHash(t *testing.T) {
	contracts := tables(t, "The ledger, for those who check it")
	for head, list := range map[string][]Member{"member, content, salt": Salted, "member, content": Bare} {
		var told, want []string
		for _, cell := range contracts[head] {
			for _, name := range quoted.FindAllStringSubmatch(cell, -1) {
				if isHash.MatchString(name[1]) && !slices.Contains(told, name[1]) {
					told = append(told, name[1])
				}
			}
		}
		for _, m := range list {
			want = append(want, m.Name)
			for _, of := range m.Of {
				if !slices.ContainsFunc(contracts[head], func(cell string) bool { return strings.Contains(cell, m.Name) && strings.Contains(cell, of) }) {
					t.Errorf("the table %q has no %s of %s", head, m.Name, of)
				}
			}
		}
		slices.Sort(told)
		slices.Sort(want)
		if !slices.Equal(told, want) {
			t.Errorf("the table %q has\n%q, and the list has\n%q", head, told, want)
		}
	}
}

// TestDesignHasEveryEntry: DESIGN.md tells of each type of entries whom it is by.
func TestDesignHasEveryEntry(t *testing.T) {
	var told, want []string
	for _, cell := range tables(t, "Entries")["entry, about, who, if the room's terms permit the act"] {
		told = append(told, strings.Trim(cell, "`"))
	}
	for _, kind := range ubl.EntryTypes() {
		want = append(want, string(kind))
	}
	slices.Sort(told)
	slices.Sort(want)
	if !slices.Equal(told, want) {
		t.Errorf("the table has %q, and rooms have %q", told, want)
	}
}
