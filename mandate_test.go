package ubl_test

import (
	"strings"
	"testing"

	"ubl"
)

// TestWithin: which changes of a mandate only narrow it, so that they need no fresh proof.
func TestWithin(t *testing.T) {
	all := &ubl.Mandate{}
	tools := func(names ...string) *ubl.Mandate { return &ubl.Mandate{Tools: names} }
	places := func(ids ...string) *ubl.Mandate { return &ubl.Mandate{Places: ids} }
	minute := func(n int) *ubl.Mandate { return &ubl.Mandate{PerMinute: n} }
	reads := &ubl.Mandate{ReadOnly: true}
	for _, test := range []struct {
		what     string
		now, was *ubl.Mandate
		want     bool
	}{
		{"from none at all", all, nil, true},
		{"to none at all", nil, all, false},
		{"the same", all, all, true},
		{"fewer tools", tools("messenger.send"), tools("messenger.*"), true},
		{"a smaller beginning", tools("messenger.se*"), tools("messenger.*"), true},
		{"a larger beginning", tools("mess*"), tools("messenger.*"), false},
		{"a beginning that is a name", tools("messenger.send*"), tools("messenger.send"), false},
		{"a name with more behind it", tools("messenger.sends"), tools("messenger.send"), false},
		{"one more tool", tools("messenger.send", "room.get"), tools("messenger.send"), false},
		{"all tools", all, tools("messenger.*"), false},
		{"some tools", tools("messenger.*"), all, true},
		{"everything, spelled out", tools("*"), tools("messenger.*", "room.*"), false},
		{"fewer places", places("r:a"), places("r:a", "r:b"), true},
		{"another place", places("r:c"), places("r:a", "r:b"), false},
		{"all places", all, places("r:a"), false},
		{"more a minute", minute(61), minute(60), false},
		{"fewer a minute", minute(59), minute(60), true},
		{"no limit", all, minute(60), false},
		{"to read alone", reads, all, true},
		{"to write too", all, reads, false},
		{"other sets, which decide nothing", &ubl.Mandate{Sets: []string{"office"}}, &ubl.Mandate{Sets: []string{"messenger"}}, true},
	} {
		if got := test.now.Within(test.was); got != test.want {
			t.Errorf("%s: within %t", test.what, got)
		}
	}
}

// TestCheckMandate: what isn't one, and where. What is wrong is not repeated.
func TestCheckMandate(t *testing.T) {
	many := func(n int, of string) []string {
		return strings.Split(strings.TrimSuffix(strings.Repeat(of+",", n), ","), ",")
	}
	for _, test := range []struct {
		mandate ubl.Mandate
		place   string // "" for a good one
	}{
		{ubl.Mandate{}, ""},
		{ubl.Mandate{Sets: []string{"messenger", "weather-2", "server:files"}, Tools: []string{"*", "messenger.*", "room.get"}, Places: []string{"r:a", "w:b", "k:c"}, PerMinute: 1}, ""},
		{ubl.Mandate{Sets: []string{"my secret"}}, "mandate.sets"},
		{ubl.Mandate{Sets: []string{"server:"}}, "mandate.sets"},
		{ubl.Mandate{Sets: many(33, "a")}, "mandate.sets"},
		{ubl.Mandate{Tools: []string{""}}, "mandate.tools"},
		{ubl.Mandate{Tools: []string{"my secret"}}, "mandate.tools"},
		{ubl.Mandate{Tools: []string{"a*b"}}, "mandate.tools"},
		{ubl.Mandate{Tools: []string{"**"}}, "mandate.tools"},
		{ubl.Mandate{Tools: many(65, "a")}, "mandate.tools"},
		{ubl.Mandate{Places: []string{"u:my.secret"}}, "mandate.places"},
		{ubl.Mandate{Places: []string{"t:acme.com"}}, "mandate.places"},
		{ubl.Mandate{Places: []string{"general"}}, "mandate.places"},
		{ubl.Mandate{Places: many(101, "r:a")}, "mandate.places"},
		{ubl.Mandate{PerMinute: -1}, "mandate.per_minute"},
		{ubl.Mandate{PerMinute: ubl.MaxPerMinute + 1}, "mandate.per_minute"},
	} {
		err := test.mandate.Check()
		if test.place == "" {
			if err != nil {
				t.Errorf("%+v: %v", test.mandate, err)
			}
			continue
		}
		details := ubl.AsError(err).Details
		if ubl.CodeOf(err) != ubl.CodeValidation || len(details) != 1 || details[test.place] == "" || strings.Contains(details[test.place], "secret") {
			t.Errorf("%+v: %v %v", test.mandate, err, details)
		}
	}
}

// TestMandateIsHashed: an Agreement's hash covers what a mandate says, and those of all other
// Agreements are what they were.
func TestMandateIsHashed(t *testing.T) {
	record := func(m *ubl.Mandate) string {
		return (&ubl.Agreement{ID: "a:agent:1", Type: ubl.AgentMandateType, TenantID: "t:a", Status: ubl.AgreementInForce, Mandate: m}).Hash()
	}
	hashes := map[string]bool{}
	for _, m := range []*ubl.Mandate{nil, {}, {ReadOnly: true}, {Places: []string{"r:a"}}, {Tools: []string{"*"}}, {PerMinute: 1}, {Sets: []string{"a"}}} {
		hashes[record(m)] = true
	}
	if len(hashes) != 7 {
		t.Errorf("seven records have %d hashes", len(hashes))
	}
}
