package api

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"ubl"
	"ubl/office"
	external "ubl/portal"
	"ubl/test/harness"
	"ubl/transport/envelope"
)

// The services that the product puts behind the API.
var (
	_ Office = (*office.Office)(nil)
	_ Portal = (*external.Portal)(nil)
)

// visiting lets callers in and asks, as a node does.
type visiting struct{ *harness.House }

func (v visiting) Visit(ctx context.Context, in ubl.Enter, to ubl.Name, cmd ubl.Command) (*ubl.Entered, any, error) {
	entered, err := ubl.Ask[*ubl.Entered](ctx, v, ubl.TenantName(in.Who.TenantID), in)
	if err != nil {
		return nil, nil, err
	}
	answer, err := v.Ask(ctx, to, cmd)
	return entered, answer, err
}

// days of two people in one tenant: who asks what, with which body, is answered
// how, and what of the answer is kept under a name for later.
const days = `
ana GET    /workspaces | 200
bob POST   /workspaces/w:general/documents {"title":"Plan","content":"All of the plan","client_request_id":"k1"} | 201 document.document_id {doc}
bob PATCH  /workspaces/w:general/documents/{doc} {"content":"More of the plan","if_version":1} | 200
bob PATCH  /workspaces/w:general/documents/{doc} {"content":"Even more","if_version":1} | 409
ana GET    /workspaces/w:general/documents | 200
ana GET    /workspaces/w:general/documents/{doc} | 200
ana GET    /workspaces/w:general/documents/{doc}?version=1 | 200
ana GET    /workspaces/w:general/documents/{doc}/versions | 200
ana GET    /workspaces/w:general/search?query=plan | 200
ana GET    /workspaces/w:general/documents/d:none | 200
ana POST   /workspaces {"name":"Private","physics":{"fungibility":"versioned","topology":"objects","permeability":"gated","execution":"sandboxed"}} | 201
bob GET    /workspaces/w:private/documents | 404
bob GET    /agreements/a:workspace:w:private | 404
ana POST   /containers/w:private/members {"email":"bob@acme.com"} | 201
bob GET    /workspaces/w:private/documents | 200
bob POST   /containers/w:private/leave | 200
ana POST   /containers/w:general/transfer {"to":"w:private","document_id":"{doc}"} | 200
ana POST   /containers {"kind":"wallet","name":"Cash"} | 201
ana POST   /containers {"kind":"wallet","name":"Till"} | 201
ana POST   /containers/k:cash/credits {"amount":100,"client_request_id":"k2"} | 201
bob POST   /containers/k:cash/credits {"amount":100} | 403
ana POST   /containers/k:cash/transfer {"to":"k:till","amount":30,"client_request_id":"k3"} | 200
ana POST   /containers/k:cash/transfer {"to":"k:till","amount":300} | 409
ana GET    /containers/k:cash | 200
ana GET    /containers/k:cash/members | 200
ana GET    /containers | 200
ana GET    /agreements | 200
ana GET    /agreements/a:wallet:k:cash | 200
ana GET    /agreements/a:workspace:k:cash | 404
ana POST   /agreements/a:workspace:k:cash/end | 404
ana POST   /rooms {"name":"Inside","client_request_id":"k6"} | 201
ana POST   /rooms/r:inside/messages {"type":"text","body":{"text":"among us"},"client_request_id":"k7"} | 201 message.msg_id {inside}
ana POST   /rooms/r:general/messages {"type":"text","body":{"text":"see"},"forward":"r:inside/{inside}","client_request_id":"k8"} | 201 message.msg_id {copy}
bob POST   /rooms/r:general/messages {"type":"text","body":{"text":""},"forward":"r:inside/{inside}"} | 403
bob POST   /rooms/r:inside/messages {"type":"text","body":{"text":""},"forward":"r:general/{copy}"} | 403
ana GET    /rooms/r:general/entries/{copy} | 200
bob GET    /rooms/r:general/entries/{copy} | 200
ana PATCH  /rooms/r:inside/policy {"retention_hours":8,"client_request_id":"k9"} | 200
ana POST   /rooms/r:general/messages {"type":"text","body":{"text":""},"forward":"r:inside/{inside}"} | 409
ana POST   /rooms/r:general/messages {"type":"text","body":{"text":"see"},"forward":"r:inside/{inside}","client_request_id":"k8"} | 201
ana GET    /rooms/r:inside | 200
ana GET    /rooms/r:inside/entries | 200
ana PUT    /portal/tools/office.document.create/access {"allowed":false,"client_request_id":"k4"} | 200
ana PUT    /portal/tools/office.nothing/access {"allowed":false} | 404
ana PUT    /portal/tools/weather.forecast/access {"allowed":true} | 404
bob POST   /workspaces/w:general/documents {"title":"Plan","content":""} | 403
ana GET    /agreements/a:tool:office.document.create | 200
bob GET    /agreements | 200
ana DELETE /workspaces/w:general/documents/{doc} | 200
ana GET    /portal/servers | 200
ana GET    /portal/logs | 200
bob GET    /portal/logs | 200
ana PATCH  /portal/budget {"tokens_per_day":1000,"requests_per_minute":10,"client_request_id":"k5"} | 200
bob PATCH  /portal/budget {"tokens_per_day":0,"requests_per_minute":0} | 403
ana GET    /portal/budget | 200
ana GET    /atoms?limit=500 | 200
`

