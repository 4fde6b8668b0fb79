package tenant

import (
	"testing"

	"ubl"
	"ubl/actors/agreement"
)

// TestUnprovenIsNoMaker: a service of a token of the nodes' key belongs to who has proved
// the address in it. A member who only came by an invitation to that address neither
// keeps the service, nor takes it along when they leave, nor stands in for its maker. A
// service for which nobody would answer doesn't come in.
func TestUnprovenIsNoMaker(t *testing.T) {
	bot := voucher{ubl.LocalIssuer, ubl.LocalSubject("builder", "eve@acme.com")}
	service := ubl.Member{UserID: "u:bot", Role: ubl.RoleMember, IsService: true}
	proven := ubl.Member{UserID: "u:eve", Email: "eve@acme.com", Role: ubl.RoleMember}
	guest := ubl.Member{UserID: "u:guest", Email: "Eve@acme.com", Role: ubl.RoleMember, Unproven: true}
	state := func(removed []ubl.Member, in ...ubl.Member) *State {
		s := &State{
			License: agreement.Kept{Agreement: ubl.Agreement{Members: map[ubl.UserID]ubl.Member{service.UserID: service}}},
			Vouched: map[ubl.UserID]voucher{service.UserID: bot}, Removed: map[ubl.UserID]ubl.Member{},
		}
		for _, m := range in {
			s.License.Members[m.UserID] = m
		}
		for _, m := range removed {
			s.Removed[m.UserID] = m
		}
		return s
	}
	for name, c := range map[string]struct {
		of    ubl.Member
		wards int
	}{"proven": {proven, 1}, "unproven": {guest, 0}} {
		if got := state(nil, proven, guest).wards(c.of); len(got) != c.wards {
			t.Errorf("%s: %d services leave with them", name, len(got))
		}
	}
	for name, c := range map[string]struct {
		removed, in    []ubl.Member
		left, welcomed bool // the service, as a newcomer
	}{
		"nobody has the address":                    {nil, nil, false, false},
		"a guest has it":                            {nil, []ubl.Member{guest}, false, false},
		"the maker is in":                           {nil, []ubl.Member{proven}, false, true},
		"the maker was removed":                     {[]ubl.Member{proven}, nil, true, false},
		"a guest was removed":                       {[]ubl.Member{guest}, nil, false, false},
		"the maker was removed and a guest is in":   {[]ubl.Member{proven}, []ubl.Member{guest}, true, false},
		"the maker was removed and somebody proven": {[]ubl.Member{proven}, []ubl.Member{{UserID: "u:eve2", Email: "eve@acme.com"}}, false, true},
	} {
		s := state(c.removed, c.in...)
		if got := s.makerLeft(bot); got != c.left {
			t.Errorf("%s: the maker has left: %v", name, got)
		}
		if err := s.answeredFor(bot); (err == nil) != c.welcomed || err != nil && ubl.CodeOf(err) != ubl.CodeForbidden {
			t.Errorf("%s: a newcomer is answered %v", name, err)
		}
	}
}
