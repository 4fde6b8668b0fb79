package api

import (
	"cmp"
	"context"
	"encoding/json"

	"ubl"
)

// ledger addresses the caller's ledger.
func ledger(ctx context.Context) ubl.Name { return ubl.LedgerName(caller(ctx).TenantID) }

type receiptInput struct {
	Seq int64 `path:"seq" minimum:"1" maximum:"9007199254740991" doc:"The number of the act in the ledger, as its receipt has it." example:"42"`
}

type receiptAnswer struct {
	Seq   int64             `json:"seq"`
	Atoms []json.RawMessage `json:"atoms"`
}

func (a *API) getReceipt(ctx context.Context, in *receiptInput) (any, error) {
	p, err := ubl.Ask[*ubl.ReceiptPair](ctx, a.Asker, ledger(ctx), ubl.GetReceipt{Seq: in.Seq})
	if err != nil {
		return nil, err
	}
	return receiptAnswer{p.Seq, p.Atoms}, nil
}

type ledgerHeadAnswer struct {
	TenantID ubl.TenantID `json:"tenant_id"`
	Shard    string       `json:"ledger_shard"`
	ubl.LedgerHead
}

func (a *API) ledgerHead(ctx context.Context, _ *struct{}) (any, error) {
	head, err := ubl.Ask[ubl.LedgerHead](ctx, a.Asker, ledger(ctx), ubl.GetLedgerHead{})
	return ledgerHeadAnswer{caller(ctx).TenantID, ubl.DefaultShard, head}, err
}

type atomsInput struct {
	From   int64 `query:"from" minimum:"1" maximum:"9007199254740991" doc:"The seq of the first atom; without one, 1." example:"100"`
	Cursor int64 `query:"cursor" minimum:"1" maximum:"9007199254740991" doc:"The next_cursor of the page before; in the place of from."`
	Limit  int   `query:"limit" minimum:"1" maximum:"500" default:"100" doc:"At most so many atoms."`
}

type atomsAnswer struct {
	From       int64             `json:"from"`
	Atoms      []json.RawMessage `json:"atoms"`
	NextCursor *int64            `json:"next_cursor"`
	Head       ubl.LedgerHead    `json:"head"`
}

func (a *API) readAtoms(ctx context.Context, in *atomsInput) (any, error) {
	if in.Cursor != 0 && in.From != 0 {
		return nil, invalid("query.from", "not together with cursor")
	}
	in.From = cmp.Or(in.Cursor, in.From, 1)
	p, err := ubl.Ask[*ubl.AtomPage](ctx, a.Asker, ledger(ctx), ubl.ReadAtoms{From: in.From, Limit: in.Limit})
	if err != nil {
		return nil, err
	}
	out := atomsAnswer{From: in.From, Atoms: list(p.Atoms), Head: p.Head}
	if next := in.From + int64(len(p.Atoms)); len(p.Atoms) > 0 && next <= p.Head.Seq {
		out.NextCursor = &next
	}
	return out, nil
}
