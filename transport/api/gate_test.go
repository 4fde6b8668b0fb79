package api

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"ubl"
	"ubl/transport/envelope"
)

// tenantDoor is the caller's way into their tenant: it notes with which tool, and
// then asks the double.
type tenantDoor struct {
	*actors
	closed error
	taken  []ubl.Enter
	counts []ubl.Rate // by which uses were counted
	refuse map[ubl.Rate]error
}

func (d *tenantDoor) Ask(ctx context.Context, to ubl.Name, cmd ubl.Command) (any, error) {
	if in, ok := cmd.(ubl.Enter); ok {
		return d.enter(in)
	}
	return d.actors.Ask(ctx, to, cmd)
}

func (d *tenantDoor) enter(in ubl.Enter) (*ubl.Entered, error) {
	d.taken = append(d.taken, in)
	return &ubl.Entered{TenantID: in.Who.TenantID, Role: ubl.RoleOwner}, d.closed
}

func (d *tenantDoor) Visit(ctx context.Context, in ubl.Enter, to ubl.Name, cmd ubl.Command) (*ubl.Entered, any, error) {
	entered, err := d.enter(in)
	if err != nil {
		return nil, nil, err
	}
	answer, err := d.actors.Ask(ctx, to, cmd)
	return entered, answer, err
}

// Act implements [envelope.Limits].
func (d *tenantDoor) Act(rate ubl.Rate) error {
	d.counts = append(d.counts, rate)
	return d.refuse[rate]
}

// Stream implements [envelope.Limits].
func (d *tenantDoor) Stream() (release func(), err error) { return func() {}, nil }

// Streamed implements [envelope.Limits].
func (d *tenantDoor) Streamed(int) time.Duration { return 0 }

// comer is a caller whom their tenant has yet to let in, as the authentication
// hands them over.
func (d *tenantDoor) comer(who ubl.Identity, act bool) *envelope.Caller {
	c := &envelope.Caller{Identity: who}
	c.Enters(ubl.Enter{Request: ubl.Request{Who: who}, Act: act}, d)
	c.Limited(d)
	return c
}

// TestEveryOperationNamesItsTool to the tenant, once and before anything else is
// asked, over HTTP and as a tool; and where the tenant refuses, nobody is asked.
func TestEveryOperationNamesItsTool(t *testing.T) {
	synctest.Test(t, everyOperationNamesItsTool) // a refusal is held for half a second
}

func everyOperationNamesItsTool(t *testing.T) {
	s := newServer(t)
	door := &tenantDoor{actors: s.actors}
	s.api.Asker = envelope.Entering(door)
	for i := range s.api.table {
		tab := &s.api.table[i]
		who := ana
		if strings.HasPrefix(tab.path, "/platform/") {
			who = root
		}
		query, body := queries[tab.id], bodies[tab.method+" /api"+tab.path]
		overHTTP := func() int {
			r := httptest.NewRequest(tab.method, places.Replace("/api"+tab.path)+"?"+query, strings.NewReader(body))
			if body != "" {
				r.Header.Set("Content-Type", "application/json")
			}
			tab.dress(r)
			c := door.comer(who, tab.method != http.MethodGet)
			return s.serve(r.WithContext(envelope.WithCaller(r.Context(), c))).Code
		}
		asTool := func() int {
			if tab.tool == "" {
				return overHTTP()
			}
			// An MCP request is a POST, whatever the tool does.
			_, err := s.act(t, tab.tool).Do(acting(door.comer(who, true)), argumentsOf(t, tab, query, body))
			if err != nil {
				return ubl.CodeOf(err).Status()
			}
			return http.StatusOK
		}
		for way, do := range map[string]func() int{"over HTTP": overHTTP, "as a tool": asTool} {
			door.taken, door.counts, door.closed = nil, nil, nil
			if code := do(); code >= 400 {
				t.Errorf("%s %s is answered %d", tab.id, way, code)
			}
			if n := len(door.taken); n == 2 && slices.Contains([]string{"complete", "call-tool"}, tab.id) {
				// They ask once more whether the answer may be given.
				if last := door.taken[1]; last.Act || last.Tool != "" {
					t.Errorf("%s %s: before the answer the tenant heard %+v", tab.id, way, last)
				}
				door.taken = door.taken[:1]
			}
			if len(door.taken) != 1 || door.taken[0].Tool != cmp.Or(tab.tool, tab.uses) || door.taken[0].Tool == "" || door.taken[0].External || door.taken[0].Act != (tab.method != http.MethodGet) {
				t.Errorf("%s %s: the tenant heard %+v", tab.id, way, door.taken)
			}
			if tab.counts == "" && len(door.counts) > 0 || tab.counts != "" && !slices.Equal(door.counts, []ubl.Rate{tab.counts}) {
				t.Errorf("%s %s is counted as %q, want %q", tab.id, way, door.counts, tab.counts)
			}
			s.takeAsked()
			door.closed = ubl.Errorf(ubl.CodeRateLimited, "too often")
			if code := do(); code != http.StatusTooManyRequests {
				t.Errorf("%s %s is answered %d where the tenant refuses", tab.id, way, code)
			}
			if asked := s.takeAsked(); len(asked) > 0 {
				t.Errorf("%s %s asked %q in spite of the tenant", tab.id, way, asked)
			}
		}
	}
}

