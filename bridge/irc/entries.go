package irc

import (
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
			return b.message(e, text), nil
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
func (b *bridge) message(e *ubl.Entry, text string) string {
	if bridgedInRoom.MatchString(text) {
		return ""
	}
	if e.ReplyTo != nil || e.Thread != nil {
		text = "↳ " + text
	}
	var lines strings.Builder
	lines.WriteString(text)
	for _, file := range e.Attachments {
		fmt.Fprintf(&lines, "\n* file %s (%d bytes): %s", oneLine(file.Name), file.Bytes, b.Room.Link(e))
	}
	return lines.String()
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