// TestTheRealHouse asks real actors over HTTP: what they answer is as the schemas
// promise, a repetition under its key answers the same, what a ToolAccess closes
// is closed over HTTP too, and the ledger that comes of it verifies.
func TestTheRealHouse(t *testing.T) {
	h := harness.Open(t, harness.Options{})
	s := newServer(t)
	s.api.Asker = envelope.Entering(visiting{h})
	c := newContract(t, s)
	people := map[string]ubl.Identity{"ana": harness.User("ana@acme.com"), "bob": harness.User("bob@acme.com")}
	h.Enter(people["ana"])
	known := map[string]string{}
	for line := range strings.Lines(strings.TrimSpace(days)) {
		for name, value := range known {
			line = strings.ReplaceAll(line, name, value)
		}
		request, want, _ := strings.Cut(strings.TrimSpace(line), " | ")
		words := append(strings.Fields(request), "") // bodies have blanks in their texts alone
		body := strings.Join(words[3:], " ")
		answer := s.askHouse(t, c, h, people[words[0]], words[1], "/api"+words[2], strings.TrimSpace(body))
		wanted := append(strings.Fields(want), "", "")
		if status := strconv.Itoa(answer.Code); status != wanted[0] {
			t.Fatalf("%s\nanswered %s %s", line, status, answer.Body)
		}
		if wanted[1] != "" {
			known[wanted[2]] = find(t, answer.Body.String(), wanted[1])
		}
	}
	h.VerifyLedger("t:acme.com")
}

// TestLeavingIsAlwaysPossible: a tenant that has closed the tool, or has ended, holds
// nobody. It removes nobody else for them.
func TestLeavingIsAlwaysPossible(t *testing.T) {
	for name, hold := range map[string]struct{ method, path, body string }{
		"the tool is closed": {"PUT", "/api/portal/tools/tenant.member.remove/access", `{"allowed":false}`},
		"the tenant ended":   {"POST", "/api/agreements/a:tenant:t:acme.com/end", ""},
	} {
		t.Run(name, func(t *testing.T) {
			h := harness.Open(t, harness.Options{})
			s := newServer(t)
			s.api.Asker = envelope.Entering(visiting{h})
			ana, bob, eve := harness.User("ana@acme.com"), harness.User("bob@acme.com"), harness.User("eve@acme.com")
			for _, who := range []ubl.Identity{ana, bob, eve} {
				h.Enter(who)
			}
			answers := func(want int, who ubl.Identity, method, path, body string) {
				t.Helper()
				if w := s.enterHouse(h, who, method, path, body); w.Code != want {
					t.Errorf("%s %s: %d %s", method, path, w.Code, w.Body)
				}
			}
			answers(200, ana, hold.method, hold.path, hold.body)
			answers(403, bob, "DELETE", "/api/tenant/members/"+string(eve.UserID), "")
			answers(200, bob, "DELETE", "/api/tenant/members/"+string(bob.UserID), "")
			answers(403, bob, "GET", "/api/tenant/members", "")
			if name == "the tenant ended" { // nobody could make another owner
				answers(200, ana, "DELETE", "/api/tenant/members/"+string(ana.UserID), "")
			} else {
				answers(409, ana, "DELETE", "/api/tenant/members/"+string(ana.UserID), "")
			}
			h.VerifyLedger("t:acme.com")
		})
	}
}

// TestEntriesSayWhoIsUnproven: what is known of a member in the tenant stands in their
// entry of each Agreement, alone and in the list.
func TestEntriesSayWhoIsUnproven(t *testing.T) {
	h := harness.Open(t, harness.Options{})
	s := newServer(t)
	s.api.Asker = envelope.Entering(visiting{h})
	ana, tenant := harness.User("ana@acme.com"), ubl.TenantName("t:acme.com")
	h.Enter(ana)
	harness.Must[*ubl.Invitation](h, tenant, ubl.CreateInvitation{Request: h.Request(ana), InvitationID: "i:bob",
		Invitee: harness.User("bob@acme.com"), Role: ubl.RoleMember, TTL: time.Hour, SecretHash: "secret"})
	bob := *harness.Must[*ubl.Identity](h, tenant, ubl.AcceptInvitation{Request: h.Request(ubl.Platform()), SecretHash: "secret"})
	bob.TenantID = "t:acme.com"
	h.Enter(bob)
	name := "Bob"
	harness.Must[*ubl.Member](h, tenant, ubl.SetTenantMember{Request: h.Request(bob), UserID: bob.UserID, Name: &name})

	want := `"user_id":"` + string(bob.UserID) + `","name":"Bob","email":"bob@acme.com","role":"member","unproven":true`
	for _, target := range []string{"/agreements/a:tenant:t:acme.com", "/agreements/a:room:r:general", "/rooms/r:general/members", "/tenant/members"} {
		w := s.enterHouse(h, ana, "GET", "/api"+target, "")
		if w.Code != 200 || strings.Count(w.Body.String(), want) != 1 {
			t.Errorf("%s: %d %s", target, w.Code, w.Body)
		}
	}
	if w := s.enterHouse(h, ana, "GET", "/api/agreements", ""); strings.Count(w.Body.String(), want) != 2 {
		t.Errorf("of the Agreements of the tenant and of the room not both say it: %s", w.Body)
	}
}

