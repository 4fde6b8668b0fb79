package actors_test

import (
	"slices"
	"strings"
	"testing"

	"ubl"
	"ubl/test/harness"
)

// TestLicenseHoldsThePortal: what the Portal decides for a caller stands under the terms of the
// TenantLicense, which the Tenant's seat holds it to when it lets them use the tool. Terms that owners
// set permit what they list, and the refusal says what to list.
func TestLicenseHoldsThePortal(t *testing.T) {
	h := openAgreed(t)
	h.toolRecord("weather.get")
	enter := func(who ubl.Identity, tool string, still bool) ubl.Enter {
		return ubl.Enter{Request: h.Request(who), Act: true, Tool: tool, External: tool == "weather.get", Still: still}
	}
	owners := ubl.Terms{Permits: []ubl.Permit{permit("*", ubl.ToOwners)}}
	listed := ubl.Terms{Permits: append(owners.Permits, permit("portal.call", ubl.ToEntries), permit("office.tool.call", string(h.bob.UserID)))}
	unlisted := ubl.Terms{Permits: []ubl.Permit{permit("tenant.*", ubl.ToOwners), permit("agreement.*", ubl.ToOwners), permit("tool.*", ubl.ToOwners)}}
	limited := ubl.Terms{Permits: owners.Permits, Limits: []ubl.Limit{{Did: "portal.budget.update", PerMinute: 1}}}
	tools := []string{"weather.get", "office.tool.call", "portal.server.connect", "portal.server.disconnect", "portal.server.add", "portal.server.sync", "portal.tool.approve", "portal.budget.update", "portal.server.list"}
	for _, test := range []struct {
		name  string
		terms *ubl.Terms
		who   ubl.Identity
		may   string // the tools, by their places in the list
	}{
		{"the usual terms, an owner", nil, h.ana, "123456789"},
		{"the usual terms, a member", nil, h.bob, "1234    9"},
		{"owners alone, an owner", &owners, h.ana, "123456789"},
		{"owners alone, a member", &owners, h.bob, "        9"},
		{"calls for all, and office.tool.call for one: that one", &listed, h.bob, "12      9"},
		{"calls for all, and office.tool.call for one: another", &listed, h.cem, "1       9"},
		{"terms that leave all of it out, an owner", &unlisted, h.ana, "        9"},
	} {
		if test.terms != nil {
			h.agree(h.tenant, *test.terms)
		}
		for _, loaded := range []string{"live", "loaded"} {
			open := harness.Must[*ubl.UsableTools](h.House, h.tenant, ubl.FindUsable{Who: test.who, Tools: tools[1:]}).Open
			for i, tool := range tools {
				var want ubl.Code
				if test.may[i] == ' ' {
					want = ubl.CodeForbidden
				}
				h.want(want, test.name+", "+loaded+": "+tool, h.tenant, enter(test.who, tool, false))
				h.want(want, test.name+", "+loaded+", asked again meanwhile: "+tool, h.tenant, enter(test.who, tool, true))
				if shown := strings.Contains(strings.Join(open, " ")+" ", tool+" "); i > 0 && shown != (want == "") {
					t.Errorf("%s, %s: %s is shown: %v", test.name, loaded, tool, shown)
				}
			}
			h.Reload()
		}
	}

	_, err := h.Ask(t.Context(), h.tenant, enter(h.ana, "weather.get", false))
	for _, part := range []string{"portal.call to nobody", "list portal.call or portal.* themselves"} {
		if !strings.Contains(ubl.AsError(err).Message, part) {
			t.Errorf("an owner is told %q, without %q", ubl.AsError(err).Message, part)
		}
	}
	head := harness.Must[ubl.LedgerHead](h.House, ubl.LedgerName(h.ana.TenantID), ubl.GetLedgerHead{})
	pair := harness.Must[*ubl.ReceiptPair](h.House, ubl.LedgerName(h.ana.TenantID), ubl.GetReceipt{Seq: head.Seq})
	if refused := string(pair.Atoms[0]); !strings.Contains(refused, `"portal.tool.deny"`) || !strings.Contains(refused, `"agreement_id":"a:tenant:`) {
		t.Errorf("the refusal is on record as %s", refused)
	}

	h.agree(h.tenant, limited)
	h.want("", "a budget", h.tenant, enter(h.ana, "portal.budget.update", false))
	h.want(ubl.CodeRateLimited, "another within the minute", h.tenant, enter(h.ana, "portal.budget.update", false))
	h.want("", "to look at the tool is none", h.tenant, enter(h.ana, "portal.budget.update", true))
	h.VerifyLedger(h.ana.TenantID)
}

