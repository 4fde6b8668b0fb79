package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"ubl"
)

// run runs a command line in this process, against a server.
func run(t *testing.T, url, stdin string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = Run(t.Context(), args, strings.NewReader(stdin), &out, &errs, []string{"UBL_URL=" + url, "UBL_TOKEN=secret-token"})
	return code, out.String(), errs.String()
}

func message(seq int64, text string) string {
	m := ubl.Message{MsgID: "m:1", TenantID: "t:a.b", RoomID: "r:x", RoomSeq: seq, SenderID: "u:ana", Type: "text", Body: ubl.Body{Text: text},
		Receipt: ubl.Receipt{Shard: "0", Seq: 7, HeadHash: ubl.Genesis}}
	return string(m.AppendJSON(nil))
}

func refuse(w http.ResponseWriter, status int, code string) {
	w.WriteHeader(status)
	fmt.Fprintf(w, `{"error":{"code":%q,"message":"no \u001b[31mway"},"request_id":"req:123456","server_time":"2026-01-07T12:34:56.789Z"}`, code)
}

// A room that couldn't be read isn't listed as empty, and the command fails.
func TestRoomsSayWhatCantBeRead(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		room := func(name, details string) string {
			return fmt.Sprintf(`{"room_id":"r:%s","name":"%[1]s","mode":"internal","created_at":"2026-01-07T12:34:56.789Z","member":true,%[2]s}`, name, details)
		}
		fmt.Fprintf(w, `{"rooms":[%s,%s]}`, room("general", `"last_seq":7,"last_message":null,"read":{"read_seq":4,"unread":2,"mentions":0}`),
			room("spoiled", `"details_error":{"code":"internal","message":"stored data is damaged"}`))
	}))
	defer s.Close()
	for _, args := range [][]string{{"rooms"}, {"rooms", "--json"}} {
		code, out, errs := run(t, s.URL, "", args...)
		if code != 1 || !strings.Contains(errs, "r:spoiled couldn't be read: stored data is damaged (internal)") {
			t.Errorf("%v: %d, %s", args, code, errs)
		}
		if len(args) == 1 && !strings.Contains(out, "r:general  general  7        2       yes\nr:spoiled  spoiled  ?                yes, can't be read\n") {
			t.Errorf("%v: %s", args, out)
		}
	}
}

// TestPagesOfASearchAreRead: their cursors are numbers. No more hits are printed than were asked for.
func TestPagesOfASearchAreRead(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		after, _ := strconv.Atoi(r.URL.Query().Get("cursor"))
		limit, _ := strconv.Atoi(r.URL.Query().Get("limit"))
		if limit > 100 {
			t.Errorf("a page of %d was asked for", limit)
		}
		var hits []string
		for n := after; n < after+limit; n++ {
			hits = append(hits, fmt.Sprintf(`{"document_id":"d:%d","title":"Plan %[1]d","snippet":"dig here"}`, n))
		}
		fmt.Fprintf(w, `{"documents":[%s],"next_cursor":%d}`, strings.Join(hits, ","), after+limit)
	}))
	defer s.Close()
	for _, want := range []int{1, 100, 250} {
		code, out, errs := run(t, s.URL, "", "doc", "search", "dig", "--limit", strconv.Itoa(want))
		if lines := strings.Count(out, "dig here"); code != 0 || lines != want || !strings.Contains(out, fmt.Sprintf("d:%d ", want-1)) {
			t.Errorf("--limit %d prints %d hits, ends with %d: %s", want, lines, code, errs)
		}
	}
}

