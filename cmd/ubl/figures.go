package main

import (
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"ubl/cluster"
	"ubl/limits"
	"ubl/storage"
	"ubl/transport/mcp/script"
	"ubl/transport/public"
	"ubl/transport/sse"
)

// figures are the metrics of what is behind the HTTP server. What the parts
// count themselves is read at each scrape.
type figures struct {
	commits *prometheus.HistogramVec
	logs    *prometheus.HistogramVec
	batches prometheus.Histogram
	bytes   prometheus.Counter
	refused prometheus.Counter
	// writes is how long writes are under way, those that wait for a commit included.
	writes prometheus.Histogram
	// written is how many there were, for those who do their work between them.
	written atomic.Int64
	// files are commits behind the journal of a node alone, snapshots and installs
	// are of a cluster's.
	files, snapshots, installs *prometheus.HistogramVec
	all                        []prometheus.Collector
}

func newFigures() *figures {
	f := &figures{
		commits: durations("ubl_storage_commit_duration_seconds",
			"Time of a transaction: of a node alone with both syncs; in a cluster, where nobody waits for it, without."),
		logs: durations("ubl_raft_log_write_duration_seconds",
			"Time of a write to a partition's log, its sync included."),
		batches: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "ubl_storage_commit_batches", Help: "Batches in one transaction.", Buckets: prometheus.ExponentialBuckets(1, 2, 11),
		}),
		bytes:   prometheus.NewCounter(prometheus.CounterOpts{Name: "ubl_storage_committed_bytes_total", Help: "Bytes in committed batches."}),
		refused: prometheus.NewCounter(prometheus.CounterOpts{Name: "ubl_storage_refused_batches_total", Help: "Batches refused for a lease, head or counter that was not as expected."}),
	}
	f.writes = prometheus.NewHistogram(prometheus.HistogramOpts{
		Name: "ubl_actors_write_duration_seconds", Help: "Time of a command that writes, from its place in a mailbox to its commit.",
		Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 10},
	})
	f.files = durations("ubl_storage_background_commit_duration_seconds",
		"Time of a transaction that a node alone commits behind its journal, with both syncs; nobody waits for it but readers.")
	f.snapshots = durations("ubl_raft_snapshot_duration_seconds", "Time to write a snapshot of a partition.")
	f.installs = durations("ubl_raft_install_duration_seconds", "Time to take over a partition's snapshot from its leader.")
	f.all = []prometheus.Collector{f.commits, f.batches, f.bytes, f.refused, f.writes, f.files, buildInfo()}
	return f
}

// durations count how long something takes on a disk, by outcome. Both are there from
// the beginning, so that the first failure is an increase.
func durations(name, help string) *prometheus.HistogramVec {
	h := prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: name, Help: help, Buckets: []float64{.0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 5, 30, 120},
	}, []string{"outcome"})
	for _, o := range []string{"ok", "error"} {
		h.WithLabelValues(o)
	}
	return h
}

// outcome is the label of an error.
func outcome(err error) string {
	if err != nil {
		return "error"
	}
	return "ok"
}

// logged is told of every write to a log of the cluster's.
func (f *figures) logged(took time.Duration, err error) {
	observe(f.logs, took, err)
}

// fileCommitted is told of every commit behind a journal.
func (f *figures) fileCommitted(_ int, took time.Duration, err error) { observe(f.files, took, err) }

// snapshotted is told of every snapshot taken, installed of every one taken over.
func (f *figures) snapshotted(took time.Duration, err error) { observe(f.snapshots, took, err) }
func (f *figures) installed(took time.Duration, err error)   { observe(f.installs, took, err) }

func observe(h *prometheus.HistogramVec, took time.Duration, err error) {
	h.WithLabelValues(outcome(err)).Observe(took.Seconds())
}

// committed is told of every transaction.
func (f *figures) committed(c storage.Commit) {
	observe(f.commits, c.Took, c.Err)
	f.refused.Add(float64(c.Refused))
	if c.Err == nil {
		f.batches.Observe(float64(c.Batches))
		f.bytes.Add(float64(c.Bytes))
	}
}

