package api

import (
	"context"

	"ubl"
	"ubl/transport/envelope"
)

// listMembers reads them where they are entries: in the room's Agreement.
func (a *API) listMembers(ctx context.Context, in *RoomPath) (any, error) {
	v, err := ubl.Ask[*ubl.AgreementView](ctx, a.Asker, room(ctx, in.RoomID), ubl.GetAgreement{Who: caller(ctx)})
	if err != nil {
		return nil, err
	}
	return membersAnswer{list(v.Members)}, nil
}

type inviteInput struct {
	RoomPath
	Body struct {
		Keyed
		UserID ubl.UserID `json:"user_id,omitempty" pattern:"^u:[A-Za-z0-9._-]{1,256}$"`
		Email  string     `json:"email,omitempty" minLength:"3" maxLength:"254"`
		Role   ubl.Role   `json:"role,omitempty" enum:"owner,member" default:"member"`
	}
}

// inviteMember looks the member up in the tenant first: a room knows its own
// entries only.
func (a *API) inviteMember(ctx context.Context, in *inviteInput) (any, error) {
	if (in.Body.UserID == "") == (in.Body.Email == "") {
		return nil, invalid("body", "expected either user_id or email")
	}
	m, err := ubl.Ask[*ubl.Member](ctx, a.Asker, home(ctx),
		ubl.FindMember{Who: caller(ctx), UserID: in.Body.UserID, Email: in.Body.Email})
	if err != nil {
		return nil, err
	}
	invited := *m
	invited.Role = in.Body.Role
	m, err = ubl.Ask[*ubl.Member](ctx, a.Asker, room(ctx, in.RoomID),
		ubl.AddMember{Request: envelope.Command(ctx, in.Body.Key), Member: invited})
	return memberAnswer{m}, err
}

type setMemberInput struct {
	RoomPath
	UserPath
	Body roleBody
}

func (a *API) setMember(ctx context.Context, in *setMemberInput) (any, error) {
	m, err := ubl.Ask[*ubl.Member](ctx, a.Asker, room(ctx, in.RoomID),
		ubl.SetMember{Request: envelope.Command(ctx, in.Body.Key), UserID: in.UserID, Role: in.Body.Role})
	return memberAnswer{m}, err
}

type removeMemberInput struct {
	RoomPath
	UserPath
}

func (a *API) removeMember(ctx context.Context, in *removeMemberInput) (any, error) {
	m, err := ubl.Ask[*ubl.Member](ctx, a.Asker, room(ctx, in.RoomID),
		ubl.RemoveMember{Request: envelope.Command(ctx, ""), UserID: in.UserID})
	return memberAnswer{m}, err
}

type visitInput struct {
	RoomPath
	KeyInput
}

func (a *API) joinRoom(ctx context.Context, in *visitInput) (any, error) {
	m, err := ubl.Ask[*ubl.Member](ctx, a.Asker, room(ctx, in.RoomID), ubl.JoinRoom{Request: envelope.Command(ctx, in.key())})
	return memberAnswer{m}, err
}

func (a *API) leaveRoom(ctx context.Context, in *visitInput) (any, error) {
	m, err := ubl.Ask[*ubl.Member](ctx, a.Asker, room(ctx, in.RoomID),
		ubl.RemoveMember{Request: envelope.Command(ctx, in.key()), UserID: caller(ctx).UserID})
	return memberAnswer{m}, err
}
