// Package report gathers the figures of a run, holds them against the goals
// and writes both as Markdown for people and JSON for programs.
package report

import (
	"fmt"
	"slices"

	"ubl/test/bench/internal/machine"
	"ubl/test/bench/internal/stats"
)

// Section is a part of the run, which can be selected by its name.
type Section string

// The sections, in the order they run.
const (
	Send      Section = "send"
	One       Section = "one"
	InProcess Section = "inprocess"
	Fanout    Section = "fanout"
	Documents Section = "documents"
	Files     Section = "files"
	Crowd     Section = "crowd"
	Flood     Section = "flood"
	Public    Section = "public"
	Start     Section = "start"
	History   Section = "history"
	Alarms    Section = "alarms"
	Cluster   Section = "cluster"
	Failover  Section = "failover"
	Idle      Section = "idle"
	MCP       Section = "mcp"
	Portal    Section = "portal"
	MCPIdle   Section = "mcp-idle"
	Search    Section = "search"
	Echo      Section = "echo"
)

// Memory is the second half of Start, with figures of its own: one half may
// fail without the other. It can't be selected alone.
const Memory Section = "memory"

// FewStreams are the numbers of streams in the section fanout beside that of the settings.
func FewStreams() []int { return []int{1, 100} }

// FanoutOf is the part of Fanout with that few streams, which has figures of its own. It
// can't be selected alone; Fanout's own figures are those with the settings' streams.
func FanoutOf(streams int) Section { return Section(fmt.Sprintf("%s-%d", Fanout, streams)) }

// ClusterClients are the numbers of clients in the section cluster.
func ClusterClients() []int { return []int{1, 64, 512} }

// ClusterOf is the part of Cluster with that many clients, which has figures
// of its own. It can't be selected alone.
func ClusterOf(clients int) Section { return Section(fmt.Sprintf("%s-%d", Cluster, clients)) }

// Sections lists all of them.
func Sections() []Section {
	return []Section{Send, One, InProcess, Fanout, Documents, Files, Crowd, Flood, Public, Start, History, Alarms, Cluster, Failover, Idle, MCP, Portal, MCPIdle, Search, Echo}
}

// Subject is a program that is measured.
type Subject string

// The subjects, with the names they have in the report.
const (
	UBL       Subject = "UBL"
	Workerd   Subject = "workerd (Durable Objects)"
	JetStream Subject = "NATS JetStream"
	Bare      Subject = "bare program"
	Loop      Subject = "bare group-commit loop"
	BareFan   Subject = "bare fan-out program"
	StoredFan Subject = "bare fan-out program that stores"

	Messages     Subject = "messages"  // in the section documents
	NewDocuments Subject = "documents" // likewise

	BareCopy Subject = "bare file copy"

	UBLRude   Subject = "UBL, rude writers" // in the section crowd: they ignore Retry-After
	UBLThree  Subject = "UBL, three nodes"
	UBLSilent Subject = "UBL, three nodes, leader silent" // in the section failover: it is stopped, not killed
	EtcdThree Subject = "etcd, three nodes"
)

// Measure is what is measured, with its unit in the name.
type Measure string

// The measures.
const (
	Rate         Measure = "per_second"
	P50          Measure = "p50_us"
	P99          Measure = "p99_us"
	Records      Measure = "records_per_second"
	Transactions Measure = "transactions_per_second"
	FrameBytes   Measure = "frame_bytes"
	PostRate     Measure = "posts_per_second"
	ReadySeconds Measure = "ready_s"
	RSSReady     Measure = "rss_ready_mb"
	RSSTouched   Measure = "rss_touched_mb"
	RSSIdle      Measure = "rss_idle_mb"
	OwnReady     Measure = "own_ready_mb" // RSS without mapped files
	OwnTouched   Measure = "own_touched_mb"
	OwnIdle      Measure = "own_idle_mb"
	TouchSeconds Measure = "touch_s"
	ActorInUse   Measure = "actor_in_use_kb" // of one that is in memory: objects and stacks after a garbage collection
	ActorIdle    Measure = "actor_idle_kb"   // what is left of one that has been idle for long

	ServerCores    Measure = "server_cores"    // CPU time of all nodes by time that passed
	GeneratorCores Measure = "generator_cores" // of the load generator
	OtherCores     Measure = "other_cores"     // of whatever else the machine did
	ServerMicros   Measure = "server_us_each"  // CPU time of the one server that was asked, by replies

	FileRate      Measure = "mib_per_second" // of one large file, until it is durable
	ServerSeconds Measure = "server_cpu_s"   // CPU time of the server for all of that

	P50Seconds    Measure = "p50_s"
	P99Seconds    Measure = "p99_s"
	RefusedShare  Measure = "refused_percent"  // of the answers
	FollowedShare Measure = "followed_percent" // of the accepted sends that a stream had at the end

	FailoverSeconds Measure = "failover_s"       // one value a kill
	FailoverMax     Measure = "failover_max_s"   // the longest of them
	WaitSeconds     Measure = "wait_s"           // one value a kill: the longest that a caller waited at a survivor
	WaitMax         Measure = "wait_max_s"       // the longest of them
	SendMax         Measure = "longest_send_s"   // that any caller waited, all attempts together
	Acknowledged    Measure = "acknowledged"     // sends in the section failover
	Repeated        Measure = "repeated"         // those that took more than one attempt
	IdleMax         Measure = "idle_max_percent" // of a core: the busiest node
)

