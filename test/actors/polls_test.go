package actors_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"ubl"
	"ubl/test/harness"
)

var lunch = ubl.PollBody{Question: "Where do we eat?", Options: []string{"Here", "At the lake", "Nowhere"}}

// ask posts a poll.
func (x *talk) ask(who ubl.Identity, b ubl.PollBody) *ubl.Entry {
	x.t.Helper()
	return x.enter(who, ubl.EntryMessage, "", ubl.PollContent(b))
}

func (x *talk) vote(who ubl.Identity, poll *ubl.Entry, choices ...int) *ubl.Entry {
	x.t.Helper()
	return x.enter(who, ubl.EntryVote, poll.ID, ubl.VoteContent(choices...))
}

func (x *talk) end(who ubl.Identity, poll *ubl.Entry) *ubl.Entry {
	x.t.Helper()
	return x.enter(who, ubl.EntryPollEnd, poll.ID, ubl.PollEndContent(nil))
}

// poll is what somebody reads of a poll, in a line.
func (x *talk) poll(who ubl.Identity, poll *ubl.Entry) string {
	x.t.Helper()
	after := poll.RoomSeq - 1
	page := harness.Must[*ubl.HistoryPage](x.House, x.room, ubl.ReadHistory{Who: who, After: &after, Limit: 1, Entries: true, Now: true})
	s := x.decode(page.Entries[0]).Poll
	if s == nil {
		return "none"
	}
	said := fmt.Sprintf("%d voters %v mine %v", s.Voters, s.Counts, s.Mine)
	if s.By != nil {
		said += fmt.Sprintf(" by %v", s.By)
	}
	if s.Ended != nil {
		said += " ended by " + string(s.Ended.By)
	}
	return said
}

func (x *talk) polled(who ubl.Identity, poll *ubl.Entry, want string) {
	x.t.Helper()
	if got := x.poll(who, poll); got != want {
		x.t.Errorf("%s reads %q of the poll, want %q", who.UserID, got, want)
	}
}

// TestPoll: each member's newest vote counts until the poll ends, whose entry has the counts. Its
// author ends it, and who may change the room. What a vote chooses can be proven.
func TestPoll(t *testing.T) {
	x := openTalk(t)
	ana, bob := string(x.ana.UserID), string(x.bob.UserID)
	poll := x.ask(x.bob, lunch)
	if !x.committed(poll) {
		t.Errorf("the poll's body isn't what the ledger has a commitment to")
	}
	x.polled(x.ana, poll, "none")
	if v := x.vote(x.ana, poll, 1); !x.committed(v) {
		t.Errorf("the vote isn't what the ledger has a commitment to")
	}
	x.vote(x.bob, poll, 2)
	x.polled(x.ana, poll, "2 voters [1 1 0] mine [1] by [["+ana+"] ["+bob+"] []]")
	x.vote(x.ana, poll, 2)
	x.polled(x.ana, poll, "2 voters [0 2 0] mine [2] by [[] ["+bob+" "+ana+"] []]")
	x.vote(x.bob, poll)
	x.polled(x.bob, poll, "1 voters [0 1 0] mine [] by [[] ["+ana+"] []]")
	x.Restart()
	ended := x.end(x.ana, poll)
	if string(ended.Body.JSON) != `{"counts":[0,1,0],"voters":1}` || !x.committed(ended) {
		t.Errorf("the end says %s", ended.Body.JSON)
	}
	x.polled(x.ana, poll, "1 voters [0 1 0] mine [2] by [[] ["+ana+"] []] ended by "+ana)
	x.VerifyLedger(x.ana.TenantID)
}

// TestPollOfSeveral: where several options may be chosen, a voter counts for each, once.
func TestPollOfSeveral(t *testing.T) {
	x := openTalk(t)
	b := lunch
	b.Multiple = true
	poll := x.ask(x.ana, b)
	x.vote(x.ana, poll, 3, 1, 3)
	x.vote(x.bob, poll, 1)
	x.polled(x.ana, poll, fmt.Sprintf("2 voters [2 0 1] mine [1 3] by [[%s %s] [] [%[1]s]]", x.ana.UserID, x.bob.UserID))
}

