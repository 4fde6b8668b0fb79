package api

import (
	"context"
	"slices"
	"strings"

	"ubl"
	"ubl/transport/envelope"
)

type listAgreementsInput struct {
	Cursor string `query:"cursor" pattern:"^a:[A-Za-z0-9._:-]{1,256}$" doc:"The next_cursor of the page before." example:"a:room:r:general"`
	Limit  int    `query:"limit" minimum:"1" maximum:"100" default:"50" doc:"At most so many on a page."`
}

type agreementsAnswer struct {
	Agreements []*ubl.AgreementView `json:"agreements"`
	NextCursor *ubl.AgreementID     `json:"next_cursor"`
}

// listAgreements puts the list together from the actors that hold the records.
// It skips one that the caller lost between the list and the look.
func (a *API) listAgreements(ctx context.Context, in *listAgreementsInput) (any, error) {
	ids, err := a.agreementsOf(ctx)
	if err != nil {
		return nil, err
	}
	part, more := page(ids, func(id ubl.AgreementID) ubl.AgreementID { return id }, ubl.AgreementID(in.Cursor), in.Limit)
	out := agreementsAnswer{Agreements: []*ubl.AgreementView{}}
	for _, id := range part {
		v, err := a.readAgreement(ctx, id, ubl.GetAgreement{Brief: true})
		switch ubl.CodeOf(err) {
		case "":
			out.Agreements = append(out.Agreements, v)
		case ubl.CodeNotFound, ubl.CodeNotAMember:
		default:
			return nil, err
		}
	}
	if more {
		out.NextCursor = &part[len(part)-1]
	}
	entries := make([][]ubl.Member, len(out.Agreements))
	for i, v := range out.Agreements {
		entries[i] = v.Members
	}
	return out, a.name(ctx, entries...)
}

// agreementsOf lists the ids of the caller's Agreements in order.
func (a *API) agreementsOf(ctx context.Context) ([]ubl.AgreementID, error) {
	rooms, err := ubl.Ask[[]ubl.RoomEntry](ctx, a.Asker, home(ctx), ubl.ListRooms{Who: caller(ctx)})
	if err != nil {
		return nil, err
	}
	ids := []ubl.AgreementID{ubl.TenantAgreement(caller(ctx).TenantID)}
	for _, r := range rooms {
		if r.Member {
			ids = append(ids, ubl.RoomAgreement(r.RoomID))
		}
	}
	containers, err := ubl.Ask[*ubl.ContainerList](ctx, a.Asker, home(ctx), ubl.ListContainers{Request: envelope.Command(ctx, "")})
	if err != nil {
		return nil, err
	}
	for _, c := range containers.Containers {
		ids = append(ids, ubl.Kind{Name: c.Kind}.GovernedBy(c.ContainerID))
	}
	tools, err := ubl.Ask[[]*ubl.ToolAccess](ctx, a.Asker, home(ctx), ubl.ListToolAccess{Who: caller(ctx), Brief: true})
	if err != nil {
		return nil, err
	}
	for _, t := range tools {
		ids = append(ids, t.AgreementID)
	}
	if who := caller(ctx); who.Mandate != nil {
		ids = append(ids, ubl.AgentAgreement(who.Subject))
	}
	slices.Sort(ids)
	return ids, nil
}

type agreementAnswer struct {
	Agreement *ubl.AgreementView `json:"agreement"`
}

type getAgreementInput struct {
	AgreementPath
	AsOfQuery
	Cursor int64 `query:"cursor" minimum:"1" maximum:"9007199254740991" doc:"The next_cursor of the page before."`
	Limit  int   `query:"limit" minimum:"1" maximum:"1000" default:"200" doc:"How many steps of the history."`
}

// agreementPage is an Agreement with a page of its history.
type agreementPage struct {
	Agreement  *ubl.AgreementView `json:"agreement"`
	NextCursor *int64             `json:"next_cursor"`
}

func (a *API) getAgreement(ctx context.Context, in *getAgreementInput) (any, error) {
	at, err := in.moment(ctx)
	if err != nil {
		return nil, err
	}
	v, err := a.readAgreement(ctx, in.ID, ubl.GetAgreement{AsOf: at, After: in.Cursor, Limit: in.Limit + 1})
	if err == nil {
		err = past(at, v.AsOf)
	}
	if err == nil && at.IsNow() {
		err = a.name(ctx, v.Members)
	}
	if err != nil {
		return nil, err
	}
	out, more := agreementPage{Agreement: v}, false
	// The one more that was asked for is cut off, and what a node of a version before pages
	// answers: all of it.
	if v.History, more = page(v.History, func(c ubl.Change) int64 { return c.N }, in.Cursor, in.Limit); more {
		out.NextCursor = &v.History[in.Limit-1].N
	}
	return out, nil
}

// past refuses an answer of now to a question about the past: a node of a version that
// doesn't know the question gives one.
func past(asked ubl.AsOf, told *ubl.Receipt) error {
	if !asked.IsNow() && told == nil {
		return ubl.Errorf(ubl.CodeUnavailable, "the node that keeps this can't show the past yet")
	}
	return nil
}

// readAgreement asks for a record in the caller's name. An id may quote the right container
// and the wrong kind.
func (a *API) readAgreement(ctx context.Context, id ubl.AgreementID, get ubl.GetAgreement) (*ubl.AgreementView, error) {
	to, err := holder(ctx, id)
	if err != nil {
		return nil, err
	}
	get.Who, get.Agreement = caller(ctx), id
	v, err := ubl.Ask[*ubl.AgreementView](ctx, a.Asker, to, get)
	if err != nil {
		return nil, err
	}
	if v.ID != id {
		return nil, noAgreement()
	}
	return v, nil
}

