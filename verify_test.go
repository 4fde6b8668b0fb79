package ubl_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"

	"ubl"
)

const tenant = ubl.TenantID("t:example.com")

// chain seals atoms one after the other, as the ledger does.
type chain struct {
	atoms [][]byte
	head  ubl.LedgerHead
}

func newChain() *chain { return &chain{head: ubl.LedgerHead{HeadHash: ubl.Genesis}} }

func (c *chain) add(atom []byte, cid string) string {
	c.atoms = append(c.atoms, atom)
	c.head = ubl.LedgerHead{Seq: c.head.Seq + 1, HeadHash: ubl.NextHead(c.head.HeadHash, cid)}
	return cid
}

func (c *chain) action(a ubl.Action) string {
	a.PrevHash, a.Shard = c.head.HeadHash, ubl.DefaultShard
	return c.add(a.Seal())
}

func (c *chain) effect(e ubl.Effect, ref string) {
	e.PrevHash, e.RefActionCID, e.Shard = c.head.HeadHash, ref, ubl.DefaultShard
	c.add(e.Seal())
}

// act adds an executed action and its effect.
func (c *chain) act(n int) {
	cid := c.action(ubl.Action{TenantID: tenant, AgreementID: "a:room:r:general", Did: ubl.DidSend, RequestID: fmt.Sprint("req:", n),
		Status: ubl.StatusExecuted, This: ubl.Fields{ubl.Int("room_seq", int64(n))}, Who: ubl.Who{UserID: "u:ana", Email: "ana@example.com"}})
	c.effect(ubl.Effect{TenantID: tenant, Outcome: ubl.OutcomeOK, Effects: []ubl.Fields{{ubl.Str("op", "room.append")}}}, cid)
}

