package harness

import (
	"bytes"
	"slices"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"ubl"
	"ubl/actors"
	"ubl/actors/families"
	"ubl/test/counter"
)

// TestForms: an atom whose act has a field that the schema doesn't know, or lacks one, is told.
func TestForms(t *testing.T) {
	h := Open(t, Options{})
	ana := User("ana@example.com")
	h.Enter(ana)
	page := Must[*ubl.AtomPage](h, ubl.LedgerName(ana.TenantID), ubl.ReadAtoms{From: 1, Limit: 2})
	forms := formsOf()
	atoms := [][]byte{page.Atoms[0], page.Atoms[1]}
	if err := forms.check(atoms); err != nil {
		t.Error(err)
	}
	for from, to := range map[string]string{
		`"this":{`:                  `"this":{"note":"n",`,
		`"tenant_id":"t:example.co`: `"tenant":"t:example.co`,
		`"op":"`:                    `"op":"x`,
	} {
		spoiled := [][]byte{bytes.ReplaceAll(atoms[0], []byte(from), []byte(to)), bytes.ReplaceAll(atoms[1], []byte(from), []byte(to))}
		if forms.check(spoiled) == nil {
			t.Errorf("%q instead of %q is taken", to, from)
		}
	}
}

// TestFormsOfFamilies: the acts that a family brings along are held against its forms as all are,
// also by the harness itself.
func TestFormsOfFamilies(t *testing.T) {
	read := &struct{ ubl.Reader }{}
	trial := counter.Family(read)
	h := Open(t, Options{Families: []actors.Family{trial}, Wrap: func(s ubl.Store) ubl.Store { read.Reader = s; return s }})
	ana := User("ana@example.com")
	h.Enter(ana)
	from := Must[ubl.LedgerHead](h, ubl.LedgerName(ana.TenantID), ubl.GetLedgerHead{}).Seq + 1
	Must[counter.Counter](h, ubl.Name(string(ana.TenantID)+"|n:visits"), counter.Add{Request: h.Request(ana), By: 2})
	page := Must[*ubl.AtomPage](h, ubl.LedgerName(ana.TenantID), ubl.ReadAtoms{From: from, Limit: 2})
	atoms := [][]byte{page.Atoms[0], page.Atoms[1]}
	forms := formsOf(trial.Acts...)
	if err := forms.check(atoms); err != nil {
		t.Error(err)
	}
	for from, to := range map[string]string{
		`"this":{`:              `"this":{"note":"n",`,
		`"value":2`:             `"value":"2"`,
		`"op":"counter.add"`:    `"op":"counter.reset","more":1`,
		`"pointers":{"counter_`: `"pointers":{"room_`,
	} {
		spoiled := [][]byte{bytes.ReplaceAll(atoms[0], []byte(from), []byte(to)), bytes.ReplaceAll(atoms[1], []byte(from), []byte(to))}
		if forms.check(spoiled) == nil {
			t.Errorf("%q instead of %q is taken", to, from)
		}
	}
}

// TestFormOfOneAct: what is left of the schema for one act has all its conditions on that act and
// on acts in general, and none on others.
func TestFormOfOneAct(t *testing.T) {
	whole := Forms()[ubl.ActionV2].AllOf[0].Ref
	kept := map[*jsonschema.Schema]bool{}
	dids := ubl.Dids()
	for _, act := range families.All.Acts() {
		dids = append(dids, act.Did)
	}
	for _, did := range dids {
		one := formsOf().of(ubl.ActionV2, string(did)).AllOf[0].Ref
		for _, condition := range one.AllOf {
			kept[condition] = true
		}
		if len(one.AllOf) > 4 {
			t.Errorf("%s has %d conditions", did, len(one.AllOf))
		}
		for _, condition := range whole.AllOf {
			holds := condition.If.Properties["did"].Validate(string(did)) == nil
			if holds && !slices.Contains(one.AllOf, condition) {
				t.Errorf("%s lacks the condition %s", did, condition.Location)
			}
			if condition.Then == nil || condition.Required != nil || condition.Properties != nil || condition.Ref != nil {
				t.Errorf("%s says something of all acts, too", condition.Location)
			}
		}
	}
	if len(kept) != len(whole.AllOf) {
		t.Errorf("%d of %d conditions are on some act", len(kept), len(whole.AllOf))
	}
}
