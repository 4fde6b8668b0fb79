package actors_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"ubl"
	"ubl/test/harness"
	"ubl/test/poll"
)

// find searches as somebody, and answers what was found as room_seq: snippet, in order.
func (x *talk) find(who ubl.Identity, query string) (found []string, hits *ubl.MessageHits) {
	x.t.Helper()
	return x.findSorted(who, query, ubl.ByOldest)
}

func (x *talk) findSorted(who ubl.Identity, query string, sort ubl.Sort) (found []string, hits *ubl.MessageHits) {
	x.t.Helper()
	hits = harness.Must[*ubl.MessageHits](x.House, ubl.TenantName(who.TenantID), ubl.SearchMessages{Request: x.Request(who), Query: query, Sort: sort, Limit: 50})
	for _, h := range hits.Hits {
		found = append(found, fmt.Sprintf("%d %s", h.Place.RoomSeq, h.Snippet))
	}
	return found, hits
}

// indexed waits until the index has everything.
func (x *talk) indexed() {
	x.t.Helper()
	poll.Until(x.t, "everything is indexed", func() bool {
		_, hits := x.find(x.ana, "in:plans")
		return hits.Indexing == nil
	})
}

// TestSearchMessages: what each part of the query language finds.
func TestSearchMessages(t *testing.T) {
	x := openTalk(t)
	x.say(x.ana, "The launch is on Monday, see https://example.com/plan") // 4
	x.say(x.bob, "Running tests for the Häuser")                          // 5
	x.Clock.Add(48 * time.Hour)
	x.say(x.ana, "monday the launch will not happen")     // 6
	canciones := x.say(x.bob, "Las canciones son الكتاب") // 7
	x.enter(x.ana, ubl.EntryReaction, canciones.ID, ubl.ReactionContent("👍"))
	x.say(x.bob, `e-mail me <b>&"quoted"`) // 9
	x.indexed()
	day := func(days int) string { return x.Clock.Now().AddDate(0, 0, days).Format(time.DateOnly) }
	for _, test := range []struct{ query, want string }{
		{`launch`, "4 6"},
		{`LAUNCH monday`, "4 6"},
		{`"the launch"`, "4 6"},
		{`"launch is"`, "4"},
		{`"launch on"`, ""},
		{`"launch is on monday"`, "4"},
		{`launch -happen`, "4"},
		{`launch -"is on"`, "6"},
		{`launch -"is"`, "6"},
		{`launch nowhere`, ""},
		{`run `, "5"},
		{`tested haus `, "5"},
		{`canción `, "7"},
		{`كتب `, ""},
		{`كتاب `, "7"},
		{`mon`, "4 6"},
		{`mon `, ""},
		{`mon* the`, "4 6"},
		{`from:me launch`, "4 6"},
		{`from:bob@example.com`, "5 7 9"},
		{`from:nobody launch`, ""},
		{`in:plans launch`, "4 6"},
		{`in:r:plans launch`, "4 6"},
		{`in:general launch`, ""},
		{`in:nowhere launch`, ""},
		{`has:link`, "4"},
		{`has:reaction`, "7"},
		{`has:file`, ""},
		{`launch before:` + day(0), "4"},
		{`launch after:` + day(-1), "6"},
		{`launch on:` + day(0), "6"},
		{`launch on:` + day(-2), "4"},
		{`launch after:` + day(0), ""},
		{`e-mail`, "9"},
		{`"me b"`, "9"},
		{`!!! launch`, "4 6"},
	} {
		found, _ := x.find(x.ana, test.query)
		for i := range found {
			found[i], _, _ = strings.Cut(found[i], " ")
		}
		if got := strings.Join(found, " "); got != test.want {
			t.Errorf("%s finds %q, want %q", test.query, got, test.want)
		}
	}
	_, hits := x.find(x.bob, `e-mail quoted`)
	if len(hits.Hits) != 1 || hits.Hits[0].Snippet != `e-mail me <b>&"quoted"` || fmt.Sprint(hits.Hits[0].Highlights) != "[{1 0} {6 2} {21 15}]" {
		t.Errorf("found %+v", hits.Hits)
	}
	if p := hits.Hits[0].Place; p != (ubl.Place{RoomID: "r:plans", RoomSeq: 9, From: 1, To: 9}) {
		t.Errorf("the place is %+v", p)
	}
	for _, order := range []struct {
		sort ubl.Sort
		want int64
	}{{ubl.ByNewest, 6}, {ubl.ByOldest, 4}} {
		if _, hits := x.findSorted(x.ana, "launch", order.sort); hits.Hits[0].Place.RoomSeq != order.want {
			t.Errorf("%s begins with %+v", order.sort, hits.Hits[0])
		}
	}
	if _, hits := x.findSorted(x.ana, "launch monday", ubl.ByRelevance); len(hits.Hits) != 2 || hits.Hits[0].Score == 0 {
		t.Errorf("by relevance: %+v", hits.Hits)
	}
	x.VerifyLedger(x.ana.TenantID)
}

