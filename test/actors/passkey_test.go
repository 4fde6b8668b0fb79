package actors_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"ubl"
	"ubl/test/harness"
)

// keyring is tenant 0 with people of other tenants who keep passkeys there.
type keyring struct {
	*harness.House
	core     ubl.Name
	ana, bob ubl.Identity
	operator ubl.Identity
}

func openKeyring(t *testing.T) *keyring {
	h := harness.Open(t, harness.Options{})
	k := &keyring{House: h, core: ubl.TenantName(ubl.CoreTenant), ana: harness.User("ana@example.com"),
		bob: harness.User("bob@elsewhere.org"), operator: harness.User("root@ops.example")}
	k.ana.Groups = []string{"staff"}
	k.operator.TenantID = ubl.CoreTenant
	h.Enter(ubl.Platform())
	h.Enter(k.operator)
	h.Enter(k.ana)
	h.Enter(k.bob)
	return k
}

// credential is the n-th authenticator's id.
func credential(n int) []byte {
	return binary.BigEndian.AppendUint64(bytes.Repeat([]byte{0xc4}, 24), uint64(n))
}

// registering is a good registration of the n-th authenticator.
func (k *keyring) registering(who ubl.Identity, n int) ubl.RegisterPasskey {
	return ubl.RegisterPasskey{
		Request: k.Request(who), Name: fmt.Sprint("Key ", n), Handle: bytes.Repeat([]byte(who.Email[:1]), ubl.PasskeyHandle),
		Authenticator: ubl.Authenticator{CredentialID: credential(n), PublicKey: []byte("cose"), SignCount: 3,
			Transports: []string{"internal", "hybrid"}, BackupEligible: true},
	}
}

func (k *keyring) register(who ubl.Identity, n int) *ubl.Passkey {
	return harness.Must[*ubl.Passkey](k.House, k.core, k.registering(who, n))
}

// using is a sign-in with a fresh challenge.
func (k *keyring) using(id ubl.PasskeyID, count int64) ubl.UsePasskey {
	return ubl.UsePasskey{Request: k.Request(ubl.Platform()), PasskeyID: id, SignCount: count, BackedUp: true, Attempt: "1"}
}

func (k *keyring) names(who ubl.Identity) []string {
	var out []string
	for _, p := range harness.Must[*ubl.Passkeys](k.House, k.core, ubl.ListPasskeys{Who: who}).List {
		out = append(out, p.Name)
	}
	return out
}

// acts are tenant 0's acts about passkeys after a seq, each with its effect.
func (k *keyring) acts(t *testing.T, after int64) (acts [][2]atom) {
	t.Helper()
	page := harness.Must[*ubl.AtomPage](k.House, ubl.LedgerName(ubl.CoreTenant), ubl.ReadAtoms{From: after + 1, Limit: 500})
	for i, raw := range page.Atoms {
		if a := atomOf(t, raw); strings.HasPrefix(a.Did, "passkey.") {
			acts = append(acts, [2]atom{a, atomOf(t, page.Atoms[i+1])})
		}
	}
	return acts
}

// last is the newest of them.
func (k *keyring) last(t *testing.T) (action, effect atom) {
	t.Helper()
	all := k.acts(t, 0)
	return all[len(all)-1][0], all[len(all)-1][1]
}

func (k *keyring) head() int64 {
	return harness.Must[ubl.LedgerHead](k.House, ubl.LedgerName(ubl.CoreTenant), ubl.GetLedgerHead{}).Seq
}