// TestBadPolls are refused, and change nothing.
func TestBadPolls(t *testing.T) {
	x := openTalk(t)
	now := ubl.TimeOf(x.Clock.Now())
	poll, closed, said := x.ask(x.ana, lunch), x.ask(x.ana, lunch), x.say(x.ana, "hello")
	x.end(x.ana, closed)
	with := func(change func(*ubl.PollBody)) ubl.PostEntry {
		b := lunch
		change(&b)
		return x.post(x.bob, ubl.EntryMessage, "", ubl.PollContent(b))
	}
	before := len(x.entries())
	for name, c := range map[string]struct {
		cmd  ubl.PostEntry
		code ubl.Code
	}{
		"no question":             {with(func(b *ubl.PollBody) { b.Question = " " }), ubl.CodeValidation},
		"a long question":         {with(func(b *ubl.PollBody) { b.Question = strings.Repeat("a", 301) }), ubl.CodeValidation},
		"one option":              {with(func(b *ubl.PollBody) { b.Options = b.Options[:1] }), ubl.CodeValidation},
		"eleven options":          {with(func(b *ubl.PollBody) { b.Options = strings.Split("abcdefghijk", "") }), ubl.CodeValidation},
		"an option twice":         {with(func(b *ubl.PollBody) { b.Options = []string{"a", "a"} }), ubl.CodeValidation},
		"an option of two lines":  {with(func(b *ubl.PollBody) { b.Options = []string{"a", "b\nc"} }), ubl.CodeValidation},
		"an end that is over":     {with(func(b *ubl.PollBody) { b.EndsAt = now }), ubl.CodeValidation},
		"an end too far away":     {with(func(b *ubl.PollBody) { b.EndsAt = now.Add(367 * 24 * time.Hour) }), ubl.CodeValidation},
		"a result from the start": {with(func(b *ubl.PollBody) { b.Result = &ubl.PollResult{Counts: []int64{1, 0, 0}, Voters: 1} }), ubl.CodeValidation},
		"a member unknown to us":  {x.post(x.bob, ubl.EntryMessage, "", ubl.TypedBody{Type: ubl.ContentPoll, JSON: []byte(`{"question":"?","options":["a","b"],"x":1}`)}), ubl.CodeValidation},
		"a vote for nothing":      {x.post(x.bob, ubl.EntryVote, poll.ID, ubl.SecretVoteContent()), ubl.CodeValidation},
		"an option that isn't":    {x.post(x.bob, ubl.EntryVote, poll.ID, ubl.VoteContent(4)), ubl.CodeValidation},
		"option zero":             {x.post(x.bob, ubl.EntryVote, poll.ID, ubl.VoteContent(0)), ubl.CodeValidation},
		"two of one":              {x.post(x.bob, ubl.EntryVote, poll.ID, ubl.VoteContent(1, 2)), ubl.CodeValidation},
		"a vote on a message":     {x.post(x.bob, ubl.EntryVote, said.ID, ubl.VoteContent(1)), ubl.CodeConflict},
		"a vote on nothing":       {x.post(x.bob, ubl.EntryVote, "", ubl.VoteContent(1)), ubl.CodeValidation},
		"a vote behind the end":   {x.post(x.bob, ubl.EntryVote, closed.ID, ubl.VoteContent(1)), ubl.CodeConflict},
		"a second end":            {x.post(x.ana, ubl.EntryPollEnd, closed.ID, ubl.PollEndContent(nil)), ubl.CodeConflict},
		"another's poll ended":    {x.post(x.bob, ubl.EntryPollEnd, poll.ID, ubl.PollEndContent(nil)), ubl.CodeForbidden},
		"an end with counts":      {x.post(x.ana, ubl.EntryPollEnd, poll.ID, ubl.PollEndContent(&ubl.PollResult{Counts: []int64{9}, Voters: 9})), ubl.CodeValidation},
		"a poll edited":           {x.post(x.ana, ubl.EntryEdit, poll.ID, ubl.TextContent("else")), ubl.CodeConflict},
		"a message made a poll":   {x.post(x.ana, ubl.EntryEdit, said.ID, ubl.PollContent(lunch)), ubl.CodeValidation},
		"a stranger's vote":       {x.post(x.cyd, ubl.EntryVote, poll.ID, ubl.VoteContent(1)), ubl.CodeNotAMember},
		"a stranger's poll":       {x.post(x.cyd, ubl.EntryMessage, "", ubl.PollContent(lunch)), ubl.CodeNotAMember},
		"a stranger's end":        {x.post(x.cyd, ubl.EntryPollEnd, poll.ID, ubl.PollEndContent(nil)), ubl.CodeNotAMember},
	} {
		if _, err := x.Ask(t.Context(), x.room, c.cmd); ubl.CodeOf(err) != c.code {
			t.Errorf("%s: %v, want %s", name, err, c.code)
		}
	}
	if n := len(x.entries()); n != before {
		t.Errorf("%d entries came of that", n-before)
	}
	x.polled(x.bob, poll, "none")
}

