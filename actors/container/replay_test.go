package container_test

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"ubl"
	"ubl/actors"
	"ubl/actors/agreement"
	"ubl/actors/container"
	"ubl/test/harness"
)

// captured is a house with the Container family's live actors. Snapshots are made after
// every few events.
type captured struct {
	*harness.Live[target]
	every int
	t     *testing.T
	away  atomic.Bool // nothing arrives anywhere
}

func openCaptured(t *testing.T, every int) *captured {
	c := &captured{every: every, t: t}
	c.Live = harness.OpenLive(t, "container", func(local string) bool { return ubl.ContainerID(local).Valid() },
		func(ctx context.Context, read ubl.Reader, env actors.Env) (target, error) {
			x, err := container.Open(ctx, read, env, every)
			return target{x, &c.away}, err
		})
	return c
}

// target is a Container that can't be reached by transfers while it is away.
type target struct {
	*container.Container
	away *atomic.Bool
}

func (x target) Receive(t *actors.Turn, cmd ubl.Command) {
	if container.TakesIn(cmd) && x.away.Load() {
		t.Fail(ubl.Errorf(ubl.CodeUnavailable, "the target is away"))
		return
	}
	x.Container.Receive(t, cmd)
}

// TestStateIsDerived: over random histories of containers of all sorts that send
// each other things, each one loaded from what is stored knows exactly what the
// live one knows, with a snapshot and without, while transfers are under way too;
// and what it tells a Searcher leads to what it lists.
func TestStateIsDerived(t *testing.T) {
	c := openCaptured(t, 3)
	h := c.House
	worlds, underWay, restored, filled := 0, 0, int64(0), harness.Filled{}
	rapid.Check(t, func(rt *rapid.T) {
		worlds++
		c.away.Store(false)
		w := newWorld(rt, h, worlds)
		live, from := c.compare(rt, w.strand(c))
		underWay, restored = underWay+len(live.Pending), max(restored, from)
		rt.Repeat(map[string]func(*rapid.T){
			"create": w.create, "update": w.update, "delete": w.delete, "publish": w.publish,
			"credit": w.credit, "send": w.send, "retry": w.retry, "sweep": func(*rapid.T) { w.sweep(&c.away) },
			"put": w.put, "take": w.take, "add": w.add, "remove": w.remove, "heir": w.heir, "role": w.role, "terms": w.terms, "end": w.end, "again": w.again,
			"away": func(rt *rapid.T) { c.away.Store(rapid.Bool().Draw(rt, "away")) },
			"": func(rt *rapid.T) {
				live, from := c.compare(rt, w.place(rt))
				underWay, restored = underWay+len(live.Pending), max(restored, from)
				filled.Look(live)
			},
		})
	})
	if underWay == 0 || restored == 0 {
		t.Errorf("the histories had %d transfers under way, and snapshots of at most %d events", underWay, restored)
	}
	if worlds >= 50 { // fewer may all be too short
		// Of agents, and in lists, alone.
		filled.Want(t, "State.Agreement.Agreement.Mandate", "State.Agreement.Agreement.Salt", "State.Summary.Alike")
	}
}

// compare loads a container anew beside the live one, and tells how that is and how
// many events the snapshot has.
func (c *captured) compare(rt *rapid.T, at ubl.Name) (container.State, int64) {
	ctx := context.Background()
	of, loaded := c.Pair(rt, at)
	live := of.Snapshot()
	if got := loaded.Snapshot(); !reflect.DeepEqual(got, live) {
		rt.Fatalf("the loaded state of %s differs\n got %+v\nwant %+v", at, got, live)
	}
	if replayed, err := loaded.Replay(ctx); err != nil || !reflect.DeepEqual(replayed, live.State) {
		rt.Fatalf("the replayed state of %s differs: %v\n got %+v\nwant %+v", at, err, replayed, live.State)
	}
	listed, err := loaded.Listed(ctx)
	if err != nil {
		rt.Fatal(err)
	}
	told, err := loaded.Told(ctx, rapid.Int64Range(0, live.State.Events).Draw(rt, "parting"))
	if err != nil || !maps.Equal(told, listed) {
		rt.Fatalf("%s tells %v, %v; it lists %v", at, told, err, listed)
	}
	restored := harness.Saved(c.t, loaded.Read, at, append([]byte{'i', 4}, at.Local()...))
	if restored != live.State.Events-live.State.Events%int64(c.every) {
		rt.Fatalf("the snapshot of %s has %d of %d events", at, restored, live.State.Events)
	}
	return live.State, restored
}

