package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"ubl/test/counter/wired"
	"ubl/test/events"
)

// withCounters builds the program with the trial family.
func withCounters(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "ubl")
	must(t, wired.Build(path))
	return path
}

// hook is a web hook that knows a repetition by its key.
type hook struct {
	*httptest.Server
	mu    sync.Mutex
	heard map[string]string // by key
}

func newHook(t *testing.T) *hook {
	h := &hook{heard: map[string]string{}}
	h.Server = httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		h.mu.Lock()
		defer h.mu.Unlock()
		h.heard[r.Header.Get("Idempotency-Key")] = string(body)
	}))
	t.Cleanup(h.Close)
	return h
}

// bodies are what it heard, each once.
func (h *hook) bodies() (out []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, body := range h.heard {
		out = append(out, body)
	}
	slices.Sort(out)
	return out
}

// counter is what a counter's operations answer.
type counter struct {
	ID    string `json:"counter_id"`
	Value int64  `json:"value"`
}

// TestFamilyInOneFolder: a family that somebody adds with one line of wiring is there over
// REST and MCP, in streams live and again, with receipts, its alarms and its effects outside;
// on three nodes that are killed one after another, and over a restart of all.
func TestFamilyInOneFolder(t *testing.T) {
	heard := newHook(t)
	t.Setenv("UBL_COUNTER_HOOK", heard.URL)
	nodes := newClusterOf(t, withCounters(t), "--operator", "ops@localhost")
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	token := nodes[0].token("ana@ours.example")
	clients := make([]*client, len(nodes))
	for i, n := range nodes {
		clients[i] = n.client(token)
	}
	nodes[0].everywhere(t)
	began := clients[2].changes(ctx, t, "", 0)
	live := make(chan []string, 1)
	go func() { live <- clients[2].changes(ctx, t, began[0], 4) }()
	at := func(i int, method, path, key string, in any) (out counter) {
		t.Helper()
		must(t, clients[i].persist(ctx, method, "/api/counters/"+path, key, in, &out))
		return out
	}
	want := func(got counter, value int64) {
		t.Helper()
		if got != (counter{"n:visits", value}) {
			t.Fatalf("the counter is %+v, want %d", got, value)
		}
	}

	// REST: the same key has the same outcome, on any node.
	want(at(0, "POST", "n:visits/add", "k1", map[string]any{"by": 2}), 2)
	want(at(1, "POST", "n:visits/add", "k1", map[string]any{"by": 2}), 2)
	want(at(1, "POST", "n%3Avisits/add", "", map[string]any{"by": 1, "client_request_id": "k2"}), 3)
	want(at(2, "GET", "n:visits", "", nil), 3)
	for _, wrong := range []struct{ path, body, says string }{
		{"n:visits/add", `{"by":0}`, `"body.by"`},
		{"n:visits/add", `{}`, `"body.by":"is missing"`},
		{"n:visits/add", `{"by":"2"}`, `"body.by"`},
		{"n:visits/add", `{"by":1,"buy":1}`, `"body.buy":"`},
		{"n:visits/add", `{"by":1,"counter_id":"n:other"}`, `"body.counter_id":"belongs into the path"`},
		{"n:visits/add", `{"by":1,"client_request_id":""}`, `"body.client_request_id"`},
		{"n:visits/add", `[1]`, `"body"`},
		{"N:VISITS/add", `{"by":1}`, `"path.counterId"`},
	} {
		status, said := nodes[0].bearer("ana", token).ask("POST", "/api/counters/"+wrong.path, wrong.body)
		if status != http.StatusBadRequest || !strings.Contains(said, wrong.says) {
			t.Errorf("%s %s is answered %d %s, want %s", wrong.path, wrong.body, status, said, wrong.says)
		}
	}

	// MCP: the same operations are tools.
	agent := nodes[1].bearer("ana", token)
	if _, said := agent.tool("counter_add", `{"counter_id":"n:visits","by":4}`); !strings.Contains(said, `"value":7`) {
		t.Errorf("the tool answers %s", said)
	}
	if _, said := agent.tool("counter_get", `{"counter_id":"n:visits"}`); !strings.Contains(said, `"value":7`) {
		t.Errorf("the tool answers %s", said)
	}
	if _, said := agent.tool("counter_add", `{"counter_id":"n:visits","by":-4}`); !strings.Contains(said, `"details":{"by":"`) {
		t.Errorf("a wrong argument is answered %s", said)
	}

	// The published schemas know the acts.
	if status, said := agent.ask("GET", "/schemas/ubl.ledger.act.v1", ""); status != http.StatusOK || !strings.Contains(said, `"counter.add"`) {
		t.Errorf("the schema of acts is answered %d %s", status, said)
	}

	// Whoever listens hears of it, in the order of the ledger.
	changes := []string{"counter.add 2", "counter.add 3", "counter.add 7"}
	if got := <-live; !slices.Equal(got[1:], changes) {
		t.Errorf("the live stream tells %q, want %q", got[1:], changes)
	}

	// An alarm, and an effect outside, over the loss of each node in turn.
	value := int64(7)
	for i, n := range nodes {
		n.kill()
		next := (i + 1) % len(nodes)
		value += 10
		want(at(next, "POST", "n:visits/add", fmt.Sprint("kill", i), map[string]any{"by": 10, "call": true}), value)
		n.start()
	}
	at(0, "POST", "n:visits/add", "last", map[string]any{"by": 1, "reset_after_s": 1})
	for _, n := range nodes {
		n.stop()
	}
	for _, n := range nodes {
		n.start()
	}
	told := clients[1].changes(ctx, t, began[0], 9)
	changes = append(changes, "counter.add 17", "counter.add 27", "counter.add 37", "counter.add 38", "counter.reset 0")
	if !slices.Equal(told[1:], changes) {
		t.Errorf("the stream tells %q, want %q", told[1:], changes)
	}
	want(at(0, "GET", "n:visits", "", nil), 0)
	calls := []string{`{"counter_id":"n:visits","value":17}`, `{"counter_id":"n:visits","value":27}`, `{"counter_id":"n:visits","value":37}`}
	for deadline := time.Now().Add(patience); !slices.Equal(heard.bodies(), calls); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("the hook heard %q, want %q", heard.bodies(), calls)
		}
	}
	if lines := nodes[0].exported(t, token); strings.Count(lines, `"did":"counter.add"`) != 7 || strings.Count(lines, `"did":"counter.reset"`) != 1 {
		t.Errorf("the ledger has not one receipt for each change:\n%s", lines)
	}
}

