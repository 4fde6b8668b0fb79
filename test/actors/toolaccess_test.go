package actors_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"ubl"
	"ubl/actors"
	"ubl/test/harness"
	"ubl/test/poll"
)

// tools is a yard whose ledger is at hand.
type tools struct {
	*yard
	tenant ubl.Name
}

func openTools(t *testing.T, opts harness.Options) *tools {
	y := openYard(t, harness.Open(t, opts))
	return &tools{yard: y, tenant: ubl.TenantName(y.ana.TenantID)}
}

// use enters with a tool, and gives the code of the refusal, "" for none.
func (w *tools) use(who ubl.Identity, tool string, external bool) ubl.Code {
	_, err := w.Ask(context.Background(), w.tenant, ubl.Enter{Request: w.Request(who), Act: true, Tool: tool, External: external})
	return ubl.CodeOf(err)
}

func (w *tools) set(c ubl.SetToolAccess) *ubl.ToolAccess {
	w.t.Helper()
	c.Request = w.Request(w.ana)
	return harness.Must[*ubl.ToolAccess](w.House, w.tenant, c)
}

// since are the atoms after a head.
func (w *tools) since(head int64) []atom {
	w.t.Helper()
	page := harness.Must[*ubl.AtomPage](w.House, ubl.LedgerName(w.ana.TenantID), ubl.ReadAtoms{From: head + 1, Limit: 500})
	out := make([]atom, len(page.Atoms))
	for i, raw := range page.Atoms {
		out[i] = atomOf(w.t, raw)
	}
	return out
}

// TestWhoMayUseATool: records, callers, and what Enter says to them. A refusal
// leaves a denied act and its effect under the record that decided, and an
// allowed call nothing.
func TestWhoMayUseATool(t *testing.T) {
	w := openTools(t, harness.Options{})
	grouped := w.bob
	grouped.Groups = []string{"staff", "ops"}
	everyone := func(tool string) ubl.SetToolAccess { return ubl.SetToolAccess{Tool: tool, Allowed: true} }
	for i, test := range []struct {
		what     string
		record   *ubl.SetToolAccess // its tool is named by the test
		external bool
		who      ubl.Identity
		want     ubl.Code
	}{
		{"our own, no record", nil, false, w.bob, ""},
		{"another server's, no record", nil, true, w.bob, ubl.CodeForbidden},
		{"another server's, no record, an owner", nil, true, w.ana, ubl.CodeForbidden},
		{"our own, for everyone", &ubl.SetToolAccess{Allowed: true}, false, w.bob, ""},
		{"another server's, for everyone", &ubl.SetToolAccess{Allowed: true}, true, w.bob, ""},
		{"closed", &ubl.SetToolAccess{}, false, w.bob, ubl.CodeForbidden},
		{"closed, an owner", &ubl.SetToolAccess{}, false, w.ana, ubl.CodeForbidden},
		{"closed, though named", &ubl.SetToolAccess{Users: []ubl.UserID{w.bob.UserID}}, true, w.bob, ubl.CodeForbidden},
		{"for one user, that one", &ubl.SetToolAccess{Allowed: true, Users: []ubl.UserID{w.bob.UserID}}, true, w.bob, ""},
		{"for one user, another", &ubl.SetToolAccess{Allowed: true, Users: []ubl.UserID{w.ana.UserID}}, true, w.bob, ubl.CodeForbidden},
		{"for a group, one of it", &ubl.SetToolAccess{Allowed: true, Groups: []string{"ops"}}, false, grouped, ""},
		{"for a group, no one of it", &ubl.SetToolAccess{Allowed: true, Groups: []string{"ops"}}, false, w.bob, ubl.CodeForbidden},
		{"for a user or a group, neither", &ubl.SetToolAccess{Allowed: true, Users: []ubl.UserID{w.ana.UserID}, Groups: []string{"board"}}, true, grouped, ubl.CodeForbidden},
	} {
		t.Run(test.what, func(t *testing.T) {
			tool, under := fmt.Sprintf("files.tool-%d", i), string(ubl.TenantAgreement(w.ana.TenantID))
			if test.record != nil {
				test.record.Tool = tool
				w.set(*test.record)
				under = string(ubl.ToolAgreement(tool))
			}
			for _, loaded := range []string{"live", "loaded anew"} {
				w.Enter(test.who)
				head := w.head()
				if got := w.use(test.who, tool, test.external); got != test.want {
					t.Errorf("%s: %q, want %q", loaded, got, test.want)
				}
				atoms := w.since(head)
				if test.want == "" {
					if len(atoms) != 0 {
						t.Errorf("%s: an allowed call left %d atoms", loaded, len(atoms))
					}
				} else {
					denied(t, atoms, tool, under, test.who.UserID, test.want)
				}
				w.Reload()
			}
		})
	}
	t.Run("a name that no atom could hold", func(t *testing.T) {
		head := w.head()
		for _, name := range []string{"", "a b", "a/b", strings.Repeat("x", ubl.MaxToolName+1)} {
			if got := w.use(w.bob, name, true); got != ubl.CodeUnknownTool {
				t.Errorf("%q: %q", name, got)
			}
		}
		if w.head() != head {
			t.Error("it is on record")
		}
	})
	t.Run("another tenant's record", func(t *testing.T) {
		w.set(everyone("files.shared"))
		for _, tenant := range []ubl.Name{w.tenant, ubl.TenantName(w.eve.TenantID)} {
			w.Refused(ubl.CodeForbidden, tenant, ubl.Enter{Request: w.Request(w.eve), Tool: "files.shared", External: true})
		}
	})
	w.checkLedger()
}

