package archive_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"ubl"
)

// said is a message of a history.
type said struct {
	text     string
	author   int
	room     int
	id       ubl.MessageID
	redacted bool
}

// TestNothingForeign: whatever people have said, taken back, left and been removed from, an archive has
// exactly the messages that its person may read and their own, and no byte of any other.
func TestNothingForeign(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := open(t)
		defer w.Close()
		people := []ubl.Identity{w.ana, w.bob, w.cem}
		const rooms = 3
		var at [rooms]ubl.Name
		var in [rooms][3]bool
		for r := range rooms { // each person owns one, and stays there
			at[r], in[r][r] = w.room(people[r], fmt.Sprintf("room-%d", r)), true
		}
		var all []said
		for range rapid.IntRange(5, 25).Draw(rt, "acts") {
			r, p := rapid.IntRange(0, rooms-1).Draw(rt, "room"), rapid.IntRange(0, 2).Draw(rt, "person")
			switch rapid.SampledFrom([]string{"send", "send", "send", "move", "redact"}).Draw(rt, "act") {
			case "send":
				if in[r][p] {
					text := fmt.Sprintf("word-%d-of-%d", len(all), p)
					all = append(all, said{text: text, author: p, room: r, id: w.send(at[r], people[p], text+".").MsgID})
				}
			case "move":
				switch {
				case p == r: // the owner
				case in[r][p]:
					w.remove(at[r], people[rapid.SampledFrom([]int{r, p}).Draw(rt, "by")], people[p])
					in[r][p] = false
				default:
					w.add(at[r], people[r], people[p])
					in[r][p] = true
				}
			case "redact":
				if len(all) > 0 {
					m := &all[rapid.IntRange(0, len(all)-1).Draw(rt, "message")]
					if !m.redacted && in[m.room][m.author] {
						w.redact(at[m.room], people[m.author], m.id)
						m.redacted = true
					}
				}
			}
		}
		for p := range people {
			a := w.take(people[p])
			for _, m := range all {
				want := !m.redacted && (m.author == p || in[m.room][p])
				if got := strings.Contains(a.all, m.text+"."); got != want {
					rt.Errorf("%s is in the archive of %d: %t, want %t", m.text, p, got, want)
				}
			}
		}
	})
}
