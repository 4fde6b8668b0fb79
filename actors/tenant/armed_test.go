package tenant_test

import (
	"slices"
	"testing"

	"ubl"
	"ubl/actors/tenant"
)

// kept is a store of a few records.
type kept struct {
	ubl.Snapshot
	records map[string][]byte
}

func (k kept) Get(key []byte) ([]byte, error) { return k.records[string(key)], nil }

// TestSweptOnceAVersion: a tenant has its sweep where it is from a version before alarms, or
// before the sweep asked the Portal; a new one needs none.
func TestSweptOnceAVersion(t *testing.T) {
	const mark = "s\x01"
	first := string(tenant.EventKey(1))
	for name, c := range map[string]struct {
		records map[string][]byte
		want    []string
	}{
		"nothing there":     {nil, nil},
		"before alarms":     {map[string][]byte{first: {1}}, []string{""}},
		"before the Portal": {map[string][]byte{first: {1}, mark: {1}}, []string{""}},
		"of this version":   {map[string][]byte{first: {1}, mark: {2}}, nil},
		"of a later one":    {map[string][]byte{first: {1}, mark: {3}}, nil},
	} {
		if got, err := tenant.Unarmed(kept{records: c.records}); err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}
