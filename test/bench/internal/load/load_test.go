package load

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func TestSequence(t *testing.T) {
	for _, test := range []struct {
		seqs              []uint64
		distinct, gapless bool
	}{
		{nil, true, true},
		{[]uint64{3, 1, 2}, true, true},
		{[]uint64{1, 2, 2, 3}, false, true},
		{[]uint64{1, 2, 4}, true, false},
	} {
		if distinct, gapless := Sequence(test.seqs); distinct != test.distinct || gapless != test.gapless {
			t.Errorf("Sequence(%v) = %v, %v", test.seqs, distinct, gapless)
		}
	}
}

func TestNumbers(t *testing.T) {
	reply := []byte(`{"document":{"receipt":{"ledger_shard":"0","seq":13,"cid":"c:"}},"receipt":{"seq":99},"room_seq":7}`)
	if n, err := RoomSeq(reply); n != 7 || err != nil {
		t.Errorf("room_seq is %d, %v", n, err)
	}
	if n, err := ActNumber(reply); n != 6 || err != nil {
		t.Errorf("the act is %d, %v", n, err)
	}
	for _, bad := range []string{``, `{"seq":}`, `{"seq":"13"}`} {
		if n, err := ActNumber([]byte(bad)); err == nil {
			t.Errorf("%s: the act is %d", bad, n)
		}
	}
	if len(Document) != len(Body) {
		t.Errorf("a document's request has %d bytes, a message's %d", len(Document), len(Body))
	}
}

// enough is [loadtest.Enough], which can't be imported here.
func enough(replies int, run func(Plan) (Result, error)) (Result, error) {
	for length := 100 * time.Millisecond; ; length *= 4 {
		r, err := run(Plan{Length: length})
		if err != nil || r.Sends+r.Refused >= replies || length > time.Minute {
			return r, err
		}
	}
}

func TestRunCountsAndChecks(t *testing.T) {
	var last atomic.Uint64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n := last.Add(1)
		if n == 5 {
			http.Error(w, "too much", http.StatusServiceUnavailable)
			return
		}
		w.WriteHeader(http.StatusCreated)
		fmt.Fprintf(w, `{"message":{"room_seq":%d}}`, n)
	}))
	defer server.Close()
	got, err := enough(20, func(p Plan) (Result, error) {
		last.Store(0)
		return Run(context.Background(), Options{Hosts: []string{server.Listener.Addr().String()}, Path: "/", Body: Body, Number: RoomSeq, Writers: 4, Plan: p})
	})
	if err != nil {
		t.Fatal(err)
	}
	if got.Sends == 0 || got.SendsPerSecond <= 0 || got.P50us <= 0 || got.P99us < got.P50us {
		t.Errorf("no figures: %+v", got)
	}
	// The refused one leaves a gap in what the others got.
	if got.Refused != 1 || got.FirstRefusal != "503 too much\n" || !got.Distinct || got.Gapless {
		t.Errorf("wrong checks: %+v", got)
	}
}

// Many writers keep to one node each, evenly; a lone one goes from node to
// node.
func TestSpread(t *testing.T) {
	for _, test := range []struct {
		writers int
		want    string
	}{{6, "aaabbbcccaaabbbccc"}, {1, "abc"}} {
		var got strings.Builder
		sends, err := Spread(test.writers, []string{"a", "b", "c"}, func(node string) (Send, error) {
			return func(context.Context) (uint64, error) {
				got.WriteString(node)
				return 0, nil
			}, nil
		})
		if err != nil || len(sends) != test.writers {
			t.Fatalf("%d sends, %v", len(sends), err)
		}
		for _, send := range sends {
			for range 3 {
				if _, err := send(t.Context()); err != nil {
					t.Error(err)
				}
			}
		}
		if got.String() != test.want {
			t.Errorf("%d writers asked %s, want %s", test.writers, got.String(), test.want)
		}
	}
}

// Writers with a pace send in turn. A send that the one before has held up counts from
// when it was due.
func TestPace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		var at []time.Duration
		var mu sync.Mutex
		send := func(context.Context) (uint64, error) {
			mu.Lock()
			at = append(at, time.Since(began)/time.Millisecond)
			n := len(at)
			mu.Unlock()
			if n == 3 {
				time.Sleep(250 * time.Millisecond) // the first writer's second
			}
			return uint64(n), nil
		}
		r, err := Loop(t.Context(), Plan{Length: 401 * time.Millisecond, Every: 100 * time.Millisecond}, []Send{send, send})
		want := []time.Duration{0, 50, 100, 150, 250, 350, 350, 350, 400}
		if err != nil || !slices.Equal(at, want) || r.Sends != len(want) || r.P99us != 250_000 || r.P50us != 0 {
			t.Errorf("sent at %v, %+v, %v", at, r, err)
		}
	})
}

// What ends a measurement early is told: the rate is that of the time that there was.
func TestUntil(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := uint64(0)
		send := func(context.Context) (uint64, error) {
			time.Sleep(10 * time.Millisecond)
			n++
			return n, nil
		}
		until := make(chan struct{})
		time.AfterFunc(1505*time.Millisecond, func() { close(until) })
		r, err := Loop(t.Context(), Plan{Warm: time.Second, Length: time.Hour, Until: until}, []Send{send})
		if err != nil || r.Sends != 151 || r.SendsPerSecond < 98 || r.SendsPerSecond > 100 || r.P99us != 10_000 {
			t.Errorf("got %+v, %v", r, err)
		}
	})
}

// The CPU time of a watched process is told; a refusal is counted, and any
// other error ends the loop.
func TestLoop(t *testing.T) {
	busy := func(context.Context) (uint64, error) {
		for deadline := time.Now().Add(time.Millisecond); time.Now().Before(deadline); {
		}
		return 0, &Refusal{"busy"}
	}
	r, err := enough(300, func(p Plan) (Result, error) { // a process that was busy for less may have used no CPU time
		p.Watch = []int{os.Getpid()}
		return Loop(t.Context(), p, []Send{busy})
	})
	if err != nil || r.Refused == 0 || r.FirstRefusal != "busy" || r.ServerCores <= 0 || r.GeneratorCores <= 0 {
		t.Errorf("got %+v, %v", r, err)
	}
	broken := func(context.Context) (uint64, error) { return 0, errors.New("broken") }
	if r, err := Loop(t.Context(), Plan{Length: time.Second}, []Send{broken}); err == nil {
		t.Errorf("got %+v", r)
	}
}
