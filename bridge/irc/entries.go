package irc

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"ubl"
)

// says is what an entry of the room says on IRC, "" for nothing: what the system tells, reactions,
// pins, members and votes stay in the room, as does what was imported into it or is gone.
func (b *bridge) says(ctx context.Context, e *ubl.Entry) (string, error) {
	if e.AuthorID == b.Self || e.Body == nil || e.ImportedFrom != nil || e.Body.Type == ubl.ContentSystem {
		return "", nil
	}
	text, plain := e.Body.Text()
	switch e.Type {
	case ubl.EntryMessage:
		if plain {
			return b.message(ctx, e, text)
		}
		return "* sent what IRC can't show: " + b.Room.Link(e), nil
	case ubl.EntryEdit:
		if plain && !bridgedInRoom.MatchString(text) {
			return "* corrected: " + text, nil
		}
	case ubl.EntryRedaction:
		return b.removed(ctx, e)
	}
	return "", nil
}

// message is a message of text, with a line for each file.
func (b *bridge) message(ctx context.Context, e *ubl.Entry, text string) (string, error) {
	if bridgedInRoom.MatchString(text) {
		return "", nil
	}
	if to := cmp.Or(e.ReplyTo, e.Thread); to != nil {
		answered, err := b.answered(ctx, *to)
		if err != nil {
			return "", err
		}
		text = "↳ " + answered + text
	}
	var lines strings.Builder
	lines.WriteString(text)
	for _, file := range e.Attachments {
		fmt.Fprintf(&lines, "\n* file %s (%d bytes): %s", oneLine(file.Name), file.Bytes, b.Room.Link(e))
	}
	return lines.String(), nil
}

// answered is whom a message answers, as it stands before the text; "" where theirs is gone. Who wrote on
// IRC is called as there.
func (b *bridge) answered(ctx context.Context, id ubl.MessageID) (string, error) {
	target, err := b.Room.Entry(ctx, id)
	if err != nil || target == nil {
		return "", err
	}
	name := b.Room.Name(ctx, target.AuthorID)
	if target.Body != nil && target.AuthorID == b.Self {
		if text, plain := target.Body.Text(); plain && bridgedInRoom.MatchString(text) {
			name, _, _ = strings.Cut(text, viaIRC)
		}
	}
	return cutAt(visible(oneLine(name)), maxName) + ": ", nil
}

// removed says that a message is gone. A reaction that was taken back is nobody's business here.
func (b *bridge) removed(ctx context.Context, e *ubl.Entry) (string, error) {
	if e.Target == nil {
		return "", nil
	}
	target, err := b.Room.Entry(ctx, *e.Target)
	if err != nil || target == nil || target.Type != ubl.EntryMessage {
		return "", err
	}
	return "* removed a message of " + target.SentAt.Std().UTC().Format("15:04 UTC"), nil
}