// world drives a few containers with random commands. Refusals are part of a
// history.
type world struct {
	h      *harness.House
	users  []ubl.Identity
	places []ubl.Name
	docs   []ubl.DocumentID
	files  []ubl.FileID
	sends  []sent
	told   []told
	// proposed are the newest terms that somebody proposed.
	proposed ubl.Terms
}

// told is a command with its first answer.
type told struct {
	at     ubl.Name
	cmd    ubl.Command
	answer any
}

type sent struct {
	from ubl.Name
	cmd  ubl.Transfer
}

func newWorld(rt *rapid.T, h *harness.House, n int) *world {
	w := &world{h: h}
	for i := range 3 {
		u := harness.User(fmt.Sprintf("user%d@example.com", i))
		h.Enter(u)
		w.users = append(w.users, u)
	}
	wallet := ubl.Physics{Fungibility: ubl.Strict, Topology: ubl.Values, Permeability: ubl.Gated, Execution: ubl.Disabled}
	kind := ubl.Kind{
		Name: "case", Agreement: "case_agreement", Physics: ubl.WorkspaceKind().Physics, Content: []string{"text/plain"}, Tools: []string{"files.read"},
	}
	harness.Must[*ubl.Kind](h, ubl.TenantName(w.users[0].TenantID), ubl.SetKind{Request: h.Request(w.users[0]), Kind: kind})
	for i := range 5 {
		kind := "container"
		physics := rapid.SampledFrom([]ubl.Physics{
			{Fungibility: ubl.Versioned, Topology: ubl.Objects, Permeability: ubl.Collaborative, Execution: ubl.Sandboxed},
			{Fungibility: ubl.Strict, Topology: ubl.Objects, Permeability: ubl.Gated, Execution: ubl.Disabled},
			wallet,
			{Fungibility: ubl.Transient, Topology: ubl.Links, Permeability: ubl.Open, Execution: ubl.Disabled},
		}).Draw(rt, "physics")
		switch {
		case i < 2:
			physics = wallet
		case i == 4:
			kind = "case"
		}
		made := harness.Must[*ubl.ContainerMade](h, ubl.TenantName(w.users[0].TenantID), ubl.CreateContainer{
			Request: h.Request(w.users[0]), Kind: kind, Name: fmt.Sprintf("place %d %d", n, i), Physics: &physics,
		})
		at := ubl.ContainerName(w.users[0].TenantID, made.Container.ContainerID)
		harness.Must[*ubl.Container](h, at, ubl.GetContainer{Who: w.users[0]})
		w.places = append(w.places, at)
	}
	return w
}

// strand begins a history with a transfer that can't arrive yet, and tells where.
func (w *world) strand(c *captured) ubl.Name {
	from, to, owner := w.places[0], ubl.ContainerID(w.places[1].Local()), w.users[0]
	w.ask(ubl.TenantName(owner.TenantID), ubl.IssueCredits{Request: w.h.Request(owner), To: ubl.ContainerID(from.Local()), Amount: 50})
	c.away.Store(true)
	defer c.away.Store(false)
	w.ask(from, ubl.Transfer{Request: w.h.Request(owner), To: to, Amount: 1})
	return from
}

func (w *world) ask(at ubl.Name, cmd ubl.Command) {
	answer, err := w.h.Ask(context.Background(), at, cmd)
	if r, ok := answer.(*ubl.DocumentResult); ok && err == nil {
		w.docs = append(w.docs, r.Document.DocumentID)
	}
	if r, ok := answer.(*ubl.FileResult); ok && err == nil {
		w.files = append(w.files, r.File.FileID)
	}
	if err == nil {
		w.told = append(w.told, told{at, cmd, answer})
	}
}

// again asks what was answered once more, maybe of an actor that is loaded anew: the
// answer from memory and that from the store are one.
func (w *world) again(rt *rapid.T) {
	if rapid.IntRange(0, 3).Draw(rt, "reload") == 0 {
		w.h.Reload()
	}
	for _, first := range w.told {
		if _, keyless := first.cmd.(ubl.Sweep); keyless {
			continue
		}
		again, err := w.h.Ask(context.Background(), first.at, first.cmd)
		if ubl.CodeOf(err) == ubl.CodeConflict && !w.here(first) {
			continue
		}
		if err != nil || !reflect.DeepEqual(again, first.answer) {
			rt.Fatalf("%T is answered again with\n%+v, %v, first with\n%+v", first.cmd, again, err, first.answer)
		}
	}
	w.told = w.told[:0]
}

