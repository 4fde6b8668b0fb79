package search

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// TestBetween: a day is in a time just where one of its terms is one of those of the time, and these are few.
func TestBetween(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		day := func(name string) string {
			return time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC).AddDate(0, 0, rapid.IntRange(0, 3_652_424).Draw(t, name)).Format(dayForm)
		}
		bound := func(name string) string {
			if rapid.Bool().Draw(t, "no "+name) {
				return ""
			}
			return day(name)
		}
		from, to, at := bound("from"), bound("to"), day("at")
		terms := between(from, to)
		found := slices.ContainsFunc(parts(at), func(term string) bool { return slices.Contains(terms, term) })
		if want := from <= at && (to == "" || at <= to); found != want {
			t.Fatalf("%s is found: %v, from %q to %q", at, found, from, to)
		}
		if len(terms) > 150 {
			t.Fatalf("%d terms from %q to %q", len(terms), from, to)
		}
	})
}
