package container

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"time"

	"ubl"
	"ubl/actors"
)

// Redaction: what was deleted goes out of what is stored. The deletion's commit takes the document
// or file out of everybody's reach, and sets an alarm. Its errand finds each event and version
// that has a title, a name or a salt of it, and has the container rewrite them a page at a time,
// each page in the commit of an act of the platform's (container.redact), with the texts removed.
// The last page says in its event what is done. Where the server stops in between, the alarm
// leads to what is left; a page that is there twice rewrites nothing.

const (
	// redactedMark begins an event that was redacted, once for each time: a blank, which JSON
	// passes over.
	redactedMark = ' '
	// redactPage is how many records one act rewrites or removes, redactAtOnce how many documents
	// and files one act names.
	redactPage, redactAtOnce = 200, 500
)

// redactSoon is the alarm of a deletion. Many deletions in a row have one search.
var redactSoon = actors.Alarm{Key: "redact", After: time.Second}

// leftover is a document or a file that was deleted, and is still in events from From on.
type leftover struct {
	Document ubl.DocumentID `json:"document,omitempty"`
	File     ubl.FileID     `json:"file,omitempty"`
	From     int64          `json:"from,omitempty"`
}

// leftover is what a removed file leaves. One that came with a document may have been here before.
func (f *file) leftover() leftover {
	if f.ArrivedAt != 0 {
		return leftover{File: f.ID}
	}
	return leftover{File: f.ID, From: f.N}
}

func (s *State) leave(l leftover) {
	if !slices.ContainsFunc(s.Redacting, l.same) {
		s.Redacting = append(s.Redacting, l)
	}
}

// same tells whether both are one document or file.
func (l leftover) same(as leftover) bool { return l.Document == as.Document && l.File == as.File }

func (s *State) redacted(done []leftover) {
	var left []leftover
	for _, l := range s.Redacting {
		if !slices.ContainsFunc(done, l.same) {
			left = append(left, l)
		}
	}
	s.Redacting = left
}

// redacted is what stays of a document's version.
func (d document) redacted() document {
	d.Title, d.Salt, d.Text, d.Redacted, d.ImportedFrom, d.Published = "", ubl.Salt{}, 0, true, d.ImportedFrom.Redacted(), nil
	return d
}

// redacted is what stays of a file.
func (f file) redacted() *file {
	f.Name, f.Type, f.Blob, f.Salt, f.Redacted, f.ImportedFrom = "", "", "", ubl.Salt{}, true, f.ImportedFrom.Redacted()
	return &f
}

// gone are ids of documents and files that are to be redacted.
type gone map[string]bool

func goneOf(list []leftover) gone {
	ids := make(gone, len(list))
	for _, l := range list {
		ids[string(l.Document)+string(l.File)] = true
	}
	return ids
}

// from redacts an event, and tells whether it had anything to redact.
func (ids gone) from(e *event) (changed bool) {
	of := func(d *document) *document {
		if d == nil || d.Redacted || !ids[string(d.ID)] {
			return d
		}
		left := d.redacted()
		changed = true
		return &left
	}
	files := func(list []file) []file {
		for i, f := range list {
			if !f.Redacted && ids[string(f.ID)] {
				list[i], changed = *f.redacted(), true
			}
		}
		return list
	}
	e.Document = of(e.Document)
	for i := range e.Documents {
		e.Documents[i] = *of(&e.Documents[i])
	}
	if e.File != nil {
		e.File = &files([]file{*e.File})[0]
	}
	e.Files = files(e.Files)
	if x := e.Transfer; x != nil {
		x.Document, x.Files = of(x.Document), files(x.Files)
	}
	return changed
}

// spot is an event (a number alone) or a version that is to be redacted.
type spot struct {
	document ubl.DocumentID
	n        int64
}

// redact rewrites a page of what is stored of what was deleted; done is what it completes. Only
// the container's errand asks it.
type redact struct {
	ubl.Request
	of    []leftover
	spots []spot
	done  bool
}