func (c *chain) export(t testing.TB) []byte {
	t.Helper()
	var out bytes.Buffer
	e, err := ubl.NewExporter(&out, tenant, c.head)
	for _, atom := range c.atoms {
		err = errors.Join(err, e.Append(atom))
	}
	if err := errors.Join(err, e.Close()); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func sample(acts int) *chain {
	c := newChain()
	for n := range acts {
		c.act(n + 1)
	}
	return c
}

func verify(export []byte, head string) (*ubl.Verified, error) {
	return ubl.Verify(bytes.NewReader(export), ubl.VerifyOptions{Head: head})
}

func TestExportFormat(t *testing.T) {
	c := sample(1)
	got := strings.SplitAfter(string(c.export(t)), "\n")
	want := []string{
		`{"format":"ubl.export.v2","head_hash":"` + c.head.HeadHash + `","last_seq":2,"ledger_shard":"0","tenant_id":"t:example.com"}` + "\n",
		`{"atom":` + string(c.atoms[0]) + `,"head_hash":"` + headAfter(c, 1) + `","seq":1}` + "\n",
		`{"atom":` + string(c.atoms[1]) + `,"head_hash":"` + headAfter(c, 2) + `","seq":2}` + "\n",
		"",
	}
	if !slices.Equal(got, want) {
		t.Errorf("export:\n%s\nwant:\n%s", strings.Join(got, ""), strings.Join(want, ""))
	}
}

func headAfter(c *chain, seq int) string {
	rest := newChain()
	for _, atom := range c.atoms[:seq] {
		_, cid, _ := strings.Cut(string(atom), `"cid":"`)
		rest.add(atom, cid[:66])
	}
	return rest.head.HeadHash
}

func TestVerify(t *testing.T) {
	c := sample(3)
	denied := ubl.Action{TenantID: tenant, AgreementID: "a:room:r:general", Did: ubl.DidSend, Status: ubl.StatusDenied}
	c.action(denied)
	intended := denied
	intended.Status = ubl.StatusIntended
	first, second := c.action(intended), c.action(intended)
	c.effect(ubl.Effect{TenantID: tenant, Outcome: ubl.OutcomeError, Error: &ubl.AtomError{Code: ubl.CodeInternal}}, second)
	_ = first // its effect has not come yet

	got, err := verify(c.export(t), c.head.HeadHash)
	want := ubl.Verified{TenantID: tenant, Shard: "0", Atoms: 10, Actions: 6, Effects: 4, Open: 1, HeadHash: c.head.HeadHash}
	if err != nil || *got != want {
		t.Errorf("Verify = %+v, %v\nwant %+v", got, err, want)
	}
}

// TestVerifyTellsWhatIsGone: what acts have taken away is counted by their effects.
func TestVerifyTellsWhatIsGone(t *testing.T) {
	c := sample(1)
	for _, ops := range [][]string{{"room.redact", "room.redact"}, {"document.delete", "file.remove"}, {"file.remove"}, {"document.put"}} {
		cid := c.action(ubl.Action{TenantID: tenant, AgreementID: "a:room:r:general", Did: ubl.DidSend, Status: ubl.StatusExecuted})
		var effects []ubl.Fields
		for _, op := range ops {
			effects = append(effects, ubl.Fields{ubl.Str("op", op)})
		}
		c.effect(ubl.Effect{TenantID: tenant, Outcome: ubl.OutcomeOK, Effects: effects}, cid)
	}
	got, err := verify(c.export(t), "")
	if want := (ubl.Gone{Entries: 2, Documents: 1, Files: 2}); err != nil || got.Gone != want {
		t.Errorf("gone are %+v, %v, want %+v", got, err, want)
	}
}

func TestVerifyEmptyLedger(t *testing.T) {
	export := newChain().export(t)
	if got, err := verify(export, ubl.Genesis); err != nil || got.Atoms != 0 || got.HeadHash != ubl.Genesis {
		t.Errorf("Verify = %+v, %v", got, err)
	}
	if _, err := verify(export, sample(1).head.HeadHash); err == nil {
		t.Error("an empty ledger reached a head")
	}
}

func TestVerifyReportsProgress(t *testing.T) {
	c := sample(2500)
	var seen []int64
	_, err := ubl.Verify(iotest.HalfReader(bytes.NewReader(c.export(t))), ubl.VerifyOptions{Progress: func(n, of int64) { seen = append(seen, n, of) }})
	if want := []int64{2048, 5000, 4096, 5000}; err != nil || !slices.Equal(seen, want) {
		t.Errorf("progress = %v, %v; want %v", seen, err, want)
	}
}

// Each edit of an export of three acts, the line that is found to be the first
// bad one, and why. A line is header (1) or atom (seq+1).
func TestVerifyFinds(t *testing.T) {
	c := sample(3)
	export := string(c.export(t))
	other := sample(4)
	lines := func(edit func(l []string) []string) string {
		return strings.Join(edit(strings.SplitAfter(export, "\n")[:7]), "")
	}
	swap := func(i, j int) string {
		return lines(func(l []string) []string { l[i], l[j] = l[j], l[i]; return l })
	}
	for _, e := range []struct {
		name, file string
		line       int64
		reason     string
	}{
		{"nothing", "", 1, "empty"},
		{"a changed value", strings.Replace(export, `"room_seq":2`, `"room_seq":3`, 1), 4, "cid"},
		{"a changed author", strings.Replace(export, "u:ana", "u:eve", 1), 2, "cid"},
		{"a space", strings.Replace(export, `"seq":4`, `"seq": 4`, 1), 5, "canonical"},
		{"a newline turned into two bytes", strings.Replace(export, "\n", "\r\n", 1), 1, "canonical"},
		{"an escape that means the same", strings.Replace(export, "u:ana", `\u0075:ana`, 1), 2, "canonical"},
		{"a member more", strings.Replace(export, `,"seq":3}`, `,"seq":3,"zzz":0}`, 1), 4, "members"},
		{"a member in capitals", strings.Replace(export, `{"atom"`, `{"ATOM"`, 1), 2, "members"},
		{"a duplicate member", strings.Replace(export, `,"seq":3}`, `,"seq":3,"seq":3}`, 1), 4, "canonical"},
		{"a removed atom", lines(func(l []string) []string { return slices.Delete(l, 3, 4) }), 4, "seq"},
		{"a removed act", lines(func(l []string) []string { return slices.Delete(l, 3, 5) }), 4, "seq"},
		{"the last act removed", lines(func(l []string) []string { return l[:5] }), 6, "goes on to seq 6"},
		{"the last atom removed", lines(func(l []string) []string { return l[:6] }), 7, "goes on to seq 6"},
		{"the last newline removed", strings.TrimSuffix(export, "\n"), 7, "newline"},
		{"cut inside a line", export[:len(export)-40], 7, "newline"},
		{"a doubled atom", lines(func(l []string) []string { return slices.Insert(l, 3, l[2]) }), 4, "seq"},
		{"an empty line", lines(func(l []string) []string { return slices.Insert(l, 3, "\n") }), 4, "JSON"},
		{"an empty line at the end", export + "\n", 8, "goes on"},
		{"the header twice", lines(func(l []string) []string { return slices.Insert(l, 1, l[0]) }), 2, "members"},
		{"neighbours exchanged", swap(2, 3), 3, "seq"},
		{"distant atoms exchanged", swap(1, 5), 2, "seq"},
		{"another chain's tail", lines(func(l []string) []string { return append(l, strings.SplitAfter(string(other.export(t)), "\n")[7:]...) }), 8, "goes on"},
		{"another tenant in the header", strings.Replace(export, `"tenant_id":"t:example.com"}`, `"tenant_id":"t:example.org"}`, 1), 2, "tenant_id"},
		{"another format", strings.Replace(export, "export.v2", "export.v3", 1), 1, "format"},
		{"newer atoms in an older format", strings.Replace(export, "export.v2", "export.v1", 1), 2, "kind"},
		{"another shard", strings.Replace(export, `"ledger_shard":"0"`, `"ledger_shard":"1"`, 1), 1, "ledger_shard"},
		{"a tenant that is none", strings.Replace(export, `"tenant_id":"t:example.com"}`, `"tenant_id":"example.com"}`, 1), 1, "tenant_id"},
		{"a last_seq that is none", strings.Replace(export, `"last_seq":6`, `"last_seq":null`, 1), 1, "last_seq"},
		{"a larger last_seq", strings.Replace(export, `"last_seq":6`, `"last_seq":7`, 1), 8, "goes on to seq 7"},
		{"a smaller last_seq", strings.Replace(export, `"last_seq":6`, `"last_seq":4`, 1), 6, "goes on after seq 4"},
		{"another head in the header", strings.Replace(export, c.head.HeadHash, headAfter(c, 5), 1), 1, "head_hash"},
		{"a head that is none", strings.Replace(export, c.head.HeadHash, "h:", 1), 1, "head_hash"},
		{"an endless line", "{" + strings.Repeat(" ", ubl.MaxExportLine+1), 1, "longer"},
		{"no JSON", "hello\n", 1, "JSON"},
		{"an array", "[]\n", 1, "object"},
	} {
		t.Run(e.name, func(t *testing.T) {
			_, err := verify([]byte(e.file), "")
			bad, ok := errors.AsType[*ubl.LineError](err)
			if !ok || bad.Line != e.line || !strings.Contains(bad.Reason, e.reason) {
				t.Errorf("Verify = %v, want line %d with %q", err, e.line, e.reason)
			}
		})
	}
}

// Edits after which every hash was computed anew: the forms still betray them,
// or --head does.
func TestVerifyFindsForgeries(t *testing.T) {
	act := ubl.Action{TenantID: tenant, AgreementID: "a:room:r:general", Did: ubl.DidSend, Status: ubl.StatusExecuted}
	ok := ubl.Effect{TenantID: tenant, Outcome: ubl.OutcomeOK}
	for _, f := range []struct {
		name   string
		forge  func(c *chain)
		line   int64
		reason string
	}{
		{"an action that lost its effect", func(c *chain) { c.action(act) }, 5, "no effect"},
		{"an effect of nothing", func(c *chain) { c.effect(ok, ubl.CID(nil)) }, 4, "ref_action_cid"},
		{"an effect of an effect", func(c *chain) { c.effect(ok, headToCID(c, 1)) }, 4, "ref_action_cid"},
		{"a second effect", func(c *chain) { cid := c.action(act); c.effect(ok, cid); c.effect(ok, cid) }, 6, "ref_action_cid"},
		{"an atom of another tenant", func(c *chain) { a := act; a.TenantID = "t:example.org"; c.action(a) }, 4, "tenant_id"},
		{"a status of its own", func(c *chain) { a := act; a.Status = "maybe"; c.action(a) }, 4, "status"},
		{"an outcome of its own", func(c *chain) { e := ok; e.Outcome = "maybe"; c.effect(e, c.action(act)) }, 5, "outcome"},
		{"a kind of its own", func(c *chain) {
			atom := []byte(`{"kind":"action.v3","prev_hash":"` + c.head.HeadHash + `","tenant_id":"t:example.com"}`)
			cid := ubl.CID(atom)
			c.add(append([]byte(`{"cid":"`+cid+`",`), atom[1:]...), cid)
		}, 4, "kind"},
		{"a prev_hash of its own", func(c *chain) {
			a := act
			a.PrevHash = ubl.Genesis
			c.add(a.Seal())
		}, 4, "prev_hash"},
	} {
		t.Run(f.name, func(t *testing.T) {
			c := sample(1)
			f.forge(c)
			_, err := verify(c.export(t), "")
			bad, ok := errors.AsType[*ubl.LineError](err)
			if !ok || bad.Line != f.line || !strings.Contains(bad.Reason, f.reason) {
				t.Errorf("Verify = %v, want line %d with %q", err, f.line, f.reason)
			}
		})
	}
}

func headToCID(c *chain, at int) string {
	_, cid, _ := strings.Cut(string(c.atoms[at]), `"cid":"`)
	return cid[:66]
}

func TestVerifyAgainstHead(t *testing.T) {
	whole, cut, forged := sample(3), sample(2), sample(2)
	forged.act(99)
	head := whole.head.HeadHash
	if _, err := verify(cut.export(t), ""); err != nil {
		t.Errorf("a beginning with a header of its own is a true beginning: %v", err)
	}
	for name, c := range map[string]struct {
		export []byte
		line   int64
	}{
		"cut short, header rewritten":       {cut.export(t), 6},
		"all of it cut, header rewritten":   {newChain().export(t), 2},
		"the tail forged, header rewritten": {forged.export(t), 8},
		"an act added, header rewritten":    {sample(4).export(t), 8},
	} {
		_, err := verify(c.export, head)
		if bad, ok := errors.AsType[*ubl.LineError](err); !ok || bad.Line != c.line {
			t.Errorf("%s: Verify = %v, want line %d", name, err, c.line)
		}
	}
}

func TestVerifyPassesOnReadErrors(t *testing.T) {
	export := sample(3).export(t)
	_, err := ubl.Verify(io.MultiReader(bytes.NewReader(export[:900]), iotest.ErrReader(io.ErrClosedPipe)), ubl.VerifyOptions{})
	if _, isLine := errors.AsType[*ubl.LineError](err); isLine || !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("Verify = %v, want the reader's error", err)
	}
}

