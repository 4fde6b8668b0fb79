package report

// The subjects of the section public. In the last three people send messages.
const (
	ReadUBL       Subject = "UBL, reads"
	ReadBare      Subject = "bare server, reads"
	NoReads       Subject = "UBL, sends alone"
	ReadsHere     Subject = "UBL, sends beside reads of it"
	ReadsAtBare   Subject = "UBL, sends beside reads of the bare server"
	ReadsMeanSend Measure = "reads_per_second" // beside the sends
)

// PublicReads is how many reads a second are asked for beside sends.
const PublicReads = 20_000

// publicGoals are those of reads without an identity.
func publicGoals() []Goal {
	of := func(s Subject, m Measure) Key { return Key{Public, s, m} }
	return []Goal{
		{Text: "64 readers: reads/s of what is public ≥ 20,000", Of: of(ReadUBL, Rate), AtLeast: true, Bound: PublicReads},
		{Text: "64 readers: reads/s of what is public ≥ 0.5 × a bare server of one static document", Of: of(ReadUBL, Rate), By: of(ReadBare, Rate), AtLeast: true, Bound: 0.5},
		{Text: "p99 of sends beside 20,000 reads/s ≤ 1.5 × alone", Of: of(ReadsHere, P99), By: of(NoReads, P99), Bound: 1.5},
		{Text: "p99 of sends beside 20,000 reads/s ≤ 1.5 × beside the same of a bare server", Of: of(ReadsHere, P99), By: of(ReadsAtBare, P99), Bound: 1.5},
	}
}

func (r *Report) publicTable() table {
	return table{Public, "What is public",
		"A document of about 1 kB is read without an identity: by 64 readers, each as soon as it has the reply before, and by as many who ask for 20,000 a second together, " +
			"beside five people who send 200 messages a second. The readers run at nice 10. The bare server has one document of the same length, and no log, limits or figures.",
		[]Subject{ReadUBL, ReadBare, NoReads, ReadsHere, ReadsAtBare},
		[]column{{"/s", Rate, whole}, {"p50 ms", P50, millis}, {"p99 ms", P99, millis},
			{"reads/s meanwhile", ReadsMeanSend, whole}, {"server, µs of CPU each", ServerMicros, whole}}}
}