// TestSearchRefuses: what is no query, and says which part isn't.
func TestSearchRefuses(t *testing.T) {
	x := openTalk(t)
	for _, test := range []struct {
		query, sort, after string
		want               ubl.Code
	}{
		{query: "", want: ubl.CodeValidation},
		{query: "  ", want: ubl.CodeValidation},
		{query: "-word", want: ubl.CodeValidation},
		{query: "from:", want: ubl.CodeValidation},
		{query: `"open`, want: ubl.CodeValidation},
		{query: "has:cheese", want: ubl.CodeValidation},
		{query: "before:tomorrow", want: ubl.CodeValidation},
		{query: "on:2026-02-30", want: ubl.CodeValidation},
		{query: "-from:me x", want: ubl.CodeValidation},
		{query: "\xff", want: ubl.CodeValidation},
		{query: strings.Repeat("a ", 40), want: ubl.CodeValidation},
		{query: strings.Repeat("x", 501), want: ubl.CodeTooLarge},
		{query: "x", sort: "best", want: ubl.CodeValidation},
		{query: "x", after: "no cursor", want: ubl.CodeValidation},
		{query: "x", after: strings.Repeat("A", 300), want: ubl.CodeValidation},
		{query: "x", sort: "newest", after: "WyJvbGRlc3QiLCIwMDAwMDAwMDAwMDEiXQ", want: ubl.CodeValidation}, // of another order
	} {
		x.Refused(test.want, ubl.TenantName(x.ana.TenantID), ubl.SearchMessages{Request: x.Request(x.ana), Query: test.query, Sort: ubl.Sort(test.sort), After: test.after})
	}
	stranger := harness.User("mallory@example.com")
	x.Refused(ubl.CodeForbidden, ubl.TenantName(x.ana.TenantID), ubl.SearchMessages{Request: x.Request(stranger), Query: "launch"})
}

// TestSearchShowsNobodyElsesRooms is the view of an attacker: what somebody finds who may not
// read a room, was in it, or is an agent that the room isn't for. Every way round the rooms is
// tried, and none tells that there is something.
func TestSearchShowsNobodyElsesRooms(t *testing.T) {
	x := openTalk(t)
	secret := x.say(x.ana, "the combination is 4711")
	x.say(x.ana, "from cyd to cyd")
	x.indexed()
	ways := []string{
		"combination", `"the combination"`, "comb*", "4711", "from:ana@example.com", "from:" + string(x.ana.UserID), "in:plans", "in:r:plans combination", "in:" + string(secret.ID) + " combination",
		"after:2000-01-01", "combination -nothing", "in:plans in:general combination", "has:link", "before:2100-01-01 -x",
	}
	nothing := func(who ubl.Identity, state string) {
		t.Helper()
		for _, way := range ways {
			for _, sort := range []ubl.Sort{ubl.ByRelevance, ubl.ByNewest} {
				hits := harness.Must[*ubl.MessageHits](x.House, ubl.TenantName(who.TenantID), ubl.SearchMessages{Request: x.Request(who), Query: way, Sort: sort})
				for _, h := range hits.Hits {
					if h.Place.RoomID == "r:plans" {
						t.Errorf("%s: %s (%s) shows %+v", state, way, sort, h)
					}
				}
				if hits.Next != "" {
					t.Errorf("%s: %s has another page", state, way)
				}
			}
		}
	}
	finds := func(who ubl.Identity, state string) {
		t.Helper()
		if found, _ := x.find(who, "combination"); len(found) != 1 {
			t.Errorf("%s: found %v", state, found)
		}
	}
	// A cursor of somebody who may is no way in for somebody who may not.
	_, hits := x.findSorted(x.ana, "combination", ubl.ByNewest)
	finds(x.ana, "an owner")
	finds(x.bob, "a member")
	nothing(x.cyd, "never joined")
	other := harness.User("ana@other.example")
	x.Enter(other)
	nothing(other, "of another tenant")
	stolen := harness.Must[*ubl.MessageHits](x.House, ubl.TenantName(x.cyd.TenantID), ubl.SearchMessages{
		Request: x.Request(x.cyd), Query: "the", Sort: ubl.ByNewest, After: "WyJuZXdlc3QiLCJmZmZmZmZmZmZmZmYiXQ"})
	if len(stolen.Hits) > 0 || len(hits.Hits) != 1 {
		t.Errorf("a cursor shows %+v", stolen.Hits)
	}
	harness.Must[*ubl.Member](x.House, x.room, ubl.RemoveMember{Request: x.Request(x.bob), UserID: x.bob.UserID})
	nothing(x.bob, "has left")
	harness.Must[*ubl.Member](x.House, x.room, ubl.AddMember{Request: x.Request(x.ana), Member: ubl.Member{UserID: x.bob.UserID, Email: x.bob.Email, Role: ubl.RoleMember}})
	finds(x.bob, "came back")
	agent := x.bob
	agent.Mandate = &ubl.Mandate{Places: []string{"r:general"}}
	nothing(agent, "an agent with places")
	harness.Must[*ubl.Member](x.House, x.room, ubl.RemoveMember{Request: x.Request(x.ana), UserID: x.bob.UserID})
	nothing(x.bob, "was removed")

	x.enter(x.ana, ubl.EntryRedaction, secret.ID, ubl.RedactionContent(""))
	if found, _ := x.find(x.ana, "combination"); len(found) > 0 {
		t.Errorf("found before it is indexed that it is gone: %v", found)
	}
	x.indexed()
	if found, _ := x.find(x.ana, "combination"); len(found) > 0 {
		t.Errorf("found though it is gone: %v", found)
	}
}

