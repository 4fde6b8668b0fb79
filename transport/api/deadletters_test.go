package api

import (
	"net/http/httptest"
	"strings"
	"testing"

	"ubl"
	"ubl/transport/envelope"
)

// TestDeadLetters: owners see and redrive those of their tenant, operators those of all.
// Nobody else is answered, and nothing is asked for them.
func TestDeadLetters(t *testing.T) {
	const tenant, ask = "t:acme.com|r:general Redrive", `{"subject":"r:general","key":"retention"}`
	there := `{"tenant_id":"t:far.com","subject":"r:general","key":"retention"}`
	for _, test := range []struct {
		who           ubl.Identity
		role          ubl.Role
		request, body string
		status        int
		asked         string // among what was asked; "" for nothing
	}{
		{ana, ubl.RoleOwner, "GET /api/dead-letters", "", 200, "t:acme.com|ledger|0 ListDeadLetters"},
		{ana, ubl.RoleMember, "GET /api/dead-letters", "", 403, ""},
		{ana, ubl.RoleOwner, "GET /api/dead-letters?all=true", "", 403, ""},
		{root, ubl.RoleMember, "GET /api/dead-letters?all=true", "", 403, ""},
		{root, ubl.RoleOwner, "GET /api/dead-letters?all=true", "", 200, "t:far.com|ledger|0 ListDeadLetters"},
		{ana, ubl.RoleOwner, "POST /api/dead-letters/redrive", ask, 200, tenant},
		{ana, ubl.RoleMember, "POST /api/dead-letters/redrive", ask, 403, ""},
		{ana, ubl.RoleOwner, "POST /api/dead-letters/redrive", there, 403, ""},
		{root, ubl.RoleMember, "POST /api/dead-letters/redrive", there, 403, ""},
		{root, ubl.RoleOwner, "POST /api/dead-letters/redrive", there, 200, "t:far.com|r:general Redrive"},
		{ana, ubl.RoleOwner, "POST /api/dead-letters/discard", ask, 200, "t:acme.com|r:general Discard"},
		{ana, ubl.RoleMember, "POST /api/dead-letters/discard", ask, 403, ""},
		{ana, ubl.RoleOwner, "POST /api/dead-letters/discard", there, 403, ""},
		{root, ubl.RoleOwner, "POST /api/dead-letters/discard", there, 200, "t:far.com|r:general Discard"},
		{ana, ubl.RoleOwner, "GET /api/dead-letters?pending=true", "", 200, "t:acme.com|ledger|0 ListDeadLetters"},
		{ana, ubl.RoleMember, "GET /api/dead-letters?pending=true", "", 403, ""},
		{ana, ubl.RoleOwner, "GET /api/dead-letters?tenant_id=t:far.com", "", 403, ""},
		{root, ubl.RoleOwner, "GET /api/dead-letters?pending=true&tenant_id=t:far.com", "", 200, "t:far.com|ledger|0 ListDeadLetters"},
		{root, ubl.RoleOwner, "GET /api/dead-letters?pending=true&all=true", "", 400, ""},
	} {
		s := newServer(t)
		method, target, _ := strings.Cut(test.request, " ")
		s.caller = &test.who
		r := httptest.NewRequest(method, target, strings.NewReader(test.body))
		if test.body != "" {
			r.Header.Set("Content-Type", "application/json")
		}
		w := s.serve(r.WithContext(envelope.WithCaller(r.Context(), let(&envelope.Caller{Identity: test.who}, test.role))))
		newContract(t, s).check(t, s, method, target, w)
		asked := strings.Join(s.takeAsked(), "\n")
		if w.Code != test.status || !strings.Contains(asked, test.asked) || test.asked == "" && asked != "" {
			t.Errorf("%s %s by %s as %s: %d, and asked %q", test.request, test.body, test.who.UserID, test.role, w.Code, asked)
		}
	}
}
