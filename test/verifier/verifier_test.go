// Package verifier holds the ledgers of this program and of all earlier ones against a
// verifier that somebody wrote from DESIGN.md alone, in another language.
package verifier

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"ubl"
	"ubl/test/harness"
	"ubl/test/hashes"
	"ubl/test/need"
)

const (
	holds   = 0
	refused = 1
	inPart  = 65
)

// verify runs the verifier over a file, and gives its exit code and what it says.
func verify(t *testing.T, node, export string, args ...string) (code int, said string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "ledger.ndjson")
	if err := os.WriteFile(file, []byte(export), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), node, append([]string{"verify.mjs", file}, args...)...).CombinedOutput()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return exit.ExitCode(), string(out)
	}
	if err != nil {
		t.Fatal(err)
	}
	return holds, string(out)
}

// TestVectors are the verifier's own: chains made by hand, and what was done to them.
func TestVectors(t *testing.T) {
	if out, err := exec.CommandContext(t.Context(), need.Node(t), "--test").CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestEarlierLedgers: the ledgers of each earlier version hold, also once this one has gone
// on with them, so that atoms of both are in one chain.
func TestEarlierLedgers(t *testing.T) {
	node := need.Node(t)
	for _, fixture := range fixtures(t) {
		t.Run(strings.TrimPrefix(fixture, "../../"), func(t *testing.T) {
			h := harness.Open(t, harness.Options{Dir: harness.Fixture(t, fixture), From: time.Date(2026, 11, 25, 9, 0, 0, 0, time.UTC)})
			groups, err := h.Groups(t.Context())
			if err != nil || len(groups) == 0 {
				t.Fatalf("%d tenants, %v", len(groups), err)
			}
			for _, g := range groups {
				before, head, err := harness.Export(t.Context(), h.Runtime, g.Tenant)
				if err != nil {
					t.Fatal(err)
				}
				check(t, node, before, "--head", head.HeadHash)
				zoe := harness.User("zoe@" + strings.TrimPrefix(string(g.Tenant), "t:"))
				if zoe.TenantID != g.Tenant || !g.Tenant.Valid() || g.Tenant == ubl.CoreTenant {
					continue // nobody joins it by their address
				}
				h.Enter(zoe)
				after, _, err := harness.Export(t.Context(), h.Runtime, g.Tenant)
				if err != nil {
					t.Fatal(err)
				}
				check(t, node, after, "--earlier", head.HeadHash)
			}
		})
	}
}

// fixtures are all data of earlier versions that the project keeps, but for those of package
// storage, where any text stands for an atom.
func fixtures(t *testing.T) (all []string) {
	t.Helper()
	err := filepath.WalkDir("../..", func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir() && slices.Contains([]string{".git", "node_modules", "storage"}, e.Name()):
			return fs.SkipDir
		case strings.HasSuffix(path, ".tar.gz") && strings.Contains(path, "testdata"):
			all = append(all, path)
		}
		return nil
	})
	if err != nil || len(all) < 9 {
		t.Fatalf("there are %d fixtures, %v", len(all), err)
	}
	return all
}

func check(t *testing.T, node, export string, args ...string) {
	t.Helper()
	if code, said := verify(t, node, export, args...); code != holds {
		t.Errorf("exit code %d: %s", code, said)
	}
	if _, err := ubl.Verify(strings.NewReader(export), ubl.VerifyOptions{}); err != nil {
		t.Errorf("our own verifier says: %v", err)
	}
}

