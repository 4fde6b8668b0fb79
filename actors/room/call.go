package room

import (
	"context"
	"strconv"

	"ubl"
	"ubl/actors"
)

// A call is begun and ended by acts, each with an entry, and the state has the one that is going
// on. Who is in it lives in memory alone (incall.go). So an alarm looks after it: where nobody is
// left who could end it, the platform does.

// callAlarm is the key of that alarm.
const callAlarm = "call"

// decideCallBegin plans a call where none is going on.
func (s *State) decideCallBegin(c ubl.BeginRoomCall, at actors.Moment) (*plan, error) {
	if err := s.mayCall(c.Who); err != nil {
		return nil, err
	}
	if s.Call.CallID != "" {
		return nil, ubl.Errorf(ubl.CodeConflict, "a call is going on in this room")
	}
	call := ubl.RoomCall{BeganAt: at.Now, BeganBy: c.Who.UserID, CallID: strconv.FormatInt(s.Head.LastSeq+1, 10)}
	p := s.calling(&call)
	p.Alarms = []actors.Alarm{{Key: callAlarm, After: 2 * ubl.CallLease}}
	p.Answer = func(ubl.Receipt) any { return &call }
	_, err := s.noting(p, ubl.EntryCall, ubl.CallContent(ubl.CallBody{CallID: call.CallID, State: ubl.CallBegan}), c.Who, at)
	return p, err
}

// calling is the plan of an act on a call.
func (s *State) calling(call *ubl.RoomCall) *plan {
	return &plan{
		Act:   actors.Act{This: ubl.Fields{ubl.Str("call_id", call.CallID), ubl.Str("room_id", s.Summary.RoomID)}},
		Event: event{Call: call, LastSeq: s.Head.LastSeq},
	}
}

// mayCall refuses who may not begin a call, nor be in one.
func (s *State) mayCall(who ubl.Identity) error {
	if err := s.mayType(who); err != nil {
		return err
	}
	return s.permits(ubl.DidCallBegin, who)
}

// endingCall is an EndRoomCall with whether somebody is still in it.
type endingCall struct {
	ubl.EndRoomCall
	busy bool
}

func endCallContent(c *endingCall) []string { return []string{c.CallID} }

// decideCallEnd plans the end of the call that is going on, which is possible after the
// Agreement's end too.
func (s *State) decideCallEnd(c *endingCall, at actors.Moment) (*plan, error) {
	if err := s.mayEndCall(c); err != nil {
		return nil, err
	}
	if s.Call.CallID == "" || s.Call.CallID != c.CallID {
		return nil, errCallEnded()
	}
	call := s.Call
	p := s.calling(&call)
	p.Alarms = []actors.Alarm{{Key: callAlarm}}
	p.Answer = func(ubl.Receipt) any { return &ubl.CallEnd{CallID: call.CallID} }
	seconds := int64(max(at.Now.Std().Sub(call.BeganAt.Std()), 0).Seconds())
	_, err := s.noting(p, ubl.EntryCall, ubl.CallContent(ubl.CallBody{CallID: call.CallID, Seconds: &seconds, State: ubl.CallEnded}), c.Who, at)
	return p, err
}

// mayEndCall refuses who may not end a call, or not while others are in it.
func (s *State) mayEndCall(c *endingCall) error {
	if c.Who.IsPlatform() {
		return nil
	}
	m, err := s.member(c.Who)
	if err != nil || !c.busy || m.Role == ubl.RoleModerator {
		return err
	}
	if s.permits(ubl.DidRoomUpdate, c.Who) != nil {
		return ubl.Errorf(ubl.CodeConflict, "others are in the call")
	}
	return nil
}

func errCallEnded() error { return ubl.Errorf(ubl.CodeConflict, "the call has ended") }

// beginCall has a call begin, or answers the one that is going on.
func (r *Room) beginCall(t *actors.Turn, c ubl.BeginRoomCall) {
	if call := r.State.Call; call.CallID != "" && r.State.mayCall(c.Who) == nil {
		t.Reply(&call)
		return
	}
	if r.State.Call.CallID == "" {
		r.inCall = inCall{whole: true}
	}
	r.Change(t, c)
}

// endRoomCall has a call end. A late end of a call that is over is refused, and says nothing about the
// one that is going on. The alarm is answered when to look again where somebody is in it.
func (r *Room) endRoomCall(t *actors.Turn, c ubl.EndRoomCall) {
	if c.CallID != r.State.Call.CallID {
		r.Change(t, &endingCall{EndRoomCall: c})
		return
	}
	until := r.inCall.until(c.CallID, t.Now())
	if c.Who.IsPlatform() && until > 0 && r.State.Call.CallID != "" {
		t.Reply(&ubl.CallEnd{CallID: c.CallID, Until: until})
		return
	}
	r.Change(t, &endingCall{c, r.inCall.busy(c.CallID, t.Now())})
}

// endCall is what the alarm leads to; nil for another alarm. A call that has ended meanwhile needs
// nothing any more.
func (r *Room) endCall(key string, req ubl.Request) func(context.Context) error {
	if key != callAlarm {
		return nil
	}
	call := r.State.Call
	return func(ctx context.Context) error {
		if call.CallID == "" {
			return nil
		}
		end, err := ubl.Ask[*ubl.CallEnd](ctx, r.Ask, r.Name, ubl.EndRoomCall{Request: req, CallID: call.CallID})
		switch {
		case ubl.CodeOf(err) == ubl.CodeConflict:
			return nil
		case err == nil && end.Until > 0:
			return actors.Again(end.Until)
		}
		return err
	}
}
