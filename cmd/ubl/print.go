package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"strings"
	"unicode"

	"ubl"
)

// clean takes the control characters out of a text that others wrote: on a
// terminal they could move the cursor, change the title or worse.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case unicode.IsControl(r) || unicode.Is(unicode.Cf, r) && r != '\u200d':
			return '\ufffd'
		}
		return r
	}, s)
}

// oneLine is a text that others wrote for a line of our own.
func oneLine(s string) string {
	return clean(strings.NewReplacer("\n", " ", "\t", " ").Replace(s))
}

// userIDs finds people in what the platform writes, where others expect their names.
var userIDs = regexp.MustCompile(`\bu:[A-Za-z0-9._-]*[A-Za-z0-9]`)

// printMessage writes a message for people; lines after the first are
// indented, so that nobody can write a line that looks like another message.
func printMessage(ctx context.Context, w io.Writer, from *people, raw json.RawMessage) error {
	m, err := formed[ubl.Message]("a message", raw)
	if err != nil {
		return err
	}
	text := m.Body.Text
	if m.Type == ubl.TypeSystem {
		text = systemText(ctx, from, text)
	}
	text = forwardedOf(ctx, from, m.Forwarded) + text
	text += became(ubl.Became{Edited: m.Edited, Pinned: m.Pinned, Reactions: m.Reactions, Replies: m.Replies})
	return printLine(ctx, w, from, m.RoomSeq, m.SentAt, m.SenderID, m.ImportedFrom, text)
}

// became is what became of a message, behind what it says.
func became(b ubl.Became) string {
	var marks []string
	if b.Edited != nil {
		marks = append(marks, "edited")
	}
	if b.Pinned {
		marks = append(marks, "pinned")
	}
	for _, r := range b.Reactions {
		marks = append(marks, fmt.Sprintf("%s %d", r.Key, r.Count))
	}
	if r := b.Replies; r != nil && r.Count == 1 {
		marks = append(marks, "1 reply")
	} else if r != nil {
		marks = append(marks, fmt.Sprintf("%d replies", r.Count))
	}
	if marks == nil {
		return ""
	}
	return " [" + strings.Join(marks, ", ") + "]"
}

// systemText is a message of an act, with people called by their names.
func systemText(ctx context.Context, from *people, text string) string {
	return "* " + userIDs.ReplaceAllStringFunc(text, func(id string) string { return from.called(ctx, ubl.UserID(id)) })
}

// wasOf says behind a name who did first what was imported, and when.
func wasOf(f *ubl.ImportedFrom) string {
	if f == nil {
		return ""
	}
	from, edited := "", ""
	if s := f.Source; s != nil {
		from = " from " + s.Product.Title()
		if s.EditedAt != 0 {
			edited = ", edited"
		}
	}
	return fmt.Sprintf(" (imported%s, was %s, %s%s)", from, cmp.Or(f.AuthorName, string(f.AuthorID)), local(f.At), edited)
}

// forwardedOf says before a text whose words it repeats, and when they were written.
func forwardedOf(ctx context.Context, from *people, f *ubl.Forwarded) string {
	if f == nil {
		return ""
	}
	return fmt.Sprintf("[forwarded, %s wrote %s] ", cmp.Or(f.AuthorName, from.called(ctx, f.AuthorID)), local(f.At))
}

func printLine(ctx context.Context, w io.Writer, from *people, seq int64, at ubl.Time, by ubl.UserID, was *ubl.ImportedFrom, text string) error {
	text = strings.ReplaceAll(clean(text), "\n", "\n        ")
	_, err := fmt.Fprintf(w, "%6d  %s  %s  %s\n", seq, at.Std().Local().Format(second), clean(from.called(ctx, by)+wasOf(was)), text)
	return err
}

// printMessages writes messages in one of the two forms. JSON names nobody, so that
// from may be nil there.
func (f format) printMessages(ctx context.Context, w io.Writer, from *people, messages ...json.RawMessage) error {
	for _, m := range messages {
		var err error
		if f.JSON {
			_, err = fmt.Fprintf(w, "%s\n", m)
		} else {
			err = printMessage(ctx, w, from, m)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// plural is so many of something.
func plural(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}

// Moments for people are by their own clock, and say its zone; --json has them in UTC. What
// happened is told to the second, what ends or begins to the minute.
const (
	second = "2006-01-02 15:04:05 MST"
	minute = "2006-01-02 15:04 MST"
)

func local(t ubl.Time) string { return t.Std().Local().Format(minute) }
