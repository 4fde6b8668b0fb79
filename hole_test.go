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
