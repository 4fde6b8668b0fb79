package api

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"ubl"
	"ubl/transport/envelope"
)

type openDirectInput struct {
	Body struct {
		Keyed
		With []ubl.UserID `json:"with" minItems:"1" maxItems:"8" doc:"The other people or agents, by user id." example:"[\"u:bob\"]"`
	}
}

func (a *API) openDirect(ctx context.Context, in *openDirectInput) (any, error) {
	r, err := ubl.Ask[*ubl.RoomSummary](ctx, a.Asker, home(ctx), ubl.OpenDirect{Request: envelope.Command(ctx, in.Body.Key), With: in.Body.With})
	if err == nil {
		err = a.nameDirect(ctx, r)
	}
	if err != nil {
		return nil, err
	}
	return roomCreatedAnswer{r.RoomID, r}, nil
}

// summaries are those of a list's entries.
func summaries(list []roomEntry) []*ubl.RoomSummary {
	all := make([]*ubl.RoomSummary, len(list))
	for i := range list {
		all[i] = &list[i].RoomSummary
	}
	return all
}

// nameDirect calls direct messages like the others whom they are with: by their names, else as
// their addresses begin. Who has left the tenant is called by their id.
func (a *API) nameDirect(ctx context.Context, rooms ...*ubl.RoomSummary) error {
	find := ubl.ListMembers{Who: caller(ctx)}
	for _, r := range rooms {
		if r.Direct != nil {
			find.Only = append(find.Only, r.Direct.Members...)
		}
	}
	if len(find.Only) == 0 {
		return nil
	}
	slices.Sort(find.Only)
	find.Only = slices.Compact(find.Only)
	known, err := ubl.Ask[[]ubl.Member](ctx, a.Asker, home(ctx), find)
	if err != nil {
		return err
	}
	called := make(map[ubl.UserID]string, len(known))
	for _, m := range known {
		local, _, _ := strings.Cut(m.Email, "@")
		called[m.UserID] = cmp.Or(m.Name, local)
	}
	me := caller(ctx).UserID
	for _, r := range rooms {
		if r.Direct == nil {
			continue
		}
		var others []string
		for _, user := range r.Direct.Others(me) {
			others = append(others, cmp.Or(called[user], string(user)))
		}
		r.Name = strings.Join(others, ", ")
	}
	return nil
}

type describeRoomInput struct {
	RoomPath
	Body struct {
		Keyed
		Name        *string `json:"name,omitempty" minLength:"1" maxLength:"128" doc:"What to call the room from now on." example:"Launch plans"`
		Topic       *string `json:"topic,omitempty" maxLength:"250" doc:"What it is about, in one line; an empty one takes it away." example:"All about the launch in May"`
		Description *string `json:"description,omitempty" maxLength:"2048" doc:"More about it, in CommonMark, at most 2048 bytes; an empty one takes it away." example:"Who comes new reads the **plan** first."`
	}
}

func (a *API) describeRoom(ctx context.Context, in *describeRoomInput) (any, error) {
	patch := ubl.RoomDescriptionPatch{Name: in.Body.Name, Topic: in.Body.Topic, Description: in.Body.Description}
	if patch.Empty() {
		return nil, invalid("body", "changes nothing")
	}
	r, err := ubl.Ask[*ubl.Room](ctx, a.Asker, room(ctx, in.RoomID), ubl.DescribeRoom{Request: envelope.Command(ctx, in.Body.Key), Patch: patch})
	return roomAnswer{r}, err
}
