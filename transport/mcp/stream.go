package mcp

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	strict "github.com/go-json-experiment/json"

	"ubl"
	"ubl/transport/envelope"
)

// Limits of the tool.
const (
	defaultSeconds = 20
	maxSeconds     = 60
	defaultLimit   = 200
	maxLimit       = 200
	// lookAgain is how soon the room is asked for what a lost publication hid.
	lookAgain = 2 * time.Second
)

// ownActs are tools that the API has no operation for: the one that is what
// server-sent events are to REST. It can only look.
func (s *Server) ownActs() []envelope.Act {
	return []envelope.Act{{
		Name: envelope.ToolStream, Title: "Wait for messages in a room",
		Description: "Waits until somebody writes in a room (channel) and answers then. Use it to wait for an answer or to follow a conversation: " +
			"go on with next_from_seq as from_seq. For what was said before use messenger.history. " +
			"Answers the messages, none where nobody wrote.",
		Input: json.RawMessage(`{"type":"object","additionalProperties":false,"required":["room_id"],"properties":{` +
			`"room_id":{"type":"string","pattern":"^r:[A-Za-z0-9._-]{1,128}$","description":"The room, by its id.","examples":["r:general"]},` +
			`"from_seq":{"anyOf":[{"type":"integer","minimum":0,"maximum":9007199254740991},{"type":"null"}],"description":"After this room_seq; without it what is new.","examples":[41]},` +
			`"seconds":{"anyOf":[{"type":"integer","minimum":1,"maximum":60},{"type":"null"}],"default":20,"description":"Seconds to wait."},` +
			`"limit":{"anyOf":[{"type":"integer","minimum":1,"maximum":200},{"type":"null"}],"default":200,"description":"How many messages end the wait."},` +
			`"entries":{"anyOf":[{"type":"boolean"},{"type":"null"}],"default":false,"description":"Edits, reactions etc., too."},` +
			`"full":{"anyOf":[{"type":"boolean"},{"type":"null"}],"default":false,"description":"Everything, with hashes and receipts: to prove something."}}}`),
		Output: json.RawMessage(`{"type":"object","additionalProperties":false,"required":["messages","next_from_seq"],"properties":{` +
			`"messages":{"type":"array","items":{"type":"object"},"description":"The messages, oldest first."},` +
			`"entries":{"type":"array","items":{"type":"object"},"description":"Where there are any: what isn't text, as messenger.entries gives it."},` +
			`"next_from_seq":{"type":"integer","description":"The from_seq that goes on behind them."},` +
			`"gap":{"type":"object","additionalProperties":false,"required":["from_seq","available_from"],` +
			`"description":"Only where the room doesn't have what from_seq asks for: retention took it, or the server was restored from a backup.","properties":{` +
			`"from_seq":{"type":"integer","description":"The first room_seq that was asked for."},` +
			`"available_from":{"type":"integer","description":"The first room_seq that the room has, or will have."}}}}}`),
		ReadOnly: true, Idempotent: true,
		Do: func(ctx context.Context, args json.RawMessage) (json.RawMessage, error) {
			return s.streamRoom(ctx, args, 1, func(string) {})
		},
		Stream: func(ctx context.Context, args json.RawMessage, piece func(string)) (json.RawMessage, error) {
			return s.streamRoom(ctx, args, maxLimit, piece)
		},
	}}
}

type streamArgs struct {
	Room    ubl.RoomID `json:"room_id"`
	FromSeq *int64     `json:"from_seq"`
	Seconds int        `json:"seconds"`
	Limit   int        `json:"limit"`
	Entries bool       `json:"entries"`
	Full    bool       `json:"full"`
}

type streamed struct {
	Messages []json.RawMessage `json:"messages"`
	Entries  []json.RawMessage `json:"entries,omitempty"`
	Next     int64             `json:"next_from_seq"`
	Gap      json.RawMessage   `json:"gap,omitzero"`

	full    bool // not as messenger.history tells them briefly
	entries bool // also those that aren't messages
}

// skip goes on at what the room has, and says that what was asked for is missing.
func (o *streamed) skip(available int64) {
	o.Gap = ubl.GapPayload(o.Next+1, available)
	o.Next = available - 1
}

func readStreamArgs(args json.RawMessage) (streamArgs, error) {
	in := streamArgs{Seconds: defaultSeconds, Limit: defaultLimit}
	if err := readArguments(args, &in); err != nil {
		return in, err
	}
	switch {
	case !in.Room.Valid():
		return in, invalid("room_id", "not a room id, like r:general")
	case in.FromSeq != nil && *in.FromSeq < 0:
		return in, invalid("from_seq", "expected an integer from 0")
	case in.Seconds < 1 || in.Seconds > maxSeconds:
		return in, invalid("seconds", "expected an integer from 1 to 60")
	case in.Limit < 1 || in.Limit > maxLimit:
		return in, invalid("limit", "expected an integer from 1 to 200")
	}
	return in, nil
}

