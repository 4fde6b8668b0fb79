package ubl_test

import (
	"testing"

	"ubl"
)

// TestAsOfHas: the atom and the millisecond that are named belong to the moment.
func TestAsOfHas(t *testing.T) {
	receipt := ubl.Receipt{Seq: 7, Time: 1000}
	for _, c := range []struct {
		at   ubl.AsOf
		want bool
	}{
		{ubl.AsOf{}, true},
		{ubl.AsOf{Seq: 6}, false}, {ubl.AsOf{Seq: 7}, true}, {ubl.AsOf{Seq: 8}, true},
		{ubl.AsOf{Time: 999}, false}, {ubl.AsOf{Time: 1000}, true}, {ubl.AsOf{Time: 1001}, true},
	} {
		if got := c.at.Has(receipt); got != c.want {
			t.Errorf("%+v has %+v: %v", c.at, receipt, got)
		}
	}
}
