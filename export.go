package ubl

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
)

// ExportFormat names the form of an exported ledger, which anyone can check
// with nothing but the file ([Verify]): NDJSON, each line canonical JSON with
// a newline behind it. The first line is the header:
//
//	{"format":"ubl.export.v1","head_hash":"h:…","last_seq":2,"ledger_shard":"0","tenant_id":"t:…"}
//
// and every other line one atom, from seq 1 to last_seq, with the head after it:
//
//	{"atom":{…},"head_hash":"h:…","seq":1}
//
// An export that meets damage ends with a line that says so, which no reader takes for
// an atom:
//
//	{"damaged":"…","seq":1001}
//
// A form that differs gets another name; readers refuse names they don't know.
const ExportFormat = "ubl.export.v1"

// MaxExportLine bounds a line of an export, without its newline. The largest
// atom is far below it.
const MaxExportLine = 1 << 20

// Exporter writes a ledger as [ExportFormat]. It is not safe for concurrent
// use and does not buffer.
type Exporter struct {
	w    io.Writer
	last LedgerHead
	at   LedgerHead
	line []byte
}

// NewExporter writes the header of the ledger up to last.
func NewExporter(w io.Writer, tenant TenantID, last LedgerHead) (*Exporter, error) {
	e := &Exporter{w: w, last: last, at: LedgerHead{HeadHash: Genesis}}
	b := append([]byte(nil), `{"format":"`+ExportFormat+`","head_hash":`...)
	b = appendString(b, last.HeadHash)
	b = append(b, `,"last_seq":`...)
	b = strconv.AppendInt(b, last.Seq, 10)
	b = append(b, `,"ledger_shard":"`+DefaultShard+`","tenant_id":`...)
	b = appendString(b, string(tenant))
	_, err := w.Write(append(b, '}', '\n'))
	return e, err
}

// Append writes the next atom, given as it is stored, and moves the head by
// its cid. Atoms come in seq order from 1.
func (e *Exporter) Append(atom []byte) error {
	if e.at.Seq == e.last.Seq {
		return fmt.Errorf("couldn't export: more atoms than the %d of the header", e.last.Seq)
	}
	var a struct {
		CID string `json:"cid"`
	}
	if err := json.Unmarshal(atom, &a); err != nil || a.CID == "" {
		return fmt.Errorf("couldn't export: the atom at seq %d is damaged", e.at.Seq+1)
	}
	e.at = LedgerHead{Seq: e.at.Seq + 1, HeadHash: NextHead(e.at.HeadHash, a.CID)}
	b := append(e.line[:0], `{"atom":`...)
	b = append(b, atom...)
	b = append(b, `,"head_hash":"`...)
	b = append(b, e.at.HeadHash...)
	b = append(b, `","seq":`...)
	b = strconv.AppendInt(b, e.at.Seq, 10)
	e.line = append(b, '}', '\n')
	_, err := e.w.Write(e.line)
	return err
}

// brokenPrefix begins the line at damage.
const brokenPrefix = `{"damaged":`

// Break ends an export at damage: the next atom can't be read. It says why in words
// that anybody may read.
func (e *Exporter) Break(cause error) error {
	b := appendString(append(e.line[:0], brokenPrefix...), AsError(cause).Message)
	b = strconv.AppendInt(append(b, `,"seq":`...), e.Next(), 10)
	_, err := e.w.Write(append(b, '}', '\n'))
	return err
}

// BrokenExport reports whether a line of an export says that it ends at damage, and why.
func BrokenExport(line []byte) (why string, broken bool) {
	var l struct {
		Damaged string `json:"damaged"`
		Seq     int64  `json:"seq"`
	}
	if !bytes.HasPrefix(line, []byte(brokenPrefix)) || json.Unmarshal(line, &l) != nil {
		return "", false
	}
	return fmt.Sprintf("atom %d can't be read: %s", l.Seq, l.Damaged), true
}

// Next is the seq of the atom that [Exporter.Append] wants.
func (e *Exporter) Next() int64 { return e.at.Seq + 1 }

// Close fails where the atoms did not lead to the header's head: then the
// export is of no use. It does not close the writer.
func (e *Exporter) Close() error {
	if e.at != e.last {
		return fmt.Errorf("couldn't export: the atoms don't lead to the ledger's head at seq %d", e.last.Seq)
	}
	return nil
}
