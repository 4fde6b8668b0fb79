package room

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"

	"ubl"
	"ubl/actors"
)

// hotLimit is how many of the newest messages stay in memory.
const hotLimit = 500

// Family registers Rooms over a reader.
func Family(read ubl.Reader) actors.Family {
	return actors.Family{
		Name: "room",
		Owns: func(local string) bool { return ubl.RoomID(local).Valid() },
		Open: func(ctx context.Context, env actors.Env) (actors.Actor, error) {
			return open(ctx, read, env)
		},
	}
}

// Room is one room. Its fields are owned by the mailbox.
type Room struct {
	env    actors.Env
	read   ubl.Reader
	group  ubl.Group
	tenant ubl.TenantID
	id     ubl.RoomID

	state State
	keys  *actors.Keys
	hot   []*post // the newest messages, oldest first, without holes
}

// post is a message in memory. json is set by the ledger when it seals the
// message, so it may be read only behind the gate.
type post struct {
	seq  int64
	id   ubl.MessageID
	json json.RawMessage
}

// open replays the stored events and reads the newest messages.
func open(ctx context.Context, read ubl.Reader, env actors.Env) (*Room, error) {
	r := &Room{env: env, read: read, group: env.Name.Group(), id: ubl.RoomID(env.Name.Local())}
	r.tenant = r.group.Tenant
	if err := r.load(ctx); err != nil {
		return nil, fmt.Errorf("couldn't load a room: %w", err)
	}
	return r, nil
}

// load goes by several views, each of them short: nobody else writes the room.
func (r *Room) load(ctx context.Context) error {
	err := r.eachEvent(ctx, math.MaxInt64, r.state.apply)
	if err == nil && r.state.Events == 0 {
		err = ubl.Errorf(ubl.CodeNotFound, "there is no such room")
	}
	if err != nil {
		return err
	}
	err = r.read.View(ctx, r.group, func(snap ubl.Snapshot) (err error) {
		if r.state.Head.LastSeq, err = snap.Counter(messageCounter(r.id)); err != nil {
			return err
		}
		if err := actors.CheckEvents(snap, eventCounter(r.id), r.state.Events); err != nil {
			return err
		}
		return r.loadHot(snap)
	})
	if err == nil {
		r.keys, err = actors.LoadKeys(ctx, r.read, r.env.Name, ubl.TimeOf(r.env.Now()))
	}
	return err
}

func (r *Room) stored() actors.Events[event] {
	return actors.Events[event]{
		Read: r.read, Group: r.group, Newest: eventVersion,
		Key: func(n int64) []byte { return eventKey(r.id, n) },
	}
}

// eachEvent calls fn with the events from the first up to number last, or to the
// newest there is.
func (r *Room) eachEvent(ctx context.Context, last int64, fn func(event)) error {
	return r.stored().Each(ctx, 1, last, func(e event) error {
		fn(e)
		return nil
	})
}

// loadHot reads the newest messages, and sees that the oldest is there, too.
func (r *Room) loadHot(snap ubl.Snapshot) error {
	var bad error
	next := r.state.Head.LastSeq
	err := snap.Descend(messageKey(r.id, 0), messageKey(r.id, -1), func(_, v []byte) bool {
		var m struct {
			Seq int64         `json:"room_seq"`
			ID  ubl.MessageID `json:"msg_id"`
		}
		if bad = json.Unmarshal(v, &m); bad != nil || m.Seq != next {
			return false
		}
		next--
		r.hot = append(r.hot, &post{seq: m.Seq, id: m.ID, json: slices.Clone(v)})
		return len(r.hot) < hotLimit
	})
	if err = errors.Join(err, bad); err != nil {
		return err
	}
	slices.Reverse(r.hot)
	oldest := r.state.Head.AvailableFrom
	if next < oldest {
		return nil
	}
	if len(r.hot) < hotLimit {
		return errMissing(r.id, next)
	}
	if ok, err := hasMessage(snap, r.id, oldest); ok || err != nil {
		return err
	}
	return errMissing(r.id, oldest)
}

// Receive implements [actors.Actor].
func (r *Room) Receive(t *actors.Turn, cmd ubl.Command) {
	switch c := cmd.(type) {
	case ubl.SendMessage:
		r.send(t, c)
	case ubl.Announce:
		r.announce(t, c)
	case ubl.ReadHistory:
		r.history(t, c)
	case ubl.RoomHead:
		t.Reply(r.state.head())
	case ubl.GetRoom:
		r.answer(t, c.Who, func() any { return r.state.room() })
	case ubl.GetAgreement:
		r.agreement(t, c)
	case ubl.AddMember:
		r.change(t, c.Request, ubl.DidRoomInvite, r.decideAdd(c), string(c.Member.UserID), string(c.Member.Role))
	case ubl.JoinRoom:
		r.change(t, c.Request, ubl.DidRoomJoin, r.decideJoin(c))
	case ubl.Welcome:
		r.welcome(t, c)
	case ubl.SetMember:
		r.change(t, c.Request, ubl.DidRoomMemberUpdate, r.decideRole(c), string(c.UserID), string(c.Role))
	case ubl.RemoveMember:
		r.change(t, c.Request, removal(c), r.decideRemove(c), string(c.UserID))
	case ubl.SetHeir:
		r.change(t, c.Request, ubl.DidHeirSet, r.decideSetHeir(c), string(c.Heir.UserID))
	case actors.GetSuccession:
		t.Reply(actors.SuccessionOf(&r.state.Agreement.Agreement))
	case actors.Inherit:
		r.change(t, c.Request, ubl.DidAgreementHeir, r.decideHeir(c), string(c.Heir.UserID))
	case ubl.SetRoomPolicy:
		r.change(t, c.Request, ubl.DidRoomUpdate, r.decidePolicy(c), c.Patch.String())
	case ubl.EndAgreement:
		r.change(t, c.Request, ubl.DidAgreementEnd, r.decideEnd(c))
	case ubl.Sweep:
		r.sweep(t, c)
	default:
		t.Fail(ubl.Errorf(ubl.CodeNotFound, "a room doesn't answer this command"))
	}
}

// member is the caller's entry, or the refusal.
func (r *Room) member(who ubl.Identity) (ubl.Member, error) {
	return r.state.Agreement.Entry(who, ubl.CodeNotAMember)
}

// owner refuses everyone but owners under an Agreement in force.
func (r *Room) owner(who ubl.Identity) error {
	return r.state.Agreement.OwnedBy(who, ubl.CodeNotAMember)
}

// own refuses an Agreement that is not the room's own.
func (r *Room) own(id ubl.AgreementID) error {
	if id != "" && id != r.state.Agreement.ID {
		return ubl.Errorf(ubl.CodeNotFound, "there is no such Agreement")
	}
	return nil
}

// answer replies to members.
func (r *Room) answer(t *actors.Turn, who ubl.Identity, value func() any) {
	if _, err := r.member(who); err != nil {
		t.Fail(err)
		return
	}
	t.Reply(value())
}
