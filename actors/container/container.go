package container

import (
	"context"
	"sync/atomic"

	"ubl"
	"ubl/actors"
	"ubl/actors/agreement"
)

// Family registers Containers over a reader. Without a searcher documents can't be
// searched: SearchDocuments answers unavailable.
func Family(read ubl.Reader, search ubl.Searcher) actors.Family {
	kind := kind()
	return actors.Family{
		Name:    "container",
		Kind:    kind,
		Owns:    func(local string) bool { return ubl.ContainerID(local).Valid() },
		Unarmed: unarmed,
		Open: func(ctx context.Context, env actors.Env) (actors.Actor, error) {
			return open(ctx, kind, read, search, env)
		},
		Commands: []ubl.Command{
			ubl.GetContainer{}, ubl.GetAgreement{}, ubl.ProposeTerms{}, ubl.AcceptTerms{}, ubl.WithdrawTerms{}, ubl.EndAgreement{},
			ubl.AddMember{}, ubl.SetMember{}, ubl.RemoveMember{}, ubl.SetHeir{},
			ubl.Authorize{}, ubl.CreateDocument{}, ubl.GetDocument{}, ubl.UpdateDocument{}, ubl.DeleteDocument{}, ubl.PublishDocuments{},
			ubl.ListDocuments{}, ubl.ListVersions{}, ubl.SearchDocuments{}, ubl.Transfer{},
			ubl.PrepareFile{}, ubl.PutFile{}, ubl.GetFile{}, ubl.ListFiles{}, ubl.RemoveFile{},
			ubl.LookPublic{}, ubl.ReadPublic{}, ubl.ListPublic{},
			ubl.ListPublicFiles{}, ubl.ReadPublicFile{}, ubl.SearchPublic{}, ubl.ListKnowledge{}, ubl.ReadKnowledge{}, ubl.SearchKnowledge{},
			ubl.OverviewKnowledge{},
		},
		Answers: []any{
			(*ubl.Container)(nil), (*ubl.AgreementView)(nil), (*ubl.Member)(nil), ubl.AgreementID(""), (*ubl.Balance)(nil),
			(*ubl.DocumentResult)(nil), (*ubl.DocumentsPublished)(nil), (*ubl.DocumentList)(nil), (*ubl.DocumentHits)(nil), (*ubl.TransferResult)(nil),
			(*ubl.FileResult)(nil), (*ubl.FileList)(nil),
			(*ubl.PublicContainer)(nil), (*ubl.PublicDocument)(nil), (*ubl.PublicDocuments)(nil),
			(*ubl.PublicFile)(nil), (*ubl.PublicFiles)(nil), (*ubl.PublicHits)(nil), (*ubl.KnowledgeList)(nil), (*ubl.KnowledgeFound)(nil), (*ubl.KnowledgeHits)(nil),
			(*ubl.KnowledgeOverview)(nil),
		},
		Numbers: runs(), Content: counted(),
	}
}

// Container is one container. Its state and keys are owned by the mailbox.
type Container struct {
	*actors.Entity[State, event]
	search ubl.Searcher
	group  ubl.Group
	tenant ubl.TenantID
	id     ubl.ContainerID
	// physics never change, and so are known outside the mailbox too.
	physics ubl.Physics
	// hidden is the state's, for those who read outside the mailbox.
	hidden atomic.Int64
	// listed is what was published, nil until somebody has asked for it.
	listed *catalogue
	// links lead from one published document to another. They are read outside the mailbox.
	links links
}

func open(ctx context.Context, kind *actors.Kind[State, event], read ubl.Reader, search ubl.Searcher, env actors.Env) (*Container, error) {
	group := env.Name.Group()
	c := &Container{search: search, group: group, tenant: group.Tenant, id: ubl.ContainerID(env.Name.Local())}
	var err error
	c.Entity, err = kind.Load(ctx, read, env, actors.Hooks[event]{Outcome: c.outcome, Applied: c.applied, Errand: c.errand})
	if err != nil {
		return nil, err
	}
	c.physics = c.State.Summary.Physics
	c.hidden.Store(int64(c.State.Hidden))
	return c, nil
}

// applied follows an event outside the state.
func (c *Container) applied(event, *actors.Append) { c.hidden.Store(int64(c.State.Hidden)) }

