package main

import (
	"math"
	"strings"
	"testing"

	"ubl"
	"ubl/storage"
)

// TestLostText: what was given up is named, and no more than that.
func TestLostText(t *testing.T) {
	for _, test := range []struct {
		loss storage.Loss
		want string
	}{
		{storage.Loss{From: 11, To: 12, Groups: []string{"t:a|0"}, Kept: "j", Ledgers: []storage.LostLedger{{Group: "t:a|0", Kept: 20, Newest: 24,
			Runs: []storage.LostRun{{Space: "m", Name: "r:general", From: 9, To: 10}, {Space: "g", Name: "r:new", From: 1, To: 1}}}}},
			"records 11 to 12 are lost: t:a|0 keeps its atoms up to 20 and lost 21 to 24, among them entries 9 to 10 of r:general and 1 more; the journal is kept as j"},
		{storage.Loss{From: 11, To: 11, Unread: 1, Kept: "j", Ledgers: []storage.LostLedger{{Group: "t:a|0", Kept: 20}, {Group: "t:b|0", Kept: 3}}},
			"records 11 to 11 are lost; 1 record can't be read any more: nobody can know whose acts they held, how many, or what they were; " +
				"they may also be of t:a|0 (kept up to atom 20) and 1 more, or of a ledger that began with them; the journal is kept as j"},
		{storage.Loss{From: 11, Kept: "j"}, "all records before 11 are there, and nothing says whether there were more; the journal is kept as j"},
		{storage.Loss{From: 2}, "all records before 2 are there, and nothing says whether there were more; there was no journal to keep"},
	} {
		if got := lost(test.loss, 1) + "; " + kept(test.loss); got != test.want {
			t.Errorf("got %q, want %q", got, test.want)
		}
	}
}

// TestLostTextIsAMessage: however much was lost, what the platform says of it fits.
func TestLostTextIsAMessage(t *testing.T) {
	l := storage.Loss{From: math.MaxUint64 - 1, To: math.MaxUint64, Unread: math.MaxUint32, More: math.MaxInt32}
	for range 64 {
		ledger := storage.LostLedger{Group: "t:" + strings.Repeat("x", 128) + "|0", Kept: math.MaxInt64 - 2}
		l.Ledgers = append(l.Ledgers, ledger)
		ledger.Newest = math.MaxInt64
		for range 64 {
			ledger.Runs = append(ledger.Runs, storage.LostRun{Space: "m", Name: "r:" + strings.Repeat("x", 128), From: 1, To: math.MaxInt64})
		}
		l.Ledgers = append(l.Ledgers, ledger)
	}
	if err := ubl.CheckText("Given up: in partition 1024 "+lost(l, shownLedgers), ubl.MaxMessageBytes); err != nil {
		t.Error(err)
	}
}
