package recur_test

import (
	"strings"
	"testing"
	"time"

	"ubl/recur"
)

// start is a Monday, a fortnight before summer time begins in Berlin.
const start = "2026-03-16T09:00:00+01:00"

func berlin(t *testing.T) *time.Location {
	t.Helper()
	zone, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	return zone
}

func begin(t *testing.T) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339, start)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// TestTimes: when rules come true, in the clocks of their zone, until they end.
func TestTimes(t *testing.T) {
	for rule, want := range map[string]string{
		"FREQ=WEEKLY;COUNT=3":                           "03-16 09:00 03-23 09:00 03-30 09:00 end", // summer began on the 29th
		"freq=weekly;byday=tu,th;count=3;":              "03-17 09:00 03-19 09:00 03-24 09:00 end",
		"FREQ=DAILY;INTERVAL=10;UNTIL=20260410":         "03-16 09:00 03-26 09:00 04-05 09:00 end",
		"FREQ=DAILY;BYDAY=MO,TU,WE,TH,FR":               "03-16 09:00 03-17 09:00 03-18 09:00 03-19 09:00",
		"FREQ=MONTHLY;BYMONTHDAY=-1;COUNT=2":            "03-31 09:00 04-30 09:00 end",
		"FREQ=MONTHLY;BYDAY=1FR":                        "04-03 09:00 05-01 09:00 06-05 09:00 07-03 09:00",
		"FREQ=MONTHLY;BYDAY=MO,TU;BYSETPOS=-1":          "03-31 09:00 04-28 09:00 05-26 09:00 06-30 09:00",
		"FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29":           "02-29 09:00 end", // 2028; 2032 is too far ahead
		"FREQ=WEEKLY;INTERVAL=2;UNTIL=20260330T070000Z": "03-16 09:00 03-30 09:00 end",
	} {
		r, err := recur.Parse(rule, begin(t), berlin(t))
		if err != nil {
			t.Errorf("%s: %v", rule, err)
			continue
		}
		var got []string
		for at, ok := r.From(begin(t)); ; at, ok = r.After(at) {
			if !ok {
				got = append(got, "end")
				break
			}
			if got = append(got, at.In(berlin(t)).Format("01-02 15:04")); len(got) == 4 {
				break
			}
		}
		if told := strings.Join(got, " "); told != want {
			t.Errorf("%s comes true at %s, want %s", rule, told, want)
		}
	}
}

// TestRefused: what can't be understood, is too often or never comes true.
func TestRefused(t *testing.T) {
	for _, rule := range []string{
		"", "weekly", "FREQ=", "FREQ=HOURLY", "FREQ=SECONDLY", "FREQ=WEEKLY;FREQ=DAILY", "FREQ=DAILY;COUNT=0", "FREQ=DAILY;COUNT=-1", "FREQ=DAILY;INTERVAL=0",
		"FREQ=DAILY;INTERVAL=1000000000", "FREQ=DAILY;COUNT=2;UNTIL=20300101", "FREQ=DAILY;BYHOUR=1,2", "FREQ=DAILY;BYSETPOS=2", "FREQ=WEEKLY;BYSETPOS=9",
		"FREQ=WEEKLY;BYDAY=2MO", "FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30", "FREQ=YEARLY;BYMONTHDAY=-32", "FREQ=DAILY;INTERVAL=7;BYDAY=TU", "FREQ=DAILY;DTSTART=20200101",
		"FREQ=MONTHLY;BYDAY=XX", "FREQ=MONTHLY;BYMONTHDAY=" + strings.Repeat("1,", 200) + "1", "FREQ=DAILY\nRDATE=20300101", "RRULE:FREQ=DAILY", "FREQ=MONTHLY;BYEASTER=1",
		"FREQ=MONTHLY;BYMONTHDAY=1,99999999999999999999", "FREQ=MONTHLY;BYMONTHDAY=0",
		"FREQ=MONTHLY;BYDAY=8TU", "FREQ=YEARLY;BYMONTH=1;BYDAY=-9MO",
	} {
		if _, err := recur.Parse(rule, begin(t), berlin(t)); err == nil {
			t.Errorf("%q is taken", rule)
		}
	}
}

// FuzzParse: no rule makes it panic, and times go one way.
func FuzzParse(f *testing.F) {
	f.Add("FREQ=MONTHLY;BYDAY=-1MO,2TU;BYMONTH=3;BYSETPOS=1")
	f.Add("FREQ=YEARLY;BYMONTHDAY=29;BYMONTH=2;INTERVAL=3")
	f.Fuzz(func(t *testing.T, rule string) {
		r, err := recur.Parse(rule, begin(t), time.UTC)
		if err != nil {
			return
		}
		at, ok := r.From(begin(t))
		for range 5 {
			if !ok {
				return
			}
			next, more := r.After(at)
			if more && (!next.After(at) || next.Sub(begin(t)) > recur.MaxSpan) {
				t.Fatalf("%q comes true at %v after %v", rule, next, at)
			}
			at, ok = next, more
		}
	})
}
