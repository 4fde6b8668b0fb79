package api

import (
	"context"

	"ubl"
	"ubl/transport/envelope"
)

type passkeysAnswer struct {
	Passkeys []ubl.Passkey `json:"passkeys"`
	Paged
}

type passkeyAnswer struct {
	Passkey *ubl.Passkey `json:"passkey"`
}

// listPasskeys asks tenant 0, which keeps those of every tenant. Registering one
// and signing in with it are a browser's business: see package auth.
func (a *API) listPasskeys(ctx context.Context, in *PageQuery) (any, error) {
	if err := enter(ctx); err != nil {
		return nil, err
	}
	own, err := ubl.Ask[*ubl.Passkeys](ctx, a.Asker, ubl.TenantName(ubl.CoreTenant), ubl.ListPasskeys{Who: caller(ctx)})
	if err != nil {
		return nil, err
	}
	part, rest, err := cut(*in, own.List, ascending, func(p *ubl.PasskeyRecord) string { return p.CreatedAt.String() + string(p.ID) })
	out := passkeysAnswer{[]ubl.Passkey{}, rest}
	for _, p := range part {
		out.Passkeys = append(out.Passkeys, p.Passkey)
	}
	return out, err
}

type passkeyPath struct {
	ID ubl.PasskeyID `path:"passkeyId" pattern:"^p:[0-9a-f]{32}$" doc:"The passkey, by its id." example:"p:00112233445566778899aabbccddeeff"`
}

func (a *API) removePasskey(ctx context.Context, in *passkeyPath) (any, error) {
	if err := enter(ctx); err != nil {
		return nil, err
	}
	p, err := ubl.Ask[*ubl.Passkey](ctx, a.Asker, ubl.TenantName(ubl.CoreTenant),
		ubl.RemovePasskey{Request: envelope.Command(ctx, ""), PasskeyID: in.ID})
	return passkeyAnswer{p}, err
}
