package e2e

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"ubl/test/poll"
)

// TestSealedRoomStaysShut: a private room and workspace whose only member was removed
// are read by nobody, owners of the tenant included, over REST, streams, MCP, search and
// export. Their heir reads what comes afterwards, and nothing from before.
func TestSealedRoomStaysShut(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	g := openGone(ctx, t)
	bob, ana := g.agents[2], g.n.bearer("ana", g.ana.token)
	const secret = "the combination is 4711"
	for _, made := range []struct{ path, body string }{
		{"/api/rooms", `{"name":"plans"}`},
		{"/api/rooms/r:plans/messages", fmt.Sprintf(`{"type":"text","body":{"text":%q}}`, secret)},
		{"/api/workspaces", `{"name":"shelf"}`},
		{"/api/workspaces/w:shelf/documents", fmt.Sprintf(`{"title":"combination","content":%q}`, secret)},
	} {
		status, answer := bob.ask("POST", made.path, made.body)
		if status != http.StatusCreated {
			t.Fatalf("POST %s: %d %s", made.path, status, answer)
		}
		if _, rest, ok := strings.Cut(answer, `"document_id":"`); ok {
			g.plan, _, _ = strings.Cut(rest, `"`)
		}
		if _, rest, ok := strings.Cut(answer, `"msg_id":"`); ok {
			g.said, _, _ = strings.Cut(rest, `"`)
			_, rest, _ = strings.Cut(rest, `"seq":`)
			g.when = rest[:strings.IndexAny(rest, ",}")]
		}
	}
	bob.opensMCP()
	for what, look := range g.looks(bob) { // else a refusal would prove nothing
		if status, answer := look(); failed(status, answer) {
			t.Fatalf("bob looks by %s: %d %s", what, status, answer)
		}
	}
	if _, answer := bob.ask("GET", "/api/rooms/r:plans/history", ""); !strings.Contains(answer, secret) {
		t.Fatalf("bob reads %s", answer)
	}
	poll.Until(t, "bob finds what was said", func() bool {
		_, answer := bob.ask("GET", "/api/search?query=combination", "")
		return strings.Contains(answer, secret)
	})
	live := ana.opens("/api/events")
	must(t, g.ana.do(ctx, "DELETE", "/api/tenant/members/"+g.id, "", nil, nil))
	sealed := false
	for _, atom := range g.ana.atoms(ctx, t) {
		sealed = sealed || strings.Contains(atom, `"op":"agreement.seal"`) && strings.Contains(atom, "a:room:r:plans")
	}
	if !sealed {
		t.Error("no receipt says that the room was sealed")
	}
	g.shut(t, ana, secret)

	cem := g.n.bearer("cem", g.n.token("cem@expel.example"))
	heir := g.n.client(g.n.token("cem@expel.example")).identityOf(ctx, t)
	g.shut(t, cem, secret)
	for _, of := range []string{"a:room:r:plans", "a:workspace:w:shelf"} {
		must(t, g.ana.do(ctx, "POST", "/api/agreements/"+of+"/heir", "", map[string]any{"user_id": heir}, nil))
	}
	g.shut(t, ana, secret)
	if status, answer := cem.ask("POST", "/api/rooms/r:plans/messages", `{"type":"text","body":{"text":"mine now"}}`); status != http.StatusCreated {
		t.Errorf("the heir writes: %d %s", status, answer)
	}
	cem.opensMCP()
	for what, look := range g.looks(cem) {
		if _, answer := look(); strings.Contains(answer, secret) {
			t.Errorf("the heir reads by %s what was said before: %s", what, answer)
		}
	}
	g.findsNothing(t, cem, secret)
	if _, answer := cem.ask("GET", "/api/rooms/r:plans/history", ""); !strings.Contains(answer, "mine now") {
		t.Errorf("the heir reads %s", answer)
	}
	if live.has(secret) || live.has("mine now") {
		t.Error("the owner's stream carried what was said in the room")
	}
}

// findsNothing wants a search over all that somebody may read to find nothing of the secret.
func (g *gone) findsNothing(t *testing.T, a *agent, secret string) {
	t.Helper()
	if status, answer := a.ask("GET", "/api/search?query=combination", ""); status != http.StatusOK || strings.Contains(answer, secret) {
		t.Errorf("a search answers %d %s", status, answer)
	}
}

