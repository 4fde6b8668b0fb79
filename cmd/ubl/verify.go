package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"ubl"
)

// verifyCmd checks an export. It needs the file alone: no network, no data
// directory, no trust in the server.
type verifyCmd struct {
	format
	File    string  `arg:"" help:"The export; - reads standard input."`
	Head    *string `help:"The head hash that the ledger must end with, noted elsewhere; without it a cut export with a new header passes." placeholder:"h:…"`
	Earlier *string `help:"A head hash noted earlier, which the ledger must have come by: else its past was rewritten, or cut off before that." placeholder:"h:…"`
	Quiet   bool    `help:"Tell no progress."`
}

// Run says what the ledger holds, or which line is the first bad one.
func (c *verifyCmd) Run(p *program) error {
	head, err := headOf("--head", c.Head)
	if err != nil {
		return err
	}
	earlier, err := headOf("--earlier", c.Earlier)
	if err != nil {
		return err
	}
	in, err := c.open(p)
	if err != nil {
		return err
	}
	defer in.Close()
	g := p.progress("verifying", "atoms", c.Quiet || c.JSON)
	v, err := verified(in, ubl.VerifyOptions{Head: head, Earlier: earlier, Progress: g.at})
	g.end()
	if lacks, ok := errors.AsType[*ubl.IncompleteError](err); ok {
		return c.incomplete(p, v, lacks)
	}
	if bad, ok := errors.AsType[*ubl.LineError](err); ok && c.JSON {
		result := map[string]any{"ok": false, "line": bad.Line, "reason": bad.Reason}
		return errors.Join(json.NewEncoder(p.out).Encode(result), doesNotVerify(err))
	}
	if err != nil {
		return doesNotVerify(err)
	}
	if c.JSON {
		return json.NewEncoder(p.out).Encode(map[string]any{"ok": true, "tenant_id": v.TenantID, "ledger_shard": v.Shard,
			"atoms": v.Atoms, "actions": v.Actions, "effects": v.Effects, "open": v.Open, "gone": taken(v.Gone), "head_hash": v.HeadHash, "against_head": head != "" || earlier != ""})
	}
	_, err = fmt.Fprintf(p.out, "ok: %s, %d atoms (%d actions, %d effects, %d still open), head %s\n%s%s\n",
		v.TenantID, v.Atoms, v.Actions, v.Effects, v.Open, v.HeadHash, gone(v.Gone), shows(head, earlier))
	return err
}

// verified checks a ledger. Who made the file wrote some of the reasons, which come as one line.
func verified(in io.Reader, options ubl.VerifyOptions) (*ubl.Verified, error) {
	v, err := ubl.Verify(in, options)
	if bad, ok := errors.AsType[*ubl.LineError](err); ok {
		bad.Reason = oneLine(bad.Reason)
	}
	if lacks, ok := errors.AsType[*ubl.IncompleteError](err); ok {
		for i := range lacks.Holes {
			lacks.Holes[i].Reason = oneLine(lacks.Holes[i].Reason)
		}
		lacks.Lost = oneLine(lacks.Lost)
	}
	return v, err
}

// headOf reads the flag of a head, "" where it isn't given.
func headOf(flag string, given *string) (string, error) {
	if given == nil {
		return "", nil
	}
	if *given != ubl.Genesis && !ubl.ValidHash("h:", *given) {
		return "", usagef("%s is not the hash of a head: h: and 64 hex digits", flag)
	}
	return *given, nil
}

// taken is what was taken away, as JSON tells it.
func taken(g ubl.Gone) map[string]int64 {
	return map[string]int64{"entries": g.Entries, "documents": g.Documents, "files": g.Files}
}

// gone says what was taken away, as a line, or nothing.
func gone(g ubl.Gone) string {
	if g == (ubl.Gone{}) {
		return ""
	}
	return fmt.Sprintf("Taken away for good: entries of rooms %d, documents %d, files %d. The ledger keeps that they were there; what they said can't be matched with it any more.\n",
		g.Entries, g.Documents, g.Files)
}