// TestASearchForNothingSaysWhatToTry: who asks a question by words that must all be there is told of --any.
func TestASearchForNothingSaysWhatToTry(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"documents":[],"next_cursor":null}`) }))
	defer s.Close()
	for args, told := range map[string]bool{"who renews it?": true, "who renews it?|--any": false, "renews": false, "who renews it?|--json": false} {
		code, _, errs := run(t, s.URL, "", append([]string{"doc", "search"}, strings.Split(args, "|")...)...)
		if code != 0 || strings.Contains(errs, "--any") != told {
			t.Errorf("%q ends with %d and says %q", args, code, errs)
		}
	}
}

// TestVerifyOfAZipFile: it says which file in it to take, instead of what is wrong with its first line.
func TestVerifyOfAZipFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "my-data.zip")
	if err := os.WriteFile(file, []byte("PK\x03\x04 and more"), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, _, errs := run(t, "", "", "verify", file); code != 2 || !strings.Contains(errs, "receipts.ndjson") {
		t.Errorf("it ends with %d and says %q", code, errs)
	}
}

// TestListsAreReadToTheirEnd: the server gives rooms with details 500 at a time.
func TestListsAreReadToTheirEnd(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name, next := "general", `"r:general"`
		if r.URL.Query().Get("cursor") == "r:general" {
			name, next = "plans", "null"
		}
		fmt.Fprintf(w, `{"rooms":[{"room_id":"r:%s","name":"%[1]s","mode":"internal","created_at":"2026-01-07T12:34:56.789Z","member":false}],"next_cursor":%s}`, name, next)
	}))
	defer s.Close()
	code, out, errs := run(t, s.URL, "", "rooms")
	if want := "ROOM       NAME     ENTRIES  UNREAD  MEMBER\nr:general  general                   no, may join\nr:plans    plans                     no, may join\n"; code != 0 || out != want {
		t.Errorf("%d, %s\n%s", code, errs, out)
	}
}

// An export that ends at damage is told as that, and what came before is written.
func TestExportThatEndsAtDamage(t *testing.T) {
	const header = `{"format":"ubl.export.v1","head_hash":"h:00","last_seq":9,"ledger_shard":"0","tenant_id":"t:acme.com"}` + "\n"
	const line = `{"damaged":"stored data is damaged","seq":1}` + "\n"
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, header, line) }))
	defer s.Close()
	code, out, errs := run(t, s.URL, "", "export")
	if code != 1 || out != header+line || !strings.Contains(errs, "the export ends at damage, after 0 of 9 atoms: atom 1 can't be read: stored data is damaged") {
		t.Errorf("%d, %s, %s", code, out, errs)
	}
}

// keyOf is the idempotency key in a request's body, "" for none.
func keyOf(r *http.Request) string {
	var body struct {
		Key string `json:"client_request_id"`
	}
	data, _ := io.ReadAll(r.Body)
	_ = json.Unmarshal(data, &body)
	return body.Key
}

// A server that is too busy twice, or breaks the connection, is asked again
// with the same key.
func TestSendTriesAgain(t *testing.T) {
	var mu sync.Mutex
	var keys []string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sent := keyOf(r)
		mu.Lock()
		defer mu.Unlock()
		keys = append(keys, sent)
		switch len(keys) {
		case 1:
			w.Header().Set("Retry-After", "1")
			refuse(w, 503, "overloaded")
		case 2:
			panic(http.ErrAbortHandler)
		default:
			w.WriteHeader(201)
			fmt.Fprintf(w, `{"message":%s}`, message(5, "hello"))
		}
	}))
	defer s.Close()
	code, out, errs := run(t, s.URL, "", "send", "x", "hello")
	if code != 0 || !strings.HasPrefix(out, "sent as 5 in r:x, receipt 7 h:genesis") {
		t.Errorf("exit code %d: %s%s", code, out, errs)
	}
	if len(keys) != 3 || keys[0] == "" || len(slices.Compact(keys)) != 1 {
		t.Errorf("keys = %q, want one key three times", keys)
	}
}

// TestSendNamesItsKey where it isn't known whether the message was sent, and the command that
// can't send it twice; nowhere else, and never the text.
func TestSendNamesItsKey(t *testing.T) {
	refusal := func(status int, code string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { refuse(w, status, code) }
	}
	drop := func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }
	for name, test := range map[string]struct {
		answers []http.HandlerFunc // the last is that of all that follow
		unsure  bool
	}{
		"unavailable":                 {[]http.HandlerFunc{refusal(503, "unavailable")}, true},
		"a fault":                     {[]http.HandlerFunc{refusal(500, "internal")}, true},
		"a gateway's word":            {[]http.HandlerFunc{func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(502) }}, true},
		"a broken connection":         {[]http.HandlerFunc{drop}, true},
		"an answer that is no JSON":   {[]http.HandlerFunc{func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>") }}, true},
		"unavailable, then a refusal": {[]http.HandlerFunc{refusal(503, "unavailable"), refusal(401, "unauthorized")}, true},
		"overloaded":                  {[]http.HandlerFunc{refusal(503, "overloaded")}, false},
		"a refusal":                   {[]http.HandlerFunc{refusal(403, "forbidden")}, false},
		"no server of ours":           {[]http.HandlerFunc{func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(404) }}, false},
	} {
		t.Run(name, func(t *testing.T) {
			var mu sync.Mutex
			var key string
			calls := 0
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				sent := keyOf(r)
				mu.Lock()
				answer := test.answers[min(calls, len(test.answers)-1)]
				calls++
				key = sent
				mu.Unlock()
				answer(w, r)
			}))
			defer s.Close()
			p := &program{env: map[string]string{"UBL_TOKEN": "x"}, random: &counter64{}, in: strings.NewReader("my text"), out: io.Discard, err: io.Discard}
			for text, shown := range map[string]string{"my text": "TEXT", "-": "-"} {
				mu.Lock()
				calls = 0
				mu.Unlock()
				c := &sendCmd{remote: remote{whichServer: whichServer{URL: s.URL}}, oneRoom: oneRoom{Place: "x"}, Text: text, ReplyTo: "m:1", Thread: "m:2", Mention: []string{"@room"}}
				server, err := c.client(p)
				if err != nil {
					t.Fatal(err)
				}
				server.pause = func(context.Context, time.Duration) {}
				err = c.send(t.Context(), p, server)
				mu.Lock() // a server whose connection broke may still be at it
				key := key
				mu.Unlock()
				want := "it may have been sent; to try again without sending it twice: ubl send r:x " + shown + " --key " + key + " --reply-to m:1 --thread m:2 --mention @room"
				if err == nil || strings.HasSuffix(err.Error(), want) != test.unsure || strings.Contains(err.Error(), "may have been") != test.unsure || strings.Contains(err.Error(), "my text") {
					t.Errorf("%s: %v\nwant %t: %s", text, err, test.unsure, want)
				}
			}
		})
	}
	if code, _, errs := run(t, "http://127.0.0.1:1", "", "send", "x", "hello"); code != 1 || !strings.Contains(errs, "couldn't reach the server") || strings.Contains(errs, "may have been") {
		t.Errorf("where no server listens: %d %s", code, errs)
	}
}

// TestPausesGetLonger: they double up to a bound, and differ by up to a quarter.
func TestPausesGetLonger(t *testing.T) {
	for _, test := range []struct {
		wait time.Duration
		n    int
		want time.Duration
	}{
		{time.Second, 1, time.Second}, {time.Second, 3, 4 * time.Second}, {2 * time.Second, 2, 4 * time.Second},
		{3 * time.Second, 2, 5 * time.Second}, {time.Second, 1 << 40, 5 * time.Second},
	} {
		for range 100 {
			if got := longer(test.wait, test.n, 5*time.Second); got < test.want || got > test.want*5/4 {
				t.Fatalf("after failure %d and %v it waits %v, want %v to a quarter more", test.n, test.wait, got, test.want)
			}
		}
	}
}

func TestClientErrors(t *testing.T) {
	var calls atomic.Int64
	answer := http.HandlerFunc(nil)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		calls.Add(1)
		answer(w, r)
	}))
	defer s.Close()
	for _, c := range []struct {
		name   string
		answer http.HandlerFunc
		calls  int64
		stderr string
	}{
		{"a refusal is final and shown without control characters", func(w http.ResponseWriter, _ *http.Request) { refuse(w, 403, "not_a_member") }, 1,
			"ubl: no \ufffd[31mway (not_a_member, request req:123456)\n"},
		{"a page that is no UBL server's", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(404) }, 1, "not as a UBL server would"},
		{"an answer that is no JSON", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>") }, 1, "not as a UBL server's would be"},
		{"a redirect, which would carry the token away", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "https://evil.example/", http.StatusFound)
		}, 1, "is --url right?"},
	} {
		t.Run(c.name, func(t *testing.T) {
			calls.Store(0)
			answer = c.answer
			code, _, errs := run(t, s.URL, "", "rooms")
			if code != 1 || !strings.Contains(errs, c.stderr) || calls.Load() != c.calls {
				t.Errorf("exit code %d after %d calls: %s", code, calls.Load(), errs)
			}
		})
	}
}

func TestTokenFile(t *testing.T) {
	var got string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = r.Header.Get("Authorization")
		_, _ = io.WriteString(w, `{"rooms":[]}`)
	}))
	defer s.Close()
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte("from-file\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, _, errs := run(t, s.URL, "", "rooms", "--token-file", file); code != 0 || got != "Bearer from-file" {
		t.Errorf("exit code %d, %q: %s", code, got, errs)
	}
	if code, _, _ := run(t, s.URL, "", "rooms"); code != 0 || got != "Bearer secret-token" {
		t.Errorf("exit code %d, %q", code, got)
	}
}

// An export that was cut is a failure, whatever it looked like.
func TestExportNoticesACutConnection(t *testing.T) {
	body := `{"format":"ubl.export.v1","head_hash":"h:x","last_seq":2,"ledger_shard":"0","tenant_id":"t:a.b"}` + "\n{}\n"
	for name, h := range map[string]http.HandlerFunc{
		"aborted": func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, body)
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		},
		"ended early": func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, body) },
		"no export":   func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "hello") },
	} {
		s := httptest.NewServer(h)
		if code, _, errs := run(t, s.URL, "", "export"); code != 1 || !strings.Contains(errs, "couldn't export") {
			t.Errorf("%s: exit code %d: %s", name, code, errs)
		}
		s.Close()
	}
}

// A stream that breaks between events, inside one, and at its very beginning
// is taken up after the last whole message; nothing is shown twice.
func TestTailResumes(t *testing.T) {
	event := func(seq int64) string {
		return fmt.Sprintf("id: %d\nevent: message.created\ndata: {\"event\":\"message.created\",\"payload\":{\"message\":%s}}\n\n", seq, message(seq, fmt.Sprint("text ", seq)))
	}
	pieces := []string{
		": keepalive\n\n" + event(3) + event(4), // a clean end
		event(4) + event(5)[:60],                // a repetition, and half an event
		"",                                      // nothing at all
		"event: room.gap\ndata: {\"event\":\"room.gap\",\"payload\":{\"available_from\":9,\"from_seq\":4}}\n\n" + event(9), // a gap
	}
	var from []string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasPrefix(r.URL.Path, "/api/events/") {
			_, _ = io.WriteString(w, `{"room":{"last_seq":2}}`)
			return
		}
		from = append(from, r.URL.Query().Get("from_seq"))
		if r.Header.Get("Last-Event-Id") != "" {
			t.Error("the library's own last id would skip half an event")
		}
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, pieces[min(len(from), len(pieces))-1])
	}))
	defer s.Close()
	server, err := (&remote{whichServer: whichServer{URL: s.URL}}).client(&program{env: map[string]string{"UBL_TOKEN": "x"}})
	if err != nil {
		t.Fatal(err)
	}
	server.pause = func(context.Context, time.Duration) {}
	var out, errs bytes.Buffer
	follow := newTail(&tailCmd{Limit: 3}, &program{out: &out, err: &errs}, server, "r:x")
	if err := follow.begin(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := follow.follow(t.Context()); err != nil {
		t.Fatal(err)
	}
	if want := []string{"2", "4", "4", "4"}; !slices.Equal(from, want) {
		t.Errorf("taken up after %q, want %q", from, want)
	}
	if got := strings.Count(out.String(), "\n"); got != 3 || !strings.Contains(out.String(), "text 9") {
		t.Errorf("shown:\n%s", out.String())
	}
	if !strings.Contains(errs.String(), "going on from 9") {
		t.Errorf("the gap was not told: %s", errs.String())
	}
}

func TestTailEndsWhereTryingAgainCannotHelp(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { refuse(w, 401, "unauthorized") }))
	defer s.Close()
	if code, _, errs := run(t, s.URL, "", "tail", "x", "--from", "0"); code != 1 || !strings.Contains(errs, "unauthorized") {
		t.Errorf("exit code %d: %s", code, errs)
	}
}

// TestVerifyKeptExport: an export that an earlier build answered, with atoms of version 2, holds up to the
// head that its header has.
func TestVerifyKeptExport(t *testing.T) {
	kept := "../../test/upgrade/testdata/atoms-v2/ledger.ndjson"
	data, err := os.ReadFile(kept)
	if err != nil {
		t.Fatal(err)
	}
	var header struct {
		HeadHash string `json:"head_hash"`
	}
	line, _, _ := strings.Cut(string(data), "\n")
	if err := json.Unmarshal([]byte(line), &header); err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	code := Run(t.Context(), []string{"verify", kept, "--head", header.HeadHash}, nil, &out, &errs, nil)
	if code != 0 || !strings.HasPrefix(out.String(), "ok: t:localhost, 244 atoms (122 actions, 122 effects, 0 still open), head "+header.HeadHash) ||
		!strings.Contains(out.String(), "Taken away for good: entries of rooms 1, documents 2, files 2.") {
		t.Errorf("verify: %d %s %s", code, &out, &errs)
	}
}

// TestVerifyShowsNoText that a forged export wrote for the auditor's terminal: reasons of
// damage and of holes are one line, without what moves the cursor.
func TestVerifyShowsNoText(t *testing.T) {
	header := `{"format":"ubl.export.v1","head_hash":"h:` + strings.Repeat("0", 64) + `","last_seq":2,"ledger_shard":"0","tenant_id":"t:a.b"}` + "\n"
	for name, why := range map[string]string{"ESC": "\x1b[1A\x1b[2Kthe ledger holds", "a line": "x\nok: t:a.b, the ledger holds", "C1": "\u009b2Jthe ledger holds", "bidi": "\u202ethe ledger holds"} {
		quoted, err := json.Marshal([]string{why})
		if err != nil {
			t.Fatal(err)
		}
		if quoted, err = ubl.Canonical(quoted); err != nil {
			t.Fatal(err)
		}
		reason := string(quoted[1 : len(quoted)-1])
		for kind, export := range map[string]string{
			"damage": header + `{"damaged":` + reason + `,"seq":1}` + "\n",
			"an end": `{"format":"ubl.export.v1","head_hash":"h:genesis","last_seq":0,"ledger_shard":"0","tenant_id":"t:a.b"}` + "\n" + `{"after_seq":0,"format":"ubl.export.lost.v1","ledger_shard":"0","reason":` + reason + `,"tenant_id":"t:a.b"}` + "\n",
			"a hole": header + `{"format":"ubl.export.hole.v1","from_seq":1,"ledger_shard":"0","reason":` + reason + `,"tenant_id":"t:a.b","to_seq":2}` + "\n",
		} {
			for _, args := range [][]string{{"verify", "-"}, {"verify", "--json", "-"}, {"import", archiveWith(t, export)}} {
				code, out, errs := run(t, "", export, args...)
				if said := out + errs; code == exitOK || !strings.Contains(said, "the ledger holds") || strings.ContainsAny(said, "\x1b\u009b\u202e") || strings.Contains(said, "\nok:") {
					t.Errorf("%s in %s: %q: %d %q %q", name, kind, args, code, out, errs)
				}
			}
		}
	}
}

func TestClean(t *testing.T) {
	for in, want := range map[string]string{
		"plain é 😀\n\ttext":    "plain é 😀\n\ttext",
		"\x1b]0;title\x07":     "\ufffd]0;title\ufffd",
		"\u202eevil\r\x9b2J":   "\ufffdevil\ufffd\ufffd2J",
		"👩\u200d🚀 stays whole": "👩\u200d🚀 stays whole",
	} {
		if got := clean(in); got != want {
			t.Errorf("clean(%q) = %q, want %q", in, got, want)
		}
	}
}

// TestSendRefusesWhatIsNoText before anything is sent: JSON would put signs in its place.
func TestSendRefusesWhatIsNoText(t *testing.T) {
	for _, text := range []string{"a\xff", " ", "\u200b"} {
		if code, _, errs := run(t, "http://127.0.0.1:1", text, "send", "general", "-"); code != 1 || !strings.Contains(errs, "the message text") {
			t.Errorf("%q from standard input: exit code %d, %s", text, code, errs)
		}
		if code, _, errs := run(t, "http://127.0.0.1:1", "", "send", "general", text); code == 0 || strings.Contains(errs, "reach") {
			t.Errorf("%q: exit code %d, %s", text, code, errs)
		}
	}
}
