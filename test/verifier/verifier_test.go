// Package verifier holds the ledgers of this program and of all earlier ones against a
// verifier that somebody wrote from DESIGN.md alone, in another language.
package verifier

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"ubl"
	"ubl/test/harness"
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
			h := harness.Open(t, harness.Options{Dir: data(t, fixture), From: time.Date(2026, 11, 25, 9, 0, 0, 0, time.UTC)})
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

// data are the files of a fixture: of a backup, or as a node that was killed left them.
func data(t *testing.T, fixture string) (dir string) {
	t.Helper()
	inside, err := exec.Command("tar", "-tzf", fixture).Output()
	if err != nil {
		t.Fatal(err)
	}
	if bytes.HasPrefix(inside, []byte("backup.json")) {
		return harness.Restore(t, fixture)
	}
	dir = t.TempDir()
	if out, err := exec.Command("tar", "-xzf", fixture, "-C", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return dir
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

// TestTampered: what was done to an export, with hashes that fit or without, and where both
// verifiers notice.
func TestTampered(t *testing.T) {
	node := need.Node(t)
	export, head, _ := fresh(t)
	tenant := "t:example.com"
	lines := strings.SplitAfter(strings.TrimSuffix(export, "\n"), "\n")
	lines[len(lines)-1] += "\n"
	edit := func(f func(l []string) []string) string { return strings.Join(f(slices.Clone(lines)), "") }
	replace := func(old, new string) string {
		if !strings.Contains(export, old) {
			t.Fatalf("the export has no %s", old)
		}
		return strings.Replace(export, old, new, 1)
	}
	forge := func(f func(list atoms) atoms) string { return f(parse(t, export)).rewrite(t, tenant) }
	executed := 0 // the last one
	for i, a := range parse(t, export) {
		if a["status"] == "executed" {
			executed = i
		}
	}
	tampered := map[string]string{
		"a changed value":              replace(`"room_seq":1`, `"room_seq":9`),
		"a changed author":             replace(`"is_service":false`, `"is_service":true`),
		"a changed time":               replace(`"when":"2026-01-07`, `"when":"2025-01-07`),
		"another status":               replace(`"status":"executed"`, `"status":"denied"`),
		"another commitment":           replace(`"body_hash":"b:`, `"body_hash":"b:0`),
		"a member more in an atom":     replace(`{"atom":{`, `{"atom":{"a":1,`),
		"a member more in a line":      replace(`,"seq":3}`, `,"seq":3,"x":1}`),
		"a blank":                      replace(`,"seq":3}`, `, "seq":3}`),
		"an escape":                    replace(`"kind":"action.v2"`, `"kind":"\u0061ction.v2"`),
		"a doubled member":             replace(`,"seq":3}`, `,"seq":3,"seq":3}`),
		"a line with another end":      replace("\n", "\r\n"),
		"an atom removed":              edit(func(l []string) []string { return slices.Delete(l, 3, 4) }),
		"an act removed":               edit(func(l []string) []string { return slices.Delete(l, 3, 5) }),
		"the last atom removed":        edit(func(l []string) []string { return l[:len(l)-1] }),
		"the last newline removed":     strings.TrimSuffix(export, "\n"),
		"cut in the middle of a line":  export[:len(export)-30],
		"two atoms exchanged":          edit(func(l []string) []string { l[3], l[4] = l[4], l[3]; return l }),
		"an atom twice":                edit(func(l []string) []string { return slices.Insert(l, 3, l[2]) }),
		"an empty line":                edit(func(l []string) []string { return slices.Insert(l, 3, "\n") }),
		"a line behind the end":        export + lines[2],
		"another tenant in the header": replace(`"tenant_id":"t:example.com"}`, `"tenant_id":"t:example.org"}`),
		"another shard in the header":  replace(`"ledger_shard":"0"`, `"ledger_shard":"1"`),
		"another format":               replace("ubl.export.v2", "ubl.export.v3"),
		"an older format":              replace("ubl.export.v2", "ubl.export.v1"),
		"a larger last_seq":            replace(fmt.Sprintf(`"last_seq":%d`, head.Seq), fmt.Sprintf(`"last_seq":%d`, head.Seq+1)),
		"a smaller last_seq":           replace(fmt.Sprintf(`"last_seq":%d`, head.Seq), fmt.Sprintf(`"last_seq":%d`, head.Seq-1)),
		"another head in the header":   replace(head.HeadHash, ubl.NextHead(head.HeadHash, "c:")),
		"no header":                    edit(func(l []string) []string { return l[1:] }),
		"nothing":                      "",
		"a line of damage":             edit(func(l []string) []string { return append(l[:4], `{"damaged":"a page","seq":4}`+"\n") }),
		"a hole in the wrong place":    edit(func(l []string) []string { return slices.Insert(l, 3, hole(7, 8)) }),
		"a lost end before the end": edit(func(l []string) []string {
			return append(l[:4], `{"after_seq":3,"format":"ubl.export.lost.v1","ledger_shard":"0","reason":"x","tenant_id":"t:example.com"}`+"\n")
		}),
		"forged: another tenant's atom":  forge(func(l atoms) atoms { l[2]["tenant_id"] = "t:example.org"; return l }),
		"forged: another shard":          forge(func(l atoms) atoms { l[2]["shard"] = "1"; return l }),
		"forged: no shard":               forge(func(l atoms) atoms { delete(l[2], "shard"); return l }),
		"forged: an unknown kind":        forge(func(l atoms) atoms { l[2]["kind"] = "action.v9"; return l }),
		"forged: an unknown status":      forge(func(l atoms) atoms { l[executed]["status"] = "done"; return l }),
		"forged: an unknown outcome":     forge(func(l atoms) atoms { l[executed+1]["outcome"] = "fine"; return l }),
		"forged: an effect removed":      forge(func(l atoms) atoms { return slices.Delete(l, executed+1, executed+2) }),
		"forged: an action removed":      forge(func(l atoms) atoms { return slices.Delete(l, executed, executed+1) }),
		"forged: an effect twice":        forge(func(l atoms) atoms { return slices.Insert(l, executed+2, copied(l[executed+1])) }),
		"forged: an effect of an effect": forge(func(l atoms) atoms { l[executed+1]["ref_action_cid"] = l[executed-1]["cid"]; return l }),
	}
	if len(tampered) < 30 {
		t.Errorf("only %d kinds of tampering", len(tampered))
	}
	for name, file := range tampered {
		if code, said := verify(t, node, file); code != refused {
			t.Errorf("%s: exit code %d, %s", name, code, said)
		}
		if _, err := ubl.Verify(strings.NewReader(file), ubl.VerifyOptions{}); err == nil {
			t.Errorf("%s: our own verifier lets it pass", name)
		} else if _, partly := errors.AsType[*ubl.IncompleteError](err); partly {
			t.Errorf("%s: our own verifier says that it holds in part", name)
		}
	}
	// Written anew as a whole, a ledger holds by itself; a head that was noted before tells.
	anew := forge(func(l atoms) atoms { l[2]["when"] = "2020-01-01T00:00:00.000Z"; return l })
	check(t, node, anew)
	if code, said := verify(t, node, anew, "--earlier", head.HeadHash); code != refused {
		t.Errorf("a past written anew comes by an earlier head: %d %s", code, said)
	}
}

func hole(from, to int) string {
	return fmt.Sprintf(`{"format":"ubl.export.hole.v1","from_seq":%d,"ledger_shard":"0","reason":"x","tenant_id":"t:example.com","to_seq":%d}`+"\n", from, to)
}

func copied(atom map[string]any) map[string]any {
	out := map[string]any{}
	for k, v := range atom {
		out[k] = v
	}
	return out
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