// older is a house whose actors are at nodes of a version before histories had pages.
type older struct{ visiting }

func (o older) Visit(ctx context.Context, in ubl.Enter, to ubl.Name, cmd ubl.Command) (*ubl.Entered, any, error) {
	if get, ok := cmd.(ubl.GetAgreement); ok {
		get.After, get.Limit = 0, 0
		cmd = get
	}
	return o.visiting.Visit(ctx, in, to, cmd)
}

// TestHistoryInPages: pages follow each other, of older nodes too, which answer with all
// of it.
func TestHistoryInPages(t *testing.T) {
	h := harness.Open(t, harness.Options{})
	ana, bob := harness.User("ana@acme.com"), harness.User("bob@acme.com")
	h.Enter(ana)
	h.Enter(bob)
	for i := range 5 {
		role := []ubl.Role{ubl.RoleOwner, ubl.RoleMember}[i%2]
		harness.Must[*ubl.Member](h, "t:acme.com", ubl.SetTenantMember{Request: h.Request(ana), UserID: bob.UserID, Role: role})
	}
	whole := harness.Must[*ubl.AgreementView](h, "t:acme.com", ubl.GetAgreement{Who: ana}).History
	for name, asker := range map[string]ubl.Visitor{"a node of now": visiting{h}, "an older node": older{visiting{h}}} {
		s := newServer(t)
		s.api.Asker = envelope.Entering(asker)
		var got []ubl.Change
		for target := "/api/agreements/a:tenant:t:acme.com?limit=3"; target != ""; {
			w := s.enterHouse(h, ana, "GET", target, "")
			var page agreementPage
			if err := json.Unmarshal(w.Body.Bytes(), &page); err != nil || w.Code != 200 || len(page.Agreement.History) > 3 {
				t.Fatalf("%s: %d %s: %v", name, w.Code, w.Body, err)
			}
			got, target = append(got, page.Agreement.History...), ""
			if page.NextCursor != nil {
				target = fmt.Sprintf("/api/agreements/a:tenant:t:acme.com?limit=3&cursor=%d", *page.NextCursor)
			}
		}
		if !slices.Equal(got, whole) {
			t.Errorf("%s tells %v, want %v", name, got, whole)
		}
	}
}

// askHouse asks, and asks again where the body holds a key.
func (s *server) askHouse(t *testing.T, c *contract, h *harness.House, who ubl.Identity, method, target, body string) *httptest.ResponseRecorder {
	t.Helper()
	w := s.enterHouse(h, who, method, target, body)
	c.check(t, s, method, target, w)
	if strings.Contains(body, keyArgument) {
		again := s.enterHouse(h, who, method, target, body)
		if once, twice := withoutMeta(t, w.Body.String()), withoutMeta(t, again.Body.String()); once != twice {
			t.Errorf("%s %s %s\nanswered first %s\nand then %s", method, target, body, once, twice)
		}
	}
	return w
}

// enterHouse sends a request of a caller whom their tenant has yet to let in.
func (s *server) enterHouse(h *harness.House, who ubl.Identity, method, target, body string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, target, strings.NewReader(body))
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	req := h.Request(who)
	caller := &envelope.Caller{Identity: who}
	caller.Enters(ubl.Enter{Request: req, Act: method != "GET"}, h)
	ctx := envelope.WithCaller(r.Context(), caller)
	ctx = envelope.WithRequest(ctx, &envelope.Request{ID: req.ID, Key: req.Key, At: ubl.TimeOf(h.Clock.Now())})
	w := httptest.NewRecorder()
	s.router.ServeHTTP(w, r.WithContext(ctx))
	return w
}

// withoutMeta is an answer without what every request has of its own.
func withoutMeta(t *testing.T, answer string) string {
	t.Helper()
	m := parse([]byte(answer))
	delete(m, "request_id")
	delete(m, "server_time")
	return string(must(json.Marshal(m)))
}

// find is the text at a path of member names.
func find(t *testing.T, answer, path string) string {
	t.Helper()
	var at any = parse([]byte(answer))
	for name := range strings.SplitSeq(path, ".") {
		at = at.(map[string]any)[name]
	}
	return at.(string)
}