// changes reads the tenant's stream behind a cursor until it has told so much: the cursor
// with which it began, and then the changes of counters.
func (c *client) changes(ctx context.Context, t *testing.T, cursor string, more int) []string {
	t.Helper()
	query := ""
	if cursor != "" {
		query = "?cursor=" + cursor
	}
	out := []string{}
	for ctx.Err() == nil {
		req, err := http.NewRequestWithContext(ctx, "GET", c.base+"/api/events"+query, nil)
		if err != nil {
			break
		}
		req.Header.Set("Authorization", "Bearer "+c.token)
		resp, err := http.DefaultClient.Do(req)
		if err != nil || resp.StatusCode != http.StatusOK {
			time.Sleep(20 * time.Millisecond) // a node that has just begun
			continue
		}
		defer resp.Body.Close()
		for e := range events.All(resp.Body) {
			if e.ID != "" && len(out) == 0 {
				out = append(out, e.ID)
			}
			if strings.HasPrefix(e.Name, "counter.") {
				var data struct {
					Event   string  `json:"event"`
					Payload counter `json:"payload"`
				}
				_ = json.Unmarshal([]byte(e.Data), &data) // what isn't as expected is told as nothing
				out = append(out, fmt.Sprint(data.Event, " ", data.Payload.Value))
			}
			if len(out) > 0 && len(out) >= more {
				return out
			}
		}
		break
	}
	t.Errorf("the stream told no more than %q", out)
	return append(out, "")
}

// everywhere waits until each partition has three voters, so that any node can be missed.
func (n *node) everywhere(t *testing.T) {
	t.Helper()
	owner := n.client(n.token("ops@localhost"))
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for {
		var answer struct {
			Cluster struct {
				Partitions []struct {
					Voters []string `json:"voters"`
				} `json:"partitions"`
			} `json:"cluster"`
		}
		must(t, owner.persist(ctx, "GET", "/api/platform/cluster", "", nil, &answer))
		some := len(answer.Cluster.Partitions) > 0
		for _, p := range answer.Cluster.Partitions {
			some = some && len(p.Voters) == 3
		}
		if some {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// exported is the tenant's ledger as its people take it out.
func (n *node) exported(t *testing.T, token string) string {
	t.Helper()
	status, said := n.bearer("ana", token).ask("GET", "/api/export", "")
	if status != http.StatusOK {
		t.Fatalf("the export is answered %d %s", status, said)
	}
	return said
}
