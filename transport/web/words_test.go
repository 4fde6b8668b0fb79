package web_test

import (
	"os"
	"strings"
	"testing"

	"ubl"
)

// TestWords: the app's ledger has words for every act of the table, and can be asked
// for each.
func TestWords(t *testing.T) {
	words, err := os.ReadFile("app/src/screens/ledger/words.ts")
	if err != nil {
		t.Fatal(err)
	}
	for _, did := range ubl.Dids() {
		if !strings.Contains(string(words), "'"+string(did)+"': '") {
			t.Errorf("%s has no words", did)
		}
	}
}
