package report

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestJudge(t *testing.T) {
	ubl, peer := Key{Send, UBL, Rate}, Key{Send, Bare, Rate}
	for _, test := range []struct {
		name    string
		goal    Goal
		ubl     []float64
		peer    []float64
		verdict string
	}{
		{"ratio reached", Goal{Of: ubl, By: peer, AtLeast: true, Bound: 0.9}, []float64{90, 1, 99}, []float64{100}, "reached"},
		{"ratio missed", Goal{Of: ubl, By: peer, AtLeast: true, Bound: 0.9}, []float64{89}, []float64{100}, "missed"},
		{"at most", Goal{Of: ubl, By: peer, Bound: 1.3}, []float64{13}, []float64{10}, "reached"},
		{"strict", Goal{Of: ubl, By: peer, Bound: 1, Strict: true}, []float64{10}, []float64{10}, "missed"},
		{"on its own", Goal{Of: ubl, Bound: 0.3, Strict: true}, []float64{0.2}, nil, "reached"},
		{"in another unit", Goal{Of: ubl, Unit: 1000, Bound: 50, Strict: true}, []float64{49_000}, nil, "reached"},
		{"in another unit, missed", Goal{Of: ubl, Unit: 1000, Bound: 50, Strict: true}, []float64{51_000}, nil, "missed"},
		{"in every round", Goal{Of: ubl, By: peer, Bound: 1, Strict: true, Every: true}, []float64{9, 9, 9}, []float64{10, 10, 9.5}, "reached"},
		{"not in every round", Goal{Of: ubl, By: peer, Bound: 1, Strict: true, Every: true}, []float64{9, 9, 9}, []float64{10, 10, 8.5}, "missed"},
		{"below nothing", Goal{Of: ubl, Bound: 0.1}, []float64{-0.2}, nil, "reached"},
		{"by nothing", Goal{Of: ubl, By: peer, Bound: 1}, []float64{10, 10, 10}, []float64{10, 0, 10}, "not measured"},
		{"no peer", Goal{Of: ubl, By: peer, Bound: 1}, []float64{10}, nil, "not measured"},
		{"no figure", Goal{Of: ubl, By: peer, Bound: 1}, nil, []float64{10}, "not measured"},
	} {
		r := &Report{}
		for _, v := range test.ubl {
			r.Add(ubl, v)
		}
		for _, v := range test.peer {
			r.Add(peer, v)
		}
		r.Judge([]Goal{test.goal})
		if got := r.Goals[0].Verdict; got != test.verdict {
			t.Errorf("%s: %s, want %s", test.name, got, test.verdict)
		}
	}
}

// The verdict goes by the medians, the rounds are compared pair by pair.
func TestJudgeTellsOfSingleRounds(t *testing.T) {
	r := &Report{}
	for _, v := range []float64{50, 100, 120} {
		r.Add(Key{Send, UBL, Rate}, v)
	}
	for _, v := range []float64{100, 100, 100} {
		r.Add(Key{Send, Bare, Rate}, v)
	}
	r.Judge([]Goal{{Of: Key{Send, UBL, Rate}, By: Key{Send, Bare, Rate}, AtLeast: true, Bound: 0.9}})
	got := r.Goals[0]
	if got.Verdict != "reached" || got.Measured != 1 || got.In != 2 || !slices.Equal(got.Rounds, []float64{0.5, 1, 1.2}) {
		t.Errorf("outcome is %+v", got)
	}
}

