package container

import (
	"crypto/rand"
	"testing"

	"ubl"
	"ubl/actors"
)

// TestTitleFromBefore: a title from before hidden characters were refused stays with its
// document while the content changes. Another such title doesn't come in its place.
func TestTitleFromBefore(t *testing.T) {
	s := &State{Summary: ubl.ContainerSummary{ContainerID: "w:general"}}
	old := document{ID: "d:1", Title: "pl\u200ban", Version: 1, Text: 1}
	content, same, plain, worse := "text", old.Title, "plan", "plan\u202e"
	for _, test := range []struct {
		what string
		cmd  ubl.UpdateDocument
		want ubl.Code
	}{
		{"the content alone", ubl.UpdateDocument{Content: &content}, ""},
		{"the title as it is", ubl.UpdateDocument{Title: &same, Content: &content}, ""},
		{"a plain title", ubl.UpdateDocument{Title: &plain}, ""},
		{"another hidden one", ubl.UpdateDocument{Title: &worse}, ubl.CodeValidation},
	} {
		if _, err := s.next(old, test.cmd, actors.Moment{Now: 1, Random: rand.Reader}); ubl.CodeOf(err) != test.want {
			t.Errorf("%s is answered %v", test.what, err)
		}
	}
}
