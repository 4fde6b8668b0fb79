package actors_test

import (
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"ubl"
	"ubl/test/harness"
)

// agreedHouse is a tenant of ana, an owner, and of bob and cem, with the room r:plans of ana and
// bob.
type agreedHouse struct {
	*harness.House
	t             *testing.T
	ana, bob, cem ubl.Identity
	tenant, plans ubl.Name
}

func openAgreed(t *testing.T) *agreedHouse { return openAgreedWith(t, harness.Options{}) }

func openAgreedWith(t *testing.T, opts harness.Options) *agreedHouse {
	h := &agreedHouse{House: harness.Open(t, opts), t: t, ana: harness.User("ana@example.com"), bob: harness.User("bob@example.com"), cem: harness.User("cem@example.com")}
	for _, u := range []ubl.Identity{h.ana, h.bob, h.cem} {
		h.Enter(u)
	}
	h.tenant = ubl.TenantName(h.ana.TenantID)
	made := harness.Must[*ubl.RoomSummary](h.House, h.tenant, ubl.CreateRoom{Request: h.Request(h.ana), Name: "plans"})
	h.plans = ubl.RoomName(h.ana.TenantID, made.RoomID)
	h.add(h.plans, h.bob, ubl.RoleMember)
	return h
}

func (h *agreedHouse) add(at ubl.Name, who ubl.Identity, role ubl.Role) {
	h.t.Helper()
	harness.Must[*ubl.Member](h.House, at, ubl.AddMember{Request: h.Request(h.ana), Member: ubl.Member{UserID: who.UserID, Email: who.Email, Role: role}})
}

// agree has ana bring terms into force at once.
func (h *agreedHouse) agree(at ubl.Name, terms ubl.Terms) *ubl.AgreementView {
	h.t.Helper()
	terms.Form = ubl.TermsForm
	if terms.Accept == "" {
		terms.Accept = ubl.AcceptProposer
	}
	v := harness.Must[*ubl.AgreementView](h.House, at, ubl.ProposeTerms{Request: h.Request(h.ana), Terms: terms})
	if v.Proposal != nil || v.Amended == 0 {
		h.t.Fatalf("the terms of %s aren't in force: %+v", at, v.Proposal)
	}
	return v
}

// want asks, and wants a code.
func (h *agreedHouse) want(code ubl.Code, what string, at ubl.Name, cmd ubl.Command) {
	h.t.Helper()
	if _, err := h.Ask(h.t.Context(), at, cmd); ubl.CodeOf(err) != code {
		h.t.Errorf("%s: %v, want %q", what, err, code)
	}
}

func permit(did, to string) ubl.Permit { return ubl.Permit{Did: did, To: []string{to}} }