type endAgreementInput struct {
	AgreementPath
	KeyInput
}

func (a *API) endAgreement(ctx context.Context, in *endAgreementInput) (any, error) {
	to, err := holder(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	if tool, ok := strings.CutPrefix(string(in.ID), "a:tool:"); ok && slices.Contains(a.ownNames(), tool) {
		return nil, ubl.Errorf(ubl.CodeConflict, "the end of an Agreement is for good, and the tool is one of the server's own: close it with tool.access, which can be taken back")
	}
	v, err := ubl.Ask[*ubl.AgreementView](ctx, a.Asker, to, ubl.EndAgreement{Request: envelope.Command(ctx, in.key()), Expects: expects(ctx), Agreement: in.ID})
	return agreementAnswer{v}, err
}

// holder is the actor that keeps an Agreement of the caller's tenant. Another
// tenant's is as unknown as one that never was.
func holder(ctx context.Context, id ubl.AgreementID) (ubl.Name, error) {
	if id == ubl.TenantAgreement(caller(ctx).TenantID) {
		return home(ctx), nil
	}
	if r, ok := strings.CutPrefix(string(id), "a:room:"); ok && ubl.RoomID(r).Valid() {
		return room(ctx, ubl.RoomID(r)), nil
	}
	if tool, ok := strings.CutPrefix(string(id), "a:tool:"); ok && ubl.ValidToolName(tool) {
		return home(ctx), nil
	}
	if agent, ok := strings.CutPrefix(string(id), string(ubl.AgentAgreement(""))); ok && agent != "" {
		return home(ctx), nil
	}
	if c := ubl.ContainerOf(id); c != "" {
		return container(ctx, c), nil
	}
	return "", noAgreement()
}

func noAgreement() error { return ubl.Errorf(ubl.CodeNotFound, "there is no such Agreement") }

type nameHeirInput struct {
	AgreementPath
	Body struct {
		Keyed
		UserID ubl.UserID `json:"user_id" pattern:"^u:[A-Za-z0-9._-]{1,256}$" doc:"Who is to own it." example:"u:ana"`
	}
}

// nameHeir asks the tenant, which knows its owners and members.
func (a *API) nameHeir(ctx context.Context, in *nameHeirInput) (any, error) {
	m, err := ubl.Ask[*ubl.Member](ctx, a.Asker, home(ctx), ubl.NameHeir{
		Request: envelope.Command(ctx, in.Body.Key), Agreement: in.ID, UserID: in.Body.UserID})
	return memberAnswer{m}, err
}

type setHeirInput struct {
	AgreementPath
	Body struct {
		Keyed
		UserID ubl.UserID `json:"user_id" pattern:"^(u:[A-Za-z0-9._-]{1,256})?$" doc:"A person of the tenant; the empty one takes the name back." example:"u:bob"`
	}
}

type heirAnswer struct {
	AgreementID ubl.AgreementID `json:"agreement_id"`
	Heir        *ubl.UserID     `json:"heir"`
}

// setHeir looks the heir up in the tenant first, as [API.invite] does.
func (a *API) setHeir(ctx context.Context, in *setHeirInput) (any, error) {
	to, err := holder(ctx, in.ID)
	if err == nil && to == home(ctx) {
		err = ubl.Errorf(ubl.CodeConflict, "only rooms and containers take an heir: a tenant has owners")
	}
	if err != nil {
		return nil, err
	}
	cmd := ubl.SetHeir{Request: envelope.Command(ctx, in.Body.Key), Expects: expects(ctx), Agreement: in.ID}
	if in.Body.UserID != "" {
		m, err := ubl.Ask[*ubl.Member](ctx, a.Asker, home(ctx), ubl.FindMember{Who: caller(ctx), UserID: in.Body.UserID})
		if err != nil {
			return nil, err
		}
		cmd.Heir = *m
	}
	m, err := ubl.Ask[*ubl.Member](ctx, a.Asker, to, cmd)
	if err != nil {
		return nil, err
	}
	out := heirAnswer{AgreementID: in.ID}
	if m.UserID != "" {
		out.Heir = &m.UserID
	}
	return out, nil
}

type listSealedInput struct {
	Cursor string `query:"cursor" pattern:"^a:[A-Za-z0-9._:-]{1,256}$" doc:"The next_cursor of the page before." example:"a:room:r:general"`
	Limit  int    `query:"limit" minimum:"1" maximum:"100" default:"50" doc:"At most so many on a page."`
}

type sealedAnswer struct {
	Sealed     []ubl.SealedPlace `json:"sealed"`
	NextCursor *ubl.AgreementID  `json:"next_cursor"`
}

func (a *API) listSealed(ctx context.Context, in *listSealedInput) (any, error) {
	all, err := ubl.Ask[[]ubl.SealedPlace](ctx, a.Asker, home(ctx), ubl.ListSealed{Who: caller(ctx)})
	if err != nil {
		return nil, err
	}
	part, more := page(all, func(p ubl.SealedPlace) ubl.AgreementID { return p.AgreementID }, ubl.AgreementID(in.Cursor), in.Limit)
	out := sealedAnswer{Sealed: list(part)}
	if more {
		out.NextCursor = &part[len(part)-1].AgreementID
	}
	return out, nil
}