// denied wants one refusal among atoms, and nothing else.
func denied(t *testing.T, atoms []atom, tool, under string, user ubl.UserID, code ubl.Code) {
	t.Helper()
	if len(atoms) != 2 {
		t.Fatalf("a refusal left %d atoms, want an action and an effect", len(atoms))
	}
	action, effect := atoms[0], atoms[1]
	if action.Did != string(ubl.DidToolDeny) || action.Status != "denied" || action.AgreementID != under || action.Who.UserID != user ||
		fmt.Sprint(action.This) != fmt.Sprint(map[string]any{"code": code, "tool": tool, "user_id": user}) {
		t.Errorf("the action is %+v", action)
	}
	if effect.RefActionCID != action.CID || effect.Outcome != "error" || effect.Error == nil || effect.Error.Code != string(code) || len(effect.Effects) != 0 {
		t.Errorf("the effect is %+v", effect)
	}
}

// TestToolLimit: a caller's calls of a tool in a minute. The bucket fills up
// evenly, and each refusal is on record.
func TestToolLimit(t *testing.T) {
	w := openTools(t, harness.Options{})
	w.set(ubl.SetToolAccess{Tool: "messenger.send", Allowed: true, PerMinute: 3})
	w.set(ubl.SetToolAccess{Tool: "files.read", Allowed: true, PerMinute: ubl.MaxPerMinute})
	const limited = ubl.CodeRateLimited
	for i, step := range []struct {
		after time.Duration // since the step before
		who   ubl.Identity
		tool  string
		want  ubl.Code
	}{
		{0, w.bob, "messenger.send", ""},
		{0, w.bob, "messenger.send", ""},
		{0, w.bob, "messenger.send", ""},
		{0, w.bob, "messenger.send", limited},
		{0, w.bob, "messenger.send", limited},                              // once more
		{0, w.ana, "messenger.send", ""},                                   // another caller
		{0, w.bob, "files.read", ""},                                       // another tool
		{19 * time.Second, w.bob, "messenger.send", limited},               // a third of a minute is not over
		{time.Second, w.bob, "messenger.send", ""},                         // it is
		{0, w.bob, "messenger.send", limited},                              // it was one
		{-time.Hour, w.bob, "messenger.send", limited},                     // a clock set back
		{20 * time.Second, w.bob, "messenger.send", ""},                    // counts on from there
		{time.Hour, w.bob, "messenger.send", ""},                           // full again
		{0, w.bob, "messenger.send", ""}, {0, w.bob, "messenger.send", ""}, // and not fuller
		{0, w.bob, "messenger.send", limited},
	} {
		w.Clock.Add(step.after)
		head := w.head()
		if got := w.use(step.who, step.tool, false); got != step.want {
			t.Fatalf("step %d: %q, want %q", i, got, step.want)
		}
		setBack := step.after < 0 // which takes the caller's refusals of a minute too
		if atoms := w.since(head); step.want != "" && !setBack {
			denied(t, atoms, step.tool, string(ubl.ToolAgreement(step.tool)), step.who.UserID, limited)
		} else if len(atoms) != 0 {
			t.Fatalf("step %d left %d atoms", i, len(atoms))
		}
	}
	t.Run("what goes on isn't counted", func(t *testing.T) {
		still := ubl.Enter{Request: w.Request(w.bob), Tool: "messenger.send", Still: true}
		for range 10 { // the bucket is empty
			if _, err := w.Ask(t.Context(), w.tenant, still); err != nil {
				t.Fatal(err)
			}
		}
		w.Clock.Add(20 * time.Second)
		if got := w.use(w.bob, "messenger.send", false); got != "" {
			t.Errorf("a call is refused with %q after ten looks", got)
		}
		w.set(ubl.SetToolAccess{Tool: "messenger.send", Users: []ubl.UserID{w.ana.UserID}})
		if _, err := w.Ask(t.Context(), w.tenant, still); ubl.CodeOf(err) != ubl.CodeForbidden {
			t.Errorf("what a closed tool was begun with goes on: %v", err)
		}
	})
	t.Run("the largest limit", func(t *testing.T) {
		w.Clock.Add(time.Hour)
		passed := 0
		for range 1000 {
			if w.use(w.bob, "files.read", false) == "" {
				passed++
			}
		}
		if passed != 1000 {
			t.Errorf("%d of 1000 passed", passed)
		}
	})
	t.Run("a lower limit holds at once", func(t *testing.T) {
		w.set(ubl.SetToolAccess{Tool: "files.read", Allowed: true, PerMinute: 1})
		w.Clock.Add(time.Minute)
		if first, second := w.use(w.bob, "files.read", false), w.use(w.bob, "files.read", false); first != "" || second != limited {
			t.Errorf("%q, then %q", first, second)
		}
	})
	t.Run("no limit", func(t *testing.T) {
		w.set(ubl.SetToolAccess{Tool: "files.read", Allowed: true})
		if got := w.use(w.bob, "files.read", false); got != "" {
			t.Errorf("%q", got)
		}
	})
	w.checkLedger()
}