// TestTermsDecide: what a room, a container and the tenant let people do follows from the terms
// of their Agreements, live and loaded, and goes no further than their physics.
func TestTermsDecide(t *testing.T) {
	h := openAgreed(t)
	send := func(who ubl.Identity) ubl.Command { return ubl.SendMessage{Request: h.Request(who), Text: "hello"} }
	h.want("", "with the usual terms a member writes", h.plans, send(h.bob))
	h.agree(h.plans, ubl.Terms{Permits: []ubl.Permit{permit("*", ubl.ToOwners), permit("room.invite", ubl.ToEntries), permit("room.join", ubl.ToTenant)},
		Limits: []ubl.Limit{{Did: "messenger.send", Bytes: 5, PerMinute: 2}}})
	for _, loaded := range []string{"live", "loaded"} {
		h.want(ubl.CodeForbidden, loaded+": owners alone write", h.plans, send(h.bob))
		h.want("", loaded+": every member reads", h.plans, ubl.ReadHistory{Who: h.bob, Limit: 1})
		h.want("", loaded+": the Agreement, too", h.plans, ubl.GetAgreement{Who: h.bob})
		h.want(ubl.CodeTooLarge, loaded+": six bytes", h.plans, ubl.SendMessage{Request: h.Request(h.ana), Text: "hello!"})
		h.want(ubl.CodeConflict, loaded+": the terms say who joins", h.plans, ubl.SetRoomPolicy{Request: h.Request(h.ana), Patch: ubl.RoomPolicyPatch{Join: new(ubl.JoinInvite)}})
		h.Reload()
	}
	h.want("", "a message", h.plans, send(h.ana))
	h.want("", "another", h.plans, send(h.ana))
	h.want(ubl.CodeRateLimited, "a third within a minute", h.plans, send(h.ana))
	if room := harness.Must[*ubl.Room](h.House, h.plans, ubl.GetRoom{Who: h.ana}); room.Policy.Join != ubl.JoinTenant {
		t.Errorf("the policy says %s", room.Policy.Join)
	}
	if rooms := harness.Must[[]ubl.RoomEntry](h.House, h.tenant, ubl.ListRooms{Who: h.cem}); len(rooms) != 2 {
		t.Errorf("cem may join %v", rooms)
	}
	h.want("", "one of the tenant joins", h.plans, ubl.JoinRoom{Request: h.Request(h.cem)})
	h.want("", "a member leaves, whatever the terms", h.plans, ubl.RemoveMember{Request: h.Request(h.cem), UserID: h.cem.UserID})

	h.want(ubl.CodeValidation, "more than a room's physics let", h.plans, ubl.ProposeTerms{Request: h.Request(h.ana),
		Terms: ubl.Terms{Form: ubl.TermsForm, Accept: ubl.AcceptProposer, Permits: []ubl.Permit{permit("*", ubl.ToOwners), permit("messenger.*", ubl.ToTenant)}}})
	h.want(ubl.CodeConflict, "tool.access sets the terms of tools", h.tenant, ubl.ProposeTerms{Request: h.Request(h.ana), Agreement: h.toolRecord("messenger.send"),
		Terms: ubl.Terms{Form: ubl.TermsForm, Accept: ubl.AcceptProposer, Permits: []ubl.Permit{permit("*", ubl.ToOwners)}}})

	h.agree(h.tenant, ubl.Terms{Permits: []ubl.Permit{permit("*", ubl.ToOwners)}})
	h.want(ubl.CodeForbidden, "members make no rooms", h.tenant, ubl.CreateRoom{Request: h.Request(h.bob), Name: "mine"})
	h.want(ubl.CodeForbidden, "nobody joins by their address", h.tenant, ubl.Enter{Request: h.Request(harness.User("dora@example.com"))})
	h.VerifyLedger(h.ana.TenantID)
}

func (h *agreedHouse) toolRecord(tool string) ubl.AgreementID {
	return harness.Must[*ubl.ToolAccess](h.House, h.tenant, ubl.SetToolAccess{Request: h.Request(h.ana), Tool: tool, Allowed: true}).AgreementID
}

// TestRefusedCountsForNothing: terms that let members send once a minute don't count what the
// seat refuses for another reason, as where the tenant has stored all it may.
func TestRefusedCountsForNothing(t *testing.T) {
	var full atomic.Bool
	h := openAgreedWith(t, harness.Options{Quota: func(limit string, _ int) error {
		if limit == ubl.QuotaBytes && full.Load() {
			return ubl.Errorf(ubl.CodeTooLarge, "the tenant is full")
		}
		return nil
	}})
	h.agree(h.plans, ubl.Terms{Permits: []ubl.Permit{permit("*", ubl.ToOwners)}, Limits: []ubl.Limit{{Did: "messenger.send", PerMinute: 1}}})
	send := ubl.SendMessage{Request: h.Request(h.ana), Text: "hello"}
	full.Store(true)
	h.want(ubl.CodeTooLarge, "a message to a full tenant", h.plans, send)
	full.Store(false)
	h.want("", "the same, once there is room", h.plans, send)
	h.want(ubl.CodeRateLimited, "a second within a minute", h.plans, ubl.SendMessage{Request: h.Request(h.ana), Text: "hello"})
}

