package upgrade

import (
	"testing"
	"time"

	"ubl"
	"ubl/test/harness"
)

// beforeLeaving opens what the version wrote in which removed people left their
// agents inside, and collaborative let in the whole tenant. Ana and eve own the
// tenant, and eve was removed; bob and cem are members.
func beforeLeaving(t *testing.T) (h *harness.House, ana, bob ubl.Identity) {
	t.Helper()
	h = harness.Open(t, harness.Options{Dir: restore(t, "testdata/before-leaving/data.tar.gz")})
	h.Clock.Add(time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC).Sub(h.Clock.Now()))
	return h, local("ana@leaving.example"), local("bob@leaving.example")
}

// TestServicesFromBefore: the agent of an owner who was removed then is refused at
// once, and gone with the first sweep. A token without an end gets one then, 90 days
// later, and goes on meanwhile.
func TestServicesFromBefore(t *testing.T) {
	h, ana, _ := beforeLeaving(t)
	tenant := ubl.TenantName(ana.TenantID)
	eves := ubl.Identity{UserID: ubl.UserIDFor("urn:ubl:service", "eves", false), IsService: true, TenantID: ana.TenantID, Issuer: "urn:ubl:service", Subject: "eves"}
	h.Refused(ubl.CodeUnauthorized, tenant, ubl.CheckServiceToken{ClientID: "eves", SecretHash: "eves"})
	h.Refused(ubl.CodeForbidden, tenant, ubl.Enter{Request: h.Request(eves)})
	if got := harness.Must[*ubl.ServiceCaller](h, tenant, ubl.CheckServiceToken{ClientID: "anas", SecretHash: "anas"}); got.ExpiresAt != 0 {
		t.Errorf("before the sweep ana's agent ends at %s", got.ExpiresAt)
	}
	swept := ubl.TimeOf(h.Clock.Now())
	harness.Must[int](h, tenant, ubl.SweepRooms{Request: h.Request(ubl.Platform())})
	for range 2 {
		for _, token := range harness.Must[[]ubl.ServiceToken](h, tenant, ubl.ListServiceTokens{Who: ana}) {
			if ended := token.RevokedAt != nil; ended != (token.ClientID == "eves") {
				t.Errorf("%s has ended: %v", token.ClientID, ended)
			}
		}
		if got := harness.Must[*ubl.ServiceCaller](h, tenant, ubl.CheckServiceToken{ClientID: "anas", SecretHash: "anas"}); got.ExpiresAt != swept.Add(ubl.ServiceTokenTTL) {
			t.Errorf("ana's agent ends at %s", got.ExpiresAt)
		}
		h.Refused(ubl.CodeNotFound, tenant, ubl.FindMember{Who: ana, UserID: eves.UserID})
		h.Refused(ubl.CodeNotAMember, ubl.RoomName(ana.TenantID, ubl.GeneralRoom), ubl.ReadHistory{Who: eves, Limit: 1})
		h.Clock.Add(time.Hour)
		harness.Must[int](h, tenant, ubl.SweepRooms{Request: h.Request(ubl.Platform())}) // has nothing left to do
		h.Reload()
	}
	h.VerifyLedger(ana.TenantID)
}