// TestToolsBesideTheOperations are listed among them.
func TestToolsBesideTheOperations(t *testing.T) {
	s := newServer(t)
	s.api.Beside = []string{"messenger.stream_room"}
	var listed []*ubl.ToolListing
	for cursor := ""; ; {
		w := s.doAs(ana, ubl.RoleOwner, "GET", "/api/portal/tools?limit=100&cursor="+cursor)
		var got toolsAnswer
		if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || w.Code != http.StatusOK {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
		listed = append(listed, got.Tools...)
		if got.NextCursor == nil {
			break
		}
		cursor = *got.NextCursor
	}
	for _, tool := range []string{"messenger.stream_room", "messenger.send", forecast.Tool} {
		if !slices.ContainsFunc(listed, func(l *ubl.ToolListing) bool { return l.Tool == tool }) {
			t.Errorf("%s is not listed", tool)
		}
	}
}

// TestUsableTools: a member lists what they may call, and isn't told who else may.
func TestUsableTools(t *testing.T) {
	s := newServer(t)
	w := s.serve(as(httptest.NewRequest("GET", "/api/portal/tools?usable=true", nil), ana))
	var got toolsAnswer
	if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || w.Code != http.StatusOK {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	if len(got.Tools) != 1 || got.Tools[0].Tool != forecast.Tool || got.Tools[0].Access != nil || got.NextCursor != nil {
		t.Errorf("a member is listed %s", w.Body)
	}
	if asked := s.takeAsked(); !slices.Contains(asked, "Tools of u:ana") {
		t.Errorf("asked %q", asked)
	}
}

// TestOwnersOnly: nobody else reaches the portal's settings.
func TestOwnersOnly(t *testing.T) {
	s := newServer(t)
	for _, request := range []string{"POST /api/portal/servers", "PATCH /api/portal/servers/{serverId}", "DELETE /api/portal/servers/{serverId}",
		"POST /api/portal/servers/{serverId}/sync", "POST /api/portal/discover", "GET /api/portal/tools", "POST /api/portal/tools/{tool}/approve", "PATCH /api/portal/budget"} {
		method, target, _ := strings.Cut(request, " ")
		r := httptest.NewRequest(method, places.Replace(target), strings.NewReader(bodies[request]))
		r.Header.Set("Content-Type", "application/json")
		s.expect(t, request, s.serve(as(r, ana)), ubl.CodeForbidden)
	}
	w := s.serve(as(httptest.NewRequest("GET", "/api/portal/logs", nil), ana))
	if asked := s.takeAsked(); w.Code != http.StatusOK || len(asked) != 3 || !strings.Contains(asked[2], `Keeps:["u:svc","u:svc2"] Limit:50 Owner:false`) {
		t.Errorf("a member's log is answered %d after %q", w.Code, asked)
	}
}

// TestLooksAtThePastAreCounted, and nobody is asked beyond their rate.
func TestLooksAtThePastAreCounted(t *testing.T) {
	s := newServer(t)
	door := &tenantDoor{actors: s.actors}
	s.api.Asker = envelope.Entering(door)
	for _, path := range []string{"/rooms/r:general", "/containers/w:general", "/workspaces/w:general/documents", "/agreements/a:room:r:general"} {
		get := func(query string) int {
			r := httptest.NewRequest(http.MethodGet, "/api"+path+query, nil)
			return s.serve(r.WithContext(envelope.WithCaller(r.Context(), door.comer(ana, false)))).Code
		}
		door.counts, door.refuse = nil, nil
		get("")
		now := len(door.counts)
		get("?as_of=3")
		if past := door.counts[now:]; len(past) != now+1 || past[now] != ubl.Creations {
			t.Errorf("%s of the past is counted as %q", path, past)
		}
		s.takeAsked()
		door.refuse = map[ubl.Rate]error{ubl.Creations: ubl.Errorf(ubl.CodeRateLimited, "too often")}
		if code, asked := get("?as_of=3"), s.takeAsked(); code != http.StatusTooManyRequests || len(asked) > 0 {
			t.Errorf("%s of the past beyond the rate is answered %d, and asked %q", path, code, asked)
		}
	}
}

// TestForPeopleAlone: what is for people refuses a service, over REST and as a tool, and nobody is asked.
func TestForPeopleAlone(t *testing.T) {
	s := newServer(t)
	bot := ubl.Identity{UserID: "u:bot", TenantID: "t:acme.com", IsService: true}
	var found []string
	for i := range s.api.table {
		tab := &s.api.table[i]
		if !tab.people {
			continue
		}
		found = append(found, tab.tool)
		body := bodies[tab.method+" /api"+tab.path]
		s.expect(t, tab.id, s.doWith(bot, tab.method, places.Replace("/api"+tab.path), body), ubl.CodeForbidden)
		if tab.tool == "" { // noTools says why
			if asked := s.takeAsked(); len(asked) > 0 {
				t.Errorf("%s asked %q", tab.id, asked)
			}
			continue
		}
		act := s.act(t, tab.tool)
		_, err := act.Do(acting(&envelope.Caller{Identity: bot}), argumentsOf(t, tab, "", body))
		if asked := s.takeAsked(); !act.People || ubl.CodeOf(err) != ubl.CodeForbidden || len(asked) > 0 {
			t.Errorf("%s as a tool, for people %t: %v, and asked %q", tab.tool, act.People, err, asked)
		}
	}
	for _, tool := range []string{"person.get", "person.scheduled.add", "webhook.create", "webhook.deliveries", "tenant.invitation.create", "tenant.domain.claim"} {
		if !slices.Contains(found, tool) {
			t.Errorf("%s isn't for people alone", tool)
		}
	}
}