// TestMembersDecline: who has to accept may decline, a member too, in a room, a container and
// the tenant; who hasn't, may not.
func TestMembersDecline(t *testing.T) {
	h := openAgreed(t)
	made := harness.Must[*ubl.ContainerMade](h.House, h.tenant, ubl.CreateContainer{Request: h.Request(h.ana), Kind: "workspace", Name: "shelf"})
	shelf := ubl.ContainerName(h.ana.TenantID, made.Container.ContainerID)
	h.add(shelf, h.bob, ubl.RoleMember)
	for _, at := range []ubl.Name{h.plans, shelf, h.tenant} {
		terms := ubl.Terms{Form: ubl.TermsForm, Accept: ubl.AcceptOwners, Permits: []ubl.Permit{permit("*", ubl.ToOwners)}}
		h.agree(at, ubl.Terms{Accept: ubl.AcceptEntries, Permits: []ubl.Permit{permit("*", ubl.ToOwners), permit("agreement.propose", ubl.ToEntries)}})
		h.want("", "a proposal", at, ubl.ProposeTerms{Request: h.Request(h.ana), Terms: terms})
		h.want("", "it is declined", at, ubl.WithdrawTerms{Request: h.Request(h.bob)})
		h.want("", "a member's proposal", at, ubl.ProposeTerms{Request: h.Request(h.bob), Terms: terms})
		h.want("", "it is taken back", at, ubl.WithdrawTerms{Request: h.Request(h.bob)})
		h.want("", "another of the owner's", at, ubl.ProposeTerms{Request: h.Request(h.ana), Terms: terms})
		h.want("", "a member accepts", at, ubl.AcceptTerms{Request: h.Request(h.bob), TermsHash: terms.Hash()})
	}
	h.want("", "the last member of the tenant accepts, too", h.tenant, ubl.AcceptTerms{Request: h.Request(h.cem), TermsHash: harness.Must[*ubl.AgreementView](h.House, h.tenant, ubl.GetAgreement{Who: h.cem}).Proposal.TermsHash})
	h.want("", "one more owner", h.tenant, ubl.SetTenantMember{Request: h.Request(h.ana), UserID: h.cem.UserID, Role: ubl.RoleOwner})
	h.want("", "a proposal that waits for owners", h.tenant, ubl.ProposeTerms{Request: h.Request(h.ana), Terms: ubl.Terms{Form: ubl.TermsForm, Accept: ubl.AcceptProposer, Permits: []ubl.Permit{permit("*", ubl.ToOwners)}}})
	h.want(ubl.CodeForbidden, "a member whom nobody asks declines", h.tenant, ubl.WithdrawTerms{Request: h.Request(h.bob)})
	h.VerifyLedger(h.ana.TenantID)
}

// TestTermsEnd: the time of the terms of a room, a container and a tenant ends them, by an act
// of the platform, whether anybody asks or not.
func TestTermsEnd(t *testing.T) {
	h := openAgreed(t)
	made := harness.Must[*ubl.ContainerMade](h.House, h.tenant, ubl.CreateContainer{Request: h.Request(h.ana), Kind: "workspace", Name: "shelf"})
	shelf := ubl.ContainerName(h.ana.TenantID, made.Container.ContainerID)
	soon := ubl.TimeOf(h.Clock.Now()).Add(time.Hour)
	kind := ubl.Kind{Name: "case", Agreement: "case_agreement", Physics: ubl.WorkspaceKind().Physics, Terms: &ubl.Terms{
		Form: ubl.TermsForm, Accept: ubl.AcceptProposer, Until: soon, Permits: []ubl.Permit{permit("*", ubl.ToOwners)}}}
	h.want("", "a kind that ends", h.tenant, ubl.SetKind{Request: h.Request(h.ana), Kind: kind})
	made = harness.Must[*ubl.ContainerMade](h.House, h.tenant, ubl.CreateContainer{Request: h.Request(h.ana), Kind: "case", Name: "one"})
	places := []ubl.Name{ubl.ContainerName(h.ana.TenantID, made.Container.ContainerID), h.plans, shelf, h.tenant}
	for _, at := range places[1:] {
		h.agree(at, ubl.Terms{Until: soon, Permits: []ubl.Permit{permit("*", ubl.ToOwners), permit("messenger.*", ubl.ToEntries)}})
	}
	h.Clock.Add(59 * time.Minute)
	h.Alarms()
	h.want("", "a message in time", h.plans, ubl.SendMessage{Request: h.Request(h.bob), Text: "hello"})
	h.Clock.Add(time.Minute)
	h.want(ubl.CodeForbidden, "one after it", h.plans, ubl.SendMessage{Request: h.Request(h.bob), Text: "hello"})
	h.want(ubl.CodeConflict, "a container of a kind that has ended", h.tenant, ubl.CreateContainer{Request: h.Request(h.ana), Kind: "case", Name: "two"})
	h.Alarms()
	for _, at := range places {
		v := harness.Must[*ubl.AgreementView](h.House, at, ubl.GetAgreement{Who: h.ana})
		last := v.History[len(v.History)-1]
		if v.Status != ubl.AgreementEnded || last.Did != ubl.DidAgreementEnd || last.By != ubl.Platform().UserID || last.Hash != v.Hash {
			t.Errorf("%s: %s, %+v", at, v.Status, last)
		}
	}
	h.VerifyLedger(h.ana.TenantID)
}

