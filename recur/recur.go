// Package recur computes when something recurs: rules of RFC 5545 (RRULE) in a time zone, on
// rrule-go.
//
// A rule repeats daily at the most, for [MaxSpan] at the longest. It has the parts that calendars
// offer: FREQ, INTERVAL, COUNT, UNTIL, WKST, BYDAY, BYMONTHDAY, BYMONTH and, for months and years,
// BYSETPOS. The time of day is that of the start, as the zone's clocks show it: nine in the morning
// stays nine when summer begins. Others are refused, and so are rules that can never come true: the
// library would look for their next time until the year 9999.
package recur

import (
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/teambition/rrule-go"
)

const (
	// MaxRule is the longest rule, in bytes.
	MaxRule = 300
	// MaxSpan is how long after its start a rule ends that doesn't end before.
	MaxSpan = 5 * 366 * 24 * time.Hour
	// maxParts bounds the lists of a part, as BYDAY.
	maxParts    = 31
	maxInterval = 1000
	// maxNth is the last number of a day of the week, as 5FR: the library panics for more than a month has.
	maxNth = 5
)

// Rule is a rule from a start on.
type Rule struct{ rule *rrule.RRule }

// allowed are the parts of a rule that may stand there, for the frequencies that may have them.
var allowed = map[string][]string{
	"DAILY":   {"BYDAY", "BYMONTHDAY", "BYMONTH"},
	"WEEKLY":  {"BYDAY", "BYMONTH"},
	"MONTHLY": {"BYDAY", "BYMONTHDAY", "BYMONTH", "BYSETPOS"},
	"YEARLY":  {"BYDAY", "BYMONTHDAY", "BYMONTH", "BYSETPOS"},
}

// always may stand in every rule.
var always = []string{"FREQ", "INTERVAL", "COUNT", "UNTIL", "WKST"}

// Parse reads a rule, as FREQ=WEEKLY;BYDAY=MO. What it returns may be shown: it says what is wrong
// with the rule, and none of its text.
func Parse(text string, start time.Time, zone *time.Location) (Rule, error) {
	if len(text) > MaxRule {
		return Rule{}, errors.New("is longer than 300 bytes")
	}
	parts := map[string]string{}
	for part := range strings.SplitSeq(strings.ToUpper(strings.TrimSuffix(text, ";")), ";") {
		name, value, ok := strings.Cut(part, "=")
		if _, twice := parts[name]; !ok || twice || value == "" || strings.Count(value, ",") >= maxParts {
			return Rule{}, errors.New("is no rule such as FREQ=WEEKLY;BYDAY=MO")
		}
		parts[name] = value
	}
	by, known := allowed[parts["FREQ"]]
	if !known {
		return Rule{}, errors.New("has a FREQ that is none of DAILY, WEEKLY, MONTHLY and YEARLY")
	}
	for name := range parts {
		if !slices.Contains(always, name) && !slices.Contains(by, name) {
			return Rule{}, errors.New("has a part that its FREQ can't have here")
		}
	}
	option, err := rrule.StrToROptionInLocation(strings.ToUpper(strings.TrimSuffix(text, ";")), zone)
	if err != nil {
		return Rule{}, errors.New("can't be read: it is no RRULE of RFC 5545")
	}
	if err := sound(option, parts); err != nil {
		return Rule{}, err
	}
	option.Dtstart = start.In(zone).Truncate(time.Second)
	if last := start.Add(MaxSpan); option.Until.IsZero() || option.Until.After(last) {
		option.Until = last
	}
	rule, err := rrule.NewRRule(*option)
	if err != nil {
		return Rule{}, errors.New("has a number that is out of range")
	}
	return Rule{rule}, nil
}

// sound refuses what makes no sense, or never comes true.
func sound(o *rrule.ROption, parts map[string]string) error {
	_, counted := parts["COUNT"]
	_, until := parts["UNTIL"]
	_, every := parts["INTERVAL"]
	switch {
	case counted && until:
		return errors.New("has both COUNT and UNTIL")
	case counted && o.Count < 1, every && (o.Interval < 1 || o.Interval > maxInterval):
		return errors.New("has a COUNT or an INTERVAL that is out of range")
	case o.Freq == rrule.DAILY && o.Interval > 1 && len(o.Byweekday)+len(o.Bymonthday)+len(o.Bymonth) > 0:
		return errors.New("is daily with an INTERVAL and days, which may never meet")
	case (o.Freq == rrule.DAILY || o.Freq == rrule.WEEKLY) && slices.ContainsFunc(o.Byweekday, func(d rrule.Weekday) bool { return d.N() != 0 }):
		return errors.New("numbers a day of the week, which only months and years do")
	case slices.ContainsFunc(o.Byweekday, func(d rrule.Weekday) bool { return max(d.N(), -d.N()) > maxNth }):
		return errors.New("numbers a day of the week that no month has so often")
	case len(o.Bymonthday) > 0 && !meets(o.Bymonth, o.Bymonthday):
		return errors.New("never comes true: none of its months has such a day")
	}
	return nil
}

// longest is how many days a month may have.
var longest = [...]int{31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31}

// meets reports whether one of the months, or of all, has one of the days, from its end if negative.
func meets(months, days []int) bool {
	for month, most := range longest {
		if len(months) > 0 && !slices.Contains(months, month+1) {
			continue
		}
		if slices.ContainsFunc(days, func(day int) bool { return day != 0 && max(day, -day) <= most }) {
			return true
		}
	}
	return false
}

// From is the first time at or after a moment, false where there is none any more.
func (r Rule) From(at time.Time) (time.Time, bool) {
	next := r.rule.After(at, true)
	return next, !next.IsZero()
}

// After is the first time after a moment, false where there is none any more.
func (r Rule) After(at time.Time) (time.Time, bool) {
	next := r.rule.After(at, false)
	return next, !next.IsZero()
}