// Any single edit of any byte or line is found.
func TestVerifyFindsAnyEdit(t *testing.T) {
	export := sample(4).export(t)
	rapid.Check(t, func(t *rapid.T) {
		edited := edit(t, bytes.Clone(export))
		if bytes.Equal(edited, export) {
			t.Skip("nothing was changed")
		}
		if _, err := verify(edited, ""); err == nil {
			t.Fatalf("not found:\n%s", edited)
		}
	})
}

func edit(t *rapid.T, b []byte) []byte {
	at := rapid.IntRange(0, len(b)-1).Draw(t, "at")
	lines := bytes.SplitAfter(b, []byte("\n"))
	lines = lines[:len(lines)-1]
	i, j := rapid.IntRange(0, len(lines)-1).Draw(t, "line"), rapid.IntRange(0, len(lines)-1).Draw(t, "other line")
	switch rapid.SampledFrom([]string{"change", "delete", "insert", "cut", "drop line", "double line", "swap lines", "move line"}).Draw(t, "edit") {
	case "change":
		b[at] ^= rapid.Byte().Draw(t, "bits")
		return b
	case "delete":
		return slices.Delete(b, at, at+1)
	case "insert":
		return slices.Insert(b, at, rapid.Byte().Draw(t, "byte"))
	case "cut":
		return b[:at]
	case "drop line":
		lines = slices.Delete(lines, i, i+1)
	case "double line":
		lines = slices.Insert(lines, i, lines[j])
	case "swap lines":
		lines[i], lines[j] = lines[j], lines[i]
	case "move line":
		moved := lines[i]
		lines = slices.Insert(slices.Delete(lines, i, i+1), min(j, len(lines)-1), moved)
	}
	return bytes.Join(lines, nil)
}

