package ubl

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
)

// maxOpenActions bounds how many actions may wait for their effect while an
// export is read.
const maxOpenActions = 1 << 17

// progressEvery is how many atoms lie between two calls of Progress.
const progressEvery = 2048

// VerifyOptions says what an export is checked against.
type VerifyOptions struct {
	// Head is the head hash that the ledger must end with, noted earlier or
	// elsewhere; "" to believe the header. Without it an export that was cut
	// short and given a new header passes: it is a true beginning of the ledger.
	Head string
	// Earlier is a head that was noted earlier, which the ledger must have come by: what was
	// there then is there unchanged. "" for none.
	Earlier string
	// Progress is told now and then how many atoms of how many were checked.
	Progress func(atoms, of int64)
}

// Verified is what an export that holds contains.
type Verified struct {
	TenantID TenantID
	Shard    string
	Atoms    int64
	// Actions and Effects add up to Atoms.
	Actions, Effects int64
	// Open counts intended actions whose effect had not come yet.
	Open     int64
	HeadHash string
	// Gone is what acts have taken away.
	Gone Gone
	// Missing is how many atoms lie in holes of the export: then the error says which.
	Missing int64
	// Unfound says that a head to check against wasn't found, which may be in what is missing.
	Unfound bool
}

// Gone counts what a ledger says was taken away for good, with the salts: what it commits to of
// that leads nowhere any more.
type Gone struct{ Entries, Documents, Files int64 }

// count takes an effect into account.
func (g *Gone) count(effects json.RawMessage) {
	var list []struct{ Op string }
	takes := func(op string) bool { return bytes.Contains(effects, []byte(`"`+op+`"`)) }
	if !takes("room.redact") && !takes("document.delete") && !takes("file.remove") || !decode(effects, &list) {
		return // as most do, which are not read then
	}
	for _, effect := range list {
		switch effect.Op {
		case "room.redact":
			g.Entries++
		case "document.delete":
			g.Documents++
		case "file.remove":
			g.Files++
		}
	}
}

// LineError is the first thing wrong with an export.
type LineError struct {
	Line   int64 // from 1; one past the end where something is missing
	Reason string
}

func (e *LineError) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Reason) }

// Verify reads an export and checks everything that can be checked without
// trusting whoever made it: each line's canonical form, each atom's cid, its
// place in the chain, the head after it, that all belong to one tenant, and
// that every effect answers an earlier action which had none. It reads as a
// stream, in bounded memory. The error is a *[LineError] where the export does
// not hold, or the reader's own. It is an *[IncompleteError], beside what was found, where
// only atoms are missing, or may be behind the last: then what is behind the last hole leads
// to the head, and what is before a hole is bound to it by nothing.
func Verify(r io.Reader, opts VerifyOptions) (*Verified, error) {
	v := &verifier{lines: bufio.NewReaderSize(r, 64<<10), opts: opts,
		at: LedgerHead{HeadHash: Genesis}, open: map[string]Status{}}
	if err := v.header(); err != nil {
		return nil, err
	}
	for v.at.Seq < v.last.Seq {
		if err := v.next(); err != nil {
			return nil, err
		}
	}
	return v.end()
}

// verifier is the state of one run of Verify.
type verifier struct {
	lines *bufio.Reader
	opts  VerifyOptions
	line  int64
	buf   []byte

	format string     // of the export
	last   LedgerHead // what the header promises
	at     LedgerHead // how far the atoms have come
	headAt int64      // the seq at which opts.Head was met, -1 before
	passed bool       // opts.Earlier was met
	open   map[string]Status
	lacks  IncompleteError
	// orphans are effects whose action must be in a hole, and at the end actions whose
	// effect must be in one. Each takes a missing atom of its own.
	orphans int64
	out     Verified
}

func (v *verifier) bad(format string, args ...any) error {
	return &LineError{Line: v.line, Reason: fmt.Sprintf(format, args...)}
}

