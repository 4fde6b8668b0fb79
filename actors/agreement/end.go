package agreement

import (
	"context"

	"ubl"
	"ubl/actors"
)

// TermAlarm is the key of the alarm that ends a record when its terms' time is over.
const TermAlarm = "terms"

// MayEnd lets those end a record whom its terms permit it, and the platform when the terms'
// time is over. The code is for those who have no part in it.
func MayEnd(a *ubl.Agreement, who ubl.Identity, now ubl.Time, refusal ubl.Code) error {
	if who.IsPlatform() && a.Terms.Until != 0 && now >= a.Terms.Until {
		return a.InForce()
	}
	return a.Permits(ubl.DidAgreementEnd, who, refusal)
}

// Ending is the act that ends an Agreement, the alarm that goes with it, and the record as
// it is after that.
func Ending(a ubl.Agreement, now ubl.Time) (act actors.Act, alarms []actors.Alarm, ended *ubl.AgreementView) {
	if a.Terms != nil && a.Terms.Until != 0 {
		alarms = []actors.Alarm{{Key: TermAlarm}}
	}
	a.Status, a.EndedAt, a.Proposal = ubl.AgreementEnded, &now, nil
	return actors.Act{
		This:    ubl.Fields{ubl.Str("agreement_id", a.ID)},
		Effects: []ubl.Fields{{ubl.Str("agreement_id", a.ID), ubl.Str("op", "agreement.end")}},
	}, alarms, a.View(nil)
}

// End ends the record as of a moment: nobody accepts anything any more.
func (a *Kept) End(at ubl.Time) {
	a.Status, a.EndedAt, a.Proposal = ubl.AgreementEnded, &at, nil
	a.Changed()
}

// Lapse is what the alarm of a record leads to.
func (a *Kept) Lapse(ask ubl.Asker, at ubl.Name, req ubl.Request) func(context.Context) error {
	if a.InForce() != nil {
		return nil
	}
	end := ubl.EndAgreement{Request: req, Agreement: a.ID}
	return func(ctx context.Context) error {
		_, err := ask.Ask(ctx, at, end)
		return err
	}
}
