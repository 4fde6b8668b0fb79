package web_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"ubl"
	"ubl/actors"
	"ubl/actors/families"
)

// TestWords: the app's ledger has words for every act, of the table and of families, and can be
// asked for each.
func TestWords(t *testing.T) {
	words, err := os.ReadFile("app/src/screens/ledger/words.ts")
	if err != nil {
		t.Fatal(err)
	}
	for _, did := range append(ubl.Dids(), actors.Named(families.All.Acts())...) {
		if !strings.Contains(string(words), "'"+string(did)+"': '") {
			t.Errorf("%s has no words", did)
		}
	}
}

// TestFocusIsSeen: people who use the keyboard see where they are. Only what scripts focus,
// to have it read out, has no outline.
func TestFocusIsSeen(t *testing.T) {
	sheets, err := filepath.Glob("app/src/style/*.css")
	if err != nil || len(sheets) == 0 {
		t.Fatal(sheets, err)
	}
	rule := regexp.MustCompile(`(?s)([^{}]+)\{[^{}]*outline: none`)
	for _, sheet := range sheets {
		css, err := os.ReadFile(sheet)
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range rule.FindAllSubmatch(css, -1) {
			if s := strings.TrimSpace(string(found[1])); s != "h1:focus" && !strings.HasSuffix(s, ".main") {
				t.Errorf("%s: %s has no outline", sheet, s)
			}
		}
	}
}