// streamRoom waits until there are enough messages, as many as the caller wanted
// at most, or the time is over. It listens before it looks, so that nothing
// falls between.
func (s *Server) streamRoom(ctx context.Context, args json.RawMessage, enough int, piece func(string)) (json.RawMessage, error) {
	in, err := readStreamArgs(args)
	if err != nil {
		return nil, err
	}
	ctx = reading(ctx, envelope.ToolStream)
	caller := envelope.CallerOf(ctx)
	who := caller.Identity
	room := ubl.RoomName(who.TenantID, in.Room)
	release, err := caller.Stream()
	if err != nil {
		return nil, err
	}
	defer release()
	exit, err := s.hub.enter(who)
	if err != nil {
		return nil, err
	}
	defer exit()
	wake := make(chan struct{}, 1)
	defer s.opts.Feed.Subscribe(room, func(p ubl.Publication) {
		if p.Passing() {
			return
		}
		select {
		case wake <- struct{}{}:
		default:
		}
	})()
	out := streamed{Messages: []json.RawMessage{}, full: in.Full, entries: in.Entries}
	if err := s.streamFrom(ctx, room, who, in.FromSeq, &out); err != nil {
		return nil, err
	}
	end := time.NewTimer(s.patience(caller, time.Duration(in.Seconds)*time.Second))
	defer end.Stop()
	again := time.NewTicker(lookAgain)
	defer again.Stop()
	for {
		if err := s.more(ctx, room, who, in.Limit, &out, piece); err != nil {
			return nil, err
		}
		if len(out.Messages)+len(out.Entries) >= min(enough, in.Limit) || out.Gap != nil {
			return strict.Marshal(out)
		}
		select {
		case <-wake:
		case <-again.C:
		case <-end.C:
			return strict.Marshal(out)
		case <-s.hub.closing:
			return strict.Marshal(out)
		case <-caller.Revoked:
			return nil, errOver()
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// patience is how long a caller may wait, who wants to for so long: not longer
// than their credential holds.
func (s *Server) patience(c *envelope.Caller, wanted time.Duration) time.Duration {
	if c.ExpiresAt == 0 {
		return wanted
	}
	return min(wanted, c.ExpiresAt.Std().Sub(s.opts.Now()))
}

// streamFrom begins after the seq asked for, else after the newest. What is between
// the two is history. A seq beyond the newest is from before a restore.
func (s *Server) streamFrom(ctx context.Context, room ubl.Name, who ubl.Identity, from *int64, out *streamed) error {
	page, err := ubl.Ask[*ubl.HistoryPage](ctx, s.opts.Asker, room, ubl.ReadHistory{Who: who, Limit: 1})
	if err != nil {
		return err
	}
	last := page.Head.LastSeq
	switch out.Next = last; {
	case from == nil:
	case *from > last:
		out.Next = *from
		out.skip(last + 1)
	case *from < last:
		out.Next = *from
		_, err = envelope.CallerOf(ctx).Anew(false, envelope.ToolHistory).Enter(ctx)
	}
	return err
}

// more reads what has come since.
func (s *Server) more(ctx context.Context, room ubl.Name, who ubl.Identity, limit int, out *streamed, piece func(string)) error {
	for len(out.Messages)+len(out.Entries) < limit {
		cmd := ubl.ReadHistory{Who: who, After: &out.Next, Limit: limit - len(out.Messages) - len(out.Entries)}
		page, err := ubl.Ask[*ubl.HistoryPage](ctx, s.opts.Asker, room, cmd)
		if err != nil {
			return err
		}
		if kept := page.KeptFrom(); kept > out.Next+1 {
			out.skip(kept)
		}
		if page.LastSeq == 0 {
			return nil
		}
		if envelope.CallerOf(ctx).Over(ubl.TimeOf(s.opts.Now())) { // since they were asked for
			return errOver()
		}
		messages, entries := page.Messages, page.Entries
		if !out.entries && entries != nil {
			if messages, entries, err = onlyMessages(messages, entries); err != nil {
				return err
			}
		}
		if !out.full {
			told, err := briefly.Tell(ctx, s.opts.Asker, who, slices.Concat(messages, entries)...)
			if err != nil {
				return err
			}
			messages, entries = told[:len(messages)], told[len(messages):]
		}
		for i, m := range messages {
			if m != nil {
				piece(string(m))
				out.Messages = append(out.Messages, m)
			} else {
				piece(string(entries[i]))
				out.Entries = append(out.Entries, entries[i])
			}
		}
		out.Next = page.LastSeq
	}
	return nil
}

// onlyMessages leaves out what isn't a message of any content. One of the two slices has each
// of what is in a page.
func onlyMessages(messages, entries []json.RawMessage) (m, e []json.RawMessage, err error) {
	for i := range messages {
		if messages[i] == nil {
			var is struct {
				Type ubl.EntryType `json:"type"`
			}
			if err := json.Unmarshal(entries[i], &is); err != nil {
				return nil, nil, err
			}
			if is.Type != ubl.EntryMessage {
				continue
			}
			e = append(e, entries[i])
		} else {
			e = append(e, nil)
		}
		m = append(m, messages[i])
	}
	return m, e, nil
}

// briefly is how messages and entries are told to who listens, as to who reads them.
var briefly = envelope.Brief{Drops: []string{"kind", "room_id"}, Names: map[string]string{"sender_id": "sender", "author_id": "author"}, Parts: true}

func errOver() error { return ubl.Errorf(ubl.CodeUnauthorized, "the credential has ended") }
