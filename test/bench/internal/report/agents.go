package report

import (
	"fmt"
	"slices"

	"ubl/test/bench/internal/mcpload"
)

// The subjects of the sections about agents.
const (
	REST    Subject = "REST"
	Direct  Subject = "direct call"
	Hop     Subject = "through /portal/mcp"
	BareMCP Subject = "bare go-sdk server"
)

// OverMCP is MCP at /mcp in a version of the protocol.
func OverMCP(protocol string) Subject { return Subject("/mcp, " + protocol) }

// OverPortal is MCP at /portal/mcp in a version of the protocol.
func OverPortal(protocol string) Subject { return Subject("/portal/mcp, " + protocol) }

// The measures of those sections. KB are of 1,024 bytes.
const (
	SessionRSS   Measure = "rss_kb_per_session"
	SessionOwn   Measure = "own_kb_per_session"    // without mapped files
	SessionInUse Measure = "in_use_kb_per_session" // heap and stacks right after a garbage collection
	LoadSeconds  Measure = "load_s"                // writing all documents
	IndexSeconds Measure = "index_s"               // from the first search on, until all are indexed
	FirstSeconds Measure = "first_s"               // the first search, which says how far the index is
	IndexOwn     Measure = "index_own_mb"          // the most memory of its own meanwhile
)

// PortalCallers and SearchCallers are the numbers of callers in those sections.
func PortalCallers() []int { return []int{1, 16} }

// SearchCallers: see PortalCallers.
func SearchCallers() []int { return []int{1, 8} }

// EchoCallers is the number of callers in the section echo.
const EchoCallers = 16

// PortalOf, SearchOf and EchoOf are the parts of their sections, which have
// figures of their own and can't be selected alone.
func PortalOf(callers int) Section { return Section(fmt.Sprintf("%s-%d", Portal, callers)) }

// SearchOf: see PortalOf.
func SearchOf(callers int) Section { return Section(fmt.Sprintf("%s-%d", Search, callers)) }

// EchoOf: see PortalOf.
func EchoOf(protocol string) Section { return Section(string(Echo) + "-" + protocol) }

// agentGoals are those of the sections about agents.
func agentGoals() []Goal {
	portal := func(callers int, s Subject, m Measure) Key { return Key{PortalOf(callers), s, m} }
	var out []Goal
	for _, p := range mcpload.Protocols() {
		out = append(out, Goal{Text: "64 writers: sends/s over MCP " + p + " ≥ 0.8 × REST's",
			Of: Key{MCP, OverMCP(p), Rate}, By: Key{MCP, REST, Rate}, AtLeast: true, Bound: 0.8})
	}
	out = append(out,
		Goal{Text: "a portal hop, one caller: p50 ≤ 1.5 × the direct call's", Of: portal(1, Hop, P50), By: portal(1, Direct, P50), Bound: 1.5},
		Goal{Text: "a portal hop, 16 callers: calls/s ≥ 0.5 × the direct calls'", Of: portal(16, Hop, Rate), By: portal(16, Direct, Rate), AtLeast: true, Bound: 0.5})
	for _, p := range mcpload.Protocols() {
		out = append(out, Goal{Text: "1,000 idle sessions of MCP " + p + ": memory < 40 KB each",
			Of: Key{MCPIdle, OverMCP(p), SessionOwn}, Bound: 40, Strict: true})
	}
	out = append(out, Goal{Text: "search over 10,000 documents: p99 < 50 ms", Of: Key{SearchOf(1), UBL, P99}, Unit: 1000, Bound: 50, Strict: true},
		Goal{Text: "the first search over 10,000 fresh documents: answered within 6 s", Of: Key{SearchOf(1), UBL, FirstSeconds}, Bound: 6},
		Goal{Text: "10,000 documents are indexed: memory of its own < 280 MB", Of: Key{SearchOf(1), UBL, IndexOwn}, Bound: 280, Strict: true})
	for _, p := range mcpload.Protocols() {
		out = append(out, Goal{Text: "a tool that only answers, MCP " + p + ": calls/s ≥ 0.8 × a bare go-sdk server's",
			Of: Key{EchoOf(p), UBL, Rate}, By: Key{EchoOf(p), BareMCP, Rate}, AtLeast: true, Bound: 0.8})
	}
	return out
}

// agentTables are those of the sections about agents.
func (r *Report) agentTables() []table {
	s := r.Settings
	var over, portals []Subject
	for _, p := range mcpload.Protocols() {
		over, portals = append(over, OverMCP(p)), append(portals, OverPortal(p))
	}
	latency := []column{{"p50 ms", P50, millis}, {"p99 ms", P99, millis}, {"server, µs of CPU each", ServerMicros, whole}}
	calls := append([]column{{"calls/s", Rate, whole}}, latency...)
	out := []table{{MCP, fmt.Sprintf("MCP: %d writers to one room", s.Writers),
		"messenger.send by tools/call, against REST's POST of the same message: the same server, the same room, the same client. " +
			"Every reply comes after an fsync. /portal/mcp puts each call into its log, too.",
		append([]Subject{REST}, append(over, portals...)...),
		append([]column{{"sends/s", Rate, whole}}, latency...)}}
	for _, callers := range PortalCallers() {
		out = append(out, table{PortalOf(callers), fmt.Sprintf("Portal: a tool of another server, callers: %d", callers),
			"The go-sdk's client calls an echo tool of a bare go-sdk server, which answers from memory. " +
				"Through the portal each call is two commits: the intent before, the effect after. The CPU time is that of the server that was called, not of the one behind it.",
			[]Subject{Direct, Hop}, calls})
	}
	out = append(out, table{MCPIdle, fmt.Sprintf("Memory of %s idle MCP sessions", whole(float64(s.Sessions))),
		"What UBL's memory grew by, for each session with its channel open: VmRSS, the part that is its own (RssAnon), and heap and stacks right after a garbage collection. " +
			"Garbage is collected after every few sessions that begin, as it would be where they come over hours.",
		over, []column{{"RSS KB", SessionRSS, tenths}, {"own KB", SessionOwn, tenths}, {"in use KB", SessionInUse, tenths}}})
	for _, callers := range SearchCallers() {
		out = append(out, table{SearchOf(callers), fmt.Sprintf("Search over %s documents, callers: %d", whole(float64(s.Documents)), callers),
			"Over REST, documents of 0.5 to 8 KB: words, two words, phrases and beginnings of words in turn. Every search is receipted and finds something.",
			[]Subject{UBL}, slices.Concat([]column{{"searches/s", Rate, whole}}, latency,
				[]column{{"writing all, s", LoadSeconds, tenths}, {"indexing, s", IndexSeconds, tenths}, {"first search, s", FirstSeconds, tenths}, {"own MB meanwhile", IndexOwn, tenths}})})
	}
	for _, p := range mcpload.Protocols() {
		out = append(out, table{EchoOf(p), fmt.Sprintf("A tool that only answers, MCP %s, %d callers", p, EchoCallers),
			"user.whoami. UBL checks the token and the tenant's rules, asks the tenant and logs; the bare go-sdk server answers a constant of the same length.",
			[]Subject{UBL, BareMCP}, calls})
	}
	return out
}