// TestPasskeysOfAPerson: registered, found by credential, used, removed; known as
// before once tenant 0 is loaded anew, and on record without a name or a key.
func TestPasskeysOfAPerson(t *testing.T) {
	k := openKeyring(t)
	if ring := harness.Must[*ubl.Passkeys](k.House, k.core, ubl.ListPasskeys{Who: k.ana}); ring.Handle != nil || len(ring.List) > 0 {
		t.Errorf("a newcomer has %+v", ring)
	}
	first, second := k.register(k.ana, 1), k.register(k.ana, 2)
	if first.ID == second.ID || first.Name != "Key 1" || first.LastUsedAt != nil || first.CreatedAt == 0 {
		t.Errorf("registered %+v and %+v", first, second)
	}
	action, effect := k.last(t)
	if action.Did != "passkey.register" || action.Who.UserID != k.ana.UserID || len(action.This) != 3 ||
		action.This["passkey_id"] != string(second.ID) || action.This["tenant_id"] != string(k.ana.TenantID) || effect.Outcome != "ok" {
		t.Errorf("the ledger says %+v and %+v", action, effect)
	}

	k.Clock.Add(time.Hour)
	used := harness.Must[*ubl.Passkey](k.House, k.core, k.using(first.ID, 4))
	if used.LastUsedAt == nil || used.LastUsedAt.Std().Sub(used.CreatedAt.Std()) != time.Hour {
		t.Errorf("used: %+v", used)
	}
	if action, _ := k.last(t); action.Did != "passkey.use" || action.This["user_id"] != string(k.ana.UserID) {
		t.Errorf("the ledger says %+v", action)
	}
	for range 2 {
		found := harness.Must[*ubl.PasskeyRecord](k.House, k.core, ubl.FindPasskey{CredentialID: credential(1)})
		if found.SignCount != 4 || !found.BackedUp || !found.BackupEligible || string(found.PublicKey) != "cose" ||
			!slices.Equal(found.Transports, []string{"internal", "hybrid"}) || len(found.Handle) != ubl.PasskeyHandle {
			t.Errorf("found %+v", found)
		}
		want := k.ana
		want.Groups = nil // a provider may have taken them away since
		if fmt.Sprintf("%+v", found.Who) != fmt.Sprintf("%+v", want) {
			t.Errorf("it signs in %+v, want %+v", found.Who, want)
		}
		if got := k.names(k.ana); !slices.Equal(got, []string{"Key 1", "Key 2"}) {
			t.Errorf("ana has %q", got)
		}
		k.Reload()
	}

	harness.Must[*ubl.Passkey](k.House, k.core, ubl.RemovePasskey{Request: k.Request(k.ana), PasskeyID: first.ID})
	k.Refused(ubl.CodeNotFound, k.core, ubl.FindPasskey{CredentialID: credential(1)})
	k.Refused(ubl.CodeNotFound, k.core, k.using(first.ID, 9))
	k.Refused(ubl.CodeNotFound, k.core, ubl.RemovePasskey{Request: k.Request(k.ana), PasskeyID: first.ID})
	harness.Must[*ubl.Passkey](k.House, k.core, ubl.RemovePasskey{Request: k.Request(k.operator), PasskeyID: second.ID})
	if ring := harness.Must[*ubl.Passkeys](k.House, k.core, ubl.ListPasskeys{Who: k.ana}); len(ring.List) > 0 || len(ring.Handle) != ubl.PasskeyHandle {
		t.Errorf("after all were removed there is %+v", ring)
	}
	k.register(k.ana, 1) // the same device may come back
	k.VerifyLedger(ubl.CoreTenant)
}

// TestPasskeysRefused: what is refused, and changes nothing.
func TestPasskeysRefused(t *testing.T) {
	k := openKeyring(t)
	p := k.register(k.ana, 1)
	service, elsewhere := k.ana, k.ana
	service.IsService = true
	elsewhere.TenantID = k.bob.TenantID // the same user id in another tenant is another person
	change := func(who ubl.Identity, n int, change func(*ubl.RegisterPasskey)) ubl.Command {
		c := k.registering(who, n)
		change(&c)
		return c
	}
	for _, test := range []struct {
		what string
		want ubl.Code
		cmd  ubl.Command
	}{
		{"the same credential again", ubl.CodeConflict, k.registering(k.ana, 1)},
		{"the same credential, another person", ubl.CodeConflict, k.registering(k.bob, 1)},
		{"another handle", ubl.CodeConflict, change(k.ana, 2, func(c *ubl.RegisterPasskey) { c.Handle = bytes.Repeat([]byte{1}, 32) })},
		{"a service", ubl.CodeForbidden, k.registering(service, 2)},
		{"the platform", ubl.CodeForbidden, change(k.ana, 2, func(c *ubl.RegisterPasskey) { c.Who = ubl.Platform() })},
		{"no name", ubl.CodeValidation, change(k.ana, 2, func(c *ubl.RegisterPasskey) { c.Name = " " })},
		{"a short credential", ubl.CodeValidation, change(k.ana, 2, func(c *ubl.RegisterPasskey) { c.Authenticator.CredentialID = []byte("short") })},
		{"a long credential", ubl.CodeValidation, change(k.ana, 2, func(c *ubl.RegisterPasskey) { c.Authenticator.CredentialID = make([]byte, 1024) })},
		{"no key", ubl.CodeValidation, change(k.ana, 2, func(c *ubl.RegisterPasskey) { c.Authenticator.PublicKey = nil })},
		{"a long key", ubl.CodeValidation, change(k.ana, 2, func(c *ubl.RegisterPasskey) { c.Authenticator.PublicKey = make([]byte, 4097) })},
		{"a short handle", ubl.CodeValidation, change(k.ana, 2, func(c *ubl.RegisterPasskey) { c.Handle = c.Handle[:31] })},
		{"removed by another", ubl.CodeNotFound, ubl.RemovePasskey{Request: k.Request(k.bob), PasskeyID: p.ID}},
		{"removed by the same id elsewhere", ubl.CodeNotFound, ubl.RemovePasskey{Request: k.Request(elsewhere), PasskeyID: p.ID}},
		{"used by a person", ubl.CodeForbidden, ubl.UsePasskey{Request: k.Request(k.ana), PasskeyID: p.ID, SignCount: 9}},
		{"an unknown one", ubl.CodeNotFound, k.using(ubl.PasskeyIDOf([]byte("?")), 9)},
	} {
		_, err := k.Ask(context.Background(), k.core, test.cmd)
		if got := ubl.CodeOf(err); got != test.want {
			t.Errorf("%s: %q, want %q", test.what, got, test.want)
		}
	}
	k.Refused(ubl.CodeForbidden, ubl.TenantName(k.ana.TenantID), k.registering(k.ana, 2))
	if got := k.names(k.ana); !slices.Equal(got, []string{"Key 1"}) {
		t.Errorf("ana has %q", got)
	}
	if len(k.names(elsewhere)) > 0 {
		t.Error("one tenant's passkeys are another's")
	}
}

