package main

import (
	"github.com/prometheus/client_golang/prometheus"

	"ubl/storage"
)

// buildInfo is 1, with what the program knows of its build.
func buildInfo() prometheus.Collector {
	g := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "ubl_build_info", Help: "1; the labels say which program this is.",
		ConstLabels: prometheus.Labels{"version": version(), "go": goVersion(), "revision": revision()},
	})
	g.Set(1)
	return g
}

// disk tells how much room there is for data; nothing where the system doesn't say.
type disk struct{ store *storage.Engine }

func diskDescs() (free, size *prometheus.Desc) {
	return prometheus.NewDesc("ubl_disk_free_bytes", "Bytes left on the disk of the data directory.", nil, nil),
		prometheus.NewDesc("ubl_disk_size_bytes", "Bytes that the disk of the data directory has.", nil, nil)
}

// Describe implements prometheus.Collector.
func (disk) Describe(out chan<- *prometheus.Desc) {
	free, size := diskDescs()
	out <- free
	out <- size
}

// Collect implements prometheus.Collector.
func (d disk) Collect(out chan<- prometheus.Metric) {
	left, total, ok := d.store.Space()
	if !ok {
		return
	}
	free, size := diskDescs()
	out <- prometheus.MustNewConstMetric(free, prometheus.GaugeValue, float64(left))
	out <- prometheus.MustNewConstMetric(size, prometheus.GaugeValue, float64(total))
}