// TestSearchFindsNewestTexts: an edited message by what it says now, at once, and by nothing
// that it said.
func TestSearchFindsNewestTexts(t *testing.T) {
	x := openTalk(t)
	said := x.say(x.ana, "first words")
	x.indexed()
	edit := x.enter(x.ana, ubl.EntryEdit, said.ID, ubl.TextContent("second thoughts"))
	if found, _ := x.find(x.bob, "first "); len(found) > 0 {
		t.Errorf("found as it was: %v", found)
	}
	x.indexed()
	want := func(query, want string) {
		t.Helper()
		if found, _ := x.find(x.bob, query); strings.Join(found, "; ") != want {
			t.Errorf("%s finds %v, want %q", query, found, want)
		}
	}
	want("first ", "")
	want("thought ", "4 second thoughts")
	x.enter(x.ana, ubl.EntryRedaction, edit.ID, ubl.RedactionContent("")) // the first text counts again
	x.indexed()
	want("thought ", "")
	want("first ", "4 first words")
	react := x.enter(x.bob, ubl.EntryReaction, said.ID, ubl.ReactionContent("👍"))
	also := x.enter(x.ana, ubl.EntryReaction, said.ID, ubl.ReactionContent("👍"))
	x.indexed()
	want("has:reaction", "4 first words")
	x.enter(x.bob, ubl.EntryRedaction, react.ID, ubl.RedactionContent(""))
	x.indexed()
	want("has:reaction", "4 first words")
	x.enter(x.ana, ubl.EntryRedaction, also.ID, ubl.RedactionContent(""))
	x.indexed()
	want("has:reaction", "")
}

// TestSearchPages: pages have each message once and in order, whatever is written between.
func TestSearchPages(t *testing.T) {
	x := openTalk(t)
	for i := range 25 {
		x.say(x.ana, fmt.Sprintf("word number %d %s", i, strings.Repeat("word ", i%4)))
	}
	x.indexed()
	for _, sort := range []ubl.Sort{ubl.ByRelevance, ubl.ByNewest, ubl.ByOldest} {
		var seen []int64
		cmd := ubl.SearchMessages{Query: "word -nothing", Sort: sort, Limit: 7}
		for {
			cmd.Request = x.Request(x.bob)
			hits := harness.Must[*ubl.MessageHits](x.House, ubl.TenantName(x.bob.TenantID), cmd)
			for _, h := range hits.Hits {
				seen = append(seen, h.Place.RoomSeq)
			}
			if cmd.After = hits.Next; cmd.After == "" {
				break
			}
		}
		in := slices.Sorted(slices.Values(seen))
		if len(seen) != 25 || len(slices.Compact(in)) != 25 {
			t.Errorf("%s: pages have %v", sort, seen)
		}
		if sort == ubl.ByOldest && !slices.IsSorted(seen) {
			t.Errorf("by age: %v", seen)
		}
	}
}

// TestSearchLeavesAReceipt: the act has a commitment to the query, and no word of it.
func TestSearchLeavesAReceipt(t *testing.T) {
	x := openTalk(t)
	x.say(x.ana, "hello")
	x.indexed()
	_, hits := x.find(x.ana, "zugzwang in:plans")
	pair := harness.Must[*ubl.ReceiptPair](x.House, ubl.LedgerName(x.ana.TenantID), ubl.GetReceipt{Seq: hits.Receipt.Seq})
	var all string
	for _, atom := range pair.Atoms {
		all += string(atom)
	}
	if want := hits.Salt.CommitText("query", "zugzwang in:plans"); !strings.Contains(all, want) || strings.Contains(all, "zugzwang") || !strings.Contains(all, `"did":"messenger.search"`) {
		t.Errorf("the act is %s", all)
	}
}

// TestSearchIsMadeAgain: an index on a new disk, and one that was thrown away, is filled in the
// background, and answers say so meanwhile.
func TestSearchIsMadeAgain(t *testing.T) {
	var index ubl.Searcher
	x := openTalkIn(t, harness.Options{Search: func(s ubl.Searcher) ubl.Searcher { index = s; return s }})
	x.say(x.ana, "an old message")
	x.indexed()
	again := func(state string) {
		t.Helper()
		if found, hits := x.find(x.ana, "old"); hits.Indexing == nil && len(found) != 1 {
			t.Errorf("%s: %v is told as everything", state, found)
		}
		x.indexed()
		if found, _ := x.find(x.ana, "old"); len(found) != 1 {
			t.Errorf("%s: found %v", state, found)
		}
	}
	x.Restart()
	again("a new disk")
	if err := index.Rebuild(context.Background(), x.room.Group()); err != nil {
		t.Fatal(err)
	}
	again("thrown away")
}