// watch adds what storage and actors count.
func (f *figures) watch(n *node) {
	f.all = append(f.all, partitions{n.store}, disk{n.store}, scrubs{n.store}, stored{n}, consumers{n}, indexes{n},
		gauge("ubl_backup_last_success_timestamp_seconds", "When the newest backup that was made through this node was complete, in Unix time; 0 for never.", n.lastBackup.Load),
		gauge("ubl_actors_active", "Actors in memory.", func() int64 { return n.actors.Stats().Active }),
		gauge("ubl_actors_waiting_commands", "Commands in mailboxes.", func() int64 { return n.actors.Stats().Waiting }),
		gauge("ubl_actors_groups", "Tenants in memory.", func() int64 { return n.actors.Stats().Groups }),
		gauge("ubl_alarms_groups", "Tenants with alarms, of those that this node looks after.", func() int64 { return int64(n.actors.AlarmStats().Groups) }),
		gauge("ubl_alarms_failed", "Alarms that failed too often and are not tried any more.", func() int64 { return int64(n.actors.AlarmStats().Failed) }),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "ubl_alarms_late_seconds", Help: "How long the alarm has been due that has been for longest."},
			func() float64 { return n.actors.AlarmStats().Late.Seconds() }),
		gauge("ubl_alarms_held", "1 while no alarm is fired, because the clock can't be believed.", func() int64 { return int64(oneIf(n.clock.holds())) }),
		counter("ubl_alarms_fired_total", "Alarms that have led to what they were set for.", func() int64 { return n.actors.AlarmStats().Fired }),
		counter("ubl_alarms_failures_total", "Attempts of alarms that failed and are tried again later.", func() int64 { return n.actors.AlarmStats().Failures }),
		counter("ubl_blobs_damaged_total", "Times that the content of a file on this node or in the bucket was found damaged, by the scrub or a reader.", n.damagedBlobs.Load),
		gauge("ubl_blobs_missing", "Contents of files that this node should have, and can't get from another; alone or with a bucket, as of the newest look.", n.missing),
		counter("ubl_panics_total", "Panics that were caught: faults of ours, whose stacks are in the log.", n.panics.Caught),
	)
	f.all = append(f.all, outbox(n)...)
	f.all = append(f.all, mails(n)...)
	f.all = append(f.all, scans(n)...)
	for place := range n.actors.Stats().Refused {
		f.all = append(f.all, prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name: "ubl_actors_overloaded_total", Help: "Commands refused for load, by place.", ConstLabels: prometheus.Labels{"place": place},
		}, func() float64 { return float64(n.actors.Stats().Refused[place]) }))
	}
}

// outbox tells what the node does outside.
func outbox(n *node) []prometheus.Collector {
	return []prometheus.Collector{
		counter("ubl_outbox_attempts_total", "Attempts by nodes themselves to do something outside.", func() int64 { return n.actors.OutboxStats().Attempts }),
		counter("ubl_outbox_failures_total", "Attempts to do something outside that failed, or that the other side refused.", func() int64 { return n.actors.OutboxStats().Failures }),
		gauge("ubl_outbox_running", "Attempts to do something outside that are under way.", func() int64 { return n.actors.OutboxStats().Running }),
		gauge("ubl_outbox_waiting", "What failed outside and is attempted again later.", func() int64 { return int64(n.actors.OutboxStats().Waiting) }),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "ubl_outbox_late_seconds", Help: "How long what waits for another attempt outside should have been done."},
			func() float64 { return n.actors.OutboxStats().Late.Seconds() }),
	}
}

// wrote is told of every write that actors let in.
func (f *figures) wrote(took time.Duration) {
	f.written.Add(1)
	f.writes.Observe(took.Seconds())
}

// watchStreams adds what live streams count.
func (f *figures) watchStreams(h *sse.Hub) {
	f.all = append(f.all, endings{h},
		gauge("ubl_streams_subscribers", "Live streams open.", func() int64 { return int64(h.Stats().Streams) }),
		gauge("ubl_streams_follows", "Rooms and tenants that live streams follow.", func() int64 { return int64(h.Stats().Follows) }),
		counter("ubl_streams_events_total", "Events written to live streams.", func() int64 { return h.Stats().Frames }),
		counter("ubl_streams_missed_total", "Times a durable head showed that publications were missed.", func() int64 { return h.Stats().Missed }),
		counter("ubl_streams_slowed_total", "Times a live stream waited because its tenant's had sent as many bytes as their limit lets them.", func() int64 { return h.Stats().Slowed }),
	)
}