// TestLicenseHoldsFamilies: acts that families bring along stand under the terms of the TenantLicense,
// which name them as any others. Usual terms permit them to entries; terms that owners set permit what
// they list. Nobody is kept from what they set for themselves alone, nor from taking away what is theirs.
func TestLicenseHoldsFamilies(t *testing.T) {
	h := openAgreed(t)
	tools := []string{
		"webhook.create", "webhook.update", "webhook.rotate", "webhook.test", "webhook.redeliver", "webhook.remove", "webhook.list",
		"person.key.create", "person.device.add", "person.reminder.add", "person.scheduled.add", "person.scheduled.update",
		"person.device.remove", "person.reminder.remove", "person.scheduled.remove", "person.preferences.update", "person.room.update", "person.get",
	}
	owners := []ubl.Permit{permit("tenant.*", ubl.ToOwners), permit("agreement.*", ubl.ToOwners), permit("tool.*", ubl.ToOwners)}
	for _, test := range []struct {
		name    string
		permits []ubl.Permit // nil: the usual ones
		who     ubl.Identity
		may     string // the tools, by their places in the list
	}{
		{"the usual terms, an owner", nil, h.ana, "wwwwwwwppppppppppp"},
		{"the usual terms, a member", nil, h.bob, "wwwwwwwppppppppppp"},
		{"terms that leave them out, an owner", owners, h.ana, "     ww     pppppp"},
		{"terms that leave them out, a member", owners, h.bob, "     ww     pppppp"},
		{"webhooks for owners, an owner", append(owners, permit("webhook.*", ubl.ToOwners)), h.ana, "wwwwwww     pppppp"},
		{"webhooks for owners, a member", append(owners, permit("webhook.*", ubl.ToOwners)), h.bob, "     ww     pppppp"},
		{"reminders for entries, a member", append(owners, permit("person.reminder.add", ubl.ToEntries)), h.bob, "     ww  p  pppppp"},
		{"all for owners, an owner", append(owners, permit("*", ubl.ToOwners)), h.ana, "wwwwwwwppppppppppp"},
		{"all for owners, a member", append(owners, permit("*", ubl.ToOwners)), h.bob, "     ww     pppppp"},
	} {
		if test.permits != nil {
			h.agree(h.tenant, ubl.Terms{Permits: test.permits})
		}
		for _, loaded := range []string{"live", "loaded"} {
			open := harness.Must[*ubl.UsableTools](h.House, h.tenant, ubl.FindUsable{Who: test.who, Tools: tools}).Open
			for i, tool := range tools {
				var want ubl.Code
				if test.may[i] == ' ' {
					want = ubl.CodeForbidden
				}
				what := test.name + ", " + loaded + ": " + tool
				h.want(want, what, h.tenant, ubl.Enter{Request: h.Request(test.who), Act: true, Tool: tool})
				if shown := slices.Contains(open, tool); shown != (want == "") {
					t.Errorf("%s is shown: %v", what, shown)
				}
			}
			h.Reload()
		}
	}
	h.agree(h.tenant, ubl.Terms{Permits: []ubl.Permit{permit("*", ubl.ToEntries)}, Limits: []ubl.Limit{{Did: "webhook.test", PerMinute: 1}}})
	h.want("", "a test", h.tenant, ubl.Enter{Request: h.Request(h.bob), Act: true, Tool: "webhook.test"})
	h.want(ubl.CodeRateLimited, "another within the minute", h.tenant, ubl.Enter{Request: h.Request(h.bob), Act: true, Tool: "webhook.test"})
	h.want(ubl.CodeValidation, "an act that no family brings", h.tenant, ubl.ProposeTerms{Request: h.Request(h.ana),
		Terms: ubl.Terms{Form: ubl.TermsForm, Accept: ubl.AcceptProposer, Permits: []ubl.Permit{permit("*", ubl.ToOwners), permit("webhook.shout", ubl.ToOwners)}}})
	h.VerifyLedger(h.ana.TenantID)
}