// read gives the next line without its newline, io.EOF where there is none.
func (v *verifier) read() ([]byte, error) {
	v.line++
	v.buf = v.buf[:0]
	for {
		part, err := v.lines.ReadSlice('\n')
		v.buf = append(v.buf, part...)
		switch {
		case len(v.buf) > MaxExportLine+1:
			return nil, v.bad("longer than %d bytes", MaxExportLine)
		case err == nil:
			return v.buf[:len(v.buf)-1], nil
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF) && len(v.buf) > 0:
			return nil, v.bad("cut off: it has no newline")
		case errors.Is(err, io.EOF):
			return nil, io.EOF
		default:
			return nil, fmt.Errorf("couldn't read line %d: %w", v.line, err)
		}
	}
}

// object reads a line as an object.
func (v *verifier) object() (map[string]json.RawMessage, error) {
	line, err := v.read()
	if err != nil {
		return nil, err
	}
	return v.members(line)
}

func (v *verifier) members(line []byte) (map[string]json.RawMessage, error) {
	if why, broken := BrokenExport(line); broken {
		return nil, v.bad("the export ends at damage: %s", why)
	}
	canonical, err := Canonical(line)
	if err != nil {
		return nil, v.bad("not JSON that can be canonical")
	}
	if !bytes.Equal(canonical, line) {
		return nil, v.bad("not canonical JSON")
	}
	// A map keeps the case of names, which a struct would not.
	var m map[string]json.RawMessage
	if err := json.Unmarshal(line, &m); err != nil {
		return nil, v.bad("not an object")
	}
	return m, nil
}

// exactly refuses an object with other members than the named ones.
func (v *verifier) exactly(m map[string]json.RawMessage, names ...string) error {
	if got := slices.Sorted(maps.Keys(m)); !slices.Equal(got, names) {
		return v.bad("its members are not exactly %q", names)
	}
	return nil
}

func (v *verifier) header() error {
	m, err := v.object()
	if errors.Is(err, io.EOF) {
		return v.bad("the file is empty")
	}
	if err == nil {
		err = v.exactly(m, "format", "head_hash", "last_seq", "ledger_shard", "tenant_id")
	}
	if err != nil {
		return err
	}
	var tenant TenantID
	v.headAt, v.format, v.passed = -1, text(m["format"]), v.opts.Earlier == Genesis
	switch {
	case v.format != ExportV1 && v.format != ExportFormat:
		return v.bad("the format is neither %s nor %s; a newer program may know it", ExportV1, ExportFormat)
	case !decode(m["tenant_id"], &tenant) || !tenant.Valid():
		return v.bad("tenant_id is not the id of a tenant")
	case text(m["ledger_shard"]) != DefaultShard:
		return v.bad("ledger_shard is not %q", DefaultShard)
	case !decode(m["last_seq"], &v.last.Seq) || v.last.Seq < 0:
		return v.bad("last_seq is not a seq")
	}
	v.last.HeadHash = text(m["head_hash"])
	v.out.TenantID, v.out.Shard = tenant, DefaultShard
	if v.last.HeadHash != Genesis && !ValidHash("h:", v.last.HeadHash) {
		return v.bad("head_hash is not the hash of a head")
	}
	if v.opts.Head == Genesis {
		v.headAt = 0
	}
	return nil
}

// next checks the next line, an atom or a hole.
func (v *verifier) next() error {
	m, err := v.object()
	switch {
	case errors.Is(err, io.EOF):
		return v.bad("missing: the header says that the ledger goes on to seq %d", v.last.Seq)
	case err != nil:
		return err
	case text(m["format"]) == HoleFormat:
		return v.hole(m)
	}
	return v.atom(m)
}

// maxHoles bounds how many holes are kept while an export is read.
const maxHoles = 1 << 17

// hole goes on behind atoms that are missing.
func (v *verifier) hole(m map[string]json.RawMessage) error {
	if err := v.exactly(m, "format", "from_seq", "ledger_shard", "reason", "tenant_id", "to_seq"); err != nil {
		return err
	}
	h := Hole{Reason: text(m["reason"])}
	switch {
	case text(m["tenant_id"]) != string(v.out.TenantID) || text(m["ledger_shard"]) != v.out.Shard:
		return v.bad("the hole is not of the ledger that the header names")
	case !decode(m["from_seq"], &h.From) || h.From != v.at.Seq+1:
		return v.bad("from_seq is not %d", v.at.Seq+1)
	case !decode(m["to_seq"], &h.To) || h.To < h.From || h.To > v.last.Seq:
		return v.bad("to_seq is not a seq from %d to %d", h.From, v.last.Seq)
	case len(v.lacks.Holes) == maxHoles:
		return v.bad("more than %d holes", maxHoles)
	}
	v.lacks.add(h)
	v.at = LedgerHead{Seq: h.To}
	return nil
}