// watchPublic adds how reads without an identity ended, and what their copies take.
func (f *figures) watchPublic(h *public.Handler) {
	for how := range h.Ended() {
		f.all = append(f.all, prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name: "ubl_public_reads_total", Help: "Reads of what is public, without an identity: by a copy, by one that was checked, by asking the container, and so on.",
			ConstLabels: prometheus.Labels{"result": how},
		}, func() float64 { return float64(h.Ended()[how]) }))
	}
	f.all = append(f.all, gauge("ubl_public_copies_bytes", "What copies of answers about what is public take in memory.", h.Bytes))
}

// watchRuns adds how programs of agents ended, and how many run.
func (f *figures) watchRuns(r *script.Runner) {
	for how := range r.Ended() {
		f.all = append(f.all, prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name: "ubl_tool_runs_total", Help: "Programs (tool.run) that have ended: done, threw, refused, gone, error, or by the bound that stopped them.",
			ConstLabels: prometheus.Labels{"result": how},
		}, func() float64 { return float64(r.Ended()[how]) }))
	}
	f.all = append(f.all, gauge("ubl_tool_runs_open", "Programs (tool.run) that run now.", r.Open))
}

// watchLimits adds how often each limit has refused, and dropped connections.
func (f *figures) watchLimits(l *limits.Limiter) {
	for name := range l.Dropped() {
		f.all = append(f.all, prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name: "ubl_limits_dropped_total", Help: "Connections over which nobody had signed in, closed to make place for new ones.",
			ConstLabels: prometheus.Labels{"limit": string(name)},
		}, func() float64 { return float64(l.Dropped()[name]) }))
	}
	for _, r := range limits.Rows() {
		f.all = append(f.all, prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name: "ubl_limits_refused_total", Help: "Requests and connections that a limit has refused.",
			ConstLabels: prometheus.Labels{"limit": string(r.Name)},
		}, func() float64 { return float64(l.Refused()[r.Name]) }))
	}
}

func gauge(name, help string, read func() int64) prometheus.Collector {
	return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, func() float64 { return float64(read()) })
}

func counter(name, help string, read func() int64) prometheus.Collector {
	return prometheus.NewCounterFunc(prometheus.CounterOpts{Name: name, Help: help}, func() float64 { return float64(read()) })
}

// partitions tells how each partition stands.
type partitions struct{ store *storage.Engine }

func partitionFigures() (queued, queuedBytes, fileBytes, failed, damaged, damagedAt *prometheus.Desc) {
	desc := func(name, help string) *prometheus.Desc {
		return prometheus.NewDesc(name, help, []string{"partition"}, nil)
	}
	return desc("ubl_storage_queue_length", "Batches that wait for the committer."),
		desc("ubl_storage_queue_bytes", "Bytes that wait for the committer."),
		desc("ubl_storage_file_bytes", "Size of the partition's file."),
		desc("ubl_storage_failed", "1 where a failed write or sync keeps the partition from taking writes."),
		desc("ubl_storage_damaged_reads_total", "Times that damaged data was met since the start, by a reader, a writer or the scrub."),
		desc("ubl_storage_damage_timestamp_seconds", "When damaged data was met last, since the start or at it; 0 for never.")
}

// Describe implements prometheus.Collector.
func (partitions) Describe(out chan<- *prometheus.Desc) {
	a, b, c, d, e, f := partitionFigures()
	for _, desc := range []*prometheus.Desc{a, b, c, d, e, f} {
		out <- desc
	}
}

// Collect implements prometheus.Collector.
func (p partitions) Collect(out chan<- prometheus.Metric) {
	queued, queuedBytes, fileBytes, failed, damaged, damagedAt := partitionFigures()
	for i, s := range p.store.Stats().Partitions {
		name := strconv.Itoa(i)
		out <- prometheus.MustNewConstMetric(queued, prometheus.GaugeValue, float64(s.Queued), name)
		out <- prometheus.MustNewConstMetric(queuedBytes, prometheus.GaugeValue, float64(s.QueuedBytes), name)
		out <- prometheus.MustNewConstMetric(fileBytes, prometheus.GaugeValue, float64(s.FileBytes), name)
		out <- prometheus.MustNewConstMetric(failed, prometheus.GaugeValue, oneIf(s.Failed != nil), name)
		out <- prometheus.MustNewConstMetric(damaged, prometheus.CounterValue, float64(s.Damaged), name)
		out <- prometheus.MustNewConstMetric(damagedAt, prometheus.GaugeValue, unixOf(s.DamagedAt), name)
	}
}