// TestHistoryHasHashes: each step of a record's history has the hash of the record after it,
// which is that of the record as of the step's receipt.
func TestHistoryHasHashes(t *testing.T) {
	h := openAgreed(t)
	harness.Must[*ubl.Room](h.House, h.plans, ubl.SetRoomPolicy{Request: h.Request(h.ana), Patch: ubl.RoomPolicyPatch{Join: new(ubl.JoinTenant)}})
	h.agree(h.plans, ubl.Terms{Permits: []ubl.Permit{permit("*", ubl.ToOwners)}, Accept: ubl.AcceptOwners})
	harness.Must[*ubl.ToolAccess](h.House, h.tenant, ubl.SetToolAccess{Request: h.Request(h.ana), Tool: "messenger.send", Allowed: true, PerMinute: 60})
	made := harness.Must[*ubl.ContainerMade](h.House, h.tenant, ubl.CreateContainer{Request: h.Request(h.ana), Kind: "workspace", Name: "shelf"})
	shelf := ubl.ContainerName(h.ana.TenantID, made.Container.ContainerID)
	h.add(shelf, h.bob, ubl.RoleMember)
	for record, at := range map[ubl.AgreementID]ubl.Name{
		ubl.RoomAgreement("r:plans"): h.plans, ubl.TenantAgreement(h.ana.TenantID): h.tenant, "a:workspace:w:shelf": shelf, ubl.ToolAgreement("messenger.send"): h.tenant,
	} {
		now := harness.Must[*ubl.AgreementView](h.House, at, ubl.GetAgreement{Who: h.ana, Agreement: record})
		for i, step := range now.History {
			then := harness.Must[*ubl.AgreementView](h.House, at, ubl.GetAgreement{Who: h.ana, Agreement: record, Brief: true, AsOf: ubl.AsOf{Seq: step.Receipt.Seq + 1}})
			if step.Hash == "" || step.Hash != then.Hash {
				t.Errorf("%s, step %d, %s: the hash is %s, as of it %s", now.ID, i+1, step.Did, step.Hash, then.Hash)
			}
		}
		if last := now.History[len(now.History)-1]; last.Hash != now.Hash {
			t.Errorf("%s: the newest step has %s, the record %s", now.ID, last.Hash, now.Hash)
		}
	}
}

// TestPublic: anyone looks into what is public, whoever has no identity too, and nobody but the
// tenant writes. Nothing else lets them in.
func TestPublic(t *testing.T) {
	h := openAgreed(t)
	nobody := ubl.Identity{}
	for name, permeability := range map[string]ubl.Permeability{"open": ubl.Open, "public": ubl.Public} {
		made := harness.Must[*ubl.ContainerMade](h.House, h.tenant, ubl.CreateContainer{Request: h.Request(h.ana), Kind: "container", Name: name,
			Physics: &ubl.Physics{Fungibility: ubl.Versioned, Topology: ubl.Objects, Permeability: permeability, Execution: ubl.Disabled}})
		at := ubl.ContainerName(h.ana.TenantID, made.Container.ContainerID)
		looks, writes := ubl.CodeNotFound, ubl.CodeNotFound
		if permeability == ubl.Public {
			looks, writes = "", ubl.CodeForbidden
		}
		for _, who := range []ubl.Identity{nobody, harness.User("eve@else.org")} {
			h.want(looks, name+": a look", at, ubl.GetContainer{Who: who})
			h.want(writes, name+": a document", at, ubl.CreateDocument{Request: h.Request(who), Title: "x"})
		}
		h.want("", name+": of the tenant", at, ubl.CreateDocument{Request: h.Request(h.bob), Title: "x"})
	}
	for _, at := range []ubl.Name{h.plans, h.tenant, ubl.ContainerName(h.ana.TenantID, ubl.GeneralWorkspace)} {
		if _, err := h.Ask(t.Context(), at, ubl.GetContainer{Who: nobody}); err == nil {
			t.Errorf("anyone looks into %s", at)
		}
	}
}

