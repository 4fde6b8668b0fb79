package api

import (
	"context"
	"slices"

	"ubl"
	"ubl/transport/envelope"
)

// Rooms and containers keep their members as entries of their Agreements, and
// answer the same commands about them.

type listMembersInput struct {
	RoomPath
	PageQuery
}

func (a *API) listMembers(ctx context.Context, in *listMembersInput) (any, error) {
	return a.membersOf(ctx, room(ctx, in.RoomID), in.PageQuery)
}

func (a *API) membersOf(ctx context.Context, of ubl.Name, page PageQuery) (any, error) {
	v, err := ubl.Ask[*ubl.AgreementView](ctx, a.Asker, of, ubl.GetAgreement{Who: caller(ctx), Brief: true})
	if err != nil {
		return nil, err
	}
	part, rest, err := cut(page, v.Members, ascending, memberKey)
	if err == nil {
		err = a.name(ctx, part)
	}
	return membersAnswer{Members: part, Paged: rest}, err
}

func memberKey(m ubl.Member) string { return string(m.UserID) }

// name puts to lists of entries of something in the tenant what the tenant alone knows:
// names, whose looks like another's, and whose address is unproven.
func (a *API) name(ctx context.Context, lists ...[]ubl.Member) error {
	find := ubl.ListMembers{Who: caller(ctx)}
	for _, entries := range lists {
		for _, m := range entries {
			find.Only = append(find.Only, m.UserID)
		}
	}
	if len(find.Only) == 0 {
		return nil
	}
	slices.Sort(find.Only)
	find.Only = slices.Compact(find.Only)
	known, err := ubl.Ask[[]ubl.Member](ctx, a.Asker, home(ctx), find)
	by := make(map[ubl.UserID]ubl.Member, len(known))
	for _, m := range known {
		by[m.UserID] = m
	}
	for _, entries := range lists {
		for i := range entries {
			m := by[entries[i].UserID]
			entries[i].Name, entries[i].Alike, entries[i].Unproven = m.Name, m.Alike, m.Unproven
		}
	}
	return err
}

type inviteBody struct {
	Keyed
	UserID ubl.UserID `json:"user_id,omitempty" pattern:"^u:[A-Za-z0-9._-]{1,256}$" doc:"Whom to add, by user id; or give email." example:"u:bob"`
	Email  string     `json:"email,omitempty" minLength:"3" maxLength:"254" doc:"Whom to add, by address; or give user_id." example:"bob@example.com"`
	Role   ubl.Role   `json:"role,omitempty" enum:"owner,member" default:"member" doc:"What they are to be: owners decide about it, members take part."`
}

type inviteInput struct {
	RoomPath
	Body roomInviteBody
}

// roomInviteBody is inviteBody with the roles that rooms have.
type roomInviteBody struct {
	Keyed
	UserID ubl.UserID `json:"user_id,omitempty" pattern:"^u:[A-Za-z0-9._-]{1,256}$" doc:"Whom to add, by user id; or give email." example:"u:bob"`
	Email  string     `json:"email,omitempty" minLength:"3" maxLength:"254" doc:"Whom to add, by address; or give user_id." example:"bob@example.com"`
	Role   ubl.Role   `json:"role,omitempty" enum:"owner,moderator,member" default:"member" doc:"What they are to be: owners decide about it, moderators keep order, members take part."`
}

func (a *API) inviteMember(ctx context.Context, in *inviteInput) (any, error) {
	return a.invite(ctx, room(ctx, in.RoomID), new(inviteBody(in.Body)))
}

