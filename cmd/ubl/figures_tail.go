package main

import "github.com/prometheus/client_golang/prometheus"

// consumers tell how far those are that follow tenants' ledgers.
type consumers struct{ node *node }

func tailDesc(name, help string) *prometheus.Desc {
	return prometheus.NewDesc("ubl_tail_"+name, help, []string{"consumer"}, nil)
}

var (
	tailLedgers   = tailDesc("ledgers_behind", "Tenants' ledgers with acts that the consumer hasn't had, of those that this node looks after.")
	tailAtoms     = tailDesc("lag_atoms", "How many atoms the consumer was behind when it last looked.")
	tailSeconds   = tailDesc("lag_seconds", "How long the consumer has been behind of the ledger that it has been behind of for longest.")
	tailDelivered = tailDesc("delivered_total", "Acts that the consumer has had.")
	tailFailures  = tailDesc("failures_total", "Attempts that failed; the consumer's parked subjects are tried again by alarms.")
)

// Describe implements [prometheus.Collector].
func (consumers) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{tailLedgers, tailAtoms, tailSeconds, tailDelivered, tailFailures} {
		to <- d
	}
}

// Collect implements [prometheus.Collector].
func (c consumers) Collect(to chan<- prometheus.Metric) {
	for consumer, s := range c.node.actors.FollowStats() {
		put := func(d *prometheus.Desc, kind prometheus.ValueType, value float64) {
			to <- prometheus.MustNewConstMetric(d, kind, value, consumer)
		}
		put(tailLedgers, prometheus.GaugeValue, float64(s.Groups))
		put(tailAtoms, prometheus.GaugeValue, float64(s.Atoms))
		put(tailSeconds, prometheus.GaugeValue, s.Late.Seconds())
		put(tailDelivered, prometheus.CounterValue, float64(s.Delivered))
		put(tailFailures, prometheus.CounterValue, float64(s.Failures))
	}
}