// TestKinds: an owner's kind says what its containers begin with. They keep it.
func TestKinds(t *testing.T) {
	h := openAgreed(t)
	kind := ubl.Kind{
		Name: "case", Agreement: "case_agreement", IDs: "case-", Physics: ubl.WorkspaceKind().Physics, Content: []string{"application/json"}, Tools: []string{"files.read"},
		Terms: &ubl.Terms{Form: ubl.TermsForm, Accept: ubl.AcceptOwners, Permits: []ubl.Permit{permit("*", ubl.ToOwners), permit("container.get", ubl.ToEntries)}},
	}
	h.want(ubl.CodeForbidden, "a member writes no kinds", h.tenant, ubl.SetKind{Request: h.Request(h.bob), Kind: kind})
	h.want("", "an owner does", h.tenant, ubl.SetKind{Request: h.Request(h.ana), Kind: kind})
	for what, spoil := range map[string]func(*ubl.Kind){
		"a name of the server's": func(k *ubl.Kind) { k.Name = "wallet" }, "a room's Agreement": func(k *ubl.Kind) { k.Agreement = ubl.RoomGovernance },
		"an id": func(k *ubl.Kind) { k.IDs = "R:" }, "physics": func(k *ubl.Kind) { k.Physics.Fungibility = ubl.Strict },
		"content": func(k *ubl.Kind) { k.Content = []string{"image/png"} }, "a tool": func(k *ubl.Kind) { k.Tools = []string{"a b"} },
		"terms beyond the physics": func(k *ubl.Kind) {
			k.Terms = &ubl.Terms{Form: ubl.TermsForm, Accept: ubl.AcceptOwners, Permits: []ubl.Permit{permit("*", ubl.ToTenant)}}
		},
	} {
		bad := kind
		spoil(&bad)
		if _, err := h.Ask(t.Context(), h.tenant, ubl.SetKind{Request: h.Request(h.ana), Kind: bad}); ubl.CodeOf(err) != ubl.CodeValidation {
			t.Errorf("%s: %v", what, err)
		}
	}
	made := harness.Must[*ubl.ContainerMade](h.House, h.tenant, ubl.CreateContainer{Request: h.Request(h.ana), Kind: "case", Name: "One"})
	at := ubl.ContainerName(h.ana.TenantID, made.Container.ContainerID)
	h.add(at, h.bob, ubl.RoleMember)
	h.want("", "the tenant forgets the kind", h.tenant, ubl.RemoveKind{Request: h.Request(h.ana), Name: "case"})
	h.want(ubl.CodeValidation, "and makes none of it", h.tenant, ubl.CreateContainer{Request: h.Request(h.ana), Kind: "case", Name: "Two"})
	h.Reload()
	v := harness.Must[*ubl.AgreementView](h.House, at, ubl.GetAgreement{Who: h.bob})
	if made.Container.ContainerID != "k:case-one" || v.ID != "a:case:k:case-one" || v.Type != "case_agreement" || v.Terms.Accept != ubl.AcceptOwners {
		t.Errorf("the case is %+v, its Agreement %+v", made.Container, v.Agreement)
	}
	h.want(ubl.CodeForbidden, "a member writes, whom the terms don't let", at, ubl.CreateDocument{Request: h.Request(h.bob), Title: "x", Content: "{}"})
	h.want(ubl.CodeValidation, "text", at, ubl.CreateDocument{Request: h.Request(h.ana), Title: "x", Content: "text"})
	h.want("", "JSON", at, ubl.CreateDocument{Request: h.Request(h.ana), Title: "x", Content: "{}"})
	h.want(ubl.CodeForbidden, "another tool", at, ubl.Authorize{Request: h.Request(h.ana), Op: ubl.OpExecute, Tools: []string{"files.write"}})
	h.want("", "its tool", at, ubl.Authorize{Request: h.Request(h.ana), Op: ubl.OpExecute, Tools: kind.Tools})
	kinds := harness.Must[[]*ubl.Kind](h.House, h.tenant, ubl.ListKinds{Who: h.bob})
	if slices.ContainsFunc(kinds, func(k *ubl.Kind) bool { return k.Own }) || len(kinds) != len(ubl.Kinds()) {
		t.Errorf("the kinds are %+v", kinds)
	}
	h.VerifyLedger(h.ana.TenantID)
}
