package api

import (
	"context"

	"ubl"
)

type setPresentInput struct {
	Body struct {
		Present bool `json:"present" doc:"true while the person is at a screen, said again each minute; false when they have gone." example:"true"`
	}
}

type presenceAnswer struct {
	Presence *ubl.Presence `json:"presence"`
}

func (a *API) setPresent(ctx context.Context, in *setPresentInput) (any, error) {
	is, err := ubl.Ask[*ubl.Presence](ctx, a.Asker, home(ctx), ubl.SetPresent{Who: caller(ctx), Present: in.Body.Present})
	if err != nil {
		return nil, err
	}
	return presenceAnswer{is}, nil
}

type presentInput struct {
	Cursor ubl.UserID `query:"cursor" pattern:"^u:[A-Za-z0-9._-]{1,256}$" doc:"The next_cursor of the page before." example:"u:4Zk1"`
	Limit  int        `query:"limit" minimum:"1" maximum:"500" default:"100" doc:"At most so many on a page."`
}

type presentAnswer struct {
	Present    []ubl.Presence `json:"present"`
	NextCursor *ubl.UserID    `json:"next_cursor"`
}

func (a *API) listPresent(ctx context.Context, in *presentInput) (any, error) {
	present, err := ubl.Ask[[]ubl.Presence](ctx, a.Asker, home(ctx), ubl.ListPresent{Who: caller(ctx)})
	if err != nil {
		return nil, err
	}
	part, more := page(present, func(p ubl.Presence) ubl.UserID { return p.UserID }, in.Cursor, in.Limit)
	out := presentAnswer{Present: list(part)}
	if more {
		out.NextCursor = &part[len(part)-1].UserID
	}
	return out, nil
}
