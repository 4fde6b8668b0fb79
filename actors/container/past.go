package container

import (
	"context"

	"ubl"
	"ubl/actors"
)

// getContainer answers who may look with the configuration, as it is or was.
func (c *Container) getContainer(t *actors.Turn, cmd ubl.GetContainer) {
	err := c.State.look(cmd.Who)
	if err == nil {
		err = t.Past(cmd.AsOf)
	}
	if err != nil || cmd.AsOf.IsNow() {
		t.Answer(err, func() any { return c.State.container(cmd.Who.UserID) })
		return
	}
	ctx, hidden := t.Context(), c.State.Hidden
	t.Later(func() (any, error) {
		s, newest, err := c.then(ctx, cmd.AsOf, hidden)
		if err != nil {
			return nil, err
		}
		then := s.container(cmd.Who.UserID)
		then.AsOf = &newest.Receipt
		return then, nil
	})
}

// then is the container as it was. What was before it was sealed stays closed.
func (c *Container) then(ctx context.Context, at ubl.AsOf, hidden ubl.Time) (*State, *event, error) {
	s, newest, err := c.Then(ctx, at)
	if err == nil && s.Hidden != hidden {
		err = ubl.Errorf(ubl.CodeForbidden, "the container was sealed since, and stays closed for what was before")
	}
	return s, newest, err
}
