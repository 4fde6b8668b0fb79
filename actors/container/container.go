package container

import (
	"context"
	"fmt"
	"sync/atomic"

	"ubl"
	"ubl/actors"
)

// Family registers Containers over a reader. Without a searcher documents can't be
// searched: SearchDocuments answers unavailable.
func Family(read ubl.Reader, search ubl.Searcher) actors.Family {
	return actors.Family{
		Name: "container",
		Owns: func(local string) bool { return ubl.ContainerID(local).Valid() },
		Open: func(ctx context.Context, env actors.Env) (actors.Actor, error) {
			return open(ctx, read, search, env)
		},
	}
}

// Container is one container. Its state and keys are owned by the mailbox.
type Container struct {
	env    actors.Env
	read   ubl.Reader
	search ubl.Searcher
	group  ubl.Group
	tenant ubl.TenantID
	id     ubl.ContainerID
	// physics never change, and so are known outside the mailbox too.
	physics ubl.Physics
	// checkpointEvery is how many events there are between two checkpoints.
	checkpointEvery int64

	state State
	keys  *actors.Keys
	// joined is what the turn has to commit where its caller has just joined.
	joined *actors.Append
	// unindexed counts changes of documents since the index was last brought up to
	// date in the background, and their bytes; indexing says that it is being done.
	unindexed      int
	unindexedBytes int64
	indexing       atomic.Bool
	// hidden is the state's, for those who read outside the mailbox.
	hidden atomic.Int64
}

// open loads what is stored: the newest checkpoint and the events after it.
func open(ctx context.Context, read ubl.Reader, search ubl.Searcher, env actors.Env) (*Container, error) {
	c := &Container{
		env: env, read: read, search: search, group: env.Name.Group(), tenant: env.Name.Group().Tenant,
		id: ubl.ContainerID(env.Name.Local()), checkpointEvery: checkpointEvery,
	}
	err := c.restore(ctx)
	if err == nil {
		err = c.replay(ctx)
	}
	c.hidden.Store(int64(c.state.Hidden))
	if err == nil {
		c.keys, err = actors.LoadKeys(ctx, read, env.Name, ubl.TimeOf(env.Now()))
	}
	if err != nil {
		return nil, fmt.Errorf("couldn't load a container: %w", err)
	}
	return c, nil
}

// Receive implements [actors.Actor].
func (c *Container) Receive(t *actors.Turn, cmd ubl.Command) {
	c.join(t, cmd)
	c.receive(t, cmd)
	if a := c.joined; a != nil { // what they came for is refused, or no act
		c.joined = nil
		t.Commit(a)
	}
}

func (c *Container) receive(t *actors.Turn, cmd ubl.Command) {
	switch cmd := cmd.(type) {
	case ubl.GetContainer:
		c.answer(t, c.state.look(cmd.Who), func() any { return c.state.container(cmd.Who.UserID) })
	case ubl.Authorize:
		c.answer(t, c.state.may(cmd.Who, cmd.Op), func() any { return c.state.under(cmd.Who) })
	case ubl.GetAgreement:
		c.agreement(t, cmd)
	case ubl.EndAgreement:
		c.change(t, cmd.Request, ubl.DidAgreementEnd, c.decideEnd(cmd))
	case ubl.AddMember:
		c.change(t, cmd.Request, ubl.DidContainerInvite, c.decideAdd(cmd), string(cmd.Member.UserID), string(cmd.Member.Role))
	case ubl.SetMember:
		c.change(t, cmd.Request, ubl.DidContainerMemberUpdate, c.decideRole(cmd), string(cmd.UserID), string(cmd.Role))
	case ubl.RemoveMember:
		c.change(t, cmd.Request, removal(cmd), c.decideRemove(cmd), string(cmd.UserID))
	case ubl.SetHeir:
		c.change(t, cmd.Request, ubl.DidHeirSet, c.decideSetHeir(cmd), string(cmd.Heir.UserID))
	case actors.GetSuccession:
		t.Reply(actors.SuccessionOf(&c.state.Agreement.Agreement))
	case actors.Inherit:
		c.change(t, cmd.Request, ubl.DidAgreementHeir, c.decideHeir(cmd), string(cmd.Heir.UserID))
	case actors.Credit:
		c.change(t, cmd.Request, ubl.DidCreditsIssue, c.decideCredit(cmd), fmt.Sprint(cmd.Amount))
	case ubl.Sweep:
		c.sweep(t, cmd)
	default:
		c.receiveDocument(t, cmd)
	}
}

// receiveDocument answers what is about documents and transfers.
func (c *Container) receiveDocument(t *actors.Turn, cmd ubl.Command) {
	switch cmd := cmd.(type) {
	case ubl.CreateDocument:
		c.change(t, cmd.Request, ubl.DidDocumentCreate, c.decideCreate(cmd), cmd.Title, cmd.Content)
	case ubl.UpdateDocument:
		c.change(t, cmd.Request, ubl.DidDocumentUpdate, c.decideUpdate(cmd), updateContent(cmd)...)
	case ubl.DeleteDocument:
		c.change(t, cmd.Request, ubl.DidDocumentDelete, c.decideDelete(cmd), string(cmd.DocumentID))
	case ubl.GetDocument:
		c.getDocument(t, cmd)
	case ubl.ListDocuments:
		c.listDocuments(t, cmd)
	case ubl.ListVersions:
		c.listVersions(t, cmd)
	case ubl.SearchDocuments:
		c.searchDocuments(t, cmd)
	case ubl.Transfer:
		c.transfer(t, cmd)
	case knock:
		c.answer(t, c.state.there(cmd), func() any { return nil })
	case depart:
		c.change(t, cmd.Request, ubl.DidTransfer, c.decideTransfer(cmd.Transfer), transferContent(cmd.Transfer)...)
	case takeIn:
		c.takeIn(t, cmd)
	case settle:
		c.settle(t, cmd)
	default:
		t.Fail(ubl.Errorf(ubl.CodeNotFound, "a container doesn't answer this command"))
	}
}

// answer replies, unless there is a refusal.
func (c *Container) answer(t *actors.Turn, refusal error, value func() any) {
	if refusal != nil {
		t.Fail(refusal)
		return
	}
	t.Reply(value())
}
