package tenant

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"ubl"
	"ubl/actors"
)

// presence is until when each person counts as present. It lives in memory alone: a Tenant that
// was loaded again begins with nobody, and hears of those who are there within a minute.
type presence map[ubl.UserID]ubl.Time

// setPresent notes that a person is there, or is not any more.
func (x *Tenant) setPresent(t *actors.Turn, c ubl.SetPresent) {
	_, err := x.State.member(c.Who)
	if err == nil && c.Who.IsService {
		err = ubl.Errorf(ubl.CodeForbidden, "only people are present: what works for them is always there")
	}
	if err != nil {
		t.Fail(err)
		return
	}
	is := ubl.Presence{UserID: c.Who.UserID, Until: t.Now()}
	if c.Present {
		is.Until = is.Until.Add(ubl.PresentFor)
		x.present[is.UserID] = is.Until
	} else {
		delete(x.present, is.UserID)
	}
	t.Reply(&is)
}

// listPresent tells who is there now. What is past is forgotten on the way, and so is who left.
func (x *Tenant) listPresent(t *actors.Turn, c ubl.ListPresent) {
	_, err := x.State.member(c.Who)
	if err == nil {
		err = x.State.beyond(c.Who)
	}
	if err != nil {
		t.Fail(err)
		return
	}
	now := t.Now()
	maps.DeleteFunc(x.present, func(user ubl.UserID, until ubl.Time) bool {
		_, inside := x.State.License.Members[user]
		return until <= now || !inside
	})
	list := make([]ubl.Presence, 0, len(x.present))
	for user, until := range x.present {
		list = append(list, ubl.Presence{UserID: user, Until: until})
	}
	t.Read(nil, func(context.Context) (any, error) {
		slices.SortFunc(list, func(a, b ubl.Presence) int { return cmp.Compare(a.UserID, b.UserID) })
		return list, nil
	})
}
