package ubl

import (
	"testing"
	"time"
)

// TestDecide: which messages reach whom, and when.
func TestDecide(t *testing.T) {
	at := func(s string) Time {
		x, err := time.Parse(time.RFC3339, s)
		if err != nil {
			t.Fatal(err)
		}
		return TimeOf(x)
	}
	noon := at("2026-03-04T12:00:00Z") // a Wednesday
	room := func(p RoomPreference) Preferences {
		p.RoomID = "r:a"
		return Preferences{}.With(p)
	}
	night := Preferences{Quiet: &QuietHours{From: "22:00", To: "07:00", Zone: "Europe/Berlin"}}
	with := func(p Preferences, change func(*Preferences)) Preferences { change(&p); return p }
	words := func(list ...string) Preferences { return Preferences{Keywords: list} }
	const no, yes = "no", "at once"
	for name, test := range map[string]struct {
		wants Preferences
		news  News
		at    Time
		want  string
	}{
		"said to all":                             {Preferences{}, News{}, noon, no},
		"a mention":                               {Preferences{}, News{Mentioned: true}, noon, yes},
		"an answer in a thread of theirs":         {Preferences{}, News{Thread: true}, noon, yes},
		"direct":                                  {Preferences{}, News{Direct: true}, noon, yes},
		"direct, where mentions are wanted":       {room(RoomPreference{Level: NotifyMentions}), News{Direct: true}, noon, no},
		"said to all, where all is wanted":        {room(RoomPreference{Level: NotifyAll}), News{}, noon, yes},
		"a mention, where nothing is":             {room(RoomPreference{Level: NotifyNothing}), News{Mentioned: true}, noon, no},
		"another room's level":                    {Preferences{}.With(RoomPreference{RoomID: "r:b", Level: NotifyAll}), News{}, noon, no},
		"mute":                                    {room(RoomPreference{MutedUntil: noon + 1, Level: NotifyAll}), News{Mentioned: true}, noon, no},
		"mute no longer":                          {room(RoomPreference{MutedUntil: noon}), News{Mentioned: true}, noon, yes},
		"a keyword":                               {words("deploy"), News{Text: "Deploy: done"}, noon, yes},
		"a keyword of two words":                  {words("on fire"), News{Text: "it's ON FIRE!"}, noon, yes},
		"a part of a word":                        {words("deploy"), News{Text: "redeployed, deployed"}, noon, no},
		"a word behind a part of one":             {words("cat"), News{Text: "concat cat"}, noon, yes},
		"letters of other scripts":                {words("счёт"), News{Text: "Где СЧЁТ?"}, noon, yes},
		"a part of a word in them":                {words("счёт"), News{Text: "расчёт счётчик"}, noon, no},
		"a keyword that isn't letters":            {words("c++"), News{Text: "in C++, or so"}, noon, yes},
		"a keyword, where nothing is wanted":      {with(room(RoomPreference{Level: NotifyNothing}), func(p *Preferences) { p.Keywords = []string{"x"} }), News{Text: "x"}, noon, no},
		"do not disturb":                          {Preferences{DisturbAt: at("2026-03-04T13:00:00Z")}, News{Mentioned: true}, noon, "2026-03-04T13:00:00.000Z"},
		"do not disturb, over":                    {Preferences{DisturbAt: noon}, News{Mentioned: true}, noon, yes},
		"do not disturb, and not for them":        {Preferences{DisturbAt: at("2026-03-04T13:00:00Z")}, News{}, noon, no},
		"at night, before midnight":               {night, News{Mentioned: true}, at("2026-03-04T22:30:00Z"), "2026-03-05T06:00:00.000Z"},
		"at night, behind it":                     {night, News{Mentioned: true}, at("2026-03-05T02:00:00Z"), "2026-03-05T06:00:00.000Z"},
		"in the morning":                          {night, News{Mentioned: true}, at("2026-03-05T06:00:00Z"), yes},
		"the night in which summer time begins":   {night, News{Mentioned: true}, at("2026-03-29T00:30:00Z"), "2026-03-29T05:00:00.000Z"},
		"a night that no chosen day begins":       {with(night, func(p *Preferences) { q := *p.Quiet; q.Days = []string{"sat"}; p.Quiet = &q }), News{Mentioned: true}, at("2026-03-05T02:00:00Z"), yes},
		"the morning behind a chosen day":         {with(night, func(p *Preferences) { q := *p.Quiet; q.Days = []string{"wed"}; p.Quiet = &q }), News{Mentioned: true}, at("2026-03-05T02:00:00Z"), "2026-03-05T06:00:00.000Z"},
		"do not disturb that leads into a night":  {with(night, func(p *Preferences) { p.DisturbAt = at("2026-03-04T21:30:00Z") }), News{Mentioned: true}, noon, "2026-03-05T06:00:00.000Z"},
		"a night that ends in a do not disturb":   {with(night, func(p *Preferences) { p.DisturbAt = at("2026-03-05T08:00:00Z") }), News{Mentioned: true}, at("2026-03-05T02:00:00Z"), "2026-03-05T08:00:00.000Z"},
		"a pause in the day, by the zone's clock": {Preferences{Quiet: &QuietHours{From: "12:00", To: "13:00", Zone: "Asia/Kolkata"}}, News{Mentioned: true}, at("2026-03-04T06:45:00Z"), "2026-03-04T07:30:00.000Z"},
	} {
		test.news.RoomID = "r:a"
		v, got := test.wants.Decide(test.news, test.at), no
		switch {
		case v.For && v.Until == 0:
			got = yes
		case v.For:
			got = v.Until.String()
		}
		if got != test.want {
			t.Errorf("%s: %s, want %s", name, got, test.want)
		}
	}
}