// here tells whether what an act has written or put is still in its container.
func (w *world) here(of told) bool {
	switch answer := of.answer.(type) {
	case *ubl.DocumentResult:
		cmd := ubl.GetDocument{Request: w.h.Request(w.users[0]), DocumentID: answer.Document.DocumentID}
		got, err := ubl.Ask[*ubl.DocumentResult](context.Background(), w.h.Runtime, of.at, cmd)
		return err != nil || got.Document != nil
	case *ubl.FileResult:
		_, err := w.h.Ask(context.Background(), of.at, ubl.GetFile{Request: w.h.Request(w.users[0]), FileID: answer.File.FileID})
		return ubl.CodeOf(err) != ubl.CodeNotFound
	}
	return true
}

func (w *world) place(rt *rapid.T) ubl.Name { return rapid.SampledFrom(w.places).Draw(rt, "place") }

func (w *world) user(rt *rapid.T) ubl.Identity { return rapid.SampledFrom(w.users).Draw(rt, "user") }

// request is mostly the owner's: others are refused in many places.
func (w *world) request(rt *rapid.T) ubl.Request {
	if rapid.IntRange(0, 3).Draw(rt, "other") > 0 {
		return w.h.Request(w.users[0])
	}
	return w.h.Request(w.user(rt))
}

func (w *world) doc(rt *rapid.T) ubl.DocumentID {
	return rapid.SampledFrom(append([]ubl.DocumentID{"d:never"}, w.docs...)).Draw(rt, "document")
}

func (w *world) text(rt *rapid.T) string { return rapid.StringN(0, 5, -1).Draw(rt, "text") }

func (w *world) create(rt *rapid.T) {
	w.ask(w.place(rt), ubl.CreateDocument{Request: w.request(rt), Title: w.text(rt), Content: w.text(rt)})
}

func (w *world) update(rt *rapid.T) {
	c := ubl.UpdateDocument{Request: w.request(rt), DocumentID: w.doc(rt), IfVersion: rapid.Int64Range(0, 2).Draw(rt, "version")}
	title, content := w.text(rt), w.text(rt)
	if rapid.Bool().Draw(rt, "title") {
		c.Title = &title
	}
	if rapid.Bool().Draw(rt, "content") {
		c.Content = &content
	}
	w.ask(w.place(rt), c)
}

func (w *world) delete(rt *rapid.T) {
	w.ask(w.place(rt), ubl.DeleteDocument{Request: w.request(rt), DocumentID: w.doc(rt)})
}

// publish brings a few documents up to what they are at their source, and then others of them.
func (w *world) publish(rt *rapid.T) {
	at := w.place(rt)
	for range 2 {
		c := ubl.PublishDocuments{Request: w.request(rt), RemoveMost: true}
		if rapid.Bool().Draw(rt, "commit") {
			c.Commit = strings.Repeat("a1", 20)
		}
		for _, id := range []string{"one", "two", "three"} {
			key := ubl.DocumentKey{Type: "tag", ID: id}
			switch rapid.IntRange(0, 2).Draw(rt, "what") {
			case 0:
				c.Remove = append(c.Remove, key)
			case 1:
				c.Put = append(c.Put, ubl.DocumentToPublish{
					DocumentKey: key, Path: "tags/" + id + ".md", Metadata: []byte(`{ "publish": true }`),
					Title: rapid.SampledFrom([]string{"A", "B"}).Draw(rt, "title"), Content: rapid.SampledFrom([]string{"a", "b"}).Draw(rt, "content"),
				})
			}
		}
		r, err := ubl.Ask[*ubl.DocumentsPublished](context.Background(), w.h.Runtime, at, c)
		if err != nil {
			continue
		}
		for _, d := range r.Changed {
			w.docs = append(w.docs, d.DocumentID)
		}
		w.told = append(w.told, told{at, c, r})
	}
}

func (w *world) put(rt *rapid.T) {
	c := ubl.PutFile{Request: w.request(rt), Name: w.text(rt), Blob: blobID, Bytes: rapid.Int64Range(0, 9).Draw(rt, "bytes")}
	if rapid.IntRange(0, 3).Draw(rt, "held") == 0 {
		c.DocumentID = w.doc(rt)
	}
	w.ask(w.place(rt), c)
}

func (w *world) take(rt *rapid.T) {
	id := rapid.SampledFrom(append([]ubl.FileID{"f:never"}, w.files...)).Draw(rt, "file")
	w.ask(w.place(rt), ubl.RemoveFile{Request: w.request(rt), FileID: id})
}