// shows is what a check has shown, by the heads that it was held against. That of an empty ledger
// shows nothing: anything can come behind it.
func shows(head, earlier string) string {
	switch {
	case head != "":
		return "It ends with the head that you gave: what was there when you noted it is there unchanged, and nothing was added since."
	case earlier != "" && earlier != ubl.Genesis:
		return "It comes by the head that you noted: what was there then is there unchanged, and what was added since is chained to it. This doesn't show that the ledger ends here."
	}
	return "Nothing between the first atom and the last was changed, moved or left out. This alone doesn't show that the ledger ends here, " +
		"or that it wasn't written anew as a whole: note heads from time to time, and give one as --earlier."
}

// incomplete says what an export with holes or a lost end has, and what it lacks.
func (c *verifyCmd) incomplete(p *program, v *ubl.Verified, lacks *ubl.IncompleteError) error {
	how, result := "not whole", fmt.Errorf("the ledger is not whole; what is there holds, and what is behind the last hole leads to the head: %w", lacks)
	if lacks.Missing == 0 {
		how, result = "may not be whole", fmt.Errorf("the ledger may not be whole; what is there holds, and leads to the head: %w", lacks)
	}
	if c.JSON {
		told := map[string]any{"ok": false, "tenant_id": v.TenantID, "ledger_shard": v.Shard,
			"atoms": v.Atoms, "actions": v.Actions, "effects": v.Effects, "open": v.Open, "gone": taken(v.Gone), "head_hash": v.HeadHash, "missing": v.Missing, "holes": append([]ubl.Hole{}, lacks.Holes...)}
		if lacks.Lost != "" {
			told["lost"] = lacks.Lost
		}
		if c.Head != nil || c.Earlier != nil {
			told["head_found"] = !v.Unfound
		}
		return errors.Join(json.NewEncoder(p.out).Encode(told), result)
	}
	_, err := fmt.Fprintf(p.out, "%s: %s, %d atoms (%d actions, %d effects, %d still open), %d missing, head %s\n%s%s\n",
		how, v.TenantID, v.Atoms, v.Actions, v.Effects, v.Open, v.Missing, v.HeadHash, gone(v.Gone), c.showsInPart(v))
	return errors.Join(err, result)
}

// showsInPart is what a check of an export has shown that isn't whole.
func (c *verifyCmd) showsInPart(v *ubl.Verified) string {
	said := "No atom that is there was changed or moved. "
	if v.Missing > 0 {
		said += "Nothing binds what is before a hole to what is behind it. "
	}
	switch noted := c.Head != nil || c.Earlier != nil; {
	case v.Unfound:
		return said + "A head that you noted wasn't found: it may be in what is missing, or the ledger went another way."
	case noted:
		return said + "The head that you noted is there. This doesn't show what is missing, or that the ledger ends here."
	}
	return said + "This doesn't show what is missing, that the ledger ends here, or that it wasn't written anew as a whole: note heads from time to time, and give one as --earlier."
}

func doesNotVerify(err error) error { return fmt.Errorf("the ledger does not verify: %w", err) }

func (c *verifyCmd) open(p *program) (io.ReadCloser, error) {
	if c.File == "-" {
		return io.NopCloser(p.in), nil
	}
	if info, err := os.Stat(c.File); err == nil && info.IsDir() {
		return nil, thenDo(usagef("%s is a folder, and no export", clean(c.File)), "name the file in it: ubl verify %s", quoted(filepath.Join(c.File, "ledger.ndjson")))
	}
	f, err := os.Open(c.File)
	if err != nil {
		return nil, fmt.Errorf("couldn't read the export: %w", err)
	}
	begin := make([]byte, len(zipBegins))
	if n, _ := f.ReadAt(begin, 0); string(begin[:n]) == zipBegins {
		return nil, errors.Join(thenDo(usagef("%s is a zip file, and no export", clean(c.File)), "take the ledger out of it; in what \"ubl me export\" made it is receipts.ndjson"), f.Close())
	}
	return f, nil
}

// zipBegins is how a zip file does that has something in it.
const zipBegins = "PK\x03\x04"
