package report

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// table is one section's figures: a row a subject, a column a measure.
type table struct {
	section  Section
	title    string
	about    string
	subjects []Subject
	columns  []column
}

type column struct {
	name    string
	measure Measure
	show    func(float64) string
}

func (r *Report) tables() []table {
	s := r.Settings
	latency := []column{{"p50 ms", P50, millis}, {"p99 ms", P99, millis}}
	sends := append([]column{{"sends/s", Rate, whole}}, latency...)
	servers := []Subject{UBL, Workerd, JetStream, Bare}
	return slices.Concat([]table{
		{Send, fmt.Sprintf("Send: %d writers to one room over HTTP", s.Writers),
			"Every reply comes after an fsync. All replies were 2xx, and no room_seq came twice or was left out.",
			servers, sends},
		{One, "Send: one writer over HTTP", "The same with a single request in flight.", servers, sends},
		{InProcess, fmt.Sprintf("In process: %d writers, no HTTP", s.Writers),
			"The loop stores ready-made bytes of the same length; UBL does all the work of a send but HTTP. " +
				"A transaction is one synced commit.",
			[]Subject{UBL, Loop}, append(sends, column{"records/s", Records, whole}, column{"transactions/s", Transactions, whole})},
	}, r.fanoutTables(), []table{
		{Documents, fmt.Sprintf("Documents: %d writers to one workspace", s.Writers),
			"Documents are created, and messages are sent to a room, each on a server of its own: the same writers, requests of the same length. " +
				"Every reply comes after an fsync; no document's place in the ledger came twice or was left out.",
			[]Subject{Messages, NewDocuments}, append(sends, column{"server, µs of CPU each", ServerMicros, whole})},
		{Files, fmt.Sprintf("Files: one of %d MiB", s.FileMB),
			"From the first byte until the server says that all is durable, with the requests that begin the upload and put the file. " +
				"Another file goes before it and is removed. " +
				"The copy writes the body into a file and syncs it; it hashes nothing and can't be resumed.",
			[]Subject{UBL, BareCopy}, []column{{"MiB/s", FileRate, whole}, {"server, s of CPU", ServerSeconds, hundredths}}},
		{Crowd, fmt.Sprintf("A crowd: %s writers in a room with %s streams", whole(float64(s.CrowdWriters)), whole(float64(s.CrowdStreams))),
			"Far more than the node can do. Refused sends (503) come again after the Retry-After that they were told, those of rude writers at once; " +
				"the latencies are those of accepted ones. No room_seq came twice or was left out, and no stream missed one.",
			[]Subject{UBL, UBLRude}, []column{{"accepted/s", Rate, whole}, {"p50 s", P50Seconds, seconds}, {"p99 s", P99Seconds, seconds},
				{"refused %", RefusedShare, whole}, {"followed %", FollowedShare, whole},
				{"server's cores", ServerCores, hundredths}, {"generator's", GeneratorCores, hundredths}, {"others'", OtherCores, hundredths}}},
		r.floodTable(),
		r.publicTable(),
	}, r.storeTables(), r.clusterTables(), r.agentTables())
}

// write leaves out a table with no row: its section was not run.
func (t table) write(w io.Writer, r *Report) {
	var rows strings.Builder
	for _, subject := range t.subjects {
		cells, found := make([]string, len(t.columns)), false
		for i, c := range t.columns {
			cells[i] = "–"
			if series, ok := r.Find(Key{t.section, subject, c.measure}); ok {
				cells[i], found = format(series, c.show), true
			}
		}
		if found {
			fmt.Fprintf(&rows, "| %s | %s |\n", subject, strings.Join(cells, " | "))
		}
	}
	if rows.Len() == 0 {
		return
	}
	fmt.Fprintf(w, "## %s\n\n%s\n\n| |", t.title, t.about)
	for _, c := range t.columns {
		fmt.Fprintf(w, " %s |", c.name)
	}
	fmt.Fprintf(w, "\n|---|%s\n%s\n", strings.Repeat("---:|", len(t.columns)), rows.String())
}

// fanoutTables are one for each number of streams.
func (r *Report) fanoutTables() []table {
	s := r.Settings
	of := func(section Section, streams int) table {
		return table{section, fmt.Sprintf("Fan-out, streams: %s; %s messages from %d writers", whole(float64(streams)), whole(float64(s.FanMessagesTo(streams))), s.FanWriters),
			"Deliveries from the first post to the last delivery. Each stream got each event once and in order. " +
				"UBL syncs every message to disk first, as one bare program does in the way of the section send; the other stores nothing.",
			[]Subject{UBL, BareFan, StoredFan}, []column{{"events/s", Rate, whole}, {"posts/s", PostRate, whole}, {"bytes a frame", FrameBytes, whole}}}
	}
	var out []table
	for _, n := range FewStreams() {
		out = append(out, of(FanoutOf(n), n))
	}
	return append(out, of(Fanout, s.Streams))
}