// TestRefusedOverAndOver: however often a caller is refused, for whatever tools,
// their refusals on record are as many as a minute has seconds, then one a second.
func TestRefusedOverAndOver(t *testing.T) {
	w := openTools(t, harness.Options{})
	w.set(ubl.SetToolAccess{Tool: "messenger.send", Allowed: true, PerMinute: 1})
	tried := 0
	refused := func(who ubl.Identity, times int) (told int) {
		head := w.head()
		for range times {
			tried++
			if got := w.use(who, fmt.Sprintf("made.up-%d", tried), true); got != ubl.CodeForbidden {
				t.Fatalf("%q", got)
			}
		}
		return len(w.since(head)) / 2
	}
	if told := refused(w.bob, 100); told != 60 { // a minute's worth
		t.Errorf("%d of 100 refusals are on record, want 60", told)
	}
	if told := refused(w.ana, 1); told != 1 {
		t.Error("another caller's refusal is not on record")
	}
	for _, after := range []struct {
		wait time.Duration
		told int
	}{{999 * time.Millisecond, 0}, {time.Millisecond, 1}, {10 * time.Second, 10}, {time.Hour, 60}} {
		w.Clock.Add(after.wait)
		if told := refused(w.bob, 100); told != after.told {
			t.Errorf("%s later %d are on record, want %d", after.wait, told, after.told)
		}
	}
	head := w.head()
	if first, second := w.use(w.bob, "messenger.send", false), w.use(w.bob, "messenger.send", false); first != "" || second != ubl.CodeRateLimited {
		t.Fatalf("%q, then %q", first, second)
	}
	if w.head() != head {
		t.Error("a limit that is run into counts for itself")
	}
	w.checkLedger()
}