// fresh is a ledger of this version with acts of many kinds, entries that acts left among
// them, and one of its messages.
func fresh(t *testing.T) (export string, head ubl.LedgerHead, said *ubl.Entry) {
	t.Helper()
	h := harness.Open(t, harness.Options{})
	ana, bob := harness.User("ana@example.com"), harness.User("bob@example.com")
	h.Enter(ana)
	h.Enter(bob)
	general, shelf := ubl.RoomName(ana.TenantID, ubl.GeneralRoom), ubl.ContainerName(ana.TenantID, ubl.GeneralWorkspace)
	post := func(kind ubl.EntryType, target ubl.MessageID, body ubl.TypedBody) *ubl.Entry {
		posted := harness.Must[*ubl.Posted](h, general, ubl.PostEntry{Request: h.Request(ana), Type: kind, Target: target, Body: body})
		var e ubl.Entry
		if err := json.Unmarshal(posted.Entry, &e); err != nil {
			t.Fatal(err)
		}
		return &e
	}
	said = post(ubl.EntryMessage, "", ubl.TextContent("zażółć \"gęślą\" \u2028 😀"))
	gone := post(ubl.EntryMessage, "", ubl.TextContent("gone"))
	post(ubl.EntryReaction, said.ID, ubl.ReactionContent("👍"))
	post(ubl.EntryRedaction, gone.ID, ubl.RedactionContent(""))
	harness.Must[*ubl.Member](h, general, ubl.SetMember{Request: h.Request(ana), UserID: bob.UserID, Role: ubl.RoleOwner})
	harness.AskTerms(h, func(at ubl.Name, cmd ubl.Command) any { return harness.Must[any](h, at, cmd) }, general, ana, bob)
	harness.Must[*ubl.Member](h, general, ubl.RemoveMember{Request: h.Request(bob), UserID: bob.UserID})
	harness.Must[*ubl.DocumentResult](h, shelf, ubl.CreateDocument{Request: h.Request(bob), Title: "Plan", Content: "All of it"})
	harness.Must[*ubl.CallTicket](h, ubl.PortalName(ana.TenantID), ubl.BeginCall{
		Request: h.Request(ana), Did: ubl.DidToolCall, Agreement: ubl.TenantAgreement(ana.TenantID), Server: ubl.OwnServer, Capability: "messenger.send",
		InputHash: ubl.BodyHash(nil), Commitment: said.Salt.Commit(nil), Deadline: ubl.TimeOf(h.Clock.Now().Add(time.Minute)),
	}) // which is left open
	export, head, err := harness.Export(t.Context(), h.Runtime, ana.TenantID)
	if err != nil {
		t.Fatal(err)
	}
	return export, head, said
}

// TestEveryHashIsOpened: the openings, which openings.test.mjs reads, have every hash of test/hashes
// but the chain's own.
func TestEveryHashIsOpened(t *testing.T) {
	data, err := os.ReadFile("testdata/openings.json")
	if err != nil {
		t.Fatal(err)
	}
	var openings []struct{ Act, Member string }
	if err := json.Unmarshal(data, &openings); err != nil {
		t.Fatal(err)
	}
	for list, members := range map[string][]hashes.Member{"salted": hashes.Salted, "bare": hashes.Bare} {
		for _, m := range members {
			opened := func(o struct{ Act, Member string }) bool {
				return o.Member == m.Name && hashes.IsSalted(o.Act, o.Member) == (list == "salted")
			}
			if m.Name != "head_hash" && m.Name != "prev_hash" && !slices.ContainsFunc(openings, opened) {
				t.Errorf("there is no opening of the %s %s", list, m.Name)
			}
		}
	}
}

// TestFreshLedger holds, up to its head and by an earlier one, and a message opens its
// commitment.
func TestFreshLedger(t *testing.T) {
	node := need.Node(t)
	export, head, said := fresh(t)
	check(t, node, export, "--head", head.HeadHash, "--earlier", said.Receipt.HeadHash)
	if code, out := verify(t, node, export, "--head", said.Receipt.HeadHash); code != refused {
		t.Errorf("it is said to end with an earlier head: %d %s", code, out)
	}
	if code, out := verify(t, node, export, "--earlier", ubl.NextHead(ubl.Genesis, said.Receipt.CID)); code != refused {
		t.Errorf("it is said to come by a head of another ledger: %d %s", code, out)
	}
	body := filepath.Join(t.TempDir(), "body")
	for content, want := range map[string]int{string(said.Body.JSON): holds, `{"text":"gone"}`: refused} {
		if err := os.WriteFile(body, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		err := exec.CommandContext(t.Context(), node, "verify.mjs", "--open", "body_hash="+committed(t, export, said), "--salt", said.Salt.String(), "--content", body).Run()
		code := holds
		if exit, failed := errors.AsType[*exec.ExitError](err); failed {
			code = exit.ExitCode()
		}
		if code != want {
			t.Errorf("the content %s: %v, want exit code %d", content, err, want)
		}
	}
}

// committed is what the ledger says of an entry's body.
func committed(t *testing.T, export string, e *ubl.Entry) string {
	t.Helper()
	var line struct {
		Atom struct {
			This struct {
				BodyHash string `json:"body_hash"`
			} `json:"this"`
		} `json:"atom"`
	}
	if err := json.Unmarshal([]byte(strings.Split(export, "\n")[e.Receipt.Seq]), &line); err != nil {
		t.Fatal(err)
	}
	return line.Atom.This.BodyHash
}

// atoms are a ledger that is made anew: with hashes that fit, whatever the atoms say.
type atoms []map[string]any

func parse(t *testing.T, export string) (list atoms) {
	t.Helper()
	for line := range strings.Lines(export) {
		var l struct {
			Atom map[string]any `json:"atom"`
		}
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			t.Fatal(err)
		}
		if l.Atom != nil {
			list = append(list, l.Atom)
		}
	}
	return list
}

