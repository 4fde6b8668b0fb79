package main

import "github.com/prometheus/client_golang/prometheus"

// indexes tell of the indexes of messages; how far they are behind, [consumers] tell.
type indexes struct{ node *node }

var (
	searchFilling = prometheus.NewDesc("ubl_search_indexes_filling", "Tenants' indexes of messages that are being made again in the background.", nil, nil)
	searchThrown  = prometheus.NewDesc("ubl_search_indexes_thrown_away_total", "Indexes of messages that were damaged, or of another form or history, and are made again.", nil, nil)
)

// Describe implements [prometheus.Collector].
func (indexes) Describe(to chan<- *prometheus.Desc) {
	to <- searchFilling
	to <- searchThrown
}

// Collect implements [prometheus.Collector].
func (x indexes) Collect(to chan<- prometheus.Metric) {
	s := x.node.search.Stats()
	to <- prometheus.MustNewConstMetric(searchFilling, prometheus.GaugeValue, float64(s.Filling))
	to <- prometheus.MustNewConstMetric(searchThrown, prometheus.CounterValue, float64(s.Thrown))
}
