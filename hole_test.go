package ubl_test

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"ubl"
)

// holed is the export of a chain without some of its atoms.
func (c *chain) holed(t testing.TB, gone func(seq int64) bool) ([]byte, error) {
	t.Helper()
	var out bytes.Buffer
	e, err := ubl.NewExporter(&out, tenant, c.head)
	for i := 0; i < len(c.atoms) && err == nil; {
		to := i
		for to < len(c.atoms) && gone(int64(to+1)) {
			to++
		}
		if to > i {
			err = e.Skip(int64(to), errors.New("page 7 is not valid"))
			i = to
			continue
		}
		err = e.Append(c.atoms[i])
		i++
	}
	if err != nil {
		t.Fatal(err)
	}
	return out.Bytes(), e.Close()
}

func without(seqs ...int64) func(int64) bool {
	return func(seq int64) bool { return slices.Contains(seqs, seq) }
}

func TestHoleFormat(t *testing.T) {
	export, err := sample(2).holed(t, without(2, 3))
	lines := strings.Split(string(export), "\n")
	if want := `{"format":"ubl.export.hole.v1","from_seq":2,"ledger_shard":"0","reason":"page 7 is not valid","tenant_id":"t:example.com","to_seq":3}`; lines[2] != want {
		t.Errorf("the hole is %s\nwant %s", lines[2], want)
	}
	if want := "2 of 4 atoms are missing; 2 to 3: page 7 is not valid"; err == nil || err.Error() != want {
		t.Errorf("Close says %v, want %s", err, want)
	}
	e, err := ubl.NewExporter(&bytes.Buffer{}, tenant, sample(2).head)
	if err != nil || e.Skip(0, errors.New("x")) == nil || e.Skip(5, errors.New("x")) == nil {
		t.Error("a hole outside the ledger is written")
	}
}

// TestVerifyHoles: of an export with holes Verify says which atoms are missing, and nothing
// else is wrong. Whatever is changed in it is found, unless it makes a hole larger.
func TestVerifyHoles(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		c := sample(12)
		lost := rapid.SliceOfNDistinct(rapid.Int64Range(1, c.head.Seq), 1, int(c.head.Seq), rapid.ID).Draw(r, "lost")
		export, _ := c.holed(t, without(lost...))
		got, err := verify(export, "")
		lacks, ok := errors.AsType[*ubl.IncompleteError](err)
		if !ok || lacks.Missing != int64(len(lost)) || lacks.Of != c.head.Seq || got.Missing != lacks.Missing || got.Atoms+got.Missing != c.head.Seq {
			r.Fatalf("without %v: %+v, %v", lost, got, err)
		}
		for _, h := range lacks.Holes {
			for seq := h.From; seq <= h.To; seq++ {
				if !slices.Contains(lost, seq) {
					r.Fatalf("%d is said to be missing, which are %v", seq, lost)
				}
			}
		}
		if _, err := verify(export, c.head.HeadHash); incomplete(err) == slices.Contains(lost, c.head.Seq) {
			r.Fatalf("against the head, without %v: %v", lost, err)
		}
		at := rapid.IntRange(0, len(export)-1).Draw(r, "at")
		line := bytes.Split(export, []byte("\n"))[bytes.Count(export[:at], []byte("\n"))]
		if bytes.Contains(line, []byte(ubl.HoleFormat)) {
			return // nothing binds the reason
		}
		changed := bytes.Clone(export)
		changed[at] ^= 1 << rapid.IntRange(0, 7).Draw(r, "bit")
		if _, err := verify(changed, c.head.HeadHash); err == nil || incomplete(err) {
			r.Fatalf("without %v, with byte %d changed: %v", lost, at, err)
		}
	})
}

// opened is an export with a last line that says that more may be missing behind it.
func (c *chain) opened(t testing.TB) ([]byte, error) {
	t.Helper()
	var out bytes.Buffer
	e, err := ubl.NewExporter(&out, tenant, c.head)
	for _, atom := range c.atoms {
		err = errors.Join(err, e.Append(atom))
	}
	if err := errors.Join(err, e.Lose(errors.New("record 8 can't be read"))); err != nil {
		t.Fatal(err)
	}
	return out.Bytes(), e.Close()
}

// lost is the line at the end of an export of the ledger of sample(2).
const lost = `{"after_seq":4,"format":"ubl.export.lost.v1","ledger_shard":"0","reason":"record 8 can't be read","tenant_id":"t:example.com"}` + "\n"