// arrive is at a head that the ledger comes by.
func (v *verifier) arrive(at LedgerHead) {
	v.at = at
	if at.HeadHash == v.opts.Head {
		v.headAt = at.Seq
	}
	v.passed = v.passed || at.HeadHash == v.opts.Earlier
}

// atom checks one against where the chain is; behind a hole that is where the atom says.
func (v *verifier) atom(m map[string]json.RawMessage) error {
	if err := v.exactly(m, "atom", "head_hash", "seq"); err != nil {
		return err
	}
	var seq int64
	if !decode(m["seq"], &seq) || seq != v.at.Seq+1 {
		return v.bad("seq is not %d", v.at.Seq+1)
	}
	cid, err := v.link(m["atom"])
	if err != nil {
		return err
	}
	v.arrive(LedgerHead{Seq: seq, HeadHash: NextHead(v.at.HeadHash, cid)})
	if text(m["head_hash"]) != v.at.HeadHash {
		return v.bad("head_hash is not the head after this atom")
	}
	if v.opts.Progress != nil && seq%progressEvery == 0 {
		v.opts.Progress(seq, v.last.Seq)
	}
	return nil
}

// link checks what an atom says of itself and returns its cid.
func (v *verifier) link(raw json.RawMessage) (string, error) {
	var atom map[string]json.RawMessage
	if !decode(raw, &atom) {
		return "", v.bad("the atom is not an object")
	}
	cid, before := text(atom["cid"]), text(atom["prev_hash"])
	if v.at.HeadHash == "" && ValidHash("h:", before) { // behind a hole
		v.arrive(LedgerHead{Seq: v.at.Seq, HeadHash: before})
	}
	switch {
	case text(atom["tenant_id"]) != string(v.out.TenantID):
		return "", v.bad("the atom's tenant_id is not that of the header")
	case before != v.at.HeadHash || before == "":
		return "", v.bad("the atom's prev_hash is not the head before it")
	case cid != CID(withoutCID(atom)):
		return "", v.bad("the atom's cid is not the hash of its content")
	}
	kind := text(atom["kind"])
	switch later := kind == ActionV2 || kind == EffectV2; {
	case !IsAction(kind) && !IsEffect(kind):
		return "", v.bad("the atom's kind is none that this program knows")
	case later && v.format == ExportV1:
		return "", v.bad("the atom's kind is %s, which an export of the form %s doesn't have", kind, ExportV1)
	case later && text(atom["shard"]) != v.out.Shard:
		return "", v.bad("the atom's shard is not that of the header")
	case IsAction(kind):
		return cid, v.action(cid, Status(text(atom["status"])))
	}
	v.out.Gone.count(atom["effects"])
	return cid, v.effect(text(atom["ref_action_cid"]), Outcome(text(atom["outcome"])))
}

func (v *verifier) action(cid string, status Status) error {
	if status != StatusExecuted && status != StatusIntended && status != StatusDenied {
		return v.bad("the action's status is not one of the three")
	}
	if len(v.open) == maxOpenActions {
		return v.bad("more than %d actions wait for their effect", maxOpenActions)
	}
	v.open[cid] = status
	v.out.Actions++
	return nil
}

func (v *verifier) effect(ref string, outcome Outcome) error {
	if outcome != OutcomeOK && outcome != OutcomeError {
		return v.bad("the effect's outcome is neither ok nor error")
	}
	if _, ok := v.open[ref]; !ok && v.orphans < v.lacks.Missing {
		v.orphans++
	} else if !ok {
		return v.bad("the effect's ref_action_cid is not an earlier action without an effect")
	}
	delete(v.open, ref)
	v.out.Effects++
	return nil
}

