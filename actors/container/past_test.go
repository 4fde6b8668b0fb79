package container_test

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"ubl"
	"ubl/actors/agreement"
	"ubl/actors/container"
	"ubl/test/harness"
)

// TestPast: containers and their Agreements as of each moment, by the ledger's seq and
// by time, are what was answered then.
func TestPast(t *testing.T) {
	h := harness.Open(t, harness.Options{})
	ana, bob := harness.User("ana@example.com"), harness.User("bob@example.com")
	h.Enter(ana)
	h.Enter(bob)
	here, there := wallet(h, ana, "here"), wallet(h, ana, "there")
	made := harness.Must[*ubl.ContainerMade](h, ubl.TenantName(ana.TenantID), ubl.CreateContainer{
		Request: h.Request(ana), Kind: "workspace", Name: "plans",
	})
	plans := ubl.ContainerName(ana.TenantID, made.Container.ContainerID)
	places := []ubl.Name{here, there, plans}
	entry := ubl.Member{UserID: bob.UserID, Email: bob.Email, Role: ubl.RoleMember}
	content := "that"
	document := func(id ubl.DocumentID) ubl.Command {
		return ubl.UpdateDocument{Request: h.Request(ana), DocumentID: id, Content: &content}
	}
	var id ubl.DocumentID
	kept := harness.Must[*ubl.DocumentResult](h, plans, ubl.CreateDocument{Request: h.Request(ana), Title: "Kept", Content: "for good"}).Document
	history := []*seen{look(h, ana, places)}
	for _, act := range []func() any{
		func() any {
			d := harness.Must[*ubl.DocumentResult](h, plans, ubl.CreateDocument{Request: h.Request(ana), Title: "Plan A", Content: "this"})
			id = d.Document.DocumentID
			return d
		},
		func() any { return harness.Must[any](h, plans, document(id)) },
		func() any {
			return harness.Must[any](h, plans, ubl.AddMember{Request: h.Request(ana), Member: entry})
		},
		func() any { return harness.Must[any](h, here, container.Credit{Request: h.Request(ana), Amount: 5}) },
		func() any {
			return harness.Must[any](h, here, ubl.Transfer{Request: h.Request(ana), To: ubl.ContainerID(there.Local()), Amount: 3})
		},
		func() any {
			return harness.Must[any](h, plans, ubl.DeleteDocument{Request: h.Request(ana), DocumentID: id})
		},
		func() any { return harness.Must[any](h, there, ubl.EndAgreement{Request: h.Request(ana)}) },
	} {
		h.Clock.Add(time.Second)
		act()
		history = append(history, look(h, ana, places))
	}
	h.Clock.Add(time.Second)
	for i, then := range history {
		for p, place := range places {
			for _, at := range []ubl.AsOf{{Seq: then.seq}, {Time: then.at}, {Time: then.at + 999}} {
				c := harness.Must[*ubl.Container](h, place, ubl.GetContainer{Who: ana, AsOf: at})
				agreement := harness.Must[*ubl.AgreementView](h, place, ubl.GetAgreement{Who: ana, AsOf: at})
				if c.AsOf == nil || agreement.AsOf == nil || c.AsOf.Seq > then.seq || *c.AsOf != *agreement.AsOf {
					t.Errorf("as of %+v was answered under the receipts %+v and %+v", at, c.AsOf, agreement.AsOf)
				}
				c.AsOf, agreement.AsOf = nil, nil
				if !reflect.DeepEqual(c, then.containers[p]) || !reflect.DeepEqual(agreement, then.agreements[p]) {
					t.Errorf("moment %d, as of %+v:\n%+v\n%+v, then\n%+v\n%+v", i, at, c, agreement, then.containers[p], then.agreements[p])
				}
			}
		}
	}
	for i, then := range history {
		list := harness.Must[*ubl.DocumentList](h, plans, ubl.ListDocuments{Request: h.Request(ana), AsOf: ubl.AsOf{Seq: then.seq}})
		want := slices.DeleteFunc(slices.Clone(then.documents), func(d *ubl.Document) bool { return d.DocumentID == id }) // deleted since
		if !reflect.DeepEqual(list.Documents, want) || want[0].DocumentID != kept.DocumentID {
			t.Errorf("moment %d has the documents %+v, then it had %+v", i, list.Documents, then.documents)
		}
	}
	h.Refused(ubl.CodeNotFound, plans, ubl.GetContainer{Who: ana, AsOf: ubl.AsOf{Seq: 1}})
	h.Refused(ubl.CodeNotFound, here, ubl.GetContainer{Who: bob, AsOf: ubl.AsOf{Seq: history[0].seq}})
	h.Refused(ubl.CodeNotFound, here, ubl.GetAgreement{Who: bob, AsOf: ubl.AsOf{Seq: history[0].seq}})
}

// seen is what a member saw of some containers at some moment.
type seen struct {
	seq        int64
	at         ubl.Time
	containers []*ubl.Container
	agreements []*ubl.AgreementView
	documents  []*ubl.Document // of the last one
}

// look is what a member sees of containers now.
func look(h *harness.House, who ubl.Identity, places []ubl.Name) *seen {
	s := &seen{seq: harness.Must[ubl.LedgerHead](h, ubl.LedgerName(who.TenantID), ubl.GetLedgerHead{}).Seq, at: ubl.TimeOf(h.Clock.Now())}
	for _, place := range places {
		s.containers = append(s.containers, harness.Must[*ubl.Container](h, place, ubl.GetContainer{Who: who}))
		s.agreements = append(s.agreements, harness.Must[*ubl.AgreementView](h, place, ubl.GetAgreement{Who: who}))
	}
	s.documents = harness.Must[*ubl.DocumentList](h, places[len(places)-1], ubl.ListDocuments{Request: h.Request(who)}).Documents
	return s
}

// TestPastOfSealed: who inherits a sealed container doesn't look behind the sealing.
func TestPastOfSealed(t *testing.T) {
	h := harness.Open(t, harness.Options{})
	ana, bob := harness.User("ana@example.com"), harness.User("bob@example.com")
	h.Enter(ana)
	h.Enter(bob)
	place := wallet(h, ana, "mine")
	secret := look(h, ana, []ubl.Name{place})
	h.Clock.Add(time.Second)
	harness.Must[any](h, place, ubl.RemoveMember{Request: h.Request(ana), UserID: ana.UserID, Expel: true})
	harness.Must[any](h, place, agreement.Inherit{Request: h.Request(ana), Heir: ubl.Member{UserID: bob.UserID, Email: bob.Email}})
	own := look(h, bob, []ubl.Name{place})
	h.Refused(ubl.CodeForbidden, place, ubl.GetContainer{Who: bob, AsOf: ubl.AsOf{Seq: secret.seq}})
	h.Refused(ubl.CodeForbidden, place, ubl.ListDocuments{Request: h.Request(bob), AsOf: ubl.AsOf{Seq: secret.seq}})
	h.Refused(ubl.CodeForbidden, place, ubl.GetAgreement{Who: bob, AsOf: ubl.AsOf{Seq: secret.seq}})
	got := harness.Must[*ubl.Container](h, place, ubl.GetContainer{Who: bob, AsOf: ubl.AsOf{Seq: own.seq}})
	if got.AsOf = nil; !reflect.DeepEqual(got, own.containers[0]) {
		t.Errorf("after the sealing it was %+v, answered %+v", own.containers[0], got)
	}
}
