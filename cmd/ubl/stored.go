package main

import (
	"cmp"
	"maps"
	"slices"

	"github.com/prometheus/client_golang/prometheus"

	"ubl"
)

// largest is how many tenants the figures name: a series for each of thousands would cost
// more than it tells.
const largest = 10

// stored tells which tenants store most, of those that have actors on this node.
type stored struct{ node *node }

func storedDesc() *prometheus.Desc {
	return prometheus.NewDesc("ubl_tenant_stored_bytes",
		"Bytes of messages, documents' texts and ledger, of the ten tenants that store most of those in memory here.", []string{"tenant"}, nil)
}

// Describe implements prometheus.Collector.
func (stored) Describe(out chan<- *prometheus.Desc) { out <- storedDesc() }

// Collect implements prometheus.Collector.
func (s stored) Collect(out chan<- prometheus.Metric) {
	bytes := s.node.actors.Usage()
	most := slices.SortedFunc(maps.Keys(bytes), func(a, b ubl.TenantID) int { return cmp.Compare(bytes[b], bytes[a]) })
	for _, tenant := range most[:min(len(most), largest)] {
		out <- prometheus.MustNewConstMetric(storedDesc(), prometheus.GaugeValue, float64(bytes[tenant]), string(tenant))
	}
}