// What can't be measured is shown with its reason, and what it had reached is
// not.
func TestMissingIsShown(t *testing.T) {
	r := &Report{Settings: Settings{Rounds: 3, Seconds: 5}}
	r.Add(Key{Send, Bare, Rate}, 12345.6)
	r.Add(Key{Send, UBL, Rate}, 777)
	r.Miss(Send, UBL, "a reply was refused: 503 | overloaded")
	r.Judge(Goals())
	dir := filepath.Join(t.TempDir(), "results")
	if err := r.Write(dir); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "RESULTS.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"| bare program | 12,346 | – | – |", `503 \| overloaded`, "**not measured**", "section fanout was not run"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the report lacks %q:\n%s", want, text)
		}
	}
	if strings.Contains(string(text), "777") {
		t.Error("the report shows half a measurement")
	}
	if _, err := os.Stat(filepath.Join(dir, "results.json")); err != nil {
		t.Error(err)
	}
}

// Each kill is listed, and the goal goes by the longest; a lone figure of one
// number of clients has a table of its own.
func TestClusterSections(t *testing.T) {
	r := &Report{Settings: Settings{Rounds: 1, Seconds: 5, Kills: 3}}
	for _, v := range []float64{0.4, 2.5, 0.6} {
		r.Add(Key{Failover, UBLThree, WaitSeconds}, v)
	}
	r.Add(Key{Failover, UBLThree, WaitMax}, 2.5)
	r.Add(Key{Failover, UBLSilent, WaitSeconds}, 0.75)
	r.Add(Key{ClusterOf(64), UBLThree, Rate}, 9000)
	r.Add(Key{ClusterOf(64), EtcdThree, Rate}, 8000)
	r.Miss(ClusterOf(512), EtcdThree, "couldn't find etcd")
	r.Note("node n1 did not stop")
	r.Note("node n1 did not stop")
	r.Judge(Goals())
	var text strings.Builder
	r.Markdown(&text)
	for _, want := range []string{
		"UBL, three nodes, one by one, in s: 0.400, 2.500, 0.600.", "leader silent, one by one, in s: 0.750.",
		"leader killed: callers at the others are answered within 1.0 s, the median of all | 0.60 | **reached** | 2 of 3",
		"within 1.5 s, the longest of all | 2.50 | **missed**", "64 clients: sends/s ≥ 1.5 × etcd's puts/s | 1.12 | **missed**", "## Cluster: three nodes, 64 clients", "couldn't find etcd",
		"## Noticed\n\n- node n1 did not stop\n\n",
	} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("the report lacks %q:\n%s", want, text.String())
		}
	}
	if strings.Contains(text.String(), "## Cluster: three nodes, 512 clients") {
		t.Error("the report shows a table without figures")
	}
}

// A neighbour's latency during a flood is held against the quiet one, and against that of
// a flood elsewhere.
func TestFloodSection(t *testing.T) {
	r := &Report{Settings: Settings{Rounds: 1, Seconds: 5}}
	r.Add(Key{Flood, Quiet, P99}, 2000)
	r.Add(Key{Flood, FloodHere(true), P99}, 4000)
	r.Add(Key{Flood, FloodHere(true), FloodRefused}, 12345)
	r.Add(Key{Flood, FloodElsewhere(true), P99}, 3200)
	r.Judge(Goals())
	var text strings.Builder
	r.Markdown(&text)
	for _, want := range []string{
		"flood, ignoring Retry-After ≤ 1.5 × without one | 2.00 | **missed**", "with the same at another server | 1.25 | **reached**",
		"| flood, ignoring Retry-After | – | – | 4.00 | – | – | – | 12,345 |",
	} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("the report lacks %q:\n%s", want, text.String())
		}
	}
}

