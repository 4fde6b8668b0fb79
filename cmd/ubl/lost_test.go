package main

import (
	"testing"

	"ubl/storage"
)

// TestLostText: what was given up is named, and no more than that.
func TestLostText(t *testing.T) {
	for _, test := range []struct {
		loss storage.Loss
		want string
	}{
		{storage.Loss{From: 11, To: 12, Groups: []string{"t:a|0"}, Kept: "j"}, "records 11 to 12 are lost, some of t:a|0; the journal is kept as j"},
		{storage.Loss{From: 11, Kept: "j"}, "all records before 11 are there, and nothing says whether there were more; the journal is kept as j"},
		{storage.Loss{From: 2}, "all records before 2 are there, and nothing says whether there were more; there was no journal to keep"},
	} {
		if got := lost(test.loss) + "; " + kept(test.loss); got != test.want {
			t.Errorf("got %q, want %q", got, test.want)
		}
	}
}
