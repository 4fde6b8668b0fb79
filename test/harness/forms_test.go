package harness

import (
	"bytes"
	"testing"

	"ubl"
)

// TestForms: an atom whose act has a field that the schema doesn't know, or lacks one, is told.
func TestForms(t *testing.T) {
	h := Open(t, Options{})
	ana := User("ana@example.com")
	h.Enter(ana)
	page := Must[*ubl.AtomPage](h, ubl.LedgerName(ana.TenantID), ubl.ReadAtoms{From: 1, Limit: 2})
	atoms := [][]byte{page.Atoms[0], page.Atoms[1]}
	if err := checkForms(atoms); err != nil {
		t.Error(err)
	}
	for from, to := range map[string]string{
		`"this":{`:                  `"this":{"note":"n",`,
		`"tenant_id":"t:example.co`: `"tenant":"t:example.co`,
		`"op":"`:                    `"op":"x`,
	} {
		spoiled := [][]byte{bytes.ReplaceAll(atoms[0], []byte(from), []byte(to)), bytes.ReplaceAll(atoms[1], []byte(from), []byte(to))}
		if checkForms(spoiled) == nil {
			t.Errorf("%q instead of %q is taken", to, from)
		}
	}
}
