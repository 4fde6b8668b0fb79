package api

import (
	"context"
	"slices"
	"strings"

	"ubl"
	"ubl/transport/envelope"
)

type kindsAnswer struct {
	Kinds []*ubl.Kind `json:"kinds"`
	Paged
}

func (a *API) listKinds(ctx context.Context, in *PageQuery) (any, error) {
	kinds, err := ubl.Ask[[]*ubl.Kind](ctx, a.Asker, home(ctx), ubl.ListKinds{Who: caller(ctx)})
	if err != nil {
		return nil, err
	}
	kinds = slices.SortedFunc(slices.Values(kinds), func(x, y *ubl.Kind) int { return strings.Compare(x.Name, y.Name) })
	part, rest, err := cut(*in, kinds, ascending, func(k *ubl.Kind) string { return k.Name })
	return kindsAnswer{part, rest}, err
}

type setKindInput struct {
	KindPath
	Body struct {
		Keyed
		Agreement string       `json:"agreement,omitempty" pattern:"^[a-z0-9_]{1,64}$" doc:"The type of the Agreements; NAME_agreement without one." example:"casefile_agreement"`
		IDs       string       `json:"ids,omitempty" pattern:"^[a-z0-9-]{0,32}$" doc:"Stands in ids before what is made of the name: k:IDSname." example:"case-"`
		Physics   *physicsBody `json:"physics" doc:"How containers of the kind behave."`
		Terms     *termsBody   `json:"terms,omitempty" doc:"Of the Agreements; the usual ones of the physics without them."`
		Content   []string     `json:"content,omitempty" maxItems:"3" doc:"What documents and files may be: text/plain, text/markdown, application/json. Any text and any file without one."`
		Tools     []string     `json:"tools,omitempty" maxItems:"100" doc:"Those that a model may use for its callers inside; all without one."`
	}
}

type kindAnswer struct {
	Kind *ubl.Kind `json:"kind"`
}

func (a *API) setKind(ctx context.Context, in *setKindInput) (any, error) {
	b := &in.Body
	k := ubl.Kind{Name: in.Kind, Agreement: b.Agreement, IDs: b.IDs, Physics: *b.Physics.physics(), Content: b.Content, Tools: b.Tools}
	if k.Agreement == "" {
		k.Agreement = k.Name + "_agreement"
	}
	if b.Terms != nil {
		terms, err := b.Terms.terms()
		if err != nil {
			return nil, err
		}
		k.Terms = &terms
	}
	made, err := ubl.Ask[*ubl.Kind](ctx, a.Asker, home(ctx), ubl.SetKind{Request: envelope.Command(ctx, b.Key), Kind: k})
	return kindAnswer{made}, err
}

func (a *API) removeKind(ctx context.Context, in *KindPath) (any, error) {
	was, err := ubl.Ask[*ubl.Kind](ctx, a.Asker, home(ctx), ubl.RemoveKind{Request: envelope.Command(ctx, ""), Name: in.Kind})
	return kindAnswer{was}, err
}
