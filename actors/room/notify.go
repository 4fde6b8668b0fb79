package room

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"ubl"
	"ubl/actors"
	"ubl/actors/agreement"
	"ubl/actors/reading"
)

const (
	// notifyEvery is how long notifications wait after a message, so that one look takes in many.
	notifyEvery = 500 * time.Millisecond
	// notifyWithin is how old a message may be that somebody is notified of: a follower that was
	// far behind wakes nobody for what is long over.
	notifyWithin = 24 * time.Hour
)

// Notifying registers what hands messages on to those whom they are for: it follows the tenant's
// ledger. Package person has the whole way.
func Notifying(read ubl.Reader) actors.Family {
	follow := &actors.Follow{
		Name: "notifications", Local: "tail|notifications", Every: notifyEvery,
		Dids: []ubl.Did{ubl.DidSend, ubl.DidPollCreate, ubl.DidFormCreate}, Subject: roomOf,
		Wanted: reading.AnybodyListens,
	}
	return actors.Deliverer(read, follow, func(env actors.Env) func(context.Context, string, []actors.Entry) error {
		return notifier{env, read}.deliver
	})
}

// notifier is a tenant's.
type notifier struct {
	actors.Env
	read ubl.Reader
}

// listener is a member of a room who listens.
type listener struct {
	user  ubl.UserID
	wants *ubl.Preferences
	read  int64
}

// heard is a message, and the ledger's number of it.
type heard struct {
	ubl.News
	seq      int64
	mentions []ubl.Mention
	thread   []ubl.UserID
}

// deliver hands on a room's messages. One person's failure keeps nobody else's back.
func (n notifier) deliver(ctx context.Context, subject string, list []actors.Entry) error {
	room := ubl.RoomID(subject)
	if !room.Valid() {
		return nil
	}
	var listeners []listener
	var messages []heard
	err := n.read.View(ctx, n.Name.Group(), func(snap ubl.Snapshot) (err error) {
		if listeners, err = listening(snap, room); err != nil || len(listeners) == 0 {
			return err
		}
		messages, err = n.messages(snap, room, list)
		return err
	})
	if err != nil || len(listeners) == 0 {
		return err
	}
	var failed error
	for _, m := range messages {
		for _, l := range listeners {
			if err := n.hand(ctx, m, l); err != nil {
				n.Log.Warn("couldn't hand a message on to somebody", "room", room, "room_seq", m.Seq, "user", l.user, "error", err)
				if code := ubl.CodeOf(err); failed == nil && (code == ubl.CodeUnavailable || code == ubl.CodeOverloaded) {
					failed = err // the page is handed on again: keys tell what was
				}
			}
		}
	}
	return failed
}

// listening are the members of a room who listen.
func listening(snap ubl.Snapshot, room ubl.RoomID) (list []listener, err error) {
	err = reading.Listeners(snap, func(user ubl.UserID, wants *ubl.Preferences) error {
		member, err := snap.Get(agreement.MemberIndex(user, room))
		if err != nil || member == nil {
			return err
		}
		state, err := reading.Newest(snap, room, user)
		list = append(list, listener{user, wants, state.ReadSeq})
		return err
	})
	return list, err
}

// messages reads the messages of a page that are kept still, and young enough to tell of.
func (n notifier) messages(snap ubl.Snapshot, room ubl.RoomID, list []actors.Entry) (out []heard, err error) {
	since := ubl.TimeOf(n.Now()).Add(-notifyWithin)
	for _, e := range list {
		seq := seqOf(e)
		v, err := keptAt(snap, room, seq)
		if err != nil {
			return nil, err
		}
		if v == nil || v.redacted() {
			continue
		}
		entry, err := slices.Clone(v).entry()
		if err != nil {
			return nil, ubl.Damaged("entry %d of %s can't be read", seq, room)
		}
		if entry.Type != ubl.EntryMessage || entry.SentAt < since {
			continue
		}
		m := heard{seq: e.Seq, News: ubl.News{RoomID: room, Seq: seq, MsgID: entry.ID, Author: entry.AuthorID, Direct: room.IsDirect()}}
		if entry.Body != nil && entry.Body.Type == ubl.ContentText {
			var body ubl.Body
			if err := entry.Body.Read(ubl.ContentText, &body); err != nil {
				return nil, ubl.Damaged("entry %d of %s can't be read", seq, room)
			}
			m.Text, m.mentions = body.Text, body.Mentions
		}
		if poll := entry.Body.Poll(); poll != nil {
			m.Text = poll.Question
		}
		if form := entry.Body.Form(); form != nil {
			m.Text = form.Text
			if entry.ImportedFrom == nil { // it asks nobody here
				m.mentions = form.Mentions()
			}
		}
		if entry.Thread != nil {
			if m.thread, err = participants(snap, room, *entry.Thread); err != nil {
				return nil, err
			}
		}
		out = append(out, m)
	}
	return out, nil
}

// seqOf is the number of the entry that an act has appended to its room; 0 for none.
func seqOf(e actors.Entry) int64 {
	var atom struct {
		Effects []struct {
			Op  string `json:"op"`
			Seq int64  `json:"room_seq"`
		} `json:"effects"`
	}
	if json.Unmarshal(e.Effect, &atom) == nil {
		for _, effect := range atom.Effects {
			if effect.Op == "room.append" {
				return effect.Seq
			}
		}
	}
	return 0
}

// participants are who takes part in a thread: who began it, and the newest who answered.
func participants(snap ubl.Snapshot, room ubl.RoomID, root ubl.MessageID) (people []ubl.UserID, err error) {
	seq, ok := root.Seq()
	if !ok {
		return nil, nil
	}
	v, err := keptAt(snap, room, seq)
	if err != nil {
		return nil, err
	}
	if v != nil {
		if b, err := slices.Clone(v).brief(); err == nil {
			people = append(people, b.author())
		}
	}
	err = snap.Descend(threadKey(room, seq, 0), threadKey(room, seq, -1), func(_, v []byte) bool {
		if user := ubl.UserID(v); !slices.Contains(people, user) {
			people = append(people, user)
		}
		return len(people) < maxFollowers
	})
	return people, err
}

// hand asks a person to take a message in, if it is for them.
func (n notifier) hand(ctx context.Context, m heard, l listener) error {
	if m.Author == l.user || l.read >= m.Seq {
		return nil
	}
	news := m.News
	news.Mentioned = slices.Contains(m.mentions, ubl.MentionRoom) || slices.Contains(m.mentions, ubl.Mention(l.user))
	news.Thread = slices.Contains(m.thread, l.user)
	if !l.wants.Decide(news, ubl.TimeOf(n.Now())).For {
		return nil
	}
	id, err := ubl.NewRequestID(n.Random)
	if err != nil {
		return err
	}
	req := ubl.Request{Who: ubl.Platform(), ID: id, Key: fmt.Sprintf("tail:notifications:%d", m.seq)}
	_, err = n.Ask.Ask(ctx, ubl.PersonName(n.Name.Group().Tenant, l.user), ubl.Notify{Request: req, News: news})
	return err
}
