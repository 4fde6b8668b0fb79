package tenant_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"ubl"
	"ubl/actors/tenant"
	"ubl/test/harness"
)

// TestAnsweredAgain: each command of the family's table is answered from memory as a
// retry is, while the tenant is in memory and after it was loaded.
func TestAnsweredAgain(t *testing.T) {
	h := harness.Open(t, harness.Options{})
	ana, bob, ops := harness.User("ana@example.com"), harness.User("bob@example.com"), harness.User("ops@example.com")
	ops.TenantID = ubl.CoreTenant
	core, home := ubl.TenantName(ubl.CoreTenant), ubl.TenantName(ana.TenantID)
	for _, u := range []ubl.Identity{ops, ana, bob} {
		h.Enter(u)
	}
	admits := func(cmd ubl.Command) string { // a first admission and a renewal are two lines
		if c, ok := cmd.(ubl.AdmitToken); ok {
			return fmt.Sprint(c.Token.Turn)
		}
		return ""
	}
	again := &harness.Again{House: h, Line: admits, Alike: map[string]string{
		"AdmitToken.Token":              "its id is the key",
		"AdmitToken.Link":               "as AdmitToken.Token",
		"UsePasskey.PasskeyID":          "the attempt tells",
		"UsePasskey.SignCount":          "as UsePasskey.PasskeyID",
		"UsePasskey.BackedUp":           "as UsePasskey.PasskeyID",
		"RegisterPasskey.Handle":        "the credential tells",
		"RevokeTokens.Passkeys":         "of the transport, whose keys are new each time",
		"CreateContainer.Kind":          "another kind is another act",
		"CreateServiceToken.ClientID":   "drawn for each attempt",
		"CreateServiceToken.SecretHash": "as CreateServiceToken.ClientID",
		"RenewServiceToken.SecretHash":  "as CreateServiceToken.ClientID, but whether there is one",
		"CreateInvitation.InvitationID": "as CreateServiceToken.ClientID",
		"CreateInvitation.SecretHash":   "as CreateServiceToken.ClientID",
		"AcceptInvitation.SecretHash":   "what it finds tells",
		"ProveMember.Member":            "who was verified tells",
		"KeepDomain.By":                 "the Tenant's, whose keys are its own",
		"KeepDomain.Did":                "another act has other keys",
		"KeepDomain.Value":              "drawn for each claim",
		"KeepDomain.Configured":         "what the node says",
		"VerifyDomain.Configured":       "what the node says",
		"ReleaseDomain.Configured":      "what the node says",
		"EndAgreement.Agreement":        "there is one that is no tool's",
		"ConnectAgent.ClientID":         "as CreateServiceToken.ClientID",
		"ConnectAgent.CodeHash":         "as CreateServiceToken.ClientID",
	}, Reads: map[string]string{
		"RemoveTenantMember": "which rooms and containers are to let go of the member, after the commit",
	}}
	ask := again.Ask
	platform := func() ubl.Request { return h.Request(ubl.Platform()) }
	askSignIns(h, ana, func(cmd ubl.Command) { ask(core, cmd) })

	ask(home, ubl.SetTenantMember{Request: h.Request(ana), UserID: bob.UserID, Role: ubl.RoleOwner})
	ask(home, ubl.CreateRoom{Request: h.Request(ana), Name: " plans "})
	ask(home, ubl.OpenDirect{Request: h.Request(ana), With: []ubl.UserID{ana.UserID}})
	made := ask(home, ubl.CreateContainer{Request: h.Request(ana), Kind: "workspace", Name: "drafts"}).(*ubl.ContainerMade)
	if made.Receipt.Seq == 0 || made.Container.Name != "drafts" {
		t.Errorf("the workspace is answered %+v", made)
	}
	ask(home, ubl.CreateServiceToken{Request: h.Request(ana), Name: "bot", ClientID: "c", SecretHash: "00"})
	renewed := ask(home, ubl.RenewServiceToken{Request: h.Request(ana), ClientID: "c", SecretHash: "01", Grace: time.Hour}).(*ubl.ServiceRenewed)
	if renewed.SecretHash != "01" {
		t.Errorf("the token is answered %+v", renewed)
	}
	ask(home, ubl.RevokeServiceToken{Request: h.Request(ana), ClientID: "c"})
	askAgents(h, ana, func(cmd ubl.Command) any { return ask(home, cmd) })
	if tool := ask(home, ubl.SetToolAccess{Request: h.Request(ana), Tool: "files.read", Allowed: true}).(*ubl.ToolAccess); tool.Receipt.Seq == 0 {
		t.Errorf("the tool is answered %+v", tool)
	}
	ask(home, ubl.EndAgreement{Request: h.Request(ana), Agreement: ubl.ToolAgreement("files.read")})
	days := 7
	if now := ask(home, ubl.SetDefaults{Request: h.Request(ana), Patch: ubl.TenantDefaultsPatch{RetentionDays: &days}}).(*ubl.Tenant); now.Defaults.RetentionDays != 7 {
		t.Errorf("the tenant is answered %+v", now)
	}

	invite := func(id ubl.InvitationID, email string) {
		ask(home, ubl.CreateInvitation{Request: h.Request(ana), InvitationID: id, Invitee: ubl.Invited(ana.TenantID, id, email),
			SecretHash: string(id), Role: ubl.RoleMember, TTL: time.Hour})
	}
	invite("i:1", "eve@else.org")
	ask(home, ubl.RevokeInvitation{Request: h.Request(ana), InvitationID: "i:1"})
	invite("i:2", "eve@else.org")
	eve := *ask(home, ubl.AcceptInvitation{Request: platform(), SecretHash: "i:2"}).(*ubl.Identity)
	ask(home, ubl.ProveMember{Request: platform(), Member: eve, Verified: harness.User("eve@else.org")})
	if gone := ask(home, ubl.RemoveTenantMember{Request: h.Request(ana), UserID: eve.UserID}).(*ubl.Member); gone.UserID != eve.UserID {
		t.Errorf("who was removed is answered %+v", gone)
	}

	// Ana's domain has nobody who stands for it once she is no owner: Bob confirms it.
	ask(core, ubl.KeepDomain{Request: platform(), By: ana, Did: ubl.DidDomainClaim, Domain: "a.example", Value: "v"})
	ask(core, ubl.KeepDomain{Request: platform(), By: ana, Did: ubl.DidDomainVerify, Domain: "a.example", Value: "v"})
	harness.Must[int](h, home, ubl.SweepRooms{Request: platform()})
	ask(home, ubl.SetTenantMember{Request: h.Request(bob), UserID: ana.UserID, Role: ubl.RoleMember})
	ask(home, ubl.VerifyDomain{Request: h.Request(bob), Domain: "a.example", Value: "v"})
	ask(core, ubl.ReleaseDomain{Request: h.Request(ops), Domain: "a.example"})

	ask(home, ubl.SetTenantMember{Request: h.Request(bob), UserID: ana.UserID, Role: ubl.RoleOwner})
	harness.AskTerms(h, func(to ubl.Name, cmd ubl.Command) any { return ask(to, cmd) }, home, bob, ana)
	kind := ubl.Kind{Name: "case", Agreement: "case_agreement", Physics: ubl.WorkspaceKind().Physics}
	ask(home, ubl.SetKind{Request: h.Request(bob), Kind: kind})
	ask(home, ubl.RemoveKind{Request: h.Request(bob), Name: kind.Name})
	if end := ask(home, ubl.EndAgreement{Request: h.Request(bob)}).(*ubl.AgreementView); end.EndedAt == nil || len(end.Members) != 4 {
		t.Errorf("the TenantLicense is answered %+v", end)
	}
	again.End(tenant.Changing())
	h.VerifyLedger(ana.TenantID)
	h.VerifyLedger(ubl.CoreTenant)
}

