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
	All bool `query:"all" default:"false" doc:"Those of all tenants, as far as the nodes answer. Owners of tenant 0."`
}

type deadLettersAnswer struct {
	DeadLetters []ubl.DeadLetter `json:"dead_letters"`
	Paged
}

func (a *API) listDeadLetters(ctx context.Context, in *deadLettersInput) (any, error) {
	tenants := []ubl.TenantID{caller(ctx).TenantID}
	var err error
	if !in.All {
		err = owners(ctx)
	} else if err = operator(ctx); err == nil {
		tenants, err = a.Cluster.Failing(ctx)
	}
	if err != nil {
		return nil, err
	}
	var letters []ubl.DeadLetter
	for _, t := range tenants {
		some, err := ubl.Ask[[]ubl.DeadLetter](ctx, a.Asker, ubl.LedgerName(t), ubl.ListDeadLetters{})
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

type redriveInput struct {
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

func (a *API) redrive(ctx context.Context, in *redriveInput) (any, error) {
	b, own := &in.Body, caller(ctx).TenantID
	tenant := cmp.Or(b.TenantID, own)
	may := owners
	if tenant != own {
		may = operator
	}
	if err := may(ctx); err != nil {
		return nil, err
	}
	to := ubl.TenantName(tenant)
	if b.Subject != "" {
		to = ubl.Name(string(tenant) + "|" + b.Subject)
	}
	_, err := a.Asker.Ask(ctx, to, ubl.Redrive{Request: envelope.Command(ctx, b.Key), Owner: true, Letter: b.Letter})
	return redrivenAnswer{tenant, b.Subject, b.Letter, true}, err
}