// looks are all ways to look into the room and the workspace.
func (g *gone) looks(a *agent) map[string]func() (int, string) {
	looks := map[string]func() (int, string){}
	for _, r := range []struct{ method, path, body string }{
		{"GET", "/api/rooms/r:plans", ""},
		{"GET", "/api/rooms/r:plans/history", ""},
		{"GET", "/api/rooms/r:plans/history?limit=1&cursor=3", ""},
		{"GET", "/api/rooms/r:plans/members", ""},
		{"GET", "/api/rooms/r:plans/entries", ""},
		{"GET", "/api/rooms/r:plans/pins", ""},
		{"GET", "/api/rooms/r:plans/entries/" + g.said + "/thread", ""},
		{"GET", "/api/rooms/r:plans/files", ""},
		{"GET", "/api/rooms/r:plans?as_of=" + g.when, ""},
		{"GET", "/api/events/rooms/r:plans?from_seq=0", ""},
		{"GET", "/api/workspaces/w:shelf/documents", ""},
		{"GET", "/api/workspaces/w:shelf/documents/" + g.plan, ""},
		{"GET", "/api/workspaces/w:shelf/documents/" + g.plan + "/versions", ""},
		{"GET", "/api/workspaces/w:shelf/search?query=combination", ""},
		{"GET", "/api/containers/w:shelf", ""},
	} {
		looks[r.method+" "+r.path] = func() (int, string) { return a.ask(r.method, r.path, r.body) }
	}
	for _, c := range []struct{ tool, args string }{
		{"messenger.history", `{"room_id":"r:plans"}`},
		{"messenger.stream_room", `{"room_id":"r:plans","from_seq":0,"limit":1}`},
		{"room.get", `{"room_id":"r:plans"}`},
		{"office.document.list", `{"workspace_id":"w:shelf"}`},
		{"office.document.get", `{"workspace_id":"w:shelf","document_id":"` + g.plan + `"}`},
		{"office.document.search", `{"workspace_id":"w:shelf","query":"combination"}`},
	} {
		looks["tool "+c.tool] = func() (int, string) { return a.tool(c.tool, c.args) }
	}
	for _, uri := range []string{"ubl://rooms/r:plans", "ubl://documents/w:shelf/" + g.plan} {
		looks["resource "+uri] = func() (int, string) { return a.call("resources/read", fmt.Sprintf(`{"uri":%q}`, uri)) }
	}
	return looks
}

// shut wants nobody to get in: neither by a look, nor by making themselves a member, and
// nothing of the secret in what everybody may read.
func (g *gone) shut(t *testing.T, a *agent, secret string) {
	t.Helper()
	if a.session == "" {
		a.opensMCP()
	}
	g.findsNothing(t, a, secret)
	for what, look := range g.looks(a) {
		status, answer := look()
		if !failed(status, answer) || strings.Contains(answer, secret) {
			t.Errorf("%s looks by %s: %d %.300s", a.name, what, status, answer)
		}
	}
	for _, r := range []struct{ method, path, body string }{
		{"POST", "/api/rooms/r:plans/join", ""},
		{"POST", "/api/rooms/r:plans/members", `{"user_id":"` + g.id + `"}`},
		{"PATCH", "/api/rooms/r:plans/policy", `{"join":"tenant"}`},
		{"POST", "/api/rooms/r:plans/messages", `{"type":"text","body":{"text":"hello?"}}`},
		{"POST", "/api/agreements/a:room:r:plans/end", ""},
		{"POST", "/api/containers/w:shelf/members", `{"user_id":"` + g.id + `"}`},
		{"POST", "/api/workspaces/w:shelf/documents", `{"title":"x","content":"y"}`},
		{"POST", "/api/containers/w:shelf/transfer", `{"to":"w:general","document_id":"` + g.plan + `"}`},
	} {
		if status, answer := a.ask(r.method, r.path, r.body); status < 400 || strings.Contains(answer, secret) {
			t.Errorf("%s: %s %s is answered %d %.300s", a.name, r.method, r.path, status, answer)
		}
	}
	for _, path := range []string{"/api/rooms?details=true", "/api/export", "/api/workspaces", "/api/containers", "/api/atoms?limit=500", "/api/workspaces/w:general/search?query=combination"} {
		if status, answer := a.ask("GET", path, ""); strings.Contains(answer, secret) || status != http.StatusOK {
			t.Errorf("%s: GET %s is answered %d and tells %v", a.name, path, status, strings.Contains(answer, secret))
		}
	}
}

// failed tells a refusal, of REST or of MCP.
func failed(status int, answer string) bool {
	return status >= 400 || strings.Contains(answer, `"error"`) || strings.Contains(answer, `"isError":true`)
}
