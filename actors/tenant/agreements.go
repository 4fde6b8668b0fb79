package tenant

import (
	"bytes"
	"context"
	"slices"
	"strings"

	"ubl"
	"ubl/actors"
	"ubl/actors/agreement"
)

// held is a record that the Tenant holds: its TenantLicense, the ToolAccess of a tool, or
// the mandate of an agent.
func (s *State) held(id ubl.AgreementID) (ubl.Agreement, error) {
	if id == "" || id == s.License.ID {
		return s.License.Share(), nil
	}
	if name, ok := toolOf(id); ok {
		if r, known := s.Tools[name]; known {
			return r.Agreement, nil
		}
	}
	if t, ok := s.agentOf(id); ok {
		return t.mandate(s.id()), nil
	}
	return ubl.Agreement{}, ubl.Errorf(ubl.CodeNotFound, "there is no such Agreement")
}

// toolOf is the tool that a ToolAccess Agreement is about.
func toolOf(id ubl.AgreementID) (string, bool) {
	return strings.CutPrefix(string(id), string(ubl.ToolAgreement("")))
}

// agreement answers members, and the platform on its errands, with a record and its
// history.
func (x *Tenant) agreement(t *actors.Turn, c ubl.GetAgreement) {
	err := x.State.readsRecord(c.Who, c.Agreement)
	agreement.Show(t, c, err, &x.State,
		func(ctx context.Context) (*State, *event, error) { return x.Then(ctx, c.AsOf) },
		func(s *State) (ubl.Agreement, agreement.History, error) {
			record, err := s.held(c.Agreement)
			return record, x.changes(&record, s.Events), err
		})
}

// readsRecord says who may read a record: members, and the platform on its errands. A mandate
// is for fewer, and an agent with places reads its own alone.
func (s *State) readsRecord(who ubl.Identity, id ubl.AgreementID) error {
	_, err := s.member(who)
	t, agent := s.agentOf(id)
	switch {
	case who.IsPlatform():
		return nil
	case err == nil && agent:
		return s.readsMandate(who, t)
	case err == nil:
		return s.beyond(who)
	}
	return err
}

// changes is a record's history up to an event.
func (x *Tenant) changes(record *ubl.Agreement, last int64) agreement.History {
	return func(ctx context.Context, after int64, fn func(ubl.Change) error) error {
		return x.Events().EachOf(ctx, after+1, last, mayBeStep, func(e event) error {
			if !e.changes(record.ID) {
				return nil
			}
			change := e.Change(e.Member)
			if record.Mandate != nil && e.licenses() { // the event's hash is that of the TenantLicense
				change.Hash = x.mandateAfter(e, record)
			}
			return fn(change)
		})
	}
}

// stepMarks are what an event's stored form has if it is a step of any record's history
// ([event.changes]). Most events of a large tenant are none: sessions, passkeys, containers.
var stepMarks = [][]byte{[]byte(`"access":`), []byte(`"member":`), []byte(`"amendment":`), []byte(`"service":`), []byte(`"ended":`), []byte(`"agreement.end"`)}

// mayBeStep is false for a stored event that is none for sure.
func mayBeStep(stored []byte) bool {
	return slices.ContainsFunc(stepMarks, func(mark []byte) bool { return bytes.Contains(stored, mark) })
}

// mandateAfter is the hash of a mandate after an event that changed the TenantLicense too: it
// came with the agent, or ended with who kept it, after which nothing changes it.
func (x *Tenant) mandateAfter(e event, record *ubl.Agreement) string {
	if e.Service != nil {
		made := e.Service.mandate(x.id)
		return made.Hash()
	}
	return record.Hash()
}

// decideEnd ends a record for good. From then on nobody may use the tool that it is about.
func (s *State) decideEnd(c ubl.EndAgreement, at actors.Moment) (*plan, error) {
	if t, ok := s.agentOf(c.Agreement); ok {
		return s.endMandate(c, t, at)
	}
	err := s.permits(ubl.DidAgreementEnd, c.Who)
	if err != nil && c.Who.IsPlatform() {
		err = agreement.MayEnd(&s.License.Agreement, c.Who, at.Now, ubl.CodeForbidden)
	}
	if err != nil {
		return nil, err
	}
	record, err := s.held(c.Agreement)
	if err != nil {
		return nil, err
	}
	name, tool := toolOf(c.Agreement)
	switch {
	case !tool && s.id() == ubl.CoreTenant:
		return nil, errCoreLicense()
	case !tool && c.Who.IsService && !c.Who.IsPlatform():
		return nil, ubl.Errorf(ubl.CodeForbidden, "only an owner who is a person can end the tenant's Agreement: it is for good")
	}
	if err := record.InForce(); err != nil {
		return nil, err
	}
	terms := s.Tools[name].access
	if terms.Allowed = false; tool {
		record.Terms = terms.terms()
	}
	ending, alarms, ended := agreement.Ending(record, at.Now)
	p := &plan{Act: ending, Alarms: alarms, Answer: func(ubl.Receipt) any { return ended }}
	p.Pointers = pointers(record.ID)
	if tool {
		p.Event.Access = &terms
	}
	return p, nil
}