func TestExporterRefuses(t *testing.T) {
	c := sample(1)
	e, err := ubl.NewExporter(io.Discard, tenant, c.head)
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Close(); err == nil {
		t.Error("closed with atoms missing")
	}
	if err := e.Append([]byte(`{}`)); err == nil {
		t.Error("took an atom without a cid")
	}
	if err := errors.Join(e.Append(c.atoms[0]), e.Append(c.atoms[1]), e.Close()); err != nil || e.Next() != 3 {
		t.Errorf("a whole ledger: %v, next %d", err, e.Next())
	}
	if err := e.Append(c.atoms[1]); err == nil {
		t.Error("took an atom too many")
	}
	e, _ = ubl.NewExporter(io.Discard, tenant, c.head)
	_, _ = e.Append(c.atoms[1]), e.Append(c.atoms[0])
	if err := e.Close(); err == nil {
		t.Error("closed with atoms in the wrong order")
	}
}

// FuzzVerify: whatever the file, the answer is one of the two, and what passes
// is exactly what an exporter writes.
func FuzzVerify(f *testing.F) {
	c := sample(2)
	f.Add(c.export(f))
	f.Add(newChain().export(f))
	f.Add([]byte("{}\n"))
	f.Add(c.export(f)[:300])
	f.Fuzz(func(t *testing.T, file []byte) {
		got, err := verify(file, "")
		if err != nil {
			if bad, ok := errors.AsType[*ubl.LineError](err); !ok || bad.Line < 1 || bad.Line > int64(bytes.Count(file, []byte("\n")))+2 {
				t.Fatalf("%v is no line of the file", err)
			}
			return
		}
		if int64(bytes.Count(file, []byte("\n"))) != got.Atoms+1 || got.Actions+got.Effects != got.Atoms {
			t.Fatalf("%+v for %s", got, file)
		}
	})
}

