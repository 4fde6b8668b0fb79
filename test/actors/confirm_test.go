package actors_test

import (
	"context"
	"testing"

	"ubl"
	"ubl/test/harness"
)

// TestUnconfirmedUses: the gate refuses an agent's use that a person is to confirm and hasn't, by the tool's record, that
// of what it is a part of, or the mandate; on record, and without counting it. People need no confirmation.
func TestUnconfirmedUses(t *testing.T) {
	w := openTools(t, harness.Options{})
	free, bound := mandated(w, "free", ubl.Mandate{}), mandated(w, "bound", ubl.Mandate{Confirm: ubl.ConfirmDestructive})
	w.set(ubl.SetToolAccess{Tool: "files.clear", Allowed: true, Confirm: ubl.ConfirmDestructive, PerMinute: 1})
	w.set(ubl.SetToolAccess{Tool: "messenger.send", Allowed: true, Confirm: ubl.ConfirmAlways})
	for _, test := range []struct {
		what string
		who  ubl.Identity
		in   ubl.Enter
		want ubl.Code
	}{
		{"destructive", free, ubl.Enter{Tool: "files.clear", External: true, Destroys: true}, ubl.CodeConfirmation},
		{"confirmed for another tool", free, ubl.Enter{Tool: "files.clear", External: true, Destroys: true, Confirmed: "files.read"}, ubl.CodeConfirmation},
		{"confirmed, and the first that counts", free, ubl.Enter{Tool: "files.clear", External: true, Destroys: true, Confirmed: "files.clear"}, ""},
		{"once a minute", free, ubl.Enter{Tool: "files.clear", External: true, Destroys: true, Confirmed: "files.clear"}, ubl.CodeRateLimited},
		{"still", free, ubl.Enter{Tool: "files.clear", External: true, Destroys: true, Still: true}, ""},
		{"destroys nothing", bound, ubl.Enter{Tool: "files.clear", External: true}, ""},
		{"a person", w.bob, ubl.Enter{Tool: "files.clear", External: true, Destroys: true}, ""},
		{"a part of what is always confirmed", free, ubl.Enter{Tool: "messenger.edit"}, ubl.CodeConfirmation},
		{"the part, confirmed", free, ubl.Enter{Tool: "messenger.edit", Confirmed: "messenger.edit"}, ""},
		{"by the mandate alone", bound, ubl.Enter{Tool: "messenger.redact", Destroys: true}, ubl.CodeConfirmation},
		{"by neither", free, ubl.Enter{Tool: "messenger.redact", Destroys: true}, ""},
	} {
		head := w.head()
		test.in.Request = w.Request(test.who)
		test.in.Act = true
		_, err := w.Ask(context.Background(), w.tenant, test.in)
		if got := ubl.CodeOf(err); got != test.want {
			t.Errorf("%s: answered %q, want %q", test.what, got, test.want)
		}
		if denied := len(w.since(head)) > 0; denied != (test.want != "") {
			t.Errorf("%s: on record is %v", test.what, w.since(head))
		}
	}
	for _, test := range []struct {
		from, to ubl.Confirm
		narrows  bool
	}{
		{"", ubl.ConfirmDestructive, true},
		{ubl.ConfirmDestructive, ubl.ConfirmAlways, true},
		{ubl.ConfirmAlways, ubl.ConfirmDestructive, false},
		{ubl.ConfirmDestructive, "", false},
	} {
		if got := (&ubl.Mandate{Confirm: test.to}).Within(&ubl.Mandate{Confirm: test.from}); got != test.narrows {
			t.Errorf("from %q to %q is narrower: %v", test.from, test.to, got)
		}
	}
	w.VerifyLedger(w.ana.TenantID)
}
