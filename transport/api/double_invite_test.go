package api

import (
	"cmp"
	"strings"
	"time"

	"ubl"
)

var invitation = ubl.Invitation{ID: "i:1", Email: "eve@else.org", Role: ubl.RoleMember, CreatedBy: "u:ana", CreatedAt: now, ExpiresAt: now.Add(time.Hour)}

// answerInvitation answers as a tenant would that has invited somebody.
func (s *actors) answerInvitation(cmd ubl.Command) (any, bool) {
	i := invitation
	switch c := cmd.(type) {
	case ubl.CreateInvitation:
		i.ID, i.Email, i.Role, i.ExpiresAt = cmp.Or(s.invited, c.InvitationID), c.Invitee.Email, c.Role, now.Add(c.TTL)
	case ubl.RevokeInvitation:
		revoked := now
		i.ID, i.RevokedAt = c.InvitationID, &revoked
	case ubl.ListInvitations:
		return []*ubl.Invitation{&i}, true
	default:
		return nil, false
	}
	return &i, true
}

// drawInvitation takes what has an @ for an address.
func drawInvitation(tenant ubl.TenantID, email string) (c ubl.CreateInvitation, link string, err error) {
	if !strings.Contains(email, "@") {
		return c, "", ubl.Errorf(ubl.CodeValidation, "no address")
	}
	c.InvitationID, c.Invitee, c.SecretHash = "i:drawn", ubl.Identity{UserID: "u:eve", Email: email, TenantID: tenant}, "hash"
	return c, "https://ubl.example.com/invite/" + string(tenant) + ".s3cret", nil
}