// TestAnonymousPoll: while it is open nobody is told a count, and never who chose what: no page,
// stream, answer or atom has the choices or the salt of their commitment. Its end leaves the counts
// and takes the votes out of the store.
func TestAnonymousPoll(t *testing.T) {
	x := openTalk(t)
	b := lunch
	b.Anonymous, b.Multiple = true, true
	poll := x.ask(x.ana, b)
	cmd := x.post(x.ana, ubl.EntryVote, poll.ID, ubl.VoteContent(2, 3))
	secret := harness.Must[*ubl.Posted](x.House, x.room, cmd)
	again := harness.Must[*ubl.Posted](x.House, x.room, cmd)
	if v := x.decode(secret.Entry); string(v.Body.JSON) != "{}" || !v.Salt.IsZero() || !bytes.Equal(secret.Entry, again.Entry) {
		t.Errorf("a secret vote is answered %s, then %s", secret.Entry, again.Entry)
	}
	x.vote(x.bob, poll, 2)
	x.vote(x.bob, poll, 3)
	x.polled(x.ana, poll, "2 voters [] mine [2 3]")
	x.polled(x.bob, poll, "2 voters [] mine [3]")
	for _, e := range x.entries() {
		if e.Type == ubl.EntryVote && (string(e.Body.JSON) != "{}" || !e.Salt.IsZero()) {
			t.Errorf("an entry tells of a vote: %s, salt %s", e.Body.JSON, e.Salt)
		}
	}
	if n := x.ballots(); n != 2 {
		t.Errorf("%d votes are stored, want 2", n)
	}
	x.Restart()
	ended := x.end(x.ana, poll)
	if string(ended.Body.JSON) != `{"counts":[0,1,2],"voters":2}` || !x.committed(ended) {
		t.Errorf("the end says %s", ended.Body.JSON)
	}
	x.polled(x.ana, poll, "2 voters [0 1 2] mine [] ended by "+string(x.ana.UserID))
	if n := x.ballots(); n != 1 {
		t.Errorf("%d records are stored behind the end, want that of the end alone", n)
	}
	x.VerifyLedger(x.ana.TenantID)
}

// ballots counts the records of the room's polls.
func (x *talk) ballots() (n int) {
	x.t.Helper()
	err := x.Engine.View(x.t.Context(), x.room.Group(), func(snap ubl.Snapshot) error {
		return snap.Ascend([]byte("V"), []byte("W"), func(_, _ []byte) bool { n++; return true })
	})
	if err != nil {
		x.t.Fatal(err)
	}
	return n
}

// TestPollEndsByItself: at its time, after a restart too, and not once it was ended or redacted. Votes
// come too late from then on, even where the alarm does.
func TestPollEndsByItself(t *testing.T) {
	x := openTalk(t)
	b := lunch
	b.EndsAt = ubl.TimeOf(x.Clock.Now().Add(time.Hour))
	poll, early, gone := x.ask(x.bob, b), x.ask(x.bob, b), x.ask(x.bob, b)
	x.vote(x.ana, poll, 1)
	x.end(x.bob, early)
	x.vote(x.ana, gone, 2)
	x.enter(x.bob, ubl.EntryRedaction, gone.ID, ubl.RedactionContent(""))
	before := len(x.entries())
	x.Restart()
	x.Clock.Add(time.Hour)
	if _, err := x.Ask(t.Context(), x.room, x.post(x.ana, ubl.EntryVote, poll.ID, ubl.VoteContent(2))); ubl.CodeOf(err) != ubl.CodeConflict {
		t.Errorf("a vote at the end: %v", err)
	}
	x.Alarms()
	x.polled(x.bob, poll, fmt.Sprintf("1 voters [1 0 0] mine [] by [[%s] [] []] ended by %s", x.ana.UserID, ubl.Platform().UserID))
	if n := len(x.entries()); n != before+1 {
		t.Errorf("%d entries came of three alarms, want 1", n-before)
	}
	if n := x.ballots(); n != 3 { // a vote and an end, and the end of the early one
		t.Errorf("%d records of votes are left", n)
	}
	x.VerifyLedger(x.ana.TenantID)
}