// TestNewcomerIsTurnedAway: the tool that a newcomer's first request names is judged before
// anything changes, in the role that they would have. Refused, that is on record where there is a
// tenant, and nobody has joined or founded one; allowed, they are welcomed.
func TestNewcomerIsTurnedAway(t *testing.T) {
	w := openTools(t, harness.Options{})
	cleo := harness.User("cleo@example.com") // nobody yet
	head := w.head()
	if got := w.use(cleo, "files.read", true); got != ubl.CodeForbidden {
		t.Fatalf("%q", got)
	}
	denied(t, w.since(head), "files.read", string(ubl.TenantAgreement(w.ana.TenantID)), cleo.UserID, ubl.CodeForbidden)
	w.set(ubl.SetToolAccess{Tool: "files.read", Allowed: true})
	head = w.head()
	if got := w.use(cleo, "files.read", true); got != "" {
		t.Fatalf("a tool that is open to members is refused to a newcomer: %q", got)
	}
	if atoms := w.since(head); atoms[0].Did != string(ubl.DidTenantJoin) || atoms[0].Who.UserID != cleo.UserID {
		t.Fatalf("the atoms are %+v", atoms)
	}
	harness.Must[*ubl.Room](w.House, ubl.RoomName(w.ana.TenantID, ubl.GeneralRoom), ubl.GetRoom{Who: cleo})

	alone := harness.User("alone@solo.example")
	solo := ubl.TenantName(alone.TenantID)
	w.Refused(ubl.CodeForbidden, solo, ubl.Enter{Request: w.Request(alone), Tool: "files.read", External: true})
	if head := harness.Must[ubl.LedgerHead](w.House, ubl.LedgerName(alone.TenantID), ubl.GetLedgerHead{}); head.Seq != 0 {
		t.Errorf("a refusal has founded a tenant, with %d atoms", head.Seq)
	}
	first := harness.Must[*ubl.Entered](w.House, solo, ubl.Enter{Request: w.Request(alone), Act: true, Tool: "portal.server.add"})
	if first.Role != ubl.RoleOwner {
		t.Error("the first of a tenant doesn't own it")
	}
	w.VerifyLedger(alone.TenantID)
}

// TestRefusedIsNotNamed: what a credential calls a member is recorded with the first request that
// may be, and with none whose tool is closed.
func TestRefusedIsNotNamed(t *testing.T) {
	w := openTools(t, harness.Options{})
	head := w.head()
	named := ubl.Enter{Request: w.Request(w.bob), Act: true, Name: "Bob", Tool: "files.read", External: true}
	w.Refused(ubl.CodeForbidden, w.tenant, named)
	denied(t, w.since(head), "files.read", string(ubl.TenantAgreement(w.ana.TenantID)), w.bob.UserID, ubl.CodeForbidden)
	head = w.head()
	named.Tool, named.External, named.Request = "messenger.send", false, w.Request(w.bob)
	harness.Must[*ubl.Entered](w.House, w.tenant, named)
	if atoms := w.since(head); len(atoms) != 2 || atoms[0].Did != string(ubl.DidTenantMemberUpdate) {
		t.Errorf("the atoms are %+v", atoms)
	}
}

// TestRefusedUsesNothingUp: a limit counts what all that judges it has allowed. What the record
// of a part of a tool refuses doesn't count for the whole tool, nor for an agent's mandate.
func TestRefusedUsesNothingUp(t *testing.T) {
	w := openTools(t, harness.Options{})
	w.set(ubl.SetToolAccess{Tool: "messenger.history", Allowed: true, PerMinute: 1})
	w.set(ubl.SetToolAccess{Tool: "messenger.thread"})
	for range 3 {
		if got := w.use(w.bob, "messenger.thread", false); got != ubl.CodeForbidden {
			t.Fatalf("%q", got)
		}
	}
	if got := w.use(w.bob, "messenger.history", false); got != "" {
		t.Errorf("after refusals of its part, a tool is refused with %q", got)
	}
	if got := w.use(w.bob, "messenger.pins", false); got != ubl.CodeRateLimited {
		t.Errorf("another part of a tool that is used up is answered %q", got)
	}
}

