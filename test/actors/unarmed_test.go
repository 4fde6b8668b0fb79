package actors_test

import (
	"testing"

	"ubl"
	"ubl/actors/families"
)

// TestUnarmedAreTheFamilysOwn: a node that begins to lead asks actors of earlier versions to arm
// what waits, and takes nobody else's records for theirs.
func TestUnarmedAreTheFamilysOwn(t *testing.T) {
	x := openTalk(t)
	said := x.say(x.ana, "hello")
	x.enter(x.bob, ubl.EntryReaction, said.ID, ubl.ReactionContent("👍"))
	x.enter(x.ana, ubl.EntryEdit, said.ID, ubl.TextContent("hello all"))
	x.enter(x.ana, ubl.EntryPin, said.ID, ubl.PinContent(true))
	x.vote(x.bob, x.ask(x.ana, ubl.PollBody{Question: "when?", Options: []string{"now", "later"}}), 1)
	x.Reload()
	for _, f := range families.All.In(families.World{}) {
		if f.Unarmed == nil {
			continue
		}
		err := x.Engine.View(t.Context(), x.room.Group(), func(snap ubl.Snapshot) error {
			locals, err := f.Unarmed(snap)
			for _, local := range locals {
				if !f.Owns(local) {
					t.Errorf("the family %s would ask %q", f.Name, local)
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