// TestPollEndsAfterItsRoom: an Agreement's end stops votes, and no poll's end.
func TestPollEndsAfterItsRoom(t *testing.T) {
	x := openTalk(t)
	b := lunch
	b.EndsAt = ubl.TimeOf(x.Clock.Now().Add(time.Hour))
	poll := x.ask(x.bob, b)
	harness.Must[*ubl.AgreementView](x.House, x.room, ubl.EndAgreement{Request: x.Request(x.ana)})
	if _, err := x.Ask(t.Context(), x.room, x.post(x.ana, ubl.EntryVote, poll.ID, ubl.VoteContent(2))); err == nil {
		t.Error("somebody votes behind the end")
	}
	x.Clock.Add(time.Hour)
	x.Alarms()
	x.polled(x.bob, poll, "0 voters [0 0 0] mine [] by [[] [] []] ended by "+string(ubl.Platform().UserID))
}

// TestRedactedPoll: a redaction takes question, options and votes.
func TestRedactedPoll(t *testing.T) {
	x := openTalk(t)
	poll := x.ask(x.bob, lunch)
	x.vote(x.ana, poll, 1)
	x.enter(x.bob, ubl.EntryRedaction, poll.ID, ubl.RedactionContent(""))
	page := harness.Must[*ubl.HistoryPage](x.House, x.room, ubl.ReadHistory{Who: x.bob, Limit: 200, Entries: true, Now: true})
	for _, raw := range page.Entries {
		if bytes.Contains(raw, []byte("lake")) || bytes.Contains(raw, []byte(`"poll":`)) {
			t.Errorf("left of the poll: %s", raw)
		}
	}
	if n := x.ballots(); n != 0 {
		t.Errorf("%d votes are left", n)
	}
	if _, err := x.Ask(t.Context(), x.room, x.post(x.ana, ubl.EntryVote, poll.ID, ubl.VoteContent(2))); ubl.CodeOf(err) != ubl.CodeConflict {
		t.Errorf("a vote on what is gone: %v", err)
	}
	x.VerifyLedger(x.ana.TenantID)
}

// TestPollIsAMessage: it is unread news, has reactions, pins and a thread, and grows old.
func TestPollIsAMessage(t *testing.T) {
	x := openAging(t, harness.Options{})
	ask := func(kind ubl.EntryType, target ubl.MessageID, body ubl.TypedBody) *ubl.Entry {
		var e ubl.Entry
		posted := harness.Must[*ubl.Posted](x.House, x.room, ubl.PostEntry{Request: x.Request(x.ana), Type: kind, Target: target, Body: body})
		if err := json.Unmarshal(posted.Entry, &e); err != nil {
			t.Fatal(err)
		}
		return &e
	}
	b := lunch
	b.EndsAt = ubl.TimeOf(x.Clock.Now().Add(3 * time.Hour))
	poll := ask(ubl.EntryMessage, "", ubl.PollContent(b))
	ask(ubl.EntryReaction, poll.ID, ubl.ReactionContent("👍"))
	ask(ubl.EntryPin, poll.ID, ubl.PinContent(true))
	harness.Must[*ubl.Sent](x.House, x.room, ubl.SendMessage{Request: x.Request(x.ana), Text: "why?", Thread: poll.ID})
	ask(ubl.EntryVote, poll.ID, ubl.VoteContent(1))
	after := poll.RoomSeq - 1
	page := harness.Must[*ubl.HistoryPage](x.House, x.room, ubl.ReadHistory{Who: x.ana, After: &after, Limit: 1, Entries: true, Now: true})
	var now ubl.Entry
	if err := json.Unmarshal(page.Entries[0], &now); err != nil || !now.Pinned || len(now.Reactions) != 1 || now.Replies == nil || now.Poll == nil || now.Poll.Voters != 1 {
		t.Errorf("became of the poll: %+v, %v", now, err)
	}
	x.keep(1)
	x.pass(3 * time.Hour)
	x.pass(25 * time.Hour)
	x.pass(2 * time.Hour)
	x.armed(0)
	err := x.Engine.View(t.Context(), x.room.Group(), func(snap ubl.Snapshot) error {
		return snap.Ascend([]byte("V"), []byte("W"), func(k, _ []byte) bool { t.Errorf("retention leaves %q", k); return true })
	})
	if err != nil {
		t.Error(err)
	}
	x.VerifyLedger(x.ana.TenantID)
}