// rewrite chains the atoms as a forger would, and gives effects the new cid of their action.
func (list atoms) rewrite(t *testing.T, tenant string) string {
	t.Helper()
	cids, head, lines := map[any]string{}, ubl.Genesis, []string{}
	for i, atom := range list {
		was := atom["cid"]
		delete(atom, "cid")
		atom["prev_hash"] = head
		if ref, ok := atom["ref_action_cid"]; ok && cids[ref] != "" {
			atom["ref_action_cid"] = cids[ref]
		}
		canonical := encode(t, atom)
		cid := ubl.CID([]byte(canonical))
		cids[was], atom["cid"] = cid, cid
		head = ubl.NextHead(head, cid)
		lines = append(lines, encode(t, map[string]any{"atom": atom, "head_hash": head, "seq": i + 1}))
	}
	header := encode(t, map[string]any{"format": ubl.ExportFormat, "head_hash": head, "last_seq": len(list), "ledger_shard": "0", "tenant_id": tenant})
	return strings.Join(append([]string{header}, lines...), "\n") + "\n"
}

func encode(t *testing.T, v any) string {
	t.Helper()
	data, err := json.Marshal(v)
	if err == nil {
		data, err = ubl.Canonical(data)
	}
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// tampering is something that was done to an export, told as testdata/tampered.json has it. The
// browser's checker is held against the same list, but for what shows in a file alone.
type tampering struct {
	Name string
	// Replace has the first of one text be another.
	Replace []string
	// Lines are taken away, put where they don't belong, or copied there, one after the other.
	Lines []struct {
		Cut  []int // from one to before another
		Copy []int // one to before another
		Put  []any // a text before one
	}
	// Shorter is how many bytes are missing at the end.
	Shorter int
	// Forge is what was done to an atom, and all hashes behind it were made anew.
	Forge *struct {
		Seq           int
		Set           map[string]any
		Drop          string
		Remove, Again bool
		Answers       int // the atom that the effect names
	}
	// FileOnly says that no atom shows it: it is about lines, the header, or what may be missing.
	FileOnly bool `json:"file_only"`
}

// tamperings are all of them.
func tamperings(t *testing.T) (list []tampering) {
	t.Helper()
	data, err := os.ReadFile("testdata/tampered.json")
	if err == nil {
		d := json.NewDecoder(bytes.NewReader(data))
		d.DisallowUnknownFields()
		err = d.Decode(&list)
	}
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// of is what was done to an export.
func (f tampering) of(t *testing.T, export string) string {
	t.Helper()
	switch {
	case f.Replace != nil && !strings.Contains(export, f.Replace[0]):
		t.Fatalf("%s: the export has no %s", f.Name, f.Replace[0])
	case f.Replace != nil:
		return strings.Replace(export, f.Replace[0], f.Replace[1], 1)
	case f.Forge != nil:
		return f.forged(parse(t, export)).rewrite(t, "t:localhost")
	}
	lines := slices.Collect(strings.Lines(export))
	for _, edit := range f.Lines {
		switch {
		case edit.Cut != nil:
			lines = slices.Delete(lines, edit.Cut[0], edit.Cut[1])
		case edit.Copy != nil:
			lines = slices.Insert(lines, edit.Copy[1], lines[edit.Copy[0]])
		default:
			lines = slices.Insert(lines, int(edit.Put[1].(float64)), edit.Put[0].(string))
		}
	}
	export = strings.Join(lines, "")
	return export[:len(export)-f.Shorter]
}

func (f tampering) forged(list atoms) atoms {
	i := f.Forge.Seq - 1
	maps.Copy(list[i], f.Forge.Set)
	delete(list[i], f.Forge.Drop)
	switch {
	case f.Forge.Answers > 0:
		list[i]["ref_action_cid"] = list[f.Forge.Answers-1]["cid"]
	case f.Forge.Remove:
		return slices.Delete(list, i, i+1)
	case f.Forge.Again:
		return slices.Insert(list, i+1, maps.Clone(list[i]))
	}
	return list
}

// ledger is an export of a whole ledger that the project keeps.
func ledger(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile("../upgrade/testdata/atoms-v2/ledger.ndjson")
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestTampered: what was done to an export, with hashes that fit or without, is noticed by both
// verifiers.
func TestTampered(t *testing.T) {
	node := need.Node(t)
	export := ledger(t)
	check(t, node, export)
	all := tamperings(t)
	if len(all) < 42 {
		t.Errorf("only %d kinds of tampering", len(all))
	}
	for _, f := range all {
		file := f.of(t, export)
		if code, said := verify(t, node, file); code != refused {
			t.Errorf("%s: exit code %d, %s", f.Name, code, said)
		}
		if _, err := ubl.Verify(strings.NewReader(file), ubl.VerifyOptions{}); err == nil {
			t.Errorf("%s: our own verifier lets it pass", f.Name)
		} else if _, partly := errors.AsType[*ubl.IncompleteError](err); partly {
			t.Errorf("%s: our own verifier says that it holds in part", f.Name)
		}
	}
}

// TestWrittenAnew: written anew as a whole, a ledger holds by itself; a head that was noted before
// tells.
func TestWrittenAnew(t *testing.T) {
	node := need.Node(t)
	export, head, _ := fresh(t)
	list := parse(t, export)
	list[2]["when"] = "2020-01-01T00:00:00.000Z"
	anew := list.rewrite(t, "t:example.com")
	check(t, node, anew)
	if code, said := verify(t, node, anew, "--earlier", head.HeadHash); code != refused {
		t.Errorf("a past written anew comes by an earlier head: %d %s", code, said)
	}
}

func hole(from, to int) string {
	return fmt.Sprintf(`{"format":"ubl.export.hole.v1","from_seq":%d,"ledger_shard":"0","reason":"x","tenant_id":"t:example.com","to_seq":%d}`+"\n", from, to)
}

// TestHolesHoldInPart: an export that says what it lacks is neither good nor refused.
func TestHolesHoldInPart(t *testing.T) {
	node := need.Node(t)
	export, head, _ := fresh(t)
	lines := strings.SplitAfter(strings.TrimSuffix(export, "\n"), "\n")
	lines[len(lines)-1] += "\n"
	lost := fmt.Sprintf(`{"after_seq":%d,"format":"ubl.export.lost.v1","ledger_shard":"0","reason":"x","tenant_id":"t:example.com"}`+"\n", head.Seq)
	for name, file := range map[string]string{
		"a hole":            strings.Join(slices.Replace(slices.Clone(lines), 3, 5, hole(3, 4)), ""),
		"a hole at the end": strings.Join(append(slices.Clone(lines[:len(lines)-2]), hole(int(head.Seq)-1, int(head.Seq))), ""),
		"a lost end":        export + lost,
	} {
		if code, said := verify(t, node, file); code != inPart {
			t.Errorf("%s: exit code %d, %s", name, code, said)
		}
		if _, err := ubl.Verify(strings.NewReader(file), ubl.VerifyOptions{}); err != nil {
			if _, partly := errors.AsType[*ubl.IncompleteError](err); !partly {
				t.Errorf("%s: our own verifier says %v", name, err)
			}
		} else {
			t.Errorf("%s: our own verifier says that it is whole", name)
		}
	}
}

// TestHeadsOfExportsInPart: a head that was noted is found before a hole, behind it and at the end.
// Both verifiers say of one that isn't found whether it can be in what is missing.
func TestHeadsOfExportsInPart(t *testing.T) {
	node := need.Node(t)
	export, head, _ := fresh(t)
	lines := slices.Collect(strings.Lines(export))
	after := func(seq int) string {
		var l struct {
			Head string `json:"head_hash"`
		}
		if err := json.Unmarshal([]byte(lines[seq]), &l); err != nil {
			t.Fatal(err)
		}
		return l.Head
	}
	last, other := int(head.Seq), ubl.NextHead(head.HeadHash, "c:")
	inside := strings.Join(slices.Replace(slices.Clone(lines), 3, 6, hole(3, 5)), "")
	lost := export + fmt.Sprintf(`{"after_seq":%d,"format":"ubl.export.lost.v1","ledger_shard":"0","reason":"x","tenant_id":"t:example.com"}`+"\n", last)
	for _, c := range []struct {
		name, file, flag, head string
		code                   int
		found                  bool
	}{
		{"before a hole", inside, "--earlier", after(2), inPart, true},
		{"behind a hole", inside, "--earlier", after(5), inPart, true},
		{"in a hole", inside, "--earlier", after(4), inPart, false},
		{"behind a hole, to end with", inside, "--head", head.HeadHash, inPart, true},
		{"of another ledger, to end with", inside, "--head", other, refused, false},
		{"too early, to end with", inside, "--head", after(2), refused, true},
		{"behind a lost end", lost, "--head", other, inPart, false},
		{"behind a lost end, earlier", lost, "--earlier", other, inPart, false},
		{"before a lost end", lost, "--head", after(2), refused, true},
	} {
		code, said := verify(t, node, c.file, c.flag, c.head)
		if code != c.code || code == inPart && strings.Contains(said, "was not found") == c.found {
			t.Errorf("a head %s: exit code %d, %s", c.name, code, said)
		}
		options := ubl.VerifyOptions{Head: c.head}
		if c.flag == "--earlier" {
			options = ubl.VerifyOptions{Earlier: c.head}
		}
		v, err := ubl.Verify(strings.NewReader(c.file), options)
		if _, partly := errors.AsType[*ubl.IncompleteError](err); partly != (c.code == inPart) || partly && v.Unfound == c.found {
			t.Errorf("a head %s: our own verifier says %+v, %v", c.name, v, err)
		}
	}
}
