package web

import "testing"

// TestPolls: ana makes a poll with the command, bob votes on his phone and changes his vote, and
// both see how it stands; ana ends it, and nobody votes any more.
func TestPolls(t *testing.T) {
	needAxe(t)
	s := oneNode(t)
	c := s.client(owner)
	ana, bob := newcomer(t, s, desktop), guest(t, s, phone, "bob@elsewhere.example")
	bob.enter("general")
	ana.enter("general")
	ana.until("the composer is whole", func() bool { return ana.has("button", "Add") })

	ana.fill("Message to general", "/poll Where do we eat?")
	ana.press("button", "Send")
	ana.find("dialog", "New poll")
	ana.fill("Option 1", "At the lake")
	ana.fill("Option 2", "In town")
	ana.find("textbox", "Option 3") // there is room for one more
	ana.examine("poll-new")
	ana.press("button", "Create poll")
	ana.sees("Where do we eat?", "0 votes")
	bob.sees("Where do we eat?")

	bob.press("button", "At the lake…")
	bob.sees("1 vote")
	ana.sees("1 vote", "Who voted")
	stands := func(counts string) {
		t.Helper()
		for _, p := range []*person{ana, bob} {
			p.until("the counts are "+counts, func() bool {
				return eval[string](p, `[...document.querySelectorAll('.poll .count')].map((e) => e.textContent).join(' ')`) == counts
			})
		}
	}
	stands("1 0")
	bob.press("button", "In town…")
	stands("0 1")
	ana.press("button", "In town…")
	stands("0 2")
	ana.examine("poll")
	bob.examine("poll-phone")

	ana.press("button", "End poll")
	ana.find("dialog", "End this poll?")
	eval[bool](ana, `(document.querySelector('dialog[open] footer button:last-child').click(), true)`)
	ana.sees("Ended")
	bob.sees("Ended")
	stands("0 2")
	for _, p := range []*person{ana, bob} {
		p.until("no vote is taken", func() bool {
			return eval[bool](p, `[...document.querySelectorAll('.poll .option')].every((b) => b.disabled)`)
		})
	}

	// Of an anonymous one nobody is shown counts before its end.
	var made struct {
		Entry struct {
			EntryID string `json:"entry_id"`
		}
	}
	c.ask("POST", "/api/rooms/"+general+"/polls", map[string]any{"question": "Who leads?", "options": []string{"Cem", "Dora"}, "anonymous": true}, &made)
	bob.sees("Who leads?", "Counts show at the end")
	bob.press("button", "Dora…")
	bob.sees("1 vote")
	c.ask("POST", "/api/rooms/"+general+"/polls/"+made.Entry.EntryID+"/end", nil, nil)
	stands("0 2 0 1")
}