// IdleOf is the share of a core, in percent, that an idle node uses; nodes
// count from 1.
func IdleOf(node int) Measure { return Measure(fmt.Sprintf("idle_node%d_percent", node)) }

// Key names one figure.
type Key struct {
	Section Section `json:"section"`
	Subject Subject `json:"subject"`
	Measure Measure `json:"measure"`
}

// Figure is one measured value over all rounds.
type Figure struct {
	Key
	stats.Series
}

// Missing is a subject that could not be measured in a section, and why.
type Missing struct {
	Section Section `json:"section"`
	Subject Subject `json:"subject"`
	Reason  string  `json:"reason"`
}

// Settings are what the run was asked to do.
type Settings struct {
	Seconds      int       `json:"seconds"` // length of each measurement
	Rounds       int       `json:"rounds"`
	Writers      int       `json:"writers"`
	Streams      int       `json:"streams"`
	FanMessages  int       `json:"fan_messages"` // to that many streams
	FanWriters   int       `json:"fan_writers"`
	CrowdStreams int       `json:"crowd_streams"`
	CrowdWriters int       `json:"crowd_writers"`
	Rooms        int       `json:"rooms"`
	IdleSeconds  int       `json:"idle_seconds"`
	Events       int       `json:"events"` // of each tenant in the section history
	Alarms       int       `json:"alarms"` // armed in the section alarms
	DueAlarms    int       `json:"due_alarms"`
	Kills        int       `json:"kills"`
	IdleNodes    int       `json:"idle_nodes_seconds"` // length of the section idle
	Sessions     int       `json:"sessions"`           // open in the section mcp-idle
	Documents    int       `json:"documents"`          // in the section search
	FileMB       int       `json:"file_mb"`            // length of the file in the section files, in MiB
	Sections     []Section `json:"sections"`
}

// mostMessages is how many times as many messages go to few streams.
const mostMessages = 15

// FanMessagesTo is how many messages go to a number of streams: the fewer these are the
// more, so that each measurement lasts for seconds.
func (s Settings) FanMessagesTo(streams int) int {
	return s.FanMessages * max(1, min(s.Streams/max(1, streams), mostMessages))
}

// Report is a whole run. Its methods are for one goroutine.
type Report struct {
	Machine  machine.Facts     `json:"machine"`
	Versions map[string]string `json:"versions"`
	Settings Settings          `json:"settings"`
	Goals    []Outcome         `json:"goals"`
	Figures  []Figure          `json:"figures"`
	Missing  []Missing         `json:"not_measured"`
	Notes    []string          `json:"notes,omitempty"`   // what was noticed beside the figures
	Against  *Against          `json:"against,omitempty"` // an earlier run, see Compare
}

// Add takes one round's value of a figure.
func (r *Report) Add(k Key, value float64) {
	for i := range r.Figures {
		if f := &r.Figures[i]; f.Key == k {
			f.Series = stats.NewSeries(append(f.Rounds, value))
			return
		}
	}
	r.Figures = append(r.Figures, Figure{k, stats.NewSeries([]float64{value})})
}

// Miss notes that a subject could not be measured. What it had reached in the
// section before is dropped: half a measurement compares with nothing.
func (r *Report) Miss(section Section, subject Subject, reason string) {
	r.Figures = slices.DeleteFunc(r.Figures, func(f Figure) bool {
		return f.Section == section && f.Subject == subject
	})
	r.Missing = append(r.Missing, Missing{section, subject, reason})
}

// Note keeps what was noticed and changes no figure; the same is kept once.
func (r *Report) Note(text string) {
	if !slices.Contains(r.Notes, text) {
		r.Notes = append(r.Notes, text)
	}
}

// IsMissing tells whether Miss was called for the subject in the section.
func (r *Report) IsMissing(section Section, subject Subject) bool {
	return slices.ContainsFunc(r.Missing, func(m Missing) bool {
		return m.Section == section && m.Subject == subject
	})
}

// Find returns a figure.
func (r *Report) Find(k Key) (stats.Series, bool) {
	for _, f := range r.Figures {
		if f.Key == k {
			return f.Series, true
		}
	}
	return stats.Series{}, false
}
