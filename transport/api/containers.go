package api

import (
	"context"

	"ubl"
	"ubl/transport/envelope"
)

type listContainersInput struct {
	PageQuery
	Kind string `query:"kind" pattern:"^[a-z0-9_]{1,64}$" doc:"Only those of a kind, as workspace or wallet." example:"workspace"`
}

type containersAnswer struct {
	Containers []ubl.ContainerSummary `json:"containers"`
	Paged
}

func (a *API) listContainers(ctx context.Context, in *listContainersInput) (any, error) {
	l, err := ubl.Ask[*ubl.ContainerList](ctx, a.Asker, home(ctx),
		ubl.ListContainers{Request: envelope.Command(ctx, ""), Kind: in.Kind})
	if err != nil {
		return nil, err
	}
	part, rest, err := cut(in.PageQuery, l.Containers, ascending, containerKey)
	return containersAnswer{part, rest}, err
}

func containerKey(c ubl.ContainerSummary) string { return string(c.ContainerID) }

type createContainerInput struct {
	Body struct {
		Keyed
		Kind    string       `json:"kind" pattern:"^[a-z0-9_]{1,64}$" doc:"A kind that the server knows: workspace, wallet, or container for any other configuration." example:"wallet"`
		Name    string       `json:"name" minLength:"1" maxLength:"128" doc:"What to call it; its id is made from that." example:"Petty cash"`
		Physics *physicsBody `json:"physics,omitempty" doc:"Other physics than the kind's; the kind container has none of its own and needs them."`
	}
}

func (a *API) createContainer(ctx context.Context, in *createContainerInput) (any, error) {
	return a.makeContainer(ctx, ubl.CreateContainer{Request: envelope.Command(ctx, in.Body.Key),
		Kind: in.Body.Kind, Name: in.Body.Name, Physics: in.Body.Physics.physics()})
}

type containerAnswer struct {
	Container *ubl.Container `json:"container"`
}

type getContainerInput struct {
	PlacePath
	AsOfQuery
}

func (a *API) getContainer(ctx context.Context, in *getContainerInput) (any, error) {
	at, err := in.moment(ctx)
	if err != nil {
		return nil, err
	}
	to, err := placeOf(ctx, in.ContainerID)
	if err != nil {
		return nil, err
	}
	c, err := ubl.Ask[*ubl.Container](ctx, a.Asker, to, ubl.GetContainer{Who: caller(ctx), AsOf: at})
	if err == nil {
		err = past(at, c.AsOf)
	}
	return containerAnswer{c}, err
}

// placeOf addresses what answers as a container: one of the caller's tenant, a room of it, or the
// tenant.
func placeOf(ctx context.Context, id ubl.ContainerID) (ubl.Name, error) {
	switch {
	case ubl.RoomID(id).Valid():
		return room(ctx, ubl.RoomID(id)), nil
	case ubl.TenantID(id) == caller(ctx).TenantID:
		return home(ctx), nil
	case id.Valid():
		return container(ctx, id), nil
	}
	return "", ubl.Errorf(ubl.CodeNotFound, ubl.NoContainer)
}

type creditsInput struct {
	ContainerPath
	Body struct {
		Keyed
		Amount int64 `json:"amount" minimum:"1" maximum:"1125899906842624" doc:"How many credits." example:"100"`
	}
}

func (a *API) issueCredits(ctx context.Context, in *creditsInput) (any, error) {
	return ubl.Ask[*ubl.Balance](ctx, a.Asker, home(ctx),
		ubl.IssueCredits{Request: envelope.Command(ctx, in.Body.Key), To: in.ContainerID, Amount: in.Body.Amount})
}