// TestPollEndCrash: the node is gone at the commit that ends a poll, before and after it is durable.
// After a restart the poll has ended once.
func TestPollEndCrash(t *testing.T) {
	for _, durable := range []bool{false, true} {
		t.Run(fmt.Sprint("durable ", durable), func(t *testing.T) {
			d := newDying(1, durable)
			x := openTalkIn(t, harness.Options{Wrap: d.wrap})
			b := lunch
			b.Anonymous, b.EndsAt = true, ubl.TimeOf(x.Clock.Now().Add(time.Hour))
			poll := x.ask(x.ana, b)
			x.vote(x.bob, poll, 3)
			d.takes(t, x.House, time.Hour)
			x.Alarms()
			x.polled(x.bob, poll, "1 voters [0 0 1] mine [] ended by "+string(ubl.Platform().UserID))
			ends := 0
			for _, e := range x.entries() {
				if e.Type == ubl.EntryPollEnd {
					ends++
				}
			}
			if ends != 1 || x.ballots() != 1 {
				t.Errorf("the poll has ended %d times, %d records are left", ends, x.ballots())
			}
			x.VerifyLedger(x.ana.TenantID)
		})
	}
}

// TestPollsCount: for random histories the counts are those of each voter's newest vote before the
// end, whoever reads them, after a restart too.
func TestPollsCount(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		x := openTalk(t)
		b := lunch
		b.Multiple, b.Anonymous = rapid.Bool().Draw(rt, "multiple"), rapid.Bool().Draw(rt, "anonymous")
		poll := x.ask(x.ana, b)
		newest, ended := map[ubl.UserID][]int{}, false
		for range rapid.IntRange(0, 12).Draw(rt, "steps") {
			who := rapid.SampledFrom([]ubl.Identity{x.ana, x.bob, x.cyd}).Draw(rt, "who")
			if rapid.IntRange(0, 9).Draw(rt, "end") == 0 {
				_, err := x.Ask(t.Context(), x.room, x.post(who, ubl.EntryPollEnd, poll.ID, ubl.PollEndContent(nil)))
				ended = ended || err == nil
				continue
			}
			choices := rapid.SliceOfN(rapid.IntRange(0, 4), 0, 3).Draw(rt, "choices")
			if _, err := x.Ask(t.Context(), x.room, x.post(who, ubl.EntryVote, poll.ID, ubl.VoteContent(choices...))); err == nil {
				slices.Sort(choices)
				newest[who.UserID] = slices.Compact(choices)
			}
		}
		if rapid.Bool().Draw(rt, "restart") {
			x.Restart()
		}
		counts, voters := make([]int64, len(b.Options)), 0
		for choices := range maps.Values(newest) {
			if len(choices) > 0 {
				voters++
			}
			for _, c := range choices {
				counts[c-1]++
			}
		}
		shown := fmt.Sprint(counts)
		if b.Anonymous && !ended {
			shown = "[]"
		}
		if want := fmt.Sprintf("%d voters %s ", voters, shown); len(newest)+map[bool]int{true: 1}[ended] > 0 && !strings.HasPrefix(x.poll(x.bob, poll), want) {
			rt.Errorf("%s reads %q, want %q", x.bob.UserID, x.poll(x.bob, poll), want)
		}
		if b.Anonymous && ended && x.ballots() != 1 {
			rt.Errorf("%d records are left", x.ballots())
		}
	})
}
