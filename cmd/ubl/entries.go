package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

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
			err = printLine(ctx, w, from, e.RoomSeq, e.SentAt, e.AuthorID, e.ImportedFrom, saysOf(ctx, from, &e)+became(ubl.Became{Edited: e.Edited, Pinned: e.Pinned, Reactions: e.Reactions, Replies: e.Replies}))
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
		return forwardedOf(ctx, from, e.Forwarded) + text
	}
	if poll := e.Body.Poll(); poll != nil {
		return pollText(poll, e.Poll)
	}
	if form := e.Body.Form(); form != nil {
		return formText(form, e.Form)
	}
	switch e.Type {
	case ubl.EntryVote:
		return "* votes in " + about
	case ubl.EntryAnswer:
		return "* answers the form " + about
	case ubl.EntryPollEnd:
		return "* ends the poll " + about
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
	case ubl.EntryMembership:
		var b ubl.MembershipBody
		_ = e.Body.Read(ubl.ContentMembership, &b)
		var changes []string
		for _, c := range b.Changes {
			changes = append(changes, changeOf(c, from.called(ctx, c.UserID)))
		}
		return "* " + strings.Join(changes, ", ")
	case ubl.EntryProposal:
		var b ubl.ProposalBody
		_ = e.Body.Read(ubl.ContentProposal, &b)
		return "* " + becameOf(b)
	}
	if e.Type == ubl.EntryCall {
		return "* " + callOf(e.Body)
	}
	if e.Type == ubl.EntryRoom {
		var b ubl.RoomBody
		_ = e.Body.Read(ubl.ContentRoom, &b)
		return "* " + aboutOf(b)
	}
	return fmt.Sprintf("* (%s of %s)", e.Type, e.Body.Type)
}

// callOf is what became of a room's call.
func callOf(body *ubl.TypedBody) string {
	var b ubl.CallBody
	if _ = body.Read(ubl.ContentCall, &b); b.Seconds == nil {
		return "begins a call"
	}
	return fmt.Sprintf("ends the call after %s", time.Duration(*b.Seconds)*time.Second)
}

// changeOf is what an entry's author does to who is in the room.
func changeOf(c ubl.MemberChange, name string) string {
	switch c.Change {
	case ubl.MemberJoined:
		return fmt.Sprintf("joins as %s", c.Role)
	case ubl.MemberAdded:
		return fmt.Sprintf("adds %s as %s", name, c.Role)
	case ubl.MemberLeft:
		return "leaves"
	case ubl.MemberRemoved:
		return "removes " + name
	case ubl.MemberRole:
		return fmt.Sprintf("makes %s %s", name, c.Role)
	}
	return fmt.Sprintf("(%s)", c.Change)
}

// becameOf is what an entry's author does to a proposal, whose terms have a short hash here.
func becameOf(b ubl.ProposalBody) string {
	hash := b.TermsHash[:min(len(b.TermsHash), 14)]
	switch b.State {
	case ubl.ProposalProposed:
		return "proposes terms " + hash
	case ubl.ProposalAccepted:
		return "accepts terms " + hash
	case ubl.ProposalInForce:
		return "puts terms " + hash + " in force"
	case ubl.ProposalWithdrawn:
		return "withdraws terms " + hash
	case ubl.ProposalEnded:
		return "ends the room's Agreement"
	}
	return fmt.Sprintf("(%s)", b.State)
}

// aboutOf is what an entry's author says about the room.
func aboutOf(b ubl.RoomBody) string {
	var said []string
	for _, one := range []struct {
		what string
		text *string
	}{{"name", b.Name}, {"topic", b.Topic}, {"description", b.Description}} {
		switch {
		case one.text == nil:
		case *one.text == "":
			said = append(said, "takes the "+one.what+" away")
		default:
			said = append(said, "sets the "+one.what+" to "+*one.text)
		}
	}
	if r := b.Retention; r != nil {
		said = append(said, "has messages kept "+keeping{r.Days, r.Hours}.String())
	}
	return strings.Join(said, ", ")
}
