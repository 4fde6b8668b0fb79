package failover

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

const path = "/messages"

// room is a server of two nodes that share their messages. Node 0 can be
// silenced: it then takes a send, keeps it, and breaks the connection.
type room struct {
	mu     sync.Mutex
	seqs   map[string]uint64
	texts  []string
	silent bool
}

func (r *room) node(i int) http.HandlerFunc {
	return func(w http.ResponseWriter, req *http.Request) {
		r.mu.Lock()
		defer r.mu.Unlock()
		if req.Method == http.MethodGet {
			r.history(w, req)
			return
		}
		var body struct {
			Key string `json:"client_request_id"`
		}
		if err := json.NewDecoder(req.Body).Decode(&body); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		if _, known := r.seqs[body.Key]; !known {
			r.texts = append(r.texts, body.Key)
			r.seqs[body.Key] = uint64(len(r.texts))
		}
		if i == 0 && r.silent {
			panic(http.ErrAbortHandler)
		}
		w.WriteHeader(http.StatusCreated)
		fmt.Fprintf(w, `{"message":{"room_seq":%d}}`, r.seqs[body.Key])
	}
}

func (r *room) history(w http.ResponseWriter, req *http.Request) {
	before, err := strconv.Atoi(req.URL.Query().Get("cursor"))
	if err != nil {
		before = len(r.texts) + 1
	}
	from, next := max(1, before-page), "null"
	if from > 1 {
		next = strconv.Itoa(from)
	}
	fmt.Fprint(w, `{"messages":[`)
	for seq := from; seq < before; seq++ {
		if seq > from {
			fmt.Fprint(w, ",")
		}
		fmt.Fprintf(w, `{"room_seq":%d,"body":{"text":%q}}`, seq, r.texts[seq-1])
	}
	fmt.Fprintf(w, `],"next_cursor":%s}`, next)
}

// begin starts the nodes of a room and a load on them.
func begin(t *testing.T) (*room, *Load, []string) {
	t.Helper()
	r := &room{seqs: make(map[string]uint64)}
	hosts := make([]string, 2)
	for i := range hosts {
		server := httptest.NewServer(r.node(i))
		t.Cleanup(server.Close)
		hosts[i] = server.Listener.Addr().String()
	}
	l := Begin(t.Context(), Options{Hosts: hosts, Path: path, Writers: 3, Pause: time.Microsecond, Attempt: 5 * time.Second})
	return r, l, hosts
}

func first(t *testing.T, l *Load, since time.Time) Ack {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	ack, err := l.FirstSince(ctx, since)
	if err != nil {
		t.Fatal(err)
	}
	return ack
}

// A node that takes sends and breaks off costs repetitions at another, not
// messages: the same key is one message.
func TestWritersRepeatElsewhere(t *testing.T) {
	r, l, hosts := begin(t)
	first(t, l, time.Time{})
	r.mu.Lock()
	r.silent = true
	r.mu.Unlock()
	repeated := false
	for deadline := time.Now().Add(time.Minute); !repeated && time.Now().Before(deadline); {
		repeated = first(t, l, time.Now()).Attempts > 1
	}
	acks, err := l.End()
	if err != nil || !repeated {
		t.Fatalf("repeated: %v, %v", repeated, err)
	}
	history, err := History(t.Context(), hosts[1], path, "")
	if err != nil {
		t.Fatal(err)
	}
	if err := Check(history, acks); err != nil {
		t.Error(err)
	}
}

// Only a send that began after the given moment counts.
func TestFirstSince(t *testing.T) {
	_, l, _ := begin(t)
	since := time.Now().Add(50 * time.Millisecond)
	if ack := first(t, l, since); ack.Began.Before(since) || ack.Ended.Before(ack.Began) {
		t.Errorf("got %+v, wanted one since %s", ack, since)
	}
	if _, err := l.End(); err != nil {
		t.Error(err)
	}
	ended, cancel := context.WithTimeoutCause(t.Context(), time.Millisecond, errors.New("too late"))
	defer cancel()
	if ack, err := l.FirstSince(ended, time.Now()); err == nil {
		t.Errorf("got %+v after the end", ack)
	}
}

// A refusal that no repetition settles ends the load with an error.
func TestRefusedForGood(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "who are you", http.StatusUnauthorized)
	}))
	defer server.Close()
	l := Begin(t.Context(), Options{Hosts: []string{server.Listener.Addr().String()}, Path: path, Writers: 1, Attempt: time.Second})
	if _, err := l.FirstSince(t.Context(), time.Time{}); err == nil {
		t.Error("a send was acknowledged")
	}
	if acks, err := l.End(); err == nil || len(acks) > 0 {
		t.Errorf("ended with %v, %v", acks, err)
	}
}

// Writers that stay ask one node each, also again; a caller who waits for a silent one is
// told from those at the other.
func TestWritersStay(t *testing.T) {
	_, moving, hosts := begin(t)
	var silent sync.Mutex // held: node 1 answers nothing
	slow := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		silent.Lock()
		defer silent.Unlock()
		w.WriteHeader(http.StatusCreated)
		fmt.Fprint(w, `{"message":{"room_seq":1}}`)
	}))
	t.Cleanup(slow.Close)
	l := Begin(t.Context(), Options{Hosts: []string{hosts[1], slow.Listener.Addr().String()}, Path: path, Name: "staying-", Stay: true,
		Writers: 2, Pause: time.Microsecond, Attempt: time.Minute})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := l.EachSince(ctx, time.Now()); err != nil {
		t.Fatal(err)
	}
	silent.Lock()
	since := time.Now()
	for began := since; time.Since(began) < 50*time.Millisecond; { // writer 0 goes on
		first(t, l, time.Now())
	}
	silent.Unlock()
	if err := l.EachSince(ctx, time.Now()); err != nil {
		t.Fatal(err)
	}
	acks, err := l.End()
	if _, failed := moving.End(); err != nil || failed != nil {
		t.Fatal(err, failed)
	}
	var at [2][]Ack
	for _, ack := range acks {
		if at[ack.Writer] = append(at[ack.Writer], ack); ack.Attempts != 1 || !strings.HasPrefix(ack.Key, "staying-writer-") {
			t.Errorf("ack %+v", ack)
		}
	}
	if took := Longest(at[1], since); took < 40*time.Millisecond || Longest(acks, since) != max(took, Longest(at[0], since)) {
		t.Errorf("the caller at the silent node waited %s, the one at the other %s", took, Longest(at[0], since))
	}
	if took := Longest(at[1], time.Now()); took != 0 {
		t.Errorf("a send since now took %s", took)
	}
}

func TestCheck(t *testing.T) {
	history := []Entry{{1, "joined"}, {2, "a"}, {3, "unknown"}, {4, "b"}}
	good := []Ack{{Key: "a", Seq: 2}, {Key: "b", Seq: 4}}
	if err := Check(history, good); err != nil {
		t.Error(err)
	}
	for name, test := range map[string]struct {
		history []Entry
		acks    []Ack
	}{
		"nothing":     {nil, nil},
		"gap":         {[]Entry{{1, "a"}, {3, "b"}}, nil},
		"seq doubled": {[]Entry{{1, "a"}, {1, "b"}}, nil},
		"doubled":     {[]Entry{{1, "a"}, {2, "a"}}, nil},
		"lost":        {history, []Ack{{Key: "c", Seq: 5}}},
		"elsewhere":   {history, []Ack{{Key: "a", Seq: 4}}},
	} {
		if err := Check(test.history, test.acks); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