func (w *world) credit(rt *rapid.T) {
	w.ask(ubl.TenantName(w.users[0].TenantID), ubl.IssueCredits{
		Request: w.request(rt), To: ubl.ContainerID(w.place(rt).Local()), Amount: rapid.Int64Range(0, 50).Draw(rt, "amount"),
	})
}

func (w *world) send(rt *rapid.T) {
	s := sent{w.place(rt), ubl.Transfer{Request: w.request(rt), To: ubl.ContainerID(w.place(rt).Local())}}
	switch rapid.IntRange(0, 2).Draw(rt, "what") {
	case 0:
		s.cmd.Amount = rapid.Int64Range(0, 50).Draw(rt, "amount")
	case 1:
		s.cmd.DocumentID = w.doc(rt)
	case 2:
		s.cmd.Title, s.cmd.Content = w.text(rt), w.text(rt)
	}
	w.sends = append(w.sends, s)
	w.ask(s.from, s.cmd)
}

func (w *world) retry(rt *rapid.T) {
	if len(w.sends) > 0 {
		s := rapid.SampledFrom(w.sends).Draw(rt, "send")
		w.ask(s.from, s.cmd)
	}
}

// sweep lets alarms come due, where that ends them: else they would be tried beside what
// comes next.
func (w *world) sweep(away *atomic.Bool) {
	if away.Load() {
		return
	}
	w.h.Clock.Add(time.Minute)
	w.h.Alarms()
}

func (w *world) add(rt *rapid.T) {
	m := w.user(rt)
	w.ask(w.place(rt), ubl.AddMember{Request: w.request(rt), Member: ubl.Member{UserID: m.UserID, Email: m.Email, Role: w.drawRole(rt)}})
}

func (w *world) drawRole(rt *rapid.T) ubl.Role {
	return rapid.SampledFrom([]ubl.Role{ubl.RoleOwner, ubl.RoleMember, "king"}).Draw(rt, "role")
}

func (w *world) remove(rt *rapid.T) {
	c := ubl.RemoveMember{Request: w.request(rt), UserID: w.user(rt).UserID, Expel: rapid.Bool().Draw(rt, "expel")}
	if named := w.user(rt); c.Expel && rapid.Bool().Draw(rt, "named") {
		c.Named = &ubl.Member{UserID: named.UserID, Email: named.Email}
	}
	w.ask(w.place(rt), c)
}

// heir names somebody, nobody, or gives what is sealed away.
func (w *world) heir(rt *rapid.T) {
	m := ubl.Member{UserID: w.user(rt).UserID}
	switch rapid.IntRange(0, 3).Draw(rt, "how") {
	case 0:
		w.ask(w.place(rt), ubl.SetHeir{Request: w.request(rt)})
	case 1:
		w.ask(w.place(rt), agreement.Inherit{Request: w.request(rt), Heir: m})
	default:
		w.ask(w.place(rt), ubl.SetHeir{Request: w.request(rt), Heir: m})
	}
}

func (w *world) role(rt *rapid.T) {
	w.ask(w.place(rt), ubl.SetMember{Request: w.request(rt), UserID: w.user(rt).UserID, Role: w.drawRole(rt)})
}

func (w *world) end(rt *rapid.T) {
	if rapid.IntRange(0, 19).Draw(rt, "seldom") == 0 {
		w.ask(w.place(rt), ubl.EndAgreement{Request: w.request(rt)})
	}
}

// terms proposes some, answers a proposal, or takes it away.
func (w *world) terms(rt *rapid.T) {
	switch rapid.IntRange(0, 4).Draw(rt, "terms") {
	case 0:
		w.ask(w.place(rt), ubl.WithdrawTerms{Request: w.request(rt)})
	case 1, 2:
		w.ask(w.place(rt), ubl.AcceptTerms{Request: w.request(rt), TermsHash: w.proposed.Hash()})
	default:
		w.proposed = harness.DrawTerms(rt, "office.*")
		at, u := w.place(rt), w.users[1]
		w.ask(at, ubl.AddMember{Request: w.h.Request(w.users[0]), Member: ubl.Member{UserID: u.UserID, Email: u.Email, Role: ubl.RoleOwner}})
		for range 2 { // the second may have to be accepted
			w.ask(at, ubl.ProposeTerms{Request: w.h.Request(w.users[0]), Terms: w.proposed})
		}
	}
}
