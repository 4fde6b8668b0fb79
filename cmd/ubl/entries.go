package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"ubl"
)

// printEntries writes entries in one of the two forms, as printMessages does.
func (f format) printEntries(ctx context.Context, w io.Writer, from *people, entries ...json.RawMessage) error {
	for _, raw := range entries {
		if f.JSON {
			if _, err := fmt.Fprintf(w, "%s\n", raw); err != nil {
				return err
			}
			continue
		}
		e, err := formed[ubl.Entry]("an entry", raw)
		if err == nil {
			err = printLine(ctx, w, from, e.RoomSeq, e.SentAt, e.AuthorID, saysOf(ctx, from, &e))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// saysOf is what an entry says, in a line.
func saysOf(ctx context.Context, from *people, e *ubl.Entry) string {
	about := "an entry"
	if e.Target != nil {
		if seq, ok := e.Target.Seq(); ok {
			about = fmt.Sprint(seq)
		}
	}
	if e.Body == nil {
		return "* (redacted)"
	}
	switch text, plain := e.Body.Text(); {
	case e.Body.Type == ubl.ContentSystem:
		return systemText(ctx, from, text)
	case e.Type == ubl.EntryEdit && plain:
		return fmt.Sprintf("* edits %s: %s", about, text)
	case plain:
		return text
	}
	switch e.Type {
	case ubl.EntryReaction:
		var b ubl.ReactionBody
		_ = e.Body.Read(ubl.ContentReaction, &b) // what can't be read shows as nothing
		return fmt.Sprintf("* reacts to %s: %s", about, b.Key)
	case ubl.EntryRedaction:
		var b ubl.RedactionBody
		_ = e.Body.Read(ubl.ContentRedaction, &b)
		return strings.TrimSuffix(fmt.Sprintf("* redacts %s: %s", about, b.Reason), ": ")
	case ubl.EntryPin:
		var b ubl.PinBody
		if _ = e.Body.Read(ubl.ContentPin, &b); b.Pinned {
			return "* pins " + about
		}
		return "* unpins " + about
	}
	return fmt.Sprintf("* (%s of %s)", e.Type, e.Body.Type)
}
