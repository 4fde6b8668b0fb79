package api

import (
	"context"

	"ubl"
	"ubl/transport/envelope"
)

// termsBody are terms as they are proposed: [ubl.Terms] in words that huma checks.
type termsBody struct {
	Form        string         `json:"form,omitempty" enum:"terms.v1" default:"terms.v1" doc:"The form that the terms are written in."`
	Permits     []permitBody   `json:"permits" maxItems:"64" doc:"They add up: an act is permitted to whom any of them names."`
	Limits      []limitBody    `json:"limits,omitempty" maxItems:"32" doc:"How often and how much."`
	From        *string        `json:"from,omitempty" nullable:"true" pattern:"^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}\\.\\d{3}Z$" doc:"Acts before are refused." example:"2027-01-01T00:00:00.000Z"`
	Until       *string        `json:"until,omitempty" nullable:"true" pattern:"^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}\\.\\d{3}Z$" doc:"The Agreement ends then." example:"2028-01-01T00:00:00.000Z"`
	Obligations []string       `json:"obligations,omitempty" maxItems:"20" doc:"Texts for people, who see them before they accept."`
	Accept      ubl.Acceptance `json:"accept,omitempty" enum:"proposer,owners,entries" default:"proposer" doc:"Who must accept other terms before these are replaced: nobody else, all owners, or all entries. People alone count."`
}

type permitBody struct {
	Did string   `json:"did" minLength:"1" maxLength:"128" doc:"An act, or the beginning of several: messenger.*" example:"messenger.*"`
	To  []string `json:"to" minItems:"1" maxItems:"100" doc:"owners, entries, tenant, anyone, an entry by user id, or group:NAME." example:"[\"entries\"]"`
}

type limitBody struct {
	Did       string `json:"did" minLength:"1" maxLength:"128" doc:"The act that is limited, or the beginning of several." example:"messenger.send"`
	PerMinute int    `json:"per_minute,omitempty" minimum:"1" maximum:"100000" doc:"Of each caller, or of all together." example:"60"`
	Together  bool   `json:"together,omitempty" doc:"Whether per_minute is for all callers together."`
	Bytes     int    `json:"bytes,omitempty" minimum:"1" maximum:"1073741824" doc:"Of the content of one." example:"65536"`
}

// terms are what the body says.
func (b *termsBody) terms() (t ubl.Terms, err error) {
	t = ubl.Terms{Form: ubl.TermsForm, Permits: make([]ubl.Permit, len(b.Permits)), Obligations: b.Obligations, Accept: b.Accept}
	if t.Accept == "" {
		t.Accept = ubl.AcceptProposer
	}
	for i, p := range b.Permits {
		t.Permits[i] = ubl.Permit(p)
	}
	for _, l := range b.Limits {
		t.Limits = append(t.Limits, ubl.Limit(l))
	}
	for _, bound := range []struct {
		place string
		given *string
		at    *ubl.Time
	}{{"from", b.From, &t.From}, {"until", b.Until, &t.Until}} {
		given, err := momentIn("body.terms."+bound.place, bound.given)
		if err != nil {
			return t, err
		}
		if given != nil && *given <= 0 { // 0 would be no bound at all
			return t, invalid("body.terms."+bound.place, "must be later than 1970-01-01T00:00:00.000Z")
		}
		if given != nil {
			*bound.at = *given
		}
	}
	return t, nil // what it says is checked where it is decided
}

type proposeInput struct {
	AgreementPath
	Body struct {
		Keyed
		Terms termsBody `json:"terms" doc:"All that is to be: terms replace those before, they don't add to them."`
	}
}

func (a *API) proposeTerms(ctx context.Context, in *proposeInput) (any, error) {
	terms, err := in.Body.Terms.terms()
	if err != nil {
		return nil, err
	}
	return a.amend(ctx, in.ID, ubl.ProposeTerms{Request: envelope.Command(ctx, in.Body.Key), Expects: expects(ctx), Agreement: in.ID, Terms: terms})
}

type acceptInput struct {
	AgreementPath
	Body struct {
		Keyed
		TermsHash string `json:"terms_hash" pattern:"^b:[0-9a-f]{64}$" doc:"That of the open proposal, which shows it." example:"b:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"`
	}
}

func (a *API) acceptTerms(ctx context.Context, in *acceptInput) (any, error) {
	return a.amend(ctx, in.ID, ubl.AcceptTerms{Request: envelope.Command(ctx, in.Body.Key), Expects: expects(ctx), Agreement: in.ID, TermsHash: in.Body.TermsHash})
}

func (a *API) withdrawTerms(ctx context.Context, in *AgreementPath) (any, error) {
	return a.amend(ctx, in.ID, ubl.WithdrawTerms{Request: envelope.Command(ctx, ""), Expects: expects(ctx), Agreement: in.ID})
}

// amend asks who keeps a record for a change of its terms.
func (a *API) amend(ctx context.Context, id ubl.AgreementID, cmd ubl.Command) (any, error) {
	to, err := holder(ctx, id)
	if err != nil {
		return nil, err
	}
	v, err := ubl.Ask[*ubl.AgreementView](ctx, a.Asker, to, cmd)
	return agreementAnswer{v}, err
}
