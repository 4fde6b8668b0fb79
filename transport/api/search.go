package api

import (
	"context"

	"ubl"
	"ubl/transport/envelope"
)

type searchMessagesInput struct {
	Query  string   `query:"query" maxLength:"500" doc:"Words that must all be there; a \"phrase\", -word, begin*; from:WHO in:ROOM before:DAY after:DAY on:DAY has:file|link|reaction." example:"launch from:me"`
	In     string   `query:"in" maxLength:"128" doc:"Only this room: its id or name." example:"r:general"`
	From   string   `query:"from" maxLength:"256" doc:"Only what this person wrote: user id, address, or me." example:"me"`
	Sort   ubl.Sort `query:"sort" enum:"relevance,newest,oldest" default:"relevance" doc:"Best, newest or oldest first."`
	Limit  int      `query:"limit" minimum:"1" maximum:"50" default:"20" doc:"At most so many on a page."`
	Cursor string   `query:"cursor" maxLength:"200" doc:"The next_cursor before."`
}

type messageHitsAnswer struct {
	Hits       []*ubl.MessageHit `json:"hits"`
	NextCursor *string           `json:"next_cursor"`
	Indexing   *ubl.Indexing     `json:"indexing,omitempty"`
	Receipt    ubl.Receipt       `json:"receipt"`
	Salt       ubl.Salt          `json:"salt,omitzero"`
}

func (a *API) searchMessages(ctx context.Context, in *searchMessagesInput) (any, error) {
	who := caller(ctx)
	cmd := ubl.SearchMessages{Request: envelope.Command(ctx, ""), Query: in.Query, Sort: in.Sort, After: in.Cursor, Limit: in.Limit}
	if in.In != "" {
		cmd.In = []string{in.In}
	}
	if in.From != "" {
		cmd.From = []string{in.From}
	}
	hits, err := ubl.Ask[*ubl.MessageHits](ctx, a.Asker, ubl.TenantName(who.TenantID), cmd)
	if err != nil {
		return nil, err
	}
	out := messageHitsAnswer{Hits: list(hits.Hits), Indexing: hits.Indexing, Receipt: hits.Receipt, Salt: hits.Salt}
	if hits.Next != "" {
		out.NextCursor = &hits.Next
	}
	return out, nil
}
