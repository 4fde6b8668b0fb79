package api

import (
	"cmp"
	"context"
	"strings"

	"ubl"
	"ubl/transport/envelope"
)

type deadLettersInput struct {
	PageQuery
	All      bool         `query:"all" default:"false" doc:"Those of all tenants, as far as the nodes answer. Owners of tenant 0."`
	Pending  bool         `query:"pending" default:"false" doc:"Instead, what has failed so far and is tried again, or should have been done a minute ago. Of one tenant."`
	TenantID ubl.TenantID `query:"tenant_id" maxLength:"255" doc:"Those of another tenant than the caller's. Owners of tenant 0." example:"t:example.com"`
}

type deadLettersAnswer struct {
	DeadLetters []ubl.DeadLetter `json:"dead_letters"`
	Paged
}

func (a *API) listDeadLetters(ctx context.Context, in *deadLettersInput) (any, error) {
	tenants, err := a.failing(ctx, in)
	if err != nil {
		return nil, err
	}
	var letters []ubl.DeadLetter
	for _, t := range tenants {
		some, err := ubl.Ask[[]ubl.DeadLetter](ctx, a.Asker, ubl.LedgerName(t), ubl.ListDeadLetters{Pending: in.Pending})
		if err != nil {
			return nil, err
		}
		letters = append(letters, some...)
	}
	part, rest, err := cut(in.PageQuery, letters[:min(len(letters), ubl.MaxDeadLetters)], ascending, func(l ubl.DeadLetter) string {
		return strings.Join([]string{string(l.TenantID), l.Kind, l.Subject, l.Key}, "\n")
	})
	return deadLettersAnswer{part, rest}, err
}

// failing is whose dead letters are asked for.
func (a *API) failing(ctx context.Context, in *deadLettersInput) ([]ubl.TenantID, error) {
	if !in.All {
		of, err := mends(ctx, in.TenantID)
		return []ubl.TenantID{of}, err
	}
	if in.Pending || in.TenantID != "" {
		return nil, ubl.Errorf(ubl.CodeValidation, "all goes with neither pending nor tenant_id: name one tenant")
	}
	if err := operator(ctx); err != nil {
		return nil, err
	}
	return a.Cluster.Failing(ctx)
}

// mends is the tenant that is named, else the caller's, and refuses who has no say there: owners have
// one in their own tenant, operators in others.
func mends(ctx context.Context, named ubl.TenantID) (ubl.TenantID, error) {
	own := caller(ctx).TenantID
	if of := cmp.Or(named, own); of != own {
		return of, operator(ctx)
	}
	return own, owners(ctx)
}

type letterInput struct {
	Body struct {
		Keyed
		TenantID ubl.TenantID `json:"tenant_id,omitempty" maxLength:"255" doc:"As the list names it; another tenant than the caller's is for owners of tenant 0." example:"t:example.com"`
		Subject  string       `json:"subject" maxLength:"255" doc:"As the list names it." example:"r:general"`
		Letter   string       `json:"key" minLength:"1" maxLength:"256" doc:"As the list names it." example:"retention"`
	}
}

type redrivenAnswer struct {
	TenantID ubl.TenantID `json:"tenant_id"`
	Subject  string       `json:"subject"`
	Key      string       `json:"key"`
	Redriven bool         `json:"redriven"`
}

type discardedAnswer struct {
	TenantID  ubl.TenantID `json:"tenant_id"`
	Subject   string       `json:"subject"`
	Key       string       `json:"key"`
	Discarded bool         `json:"discarded"`
}

func (a *API) redrive(ctx context.Context, in *letterInput) (any, error) {
	b := &in.Body
	tenant, err := a.letter(ctx, in, ubl.Redrive{Request: envelope.Command(ctx, b.Key), Owner: true, Letter: b.Letter})
	return redrivenAnswer{tenant, b.Subject, b.Letter, true}, err
}

func (a *API) discard(ctx context.Context, in *letterInput) (any, error) {
	b := &in.Body
	tenant, err := a.letter(ctx, in, ubl.Discard{Request: envelope.Command(ctx, b.Key), Owner: true, Subject: b.Subject, Letter: b.Letter})
	return discardedAnswer{tenant, b.Subject, b.Letter, true}, err
}

// letter asks the subject of a dead letter, and tells whose it was taken to be.
func (a *API) letter(ctx context.Context, in *letterInput, cmd ubl.Command) (ubl.TenantID, error) {
	b := &in.Body
	tenant, err := mends(ctx, b.TenantID)
	if err != nil {
		return tenant, err
	}
	to := ubl.TenantName(tenant)
	if b.Subject != "" {
		to = ubl.Name(string(tenant) + "|" + b.Subject)
	}
	_, err = a.Asker.Ask(ctx, to, cmd)
	if ubl.CodeOf(err) == ubl.CodeNotFound && b.TenantID == "" && operator(ctx) == nil {
		err = ubl.Errorf(ubl.CodeNotFound, "there is no such dead letter in your own tenant: name the one that the list shows").Because(err)
	}
	return tenant, err
}