// Cost is about that of the records.
func (c redact) Cost() int { return ubl.ActCost * (1 + len(c.spots)) }

// redactLeft is the alarm's errand: it looks for what is left, and has it redacted. What a copy
// under way still has to bring waits until it has arrived.
func (c *Container) redactLeft(req ubl.Request) func(context.Context) error {
	if len(c.State.Redacting) == 0 {
		return nil
	}
	var ready []leftover
	waits := false
	for _, l := range c.State.Redacting {
		if c.State.onItsWay(l) {
			waits = true
			continue
		}
		ready = append(ready, l)
	}
	upTo := c.State.Events
	return func(ctx context.Context) error {
		for of := range slices.Chunk(ready, redactAtOnce) {
			if err := c.redactAll(ctx, req, of, upTo); err != nil {
				return err
			}
		}
		if waits {
			return ubl.Errorf(ubl.CodeUnavailable, "a copy of what was deleted is under way")
		}
		return nil
	}
}

// onItsWay reports whether a copy of it is under way.
func (s *State) onItsWay(l leftover) bool {
	ids := goneOf([]leftover{l})
	for _, d := range s.Pending {
		if d.Document != nil && ids[string(d.Document.ID)] || slices.ContainsFunc(d.Files, func(f file) bool { return ids[string(f.ID)] }) {
			return true
		}
	}
	return false
}

func (c *Container) redactAll(ctx context.Context, req ubl.Request, of []leftover, upTo int64) error {
	spots, err := c.spots(ctx, of, upTo)
	if err != nil {
		return err
	}
	license, err := ubl.Ask[*ubl.AgreementView](ctx, c.Ask, ubl.TenantName(c.tenant), ubl.GetAgreement{Who: req.Who, Brief: true})
	if err != nil {
		return fmt.Errorf("couldn't read the tenant's license: %w", err)
	}
	req.Under = []ubl.RecordHash{{Agreement: license.ID, Hash: license.Hash}}
	for done := false; !done; {
		page := spots[:min(redactPage, len(spots))]
		spots = spots[len(page):]
		done = len(spots) == 0
		if _, err := c.Ask.Ask(ctx, c.Name, redact{Request: req, of: of, spots: page, done: done}); err != nil {
			return err
		}
	}
	return nil
}

// spots finds the events and versions that tell of what was deleted.
func (c *Container) spots(ctx context.Context, of []leftover, upTo int64) (spots []spot, err error) {
	ids, from := goneOf(of), upTo
	for _, l := range of {
		from = min(from, l.From)
	}
	ctx = ubl.WithReading(ctx, c.group)
	err = c.Events().Each(ctx, max(from, 1), upTo, func(e event) error {
		if ids.from(&e) {
			spots = append(spots, spot{n: e.N})
		}
		return nil
	})
	for _, l := range of {
		if err != nil || l.Document == "" {
			continue
		}
		err = c.Read.View(ctx, c.group, func(snap ubl.Snapshot) error {
			return snap.Ascend(versionKey(c.id, l.Document, 0), versionKey(c.id, l.Document, -1), func(k, _ []byte) bool {
				spots = append(spots, spot{l.Document, int64(binary.BigEndian.Uint64(k[len(k)-8:]))})
				return true
			})
		})
	}
	return spots, err
}

func (c *Container) redact(t *actors.Turn, cmd redact) {
	if !cmd.Who.IsPlatform() {
		t.Fail(ubl.Errorf(ubl.CodeForbidden, "only the platform redacts what was deleted"))
		return
	}
	err := t.Settled() // what is rewritten here was rewritten before, perhaps
	var records []actors.Record
	if err == nil {
		records, err = c.rewritten(t.Context(), cmd)
	}
	if err != nil {
		t.Fail(err)
		return
	}
	var done []leftover
	if cmd.done {
		done = slices.DeleteFunc(slices.Clone(cmd.of), func(l leftover) bool {
			return !slices.ContainsFunc(c.State.Redacting, l.same)
		})
	}
	if len(records) == 0 && len(done) == 0 {
		t.Reply(nil)
		return
	}
	t.Later(c.Enact(t, c.Following(ubl.DidContainerRedact, cmd.Request, c.State.redacting(records, done)), nil))
}