// TestVerifyLost: an export behind whose end atoms may be missing says so in its last line,
// and Verify refuses to call it whole, whatever else is right.
func TestVerifyLost(t *testing.T) {
	const want = "the newest atoms may be missing, behind the last, 4: record 8 can't be read"
	c := sample(2)
	export, err := c.opened(t)
	if !bytes.HasSuffix(export, []byte(lost)) || err == nil || err.Error() != want {
		t.Errorf("the export ends with %s: %v", export[max(0, len(export)-len(lost)):], err)
	}
	for _, head := range []string{"", c.head.HeadHash} {
		got, err := verify(export, head)
		if lacks, ok := errors.AsType[*ubl.IncompleteError](err); !ok || lacks.Missing != 0 || err.Error() != want || got == nil || got.Atoms != 4 {
			t.Errorf("against the head %q: %+v, %v", head, got, err)
		}
	}
	both, _ := c.holed(t, without(2))
	if _, err := verify(append(both, lost...), ""); !incomplete(err) || !strings.Contains(err.Error(), "1 of 4 atoms are missing; 2 to 2: ") || !strings.Contains(err.Error(), want) {
		t.Errorf("with a hole besides: %v", err)
	}
	// What is missing may have been the effect of the last action.
	cut := sample(1)
	cut.action(ubl.Action{TenantID: tenant, AgreementID: "a:room:r:general", Did: ubl.DidSend, Status: ubl.StatusExecuted})
	export, _ = cut.opened(t)
	if got, err := verify(export, ""); !incomplete(err) || got.Open != 1 {
		t.Errorf("with an action whose effect may be missing: %+v, %v", got, err)
	}
}

// TestVerifyRefusesLost lines that can't be: in a wrong place, of another ledger or form.
func TestVerifyRefusesLost(t *testing.T) {
	c := sample(2)
	export, _ := c.opened(t)
	header, atoms, _ := strings.Cut(string(export), "\n")
	for name, changed := range map[string]string{
		"another seq":    strings.Replace(string(export), `"after_seq":4`, `"after_seq":3`, 1),
		"another format": strings.Replace(string(export), "lost.v1", "lost.v2", 1),
		"another shard":  strings.Replace(string(export), `lost.v1","ledger_shard":"0"`, `lost.v1","ledger_shard":"1"`, 1),
		"another tenant": strings.Replace(string(export), `read","tenant_id":"t:example.com"`, `read","tenant_id":"t:example.org"`, 1),
		"something more": strings.Replace(string(export), `"reason":"record`, `"more":1,"reason":"record`, 1),
		"before an atom": header + "\n" + lost + strings.Replace(atoms, lost, "", 1),
		"twice":          string(export) + lost,
	} {
		if _, err := verify([]byte(changed), ""); changed == string(export) || err == nil || incomplete(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
	e, err := ubl.NewExporter(&bytes.Buffer{}, tenant, c.head)
	if err != nil || e.Lose(errors.New("x")) == nil {
		t.Error("before its last atom an export says what may be missing behind it")
	}
}

func incomplete(err error) bool {
	_, ok := errors.AsType[*ubl.IncompleteError](err)
	return ok
}

// TestVerifyRefusesHoles that can't be: in a wrong place, of another ledger, of another
// form, or with too little room for what would have to be in them.
func TestVerifyRefusesHoles(t *testing.T) {
	c := sample(3)
	whole, _ := c.holed(t, without(3))
	hole := `{"format":"ubl.export.hole.v1","from_seq":3,"ledger_shard":"0","reason":"page 7 is not valid","tenant_id":"t:example.com","to_seq":3}`
	for from, to := range map[string]string{
		`"from_seq":3`:                       `"from_seq":2`,
		`"to_seq":3`:                         `"to_seq":2`,
		`hole.v1`:                            `hole.v2`,
		`"reason":"page 7 is not valid"`:     `"reason":"page 7","x":1`,
		`"ledger_shard":"0"`:                 `"ledger_shard":"1"`,
		`"tenant_id":"t:example.com","to_se`: `"tenant_id":"t:example.org","to_se`,
	} {
		changed := strings.Replace(hole, from, to, 1)
		if _, err := verify(bytes.Replace(whole, []byte(hole), []byte(changed), 1), ""); changed == hole || err == nil || incomplete(err) {
			t.Errorf("%s: %v", to, err)
		}
	}
	orphans := newChain()
	orphans.act(1)
	for _, digit := range []string{"a", "b"} {
		orphans.effect(ubl.Effect{TenantID: tenant, Outcome: ubl.OutcomeOK, Effects: []ubl.Fields{{ubl.Str("op", "room.append")}}}, "c:"+strings.Repeat(digit, 64))
	}
	export, _ := orphans.holed(t, without(1))
	if _, err := verify(export, ""); err == nil || incomplete(err) {
		t.Errorf("three effects whose action is the one that is missing: %v", err)
	}
}
