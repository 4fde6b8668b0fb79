package actors_test

import (
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"ubl"
	"ubl/test/harness"
	"ubl/test/soak"
)

// spoken is what a test knows of a message: who may find it by what.
type spoken struct {
	id        ubl.MessageID
	room      int
	seq       int64
	by        string
	texts     []string // the first, and its edits, "" for one that was redacted
	edits     []ubl.MessageID
	gone      bool
	reactions map[ubl.MessageID]bool
}

// now is what it says.
func (m *spoken) now() string {
	for _, text := range slices.Backward(m.texts) {
		if text != "" {
			return text
		}
	}
	return ""
}

// TestSearchIsAScan: after any history of sends, edits, reactions, redactions, joins and leaves,
// of restarts on a new disk and indexes that are thrown away, a search finds just what somebody
// would who read every message that they may. That is asked before the index has everything,
// too: then it finds nothing that isn't so.
func TestSearchIsAScan(t *testing.T) {
	checks := flag.Lookup("rapid.checks")
	was := checks.Value.String()
	if err := checks.Value.Set(soak.Of("10", "200")); err != nil { // each waits for the index
		t.Fatal(err)
	}
	defer func() { _ = checks.Value.Set(was) }()
	vocabulary := []string{"alpha", "beta", "gamma", "delta", "epsilon", "zeta"}
	rapid.Check(t, func(rt *rapid.T) {
		var index ubl.Searcher
		x := openTalkIn(t, harness.Options{Search: func(s ubl.Searcher) ubl.Searcher { index = s; return s }})
		defer x.Close()
		people := map[string]ubl.Identity{"ana": x.ana, "bob": x.bob, "cyd": x.cyd}
		names := []string{"ana", "bob", "cyd"}
		rooms := []ubl.Name{x.room}
		members := []map[string]bool{{"ana": true, "bob": true}}
		made := harness.Must[*ubl.RoomSummary](x.House, ubl.TenantName(x.ana.TenantID), ubl.CreateRoom{Request: x.Request(x.ana), Name: "other"})
		rooms, members = append(rooms, ubl.RoomName(x.ana.TenantID, made.RoomID)), append(members, map[string]bool{"ana": true})
		var said []*spoken
		keys := 0 // of reactions
		text := func(rt *rapid.T) string {
			return strings.Join(rapid.SliceOfN(rapid.SampledFrom(vocabulary), 1, 5).Draw(rt, "text"), " ")
		}
		in := func(room int, do func()) { // posts go to the room of the talk
			was := x.room
			x.room = rooms[room]
			do()
			x.room = was
		}
		pick := func(rt *rapid.T) *spoken {
			var there []*spoken
			for _, m := range said {
				if !m.gone && members[m.room][m.by] {
					there = append(there, m)
				}
			}
			if len(there) == 0 {
				rt.Skip("nothing was said")
			}
			return rapid.SampledFrom(there).Draw(rt, "message")
		}
		ask := func(rt *rapid.T, complete bool) {
			who := rapid.SampledFrom(names).Draw(rt, "who")
			word, other := rapid.SampledFrom(vocabulary).Draw(rt, "word"), rapid.SampledFrom(vocabulary).Draw(rt, "other")
			query := rapid.SampledFrom([]struct {
				text  string
				holds func(*spoken) bool
			}{
				{word + " ", func(m *spoken) bool { return slices.Contains(strings.Fields(m.now()), word) }},
				{word + " -" + other + " ", func(m *spoken) bool {
					f := strings.Fields(m.now())
					return slices.Contains(f, word) && !slices.Contains(f, other)
				}},
				{`"` + word + " " + other + `"`, func(m *spoken) bool { return strings.Contains(" "+m.now()+" ", " "+word+" "+other+" ") }},
				{word[:2] + "*", func(m *spoken) bool { return strings.Contains(" "+m.now(), " "+word[:2]) }},
				{"from:" + people[authorFor(names, word)].Email, func(m *spoken) bool { return m.by == authorFor(names, word) }},
				{"in:other", func(m *spoken) bool { return m.room == 1 }},
				{"has:reaction in:plans", func(m *spoken) bool { return m.room == 0 && len(m.reactions) > 0 }},
			}).Draw(rt, "query")
			if !complete && strings.HasPrefix(query.text, "has:") {
				return // a reaction that has gone may be found until that is indexed
			}
			want := map[string]bool{}
			for _, m := range said {
				if !m.gone && members[m.room][who] && query.holds(m) {
					want[fmt.Sprint(m.room, " ", m.seq, " ", m.now())] = true
				}
			}
			hits := harness.Must[*ubl.MessageHits](x.House, ubl.TenantName(x.ana.TenantID), ubl.SearchMessages{Request: x.Request(people[who]), Query: query.text, Sort: ubl.ByNewest, Limit: 50})
			for _, h := range hits.Hits {
				if h.Place.RoomID == "r:general" {
					continue
				}
				room := 0
				if h.Place.RoomID == "r:other" {
					room = 1
				}
				found := fmt.Sprint(room, " ", h.Place.RoomSeq, " ", h.Snippet)
				if !want[found] {
					rt.Fatalf("%s finds %q by %s, which isn't so", who, found, query.text)
				}
				delete(want, found)
			}
			if complete && len(want) > 0 {
				rt.Fatalf("%s doesn't find %v by %s", who, want, query.text)
			}
		}
		rt.Repeat(map[string]func(*rapid.T){
			"say": func(rt *rapid.T) {
				room, by := rapid.IntRange(0, 1).Draw(rt, "room"), rapid.SampledFrom(names).Draw(rt, "by")
				if !members[room][by] {
					rt.Skip("no member")
				}
				in(room, func() {
					s := text(rt)
					e := x.say(people[by], s)
					said = append(said, &spoken{id: e.ID, room: room, seq: e.RoomSeq, by: by, texts: []string{s}, reactions: map[ubl.MessageID]bool{}})
				})
			},
			"edit": func(rt *rapid.T) {
				m := pick(rt)
				in(m.room, func() {
					s := text(rt)
					e := x.enter(people[m.by], ubl.EntryEdit, m.id, ubl.TextContent(s))
					m.texts, m.edits = append(m.texts, s), append(m.edits, e.ID)
				})
			},
			"react": func(rt *rapid.T) {
				m := pick(rt)
				in(m.room, func() {
					keys++
					key := fmt.Sprintf("k%d", keys)
					m.reactions[x.enter(people[m.by], ubl.EntryReaction, m.id, ubl.ReactionContent(key)).ID] = true
				})
			},
			"redact": func(rt *rapid.T) {
				m := pick(rt)
				what := rapid.SampledFrom([]string{"message", "edit", "reaction"}).Draw(rt, "what")
				in(m.room, func() {
					target := m.id
					switch {
					case what == "edit" && len(m.edits) > 0 && m.texts[len(m.texts)-1] != "":
						target = m.edits[len(m.edits)-1]
						m.texts[len(m.texts)-1] = ""
					case what == "reaction" && len(m.reactions) > 0:
						for id := range m.reactions {
							target = id
							break
						}
						delete(m.reactions, target)
					default:
						m.gone = true
					}
					x.enter(people[m.by], ubl.EntryRedaction, target, ubl.RedactionContent(""))
				})
			},
			"come or go": func(rt *rapid.T) {
				room, who := rapid.IntRange(0, 1).Draw(rt, "room"), rapid.SampledFrom(names[1:]).Draw(rt, "who")
				id := people[who]
				if members[room][who] {
					harness.Must[*ubl.Member](x.House, rooms[room], ubl.RemoveMember{Request: x.Request(id), UserID: id.UserID})
				} else {
					harness.Must[*ubl.Member](x.House, rooms[room], ubl.AddMember{Request: x.Request(x.ana), Member: ubl.Member{UserID: id.UserID, Email: id.Email, Role: ubl.RoleMember}})
				}
				members[room][who] = !members[room][who]
			},
			"restart": func(rt *rapid.T) {
				if rapid.IntRange(0, 3).Draw(rt, "rarely") == 0 {
					x.Restart()
				}
			},
			"throw away": func(rt *rapid.T) {
				if rapid.IntRange(0, 3).Draw(rt, "rarely") > 0 {
					return
				}
				if err := index.Rebuild(t.Context(), x.room.Group()); err != nil {
					rt.Fatal(err)
				}
			},
			"ask": func(rt *rapid.T) { ask(rt, false) },
		})
		x.indexed()
		for range 8 {
			ask(rt, true)
		}
	})
}

// authorFor is one of the names, told by a word.
func authorFor(names []string, word string) string { return names[len(word)%len(names)] }