// unixOf is how figures tell a moment, 0 for none.
func unixOf(at time.Time) float64 {
	if at.IsZero() {
		return 0
	}
	return float64(at.Unix())
}

// oneIf is how figures tell a truth.
func oneIf(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

// endings tells why live streams ended.
type endings struct{ hub *sse.Hub }

func endedDesc() *prometheus.Desc {
	return prometheus.NewDesc("ubl_streams_ended_total", "Live streams that ended, by reason.", []string{"reason"}, nil)
}

// Describe implements prometheus.Collector.
func (endings) Describe(out chan<- *prometheus.Desc) { out <- endedDesc() }

// Collect implements prometheus.Collector.
func (e endings) Collect(out chan<- prometheus.Metric) {
	for reason, n := range e.hub.Stats().Ended {
		out <- prometheus.MustNewConstMetric(endedDesc(), prometheus.CounterValue, float64(n), string(reason))
	}
}

// watchCluster adds what a node of a cluster knows of it.
func (f *figures) watchCluster(n *node) {
	differs := func() int64 { return int64(oneIf(n.differs().lonely())) }
	f.all = append(f.all, f.logs, f.snapshots, f.installs, clusterFigures{n.cluster},
		gauge("ubl_key_differs", "1 where at least half of the nodes that answer sign with a key that this node doesn't accept.", differs),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "ubl_clock_offset_seconds", Help: "How far this node's clock is ahead of the other nodes'."},
			func() float64 { return n.cluster.ClockOffset().Seconds() }))
}

// clusterFigures tell how the node's replicas stand, and what nodes it sees.
type clusterFigures struct{ node *cluster.Node }

func clusterDescs() (halted, leader, term, applied, commit, nodes *prometheus.Desc) {
	desc := func(name, help string) *prometheus.Desc {
		return prometheus.NewDesc(name, help, []string{"partition", "node"}, nil)
	}
	return desc("ubl_partition_halted", "1 where the node's replica can't be written or opened, and takes no part."),
		desc("ubl_partition_leader", "1 where the node leads the partition."),
		desc("ubl_partition_term", "The newest Raft term that the node knows; it rises with each election."),
		desc("ubl_partition_applied_index", "The newest entry that the node's replica has applied."),
		desc("ubl_partition_commit_index", "The newest entry that the node knows to be committed."),
		prometheus.NewDesc("ubl_cluster_nodes", "Nodes of the cluster as gossip sees them.", []string{"state"}, nil)
}

func logLostDesc() *prometheus.Desc {
	return prometheus.NewDesc("ubl_partition_log_lost", "1 where the log of the node's replica has lost entries that it had acknowledged; it doesn't vote until it has them again.",
		[]string{"partition", "node"}, nil)
}

func differsDesc() *prometheus.Desc {
	return prometheus.NewDesc("ubl_partition_differs", "1 for a node whose copy of the partition holds something else than the others', by the digests of their scrubs.",
		[]string{"partition", "node"}, nil)
}

// Describe implements prometheus.Collector.
func (clusterFigures) Describe(out chan<- *prometheus.Desc) {
	a, b, c, d, e, f := clusterDescs()
	for _, desc := range []*prometheus.Desc{a, b, c, d, e, f, differsDesc(), logLostDesc()} {
		out <- desc
	}
}

// Collect implements prometheus.Collector.
func (c clusterFigures) Collect(out chan<- prometheus.Metric) {
	halted, leader, term, applied, commit, nodes := clusterDescs()
	tell := func(desc *prometheus.Desc, value float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, value, labels...)
	}
	for _, p := range c.node.Figures() {
		name, id := strconv.Itoa(p.Partition), c.node.ID()
		tell(halted, oneIf(p.Halted), name, id)
		if p.Halted {
			continue
		}
		tell(logLostDesc(), oneIf(p.LogLost), name, id)
		tell(leader, oneIf(p.Leads), name, id)
		tell(term, float64(p.Term), name, id)
		tell(applied, float64(p.Applied), name, id)
		tell(commit, float64(p.Commit), name, id)
	}
	for p := range c.node.Store().Partitions() {
		differ := c.node.Differing(p)
		for _, id := range differ {
			tell(differsDesc(), 1, strconv.Itoa(p), id)
		}
		if id := c.node.ID(); !slices.Contains(differ, id) {
			tell(differsDesc(), 0, strconv.Itoa(p), id)
		}
	}
	for state, n := range c.node.States() {
		tell(nodes, float64(n), state)
	}
}