// redacting plans a page.
func (s *State) redacting(records []actors.Record, done []leftover) *plan {
	this := ubl.Fields{ubl.Str("container_id", s.Summary.ContainerID), ubl.Int("records", int64(len(records)))}
	effects := []ubl.Fields{append(ubl.Fields{ubl.Str("op", "container.redact")}, this...)}
	for _, l := range done {
		what, op := ubl.Str("document_id", l.Document), "document.redact"
		if l.File != "" {
			what, op = ubl.Str("file_id", l.File), "file.redact"
		}
		effects = append(effects, ubl.Fields{ubl.Str("op", op), ubl.Str("workspace_id", s.Summary.ContainerID), what})
	}
	return &plan{
		// The Agreement may have ended since: what was deleted goes all the same.
		Act:   actors.Act{Agreement: ubl.TenantAgreement(s.Agreement.TenantID), This: this, Effects: effects},
		Event: event{Redacted: done}, Records: records, Frees: true,
		Answer: func(ubl.Receipt) any { return nil },
	}
}

// rewritten are the records of a page as they are from now on.
func (c *Container) rewritten(ctx context.Context, cmd redact) (records []actors.Record, err error) {
	ids := goneOf(cmd.of)
	err = c.Read.View(ctx, c.group, func(snap ubl.Snapshot) error {
		for _, at := range cmd.spots {
			list, err := c.rewrite(snap, at, ids)
			if err != nil {
				return err
			}
			records = append(records, list...)
		}
		for _, l := range cmd.of {
			if !cmd.done || l.Document == "" {
				continue
			}
			key := newestKey(c.id, l.Document)
			v, err := snap.Get(key)
			if err != nil || v == nil {
				return err
			}
			stored, err := decodeVersion(v)
			if err != nil {
				return err
			}
			if !stored.Document.Redacted { // an earlier version of the program has deleted it
				stored.Document = stored.Document.redacted()
				records = append(records, actors.Record{Key: key, Value: encode(stored)})
			}
		}
		return nil
	})
	return records, err
}

func (c *Container) rewrite(snap ubl.Snapshot, at spot, ids gone) ([]actors.Record, error) {
	key := eventKey(c.id, at.n)
	if at.document != "" {
		key = versionKey(c.id, at.document, at.n)
	}
	v, err := snap.Get(key)
	switch {
	case err != nil:
		return nil, err
	case v == nil:
		return nil, ubl.Damaged("what is to be redacted of %s is missing", c.id)
	case at.document == "":
		return rewriteEvent(key, v, ids)
	}
	stored, err := decodeVersion(v)
	if err != nil || stored.Document.Redacted {
		return nil, err
	}
	left := version{Form: stored.Form, Document: stored.Document.redacted()}
	records := []actors.Record{{Key: key, Value: receipted(encode(left), stored.Receipt), Frees: len(v)}}
	text := textKey(c.id, string(at.document), at.n)
	if v, err = snap.Get(text); err == nil && v != nil {
		records = append(records, actors.Record{Key: text, Frees: len(v)})
	}
	return records, err
}

func rewriteEvent(key, v []byte, ids gone) ([]actors.Record, error) {
	var e event
	if err := decode(v, &e); err != nil {
		return nil, err
	}
	if !ids.from(&e) {
		return nil, nil
	}
	receipt := e.Receipt
	e.Receipt = ubl.Receipt{}
	value := []byte{redactedMark}
	for i := 0; v[i] == redactedMark; i++ {
		value = append(value, redactedMark)
	}
	return []actors.Record{{Key: key, Value: append(value, receipted(encode(e), receipt)...), Frees: len(v)}}, nil
}

// receipted is a stored object with its receipt, as the act that made it has it.
func receipted(object []byte, receipt ubl.Receipt) []byte {
	act := actors.Act{Receipt: receipt}
	return act.Sealed(nil, object).Seal()
}