// invite looks the member up in the tenant first: a room knows its own entries
// only.
func (a *API) invite(ctx context.Context, to ubl.Name, in *inviteBody) (any, error) {
	if (in.UserID == "") == (in.Email == "") {
		return nil, invalid("body", "expected either user_id or email")
	}
	if in.Role == ubl.RoleOwner {
		if err := confirmed(ctx); err != nil {
			return nil, err
		}
	}
	m, err := ubl.Ask[*ubl.Member](ctx, a.Asker, home(ctx),
		ubl.FindMember{Who: caller(ctx), UserID: in.UserID, Email: in.Email})
	if err != nil {
		return nil, err
	}
	invited := *m
	invited.Role = in.Role
	m, err = ubl.Ask[*ubl.Member](ctx, a.Asker, to, ubl.AddMember{Request: envelope.Command(ctx, in.Key), Member: invited})
	if err != nil {
		return nil, err
	}
	m.Name, m.Unproven = invited.Name, invited.Unproven
	return memberAnswer{m}, nil
}

type setMemberInput struct {
	RoomPath
	UserPath
	Body roomRoleBody
}

// roomRoleBody is roleBody with the roles that rooms have.
type roomRoleBody struct {
	Keyed
	Role ubl.Role `json:"role" enum:"owner,moderator,member" doc:"What they are to be: owners decide about it, moderators keep order, members take part."`
}

func (a *API) setMember(ctx context.Context, in *setMemberInput) (any, error) {
	return a.setRole(ctx, room(ctx, in.RoomID), in.UserID, new(roleBody(in.Body)))
}

func (a *API) setRole(ctx context.Context, to ubl.Name, user ubl.UserID, in *roleBody) (any, error) {
	m, err := ubl.Ask[*ubl.Member](ctx, a.Asker, to,
		ubl.SetMember{Request: envelope.Command(ctx, in.Key), UserID: user, Role: in.Role})
	return memberAnswer{m}, err
}

type removeMemberInput struct {
	RoomPath
	UserPath
}

func (a *API) removeMember(ctx context.Context, in *removeMemberInput) (any, error) {
	return a.removeOther(ctx, room(ctx, in.RoomID), in.UserID)
}

// remove takes a member out, who may be the caller.
func (a *API) remove(ctx context.Context, from ubl.Name, user ubl.UserID, key string) (any, error) {
	m, err := ubl.Ask[*ubl.Member](ctx, a.Asker, from,
		ubl.RemoveMember{Request: envelope.Command(ctx, key), UserID: user})
	return memberAnswer{m}, err
}

// removeOther takes a member out, which is sensitive unless they leave by themselves.
func (a *API) removeOther(ctx context.Context, from ubl.Name, user ubl.UserID) (any, error) {
	if user != caller(ctx).UserID {
		if err := confirmed(ctx); err != nil {
			return nil, err
		}
	}
	return a.remove(ctx, from, user, "")
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
	return a.remove(ctx, room(ctx, in.RoomID), caller(ctx).UserID, in.key())
}

type listContainerMembersInput struct {
	ContainerPath
	PageQuery
}

func (a *API) listContainerMembers(ctx context.Context, in *listContainerMembersInput) (any, error) {
	return a.membersOf(ctx, container(ctx, in.ContainerID), in.PageQuery)
}

type containerInviteInput struct {
	ContainerPath
	Body inviteBody
}

func (a *API) inviteToContainer(ctx context.Context, in *containerInviteInput) (any, error) {
	return a.invite(ctx, container(ctx, in.ContainerID), &in.Body)
}

type setContainerMemberInput struct {
	ContainerPath
	UserPath
	Body roleBody
}

func (a *API) setContainerMember(ctx context.Context, in *setContainerMemberInput) (any, error) {
	return a.setRole(ctx, container(ctx, in.ContainerID), in.UserID, &in.Body)
}

type removeContainerMemberInput struct {
	ContainerPath
	UserPath
}

func (a *API) removeContainerMember(ctx context.Context, in *removeContainerMemberInput) (any, error) {
	return a.removeOther(ctx, container(ctx, in.ContainerID), in.UserID)
}

type leaveContainerInput struct {
	ContainerPath
	KeyInput
}

func (a *API) leaveContainer(ctx context.Context, in *leaveContainerInput) (any, error) {
	return a.remove(ctx, container(ctx, in.ContainerID), caller(ctx).UserID, in.key())
}