// TestOrderOfTheGate: membership comes first, then the TenantLicense, then the
// tool. After the license has ended nothing more is put on record.
func TestOrderOfTheGate(t *testing.T) {
	w := openTools(t, harness.Options{})
	w.set(ubl.SetToolAccess{Tool: "messenger.send"})
	w.set(ubl.SetToolAccess{Tool: "messenger.history", Allowed: true, PerMinute: 1})
	harness.Must[*ubl.Member](w.House, w.tenant, ubl.RemoveTenantMember{Request: w.Request(w.ana), UserID: w.bob.UserID})
	head := w.head()
	if got := w.use(w.bob, "messenger.send", false); got != ubl.CodeForbidden || w.head() != head {
		t.Errorf("one who was shut out: %q, and the ledger went from %d to %d", got, head, w.head())
	}
	harness.Must[*ubl.AgreementView](w.House, w.tenant, ubl.EndAgreement{Request: w.Request(w.ana)})
	head = w.head()
	for _, tool := range []string{"messenger.send", "messenger.history", "messenger.history"} {
		if got := w.use(w.ana, tool, false); got != ubl.CodeForbidden {
			t.Errorf("an act after the end: %q", got)
		}
	}
	for _, want := range []ubl.Code{"", ubl.CodeRateLimited} { // the refused acts above have used nothing up
		_, err := w.Ask(context.Background(), w.tenant, ubl.Enter{Request: w.Request(w.ana), Tool: "messenger.history"})
		if ubl.CodeOf(err) != want {
			t.Errorf("reading after the end: %v, want %q", err, want)
		}
	}
	if w.head() != head {
		t.Error("the ledger of an ended tenant grows")
	}
}

// TestToolsChangedIsTold: whoever shows lists of tools learns when they change.
func TestToolsChangedIsTold(t *testing.T) {
	w := openTools(t, harness.Options{})
	var mu sync.Mutex
	var told []string
	defer w.Subscribe(ubl.LedgerName(w.ana.TenantID), func(p ubl.Publication) {
		mu.Lock()
		defer mu.Unlock()
		for _, e := range p.Events {
			if e.Kind == ubl.EventToolsChanged {
				told = append(told, fmt.Sprint(e.TenantID, " ", string(e.Payload), " ", e.LedgerSeq == p.Last, e.RoomID))
			}
		}
	})()
	w.set(ubl.SetToolAccess{Tool: "files.read", Allowed: true})
	w.use(w.bob, "files.write", true) // a refusal changes nothing
	harness.Must[*ubl.AgreementView](w.House, w.tenant, ubl.EndAgreement{Request: w.Request(w.ana), Agreement: "a:tool:files.read"})
	mu.Lock()
	defer mu.Unlock()
	if want := `t:example.com {"tool":"files.read"} true`; !slices.Equal(told, []string{want, want}) {
		t.Errorf("told %q", told)
	}
}

// TestRefusalsWaitForTheirRecord: a refusal is answered once it is on record, and
// where there is no room for one the answer says so instead.
func TestRefusalsWaitForTheirRecord(t *testing.T) {
	h, v := openWithValve(t, actors.Limits{GroupWrites: 1})
	ana := harness.User("ana@example.com")
	h.Enter(ana)
	refused := func() <-chan ubl.Code {
		done := make(chan ubl.Code, 1)
		go func() {
			_, err := h.Ask(context.Background(), ubl.TenantName(ana.TenantID), ubl.Enter{Request: h.Request(ana), Tool: "files.read", External: true})
			done <- ubl.CodeOf(err)
		}()
		return done
	}
	v.close()
	first := refused()
	poll.Until(t, "the refusal is submitted", func() bool { return v.holds() == 1 })
	second := refused()
	poll.Until(t, "both are decided", func() bool { return h.Stats().Waiting == 0 })
	select {
	case code := <-first:
		t.Fatalf("answered %q before it was durable", code)
	case <-time.After(20 * time.Millisecond):
	}
	v.open()
	if a, b := <-first, <-second; a != ubl.CodeForbidden || b != ubl.CodeOverloaded {
		t.Errorf("answered %q and %q", a, b)
	}
}