// end checks what can only be known after the last atom.
func (v *verifier) end() (*Verified, error) {
	if err := v.nothingMore(); err != nil {
		return nil, err
	}
	if v.at.HeadHash != v.last.HeadHash && v.at.HeadHash != "" {
		v.line = 1
		return nil, v.bad("head_hash is not the head after the last atom")
	}
	if err := v.unanswered(); err != nil {
		return nil, err
	}
	v.out.Unfound = v.lacks.Lost != "" && v.opts.Head != "" && v.headAt < 0 || v.inPart() && v.opts.Earlier != "" && !v.passed
	if v.opts.Head != "" && v.headAt != v.at.Seq && !v.out.Unfound {
		return nil, v.wrongHead()
	}
	if v.opts.Earlier != "" && !v.passed && !v.inPart() {
		return nil, v.bad("missing: the ledger doesn't come by the earlier head: it was cut off before it, or went another way, as after a backup was restored")
	}
	v.out.Missing, v.lacks.Of = v.lacks.Missing, v.last.Seq
	v.out.Atoms, v.out.HeadHash = v.last.Seq-v.out.Missing, v.last.HeadHash
	if v.inPart() {
		return &v.out, &v.lacks
	}
	return &v.out, nil
}

// inPart reports whether the export says that atoms are missing, or may be.
func (v *verifier) inPart() bool { return v.lacks.Missing > 0 || v.lacks.Lost != "" }

// nothingMore sees that nothing follows the last atom but the line that says that more may
// be missing there.
func (v *verifier) nothingMore() error {
	line, err := v.read()
	switch {
	case errors.Is(err, io.EOF):
		return nil
	case err != nil:
		return err
	}
	if m, err := v.members(line); err == nil && text(m["format"]) == LostFormat && v.lacks.Lost == "" {
		if err := v.lost(m); err != nil {
			return err
		}
		return v.nothingMore()
	}
	return v.bad("the file goes on after seq %d, the last of the header", v.last.Seq)
}

// lost reads why more may be missing behind the last atom.
func (v *verifier) lost(m map[string]json.RawMessage) error {
	if err := v.exactly(m, "after_seq", "format", "ledger_shard", "reason", "tenant_id"); err != nil {
		return err
	}
	var after int64
	switch v.lacks.Lost = text(m["reason"]); {
	case text(m["tenant_id"]) != string(v.out.TenantID) || text(m["ledger_shard"]) != v.out.Shard:
		return v.bad("the lost end is not of the ledger that the header names")
	case !decode(m["after_seq"], &after) || after != v.last.Seq:
		return v.bad("after_seq is not %d", v.last.Seq)
	case v.lacks.Lost == "":
		return v.bad("reason is not a text that says why")
	}
	return nil
}

// unanswered looks at the actions without an effect. That of an executed one must be among
// the atoms that are missing.
func (v *verifier) unanswered() error {
	for _, status := range v.open {
		switch status {
		case StatusExecuted:
			if v.orphans++; v.lacks.Lost != "" {
				v.out.Open++
			} else if v.orphans > v.lacks.Missing {
				return v.bad("missing: an executed action has no effect")
			}
		case StatusIntended:
			v.out.Open++
		}
	}
	return nil
}

func (v *verifier) wrongHead() error {
	if v.headAt < 0 {
		return v.bad("missing: the ledger doesn't reach the given head, or went another way before it, as after a backup was restored")
	}
	v.line = v.headAt + 2
	return v.bad("the ledger goes on after the given head, by %d atoms", v.at.Seq-v.headAt)
}

// withoutCID writes the atom as it was hashed. Its values are canonical
// already, and the names of its members are ASCII.
func withoutCID(atom map[string]json.RawMessage) []byte {
	b := []byte{'{'}
	for _, name := range slices.Sorted(maps.Keys(atom)) {
		if name == "cid" {
			continue
		}
		if len(b) > 1 {
			b = append(b, ',')
		}
		b = appendString(b, name)
		b = append(b, ':')
		b = append(b, atom[name]...)
	}
	return append(b, '}')
}

// decode refuses null too, which json.Unmarshal would skip in silence.
func decode(raw json.RawMessage, into any) bool {
	return len(raw) > 0 && raw[0] != 'n' && json.Unmarshal(raw, into) == nil
}

// text is a member that must be a string, "" where it is not.
func text(raw json.RawMessage) string {
	var s string
	_ = decode(raw, &s)
	return s
}