// TestSoManyPasskeys: one more than allowed is refused until one goes.
func TestSoManyPasskeys(t *testing.T) {
	k := openKeyring(t)
	var last *ubl.Passkey
	for n := range ubl.MaxPasskeys {
		k.Clock.Add(10 * time.Second) // nobody registers more than ten a minute
		last = k.register(k.ana, n)
	}
	k.Clock.Add(time.Minute)
	k.Refused(ubl.CodeConflict, k.core, k.registering(k.ana, 100))
	k.register(k.bob, 100)
	harness.Must[*ubl.Passkey](k.House, k.core, ubl.RemovePasskey{Request: k.Request(k.ana), PasskeyID: last.ID})
	k.register(k.ana, 101)
}

// TestChallengeIsUsedOnce: the same question is answered as before, and a second
// use of its challenge refused, though the count has risen meanwhile or not.
func TestChallengeIsUsedOnce(t *testing.T) {
	k := openKeyring(t)
	p := k.register(k.ana, 1)
	c := k.using(p.ID, 7)
	used := harness.Must[*ubl.Passkey](k.House, k.core, c)
	k.Clock.Add(time.Minute)
	k.Reload()
	if again := harness.Must[*ubl.Passkey](k.House, k.core, c); *again.LastUsedAt != *used.LastUsedAt {
		t.Errorf("asked again: used at %v, not %v", again.LastUsedAt, used.LastUsedAt)
	}
	for _, count := range []int64{7, 8} {
		replay := c
		replay.Attempt, replay.SignCount = "2", count
		k.Refused(ubl.CodeIdempotencyConflict, k.core, replay)
	}
	if action, _ := k.last(t); action.Status != "executed" {
		t.Errorf("a replay left %+v", action)
	}
}

// TestCopiedPasskey: a count that doesn't rise is refused, on record and told to the
// operators, up to sixty times a minute of one owner; one that is never kept is no
// sign of a copy.
func TestCopiedPasskey(t *testing.T) {
	k := openKeyring(t)
	p := k.register(k.ana, 1) // its count is 3
	for _, count := range []int64{3, 2, 0} {
		k.Refused(ubl.CodeForbidden, k.core, k.using(p.ID, count))
		action, effect := k.last(t)
		if action.Did != "passkey.use" || action.Status != "denied" || action.This["user_id"] != string(k.ana.UserID) ||
			action.This["code"] != "forbidden" || effect.Outcome != "error" || effect.Error == nil {
			t.Errorf("count %d left %+v and %+v", count, action, effect)
		}
	}
	told := harness.Must[*ubl.HistoryPage](k.House, ubl.RoomName(ubl.CoreTenant, ubl.AuditRoom), ubl.ReadHistory{Who: k.operator, Limit: 50})
	if n := strings.Count(fmt.Sprintf("%s", told.Messages), string(k.ana.UserID)+" in t:example.com was refused"); n != 3 {
		t.Errorf("the operators are told %d times, want 3: %s", n, told.Messages)
	}
	harness.Must[*ubl.Passkey](k.House, k.core, k.using(p.ID, 4))
	before := k.head()
	for range 100 {
		k.Refused(ubl.CodeForbidden, k.core, k.using(p.ID, 4))
	}
	if n := len(k.acts(t, before)); n != 57 {
		t.Errorf("a hundred more refusals left %d acts, want 57: three are on record already", n)
	}

	c := k.registering(k.bob, 2)
	c.Authenticator.SignCount = 0
	synced := harness.Must[*ubl.Passkey](k.House, k.core, c)
	for range 2 {
		harness.Must[*ubl.Passkey](k.House, k.core, k.using(synced.ID, 0))
	}
	k.VerifyLedger(ubl.CoreTenant)
}
