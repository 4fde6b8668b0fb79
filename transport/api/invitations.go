package api

import (
	"context"
	"time"

	"ubl"
	"ubl/transport/envelope"
)

type invitationsAnswer struct {
	Invitations []*ubl.Invitation `json:"invitations"`
	Paged
}

type invitationAnswer struct {
	Invitation *ubl.Invitation `json:"invitation"`
}

type invitationCreatedAnswer struct {
	invitationAnswer
	// Link is null where the request repeats an earlier one: it was shown then, and
	// only the hash of its secret was kept.
	Link *string `json:"link"`
}

func (a *API) listInvitations(ctx context.Context, in *PageQuery) (any, error) {
	i, err := ubl.Ask[[]*ubl.Invitation](ctx, a.Asker, home(ctx), ubl.ListInvitations{Who: caller(ctx)})
	if err != nil {
		return nil, err
	}
	part, rest, err := cut(*in, i, ascending, func(i *ubl.Invitation) string { return i.CreatedAt.String() + string(i.ID) })
	return invitationsAnswer{part, rest}, err
}

// usualTTL is how long an invitation holds where its maker says nothing.
const usualTTL = 168 * time.Hour

type createInvitationInput struct {
	Body struct {
		Keyed
		Email    string   `json:"email" minLength:"3" maxLength:"254" doc:"Whom the invitation is for; of any domain." example:"bob@acme.com"`
		Role     ubl.Role `json:"role,omitempty" enum:"owner,member" default:"member" doc:"What they are to be."`
		TTLHours int      `json:"ttl_hours,omitempty" minimum:"1" maximum:"720" default:"168" doc:"How long it holds."`
	}
}

func (a *API) createInvitation(ctx context.Context, in *createInvitationInput) (any, error) {
	b := &in.Body
	return a.drawInvitation(ctx, b.Key, b.Email, b.Role, time.Duration(b.TTLHours)*time.Hour)
}

// drawInvitation draws a link and has the hash of its secret recorded. A
// repetition finds the earlier record under another id than it drew. No agent makes
// owners: one that a stranger's text has turned would let the stranger in as one.
func (a *API) drawInvitation(ctx context.Context, key, email string, role ubl.Role, lasts time.Duration) (*invitationCreatedAnswer, error) {
	if asTool(ctx) && role == ubl.RoleOwner {
		return nil, ubl.Errorf(ubl.CodeForbidden, "an owner is invited over REST or in the app, not by a tool")
	}
	c, link, err := a.NewInvitation(caller(ctx).TenantID, email)
	if err != nil {
		return nil, err
	}
	c.Request = envelope.Command(ctx, key)
	c.Role, c.TTL = role, lasts
	i, err := ubl.Ask[*ubl.Invitation](ctx, a.Asker, home(ctx), c)
	if err != nil {
		return nil, err
	}
	out := &invitationCreatedAnswer{invitationAnswer: invitationAnswer{i}}
	if i.ID == c.InvitationID {
		out.Link = &link
	}
	return out, nil
}

type invitationPath struct {
	ID ubl.InvitationID `path:"invitationId" pattern:"^i:[A-Za-z0-9._-]{1,128}$" doc:"The invitation, by its id." example:"i:0199a1b2"`
}

func (a *API) revokeInvitation(ctx context.Context, in *invitationPath) (any, error) {
	i, err := ubl.Ask[*ubl.Invitation](ctx, a.Asker, home(ctx),
		ubl.RevokeInvitation{Request: envelope.Command(ctx, ""), InvitationID: in.ID})
	return invitationAnswer{i}, err
}