// askAgents asks what a tenant keeps of an agent that somebody connects.
func askAgents(h *harness.House, ana ubl.Identity, ask func(ubl.Command) any) {
	platform := func() ubl.Request { return h.Request(ubl.Platform()) }
	mandate := ubl.Mandate{Sets: []string{"messenger"}, Tools: []string{"messenger.*"}, Places: []string{"r:general"}, PerMinute: 60}
	ask(ubl.ConnectAgent{Request: h.Request(ana), ClientID: "a", Name: "helper", Client: "https://client.example", Resource: "https://ubl.example/mcp", CodeHash: "code", Mandate: mandate})
	if caller := ask(ubl.RedeemAgentCode{Request: platform(), ClientID: "a", Client: "https://client.example", CodeHash: "code", FamilyHash: "family", RefreshHash: "1"}).(*ubl.ServiceCaller); caller.Identity.Mandate.PerMinute != 60 {
		panic("the agent comes in without its mandate")
	}
	ask(ubl.RefreshAgent{Request: platform(), ClientID: "a", Client: "https://client.example", FamilyHash: "family", RefreshHash: "1", NewHash: "2"})
	mandate.ReadOnly = true
	ask(ubl.SetMandate{Request: h.Request(ana), ClientID: "a", Mandate: mandate})
	ask(ubl.RevokeAgent{Request: platform(), ClientID: "a", Client: "https://client.example", FamilyHash: "family"})
}

// askSignIns asks what tenant 0 keeps of people who sign in.
func askSignIns(h *harness.House, ana ubl.Identity, ask func(ubl.Command)) {
	platform := func() ubl.Request { return h.Request(ubl.Platform()) }
	soon := ubl.TimeOf(h.Clock.Now()).Add(time.Hour)
	ask(ubl.OfferLink{Request: platform(), Link: ubl.OneTimeLink{Hash: strings.Repeat("a", 64), UserID: ana.UserID, TenantID: ana.TenantID, ExpiresAt: soon}})
	session := ubl.PlatformToken{
		JTI: "s", UserID: ana.UserID, TenantID: ana.TenantID, Kind: ubl.TokenSession, Method: ubl.SignInLink, CreatedAt: soon, ExpiresAt: soon,
	}
	ask(ubl.AdmitToken{Request: platform(), Link: strings.Repeat("a", 64), Token: session})
	session.Turn = 1
	ask(ubl.AdmitToken{Request: platform(), Token: session})
	ask(ubl.RevokeToken{Request: h.Request(ana), JTI: "s"})
	ask(ubl.KeepHome{Request: platform(), Verified: ana, Home: ubl.Home{TenantID: ana.TenantID, UserID: ana.UserID}})
	register := func(id string) ubl.PasskeyID {
		ask(ubl.RegisterPasskey{Request: h.Request(ana), Name: "key", Handle: make([]byte, ubl.PasskeyHandle),
			Authenticator: ubl.Authenticator{CredentialID: []byte(id), PublicKey: []byte{1}}})
		return ubl.PasskeyIDOf([]byte(id))
	}
	one := register("credential-1 of ana")
	ask(ubl.UsePasskey{Request: platform(), PasskeyID: one, SignCount: 3, Attempt: "a"})
	ask(ubl.RemovePasskey{Request: h.Request(ana), PasskeyID: one})
	register("credential-2 of ana")
	ask(ubl.RevokeTokens{Request: h.Request(ana), Passkeys: true})
}