// Receive implements [actors.Actor]. Who touches the general workspace joins it first,
// whatever comes of what they ask.
func (c *Container) Receive(t *actors.Turn, cmd ubl.Command) {
	if err := c.join(t, cmd); err != nil {
		t.Fail(err)
		return
	}
	if put, ok := cmd.(ubl.PutFile); ok && !c.Knows(t, put) {
		if err := c.Usage.MayAdd(put.Who, put.Bytes); err != nil {
			t.Fail(err)
			return
		}
	}
	if remove, ok := cmd.(ubl.RemoveMember); ok {
		c.ChangeThen(t, cmd, func(ctx context.Context, answer any) (any, error) {
			return agreement.FollowAgents(ctx, c.Ask, c.Name, remove, answer)
		})
		return
	}
	if c.Change(t, cmd) {
		return
	}
	switch cmd := cmd.(type) {
	case ubl.GetContainer:
		c.getContainer(t, cmd)
	case ubl.Authorize:
		t.Answer(c.State.authorize(cmd), func() any { return c.State.under(cmd.Who) })
	case ubl.GetAgreement:
		c.agreement(t, cmd)
	case agreement.GetSuccession:
		t.Reply(agreement.SuccessionOf(&c.State.Agreement.Agreement))
	case ubl.GetDocument:
		c.getDocument(t, cmd)
	case ubl.ListDocuments:
		c.listDocuments(t, cmd)
	case ubl.ListVersions:
		c.listVersions(t, cmd)
	case ubl.SearchDocuments:
		c.searchDocuments(t, cmd)
	case ubl.LookPublic:
		c.lookPublic(t)
	case ubl.ReadPublic:
		c.readPublic(t, cmd)
	case ubl.ListPublic:
		c.listPublic(t, cmd)
	case ubl.ListPublicFiles:
		c.listPublicFiles(t, cmd)
	case ubl.ReadPublicFile:
		c.readPublicFile(t, cmd)
	case ubl.SearchPublic:
		c.searchPublic(t, cmd)
	case ubl.ListKnowledge:
		c.listKnowledge(t, cmd)
	case ubl.ReadKnowledge:
		c.readKnowledge(t, cmd)
	case ubl.SearchKnowledge:
		c.searchKnowledge(t, cmd)
	case ubl.OverviewKnowledge:
		c.overviewKnowledge(t)
	case indexDocuments:
		c.indexDocuments(t)
	case redact:
		c.redact(t, cmd)
	case ubl.PrepareFile:
		c.prepareFile(t, cmd)
	case ubl.GetFile:
		c.getFile(t, cmd)
	case ubl.ListFiles:
		c.listFiles(t, cmd)
	default:
		c.receiveTransfer(t, cmd)
	}
}

// receiveTransfer answers what moves things between containers.
func (c *Container) receiveTransfer(t *actors.Turn, cmd ubl.Command) {
	switch cmd := cmd.(type) {
	case ubl.Transfer:
		c.transfer(t, cmd)
	case knock:
		t.Answer(c.State.there(cmd.Who, cmd.credits && c.physics.Topology == ubl.Values), func() any { return nil })
	case takeIn:
		c.takeIn(t, cmd)
	case settle:
		c.settle(t, cmd)
	default:
		t.Fail(ubl.Errorf(ubl.CodeNotFound, "a container doesn't answer this command"))
	}
}

// outcome is what a caller is answered for an event, now or at a retry.
func (c *Container) outcome(ctx context.Context, e event) (any, error) {
	switch e.Did {
	case ubl.DidDocumentCreate, ubl.DidDocumentUpdate, ubl.DidDocumentDelete:
		return c.documentOutcome(ctx, e)
	case ubl.DidDocumentPublish:
		return published(e, e.Receipt), nil
	case ubl.DidFilePut, ubl.DidFileRemove:
		return c.fileOutcome(ctx, e)
	case ubl.DidCreditsIssue:
		return &ubl.Balance{ContainerID: c.id, Amount: e.Amount, Balance: e.Balance, Receipt: e.Receipt}, nil
	case ubl.DidTransfer:
		if e.Action == nil {
			return c.carry(ctx, e, errUnderWay)
		}
		return transferOutcome(e, *e.Action)
	case ubl.DidReceive:
		return transferOutcome(e, e.Receipt)
	case ubl.DidAgreementEnd:
		return e.Ended, nil
	case ubl.DidAgreementPropose, ubl.DidAgreementAccept, ubl.DidAgreementWithdraw:
		s, err := c.AsOf(ctx, e.N)
		if err != nil {
			return nil, err
		}
		return s.Agreement.View(nil), nil
	}
	return e.Member, nil
}
