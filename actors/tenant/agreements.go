package tenant

import (
	"strings"

	"ubl"
	"ubl/actors"
)

// held is a record that the Tenant holds: its TenantLicense, or the ToolAccess
// of a tool.
func (x *Tenant) held(id ubl.AgreementID) (ubl.Agreement, error) {
	if id == "" || id == x.state.License.ID {
		return x.state.License.Share(), nil
	}
	if name, ok := toolOf(id); ok {
		if r, known := x.state.Tools[name]; known {
			return r.Agreement, nil
		}
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
	_, err := x.member(c.Who)
	if c.Who.IsPlatform() {
		err = nil
	}
	var now ubl.Agreement
	if err == nil {
		now, err = x.held(c.Agreement)
	}
	if err != nil {
		t.Fail(err)
		return
	}
	ctx, last := t.Context(), x.state.Events
	t.Later(func() (any, error) {
		if c.Brief {
			return now.View(nil), nil
		}
		var history []ubl.Change
		err := x.eachEvent(ctx, last, func(e event) {
			if e.changes(now.ID) {
				history = append(history, e.change())
			}
		})
		return now.View(history), err
	})
}

// endAgreement ends a record for good.
func (x *Tenant) endAgreement(t *actors.Turn, c ubl.EndAgreement) {
	name, ok := toolOf(c.Agreement)
	if !ok {
		x.change(t, c.Request, ubl.DidAgreementEnd, x.decideEnd(c))
		return
	}
	x.change(t, c.Request, ubl.DidAgreementEnd, x.decideClose(c, name), string(c.Agreement))
}

func (x *Tenant) decideEnd(c ubl.EndAgreement) func(ubl.Time) (*plan, error) {
	return func(ubl.Time) (*plan, error) {
		if err := x.owner(c.Who); err != nil {
			return nil, err
		}
		if _, err := x.held(c.Agreement); err != nil {
			return nil, err
		}
		if x.id == ubl.CoreTenant {
			return nil, ubl.Errorf(ubl.CodeConflict, "the license of the platform's own tenant can't be ended")
		}
		return ending(x.state.License.ID), nil
	}
}

// decideClose ends a ToolAccess record: from then on nobody may use the tool.
func (x *Tenant) decideClose(c ubl.EndAgreement, name string) func(ubl.Time) (*plan, error) {
	return func(ubl.Time) (*plan, error) {
		if err := x.owner(c.Who); err != nil {
			return nil, err
		}
		record, err := x.held(c.Agreement)
		if err != nil {
			return nil, err
		}
		if err := record.InForce(); err != nil {
			return nil, err
		}
		terms := x.state.Tools[name].access
		terms.Allowed = false
		p := ending(record.ID)
		p.event.Access, p.tells = &terms, toolsChanged(name)
		return p, nil
	}
}

func ending(id ubl.AgreementID) *plan {
	return &plan{
		about:  id,
		this:   ubl.Fields{ubl.Str("agreement_id", id)},
		effect: ubl.Fields{ubl.Str("agreement_id", id), ubl.Str("op", "agreement.end")},
	}
}
