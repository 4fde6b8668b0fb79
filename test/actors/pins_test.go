package actors_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"ubl"
	"ubl/test/harness"
)

// TestPinsAreListed: members find what is pinned, newest first and page by page: what was pinned
// last of each message counts, whatever else became of it, and what was deleted is pinned no more.
func TestPinsAreListed(t *testing.T) {
	x := openTalk(t)
	var said []*ubl.Entry
	for i := range 6 {
		said = append(said, x.say(x.bob, fmt.Sprintf("message %d", i)))
	}
	for _, i := range []int{4, 0, 1, 3, 5} {
		x.enter(x.ana, ubl.EntryPin, said[i].ID, ubl.PinContent(true))
	}
	x.enter(x.ana, ubl.EntryPin, said[1].ID, ubl.PinContent(false))
	x.enter(x.ana, ubl.EntryPin, said[5].ID, ubl.PinContent(false))
	x.enter(x.bob, ubl.EntryPin, said[5].ID, ubl.PinContent(true))
	x.enter(x.ana, ubl.EntryReaction, said[4].ID, ubl.ReactionContent("👍")) // behind its pin
	x.enter(x.ana, ubl.EntryReaction, said[2].ID, ubl.ReactionContent("👍"))
	x.enter(x.bob, ubl.EntryRedaction, said[3].ID, ubl.RedactionContent(""))
	want := []ubl.MessageID{said[5].ID, said[4].ID, said[0].ID}
	for limit := 1; limit <= 4; limit++ {
		var got []ubl.MessageID
		for before, pages := int64(0), 0; ; pages++ {
			page := harness.Must[*ubl.PinPage](x.House, x.room, ubl.ListPins{Who: x.bob, Before: before, Limit: limit})
			for _, raw := range page.Entries {
				var e ubl.Entry
				if err := json.Unmarshal(raw, &e); err != nil {
					t.Fatal(err)
				}
				if !e.Pinned {
					t.Errorf("%s is listed, and doesn't say that it is pinned", e.ID)
				}
				got = append(got, e.ID)
			}
			if page.NextCursor == nil || pages > len(said) {
				break
			}
			before = *page.NextCursor
		}
		if !slices.Equal(got, want) {
			t.Errorf("by %d, %q are pinned, want %q", limit, got, want)
		}
	}
	if _, err := x.Runtime.Ask(t.Context(), x.room, ubl.ListPins{Who: x.cyd}); ubl.CodeOf(err) != ubl.CodeNotAMember {
		t.Errorf("pins for a stranger: %v", err)
	}
}