// FuzzExportRoundTrip: a ledger of any content verifies, and no longer does
// after one byte of its export is changed.
func FuzzExportRoundTrip(f *testing.F) {
	f.Add("req:1", "hello", uint8(3), uint32(17), byte(1))
	f.Add("\"\\", "\u2028\x00", uint8(1), uint32(900), byte(0x20))
	f.Fuzz(func(t *testing.T, request, text string, acts uint8, at uint32, bits byte) {
		c := newChain()
		for range acts % 8 {
			cid := c.action(ubl.Action{TenantID: tenant, AgreementID: "a:tenant:t:example.com", Did: ubl.DidSend, RequestID: strings.ToValidUTF8(request, "?"),
				Status: ubl.StatusExecuted, This: ubl.Fields{ubl.Str("body_hash", strings.ToValidUTF8(text, "?"))}})
			c.effect(ubl.Effect{TenantID: tenant, Outcome: ubl.OutcomeOK}, cid)
		}
		export := c.export(t)
		if got, err := verify(export, c.head.HeadHash); err != nil || got.HeadHash != c.head.HeadHash {
			t.Fatalf("Verify = %+v, %v\n%s", got, err, export)
		}
		if bits == 0 || len(c.atoms) == 0 {
			return // nothing but the header says whose an empty ledger is
		}
		export[int(at)%len(export)] ^= bits
		if _, err := verify(export, c.head.HeadHash); err == nil {
			t.Fatalf("not found:\n%s", export)
		}
	})
}
