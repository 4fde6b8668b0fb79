package tenant_test

import (
	"reflect"
	"testing"
	"time"

	"ubl"
	"ubl/test/harness"
)

// TestPast: the tenant's Agreement and those of its tools, as of each moment, are what was
// answered then.
func TestPast(t *testing.T) {
	h := harness.Open(t, harness.Options{})
	ana, bob := harness.User("ana@example.com"), harness.User("bob@example.com")
	h.Enter(ana)
	home, tool := ubl.TenantName(ana.TenantID), "messenger.send"
	type seen struct {
		seq           int64
		license, tool *ubl.AgreementView
	}
	look := func(known bool) (s seen) {
		s.seq = harness.Must[ubl.LedgerHead](h, ubl.LedgerName(ana.TenantID), ubl.GetLedgerHead{}).Seq
		s.license = harness.Must[*ubl.AgreementView](h, home, ubl.GetAgreement{Who: ana})
		if known {
			s.tool = harness.Must[*ubl.AgreementView](h, home, ubl.GetAgreement{Who: ana, Agreement: ubl.ToolAgreement(tool)})
		}
		return s
	}
	history := []seen{look(false)}
	for _, act := range []ubl.Command{
		ubl.Enter{Request: h.Request(bob), Act: true},
		ubl.SetTenantMember{Request: h.Request(ana), UserID: bob.UserID, Role: ubl.RoleOwner},
		ubl.SetToolAccess{Request: h.Request(ana), Tool: tool},
		ubl.RemoveTenantMember{Request: h.Request(ana), UserID: bob.UserID},
	} {
		h.Clock.Add(time.Second)
		harness.Must[any](h, home, act)
		_, set := act.(ubl.SetToolAccess)
		history = append(history, look(set || history[len(history)-1].tool != nil))
	}
	h.Clock.Add(time.Second)
	for i, then := range history {
		at := ubl.AsOf{Seq: then.seq}
		license := harness.Must[*ubl.AgreementView](h, home, ubl.GetAgreement{Who: ana, AsOf: at})
		if license.AsOf == nil || license.AsOf.Seq > then.seq {
			t.Errorf("moment %d was answered under the receipt %+v", i, license.AsOf)
		}
		if license.AsOf = nil; !reflect.DeepEqual(license, then.license) {
			t.Errorf("moment %d:\n%+v, then\n%+v", i, license, then.license)
		}
		of := ubl.GetAgreement{Who: ana, Agreement: ubl.ToolAgreement(tool), AsOf: at}
		if then.tool == nil {
			h.Refused(ubl.CodeNotFound, home, of)
			continue
		}
		record := harness.Must[*ubl.AgreementView](h, home, of)
		if record.AsOf = nil; !reflect.DeepEqual(record, then.tool) {
			t.Errorf("moment %d of the tool:\n%+v, then\n%+v", i, record, then.tool)
		}
	}
	h.Refused(ubl.CodeForbidden, home, ubl.GetAgreement{Who: bob, AsOf: ubl.AsOf{Seq: history[1].seq}})
}
