package api

import (
	"context"
	"strings"

	"ubl"
)

var claim = ubl.DomainClaim{Domain: "corp.example", TenantID: "t:acme.com", Value: "ubl-domain-verification=" + strings.Repeat("0", 64),
	ClaimedBy: "u:ana", ClaimedAt: now, ExpiresAt: now.Add(ubl.DomainClaimTTL)}

// answerDomain answers as a tenant would that has claimed a domain, and two more. The
// owner who claimed the third is none any more.
func answerDomain(cmd ubl.Command) (any, bool) {
	c := claim
	verified := claim
	verified.Domain, verified.ExpiresAt, verified.VerifiedAt = "verified.example", 0, now
	left := verified
	left.Domain, left.ClaimedBy, left.Unconfirmed = "left.example", "u:bob", true
	switch cmd := cmd.(type) {
	case ubl.ListDomains:
		return []ubl.DomainClaim{c, left, verified}, true
	case ubl.ClaimDomain:
		c.Domain, c.Value = cmd.Domain, cmd.Value
	case ubl.CheckDomain:
		if cmd.Domain == verified.Domain {
			return &verified, true
		}
		if cmd.Domain == left.Domain {
			return &left, true
		}
		c.Domain = cmd.Domain
	case ubl.VerifyDomain:
		if verified.Domain = cmd.Domain; cmd.Domain == left.Domain {
			verified.ClaimedBy, verified.ConfirmedBy = left.ClaimedBy, cmd.Who.UserID
		}
		return &verified, true
	case ubl.ReleaseDomain:
		c.Domain = cmd.Domain
	default:
		return nil, false
	}
	return &c, true
}

// nameserver has the record of corp.example, and what others publish.
type nameserver struct{}

func (nameserver) TXT(_ context.Context, name string) ([]string, error) {
	switch name {
	case "_ubl-challenge.corp.example":
		return []string{"v=spf1 -all", claim.Value}, nil
	case "_ubl-challenge.wrong.example":
		return []string{claim.Value + " ", strings.ToUpper(claim.Value), claim.Value[:len(claim.Value)-1], "\"" + claim.Value + "\""}, nil
	case "_ubl-challenge.silent.example":
		return nil, ubl.Errorf(ubl.CodeUnavailable, "DNS gave no answer: try again in a minute")
	}
	return nil, nil
}