// The sections about agents have a table for each part that was measured, and
// goals that name the unit of their bound.
func TestAgentSections(t *testing.T) {
	r := &Report{Settings: Settings{Rounds: 1, Writers: 64, Sessions: 1000, Documents: 10_000}}
	r.Add(Key{MCP, REST, Rate}, 9000)
	r.Add(Key{MCP, OverMCP("2026-07-28"), Rate}, 7200)
	r.Add(Key{PortalOf(1), Direct, P50}, 1000)
	r.Add(Key{PortalOf(1), Hop, P50}, 2500)
	r.Add(Key{MCPIdle, OverMCP("2025-11-25"), SessionOwn}, 39.5)
	r.Add(Key{SearchOf(1), UBL, P99}, 51_000)
	r.Add(Key{SearchOf(1), UBL, IndexSeconds}, 4.25)
	r.Add(Key{EchoOf("2025-11-25"), UBL, Rate}, 9000)
	r.Add(Key{EchoOf("2025-11-25"), BareMCP, Rate}, 3000)
	r.Judge(Goals())
	var text strings.Builder
	r.Markdown(&text)
	for _, want := range []string{
		"over MCP 2026-07-28 ≥ 0.8 × REST's | 0.80 | **reached**", "one caller: p50 ≤ 1.5 × the direct call's | 2.50 | **missed**",
		"MCP 2025-11-25: memory < 40 KB each | 39.50 | **reached**", "p99 < 50 ms | 51.00 | **missed** | 0 of 1: 51.00–51.00",
		"MCP 2025-11-25: calls/s ≥ 0.8 × a bare go-sdk server's | 3.00 | **reached**", "section portal-16 was not run",
		"## MCP: 64 writers to one room", "## Memory of 1,000 idle MCP sessions", "## Search over 10,000 documents, callers: 1", "| 4.2 |",
	} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("the report lacks %q:\n%s", want, text.String())
		}
	}
	if strings.Contains(text.String(), "callers: 8") {
		t.Error("the report shows a table without figures")
	}
}

// Few streams get more messages, and each number of streams has a table and a goal.
func TestFanoutSections(t *testing.T) {
	s := Settings{Rounds: 1, Streams: 1000, FanMessages: 2000}
	for streams, want := range map[int]int{1000: 2000, 100: 20_000, 1: 30_000, 5000: 2000} {
		if got := s.FanMessagesTo(streams); got != want {
			t.Errorf("%d messages to %d streams, want %d", got, streams, want)
		}
	}
	r := &Report{Settings: s}
	r.Add(Key{FanoutOf(100), UBL, Rate}, 80)
	r.Add(Key{FanoutOf(100), BareFan, Rate}, 100)
	r.Judge(Goals())
	var text strings.Builder
	r.Markdown(&text)
	for _, want := range []string{"fan-out, streams: 100: events/s ≥ 0.9 × the bare program that stores nothing | 0.80 | **missed**", "section fanout-1 was not run", "## Fan-out, streams: 100; 20,000 messages"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("the report lacks %q:\n%s", want, text.String())
		}
	}
}

// What a store holds that nobody uses: a figure below nothing is one, too.
func TestStoreSections(t *testing.T) {
	r := &Report{Settings: Settings{Rounds: 1, Rooms: 100, Alarms: 1_000_000, DueAlarms: 10_000, Events: 1_000_000}}
	r.Add(Key{History, CoreTenant, StartMillis}, -3)
	r.Add(Key{History, Tenant, FirstMillis}, 140)
	r.Add(Key{Alarms, Armed, IdleMore}, -0.03)
	r.Add(Key{Alarms, Armed, AlarmIdle}, -233.4)
	r.Add(Key{Alarms, Paced, FiringP99}, 9000)
	r.Add(Key{Alarms, Paced, QuietP99}, 5000)
	r.Judge(Goals())
	var text strings.Builder
	r.Markdown(&text)
	for _, want := range []string{
		"a start takes < 100 ms longer | -3.00 | **reached**", "first request after a start < 100 ms | 140.00 | **missed**",
		"idle CPU ≤ 0.1 % of a core more than without | -0.03 | **reached**", "beside 200 sends a second: p99 of sends meanwhile ≤ 1.5 × that before | 1.80 | **missed**",
		"## Alarms: 1,000,000 armed, 10,000 due", "| -233 |", "## Opening tenants with 1,000,000 events each",
	} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("the report lacks %q:\n%s", want, text.String())
		}
	}
}
