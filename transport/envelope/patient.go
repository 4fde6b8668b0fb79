package envelope

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// Silence is how long an answer of events says nothing before it sends a comment:
// proxies end what is silent for longer, often after 30 s or a minute.
const Silence = 15 * time.Second

const eventStream = "text/event-stream"

// Patient is a response of Server-Sent Events that may be long in coming. In each
// silence it sends a comment. Until the first it can still become an answer of
// another kind, such as an error with its status; after it that is sent as an
// event. Safe for one goroutine that writes events, each in one piece.
type Patient struct {
	w       http.ResponseWriter
	silence time.Duration
	late    string
	header  http.Header // what the handler sets; the timer doesn't touch it

	mu     sync.Mutex
	timer  *time.Timer
	begun  bool // the status is sent
	kept   bool // by the first comment
	closed bool // there will be no more comments
}

// Patiently wraps w. late is the name of the event that an answer of another kind
// becomes. The handler must call [Patient.Close] before it returns.
func Patiently(w http.ResponseWriter, silence time.Duration, late string) *Patient {
	p := &Patient{w: w, silence: silence, late: late, header: http.Header{}}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.timer = time.AfterFunc(silence, p.keep)
	return p
}

// Close ends the comments.
func (p *Patient) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.close()
}

func (p *Patient) close() {
	p.closed = true
	p.timer.Stop()
}

// keep sends a comment. A client that has gone is no error of ours.
func (p *Patient) keep() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return
	}
	if !p.begun {
		p.begun, p.kept = true, true
		h := p.w.Header()
		h.Set("Content-Type", eventStream)
		h.Set("Cache-Control", "no-cache, no-transform")
		h.Set("X-Accel-Buffering", "no")
		p.w.WriteHeader(http.StatusOK)
	}
	_, _ = p.w.Write([]byte(": keepalive\n\n"))
	_ = http.NewResponseController(p.w).Flush()
	p.timer.Reset(p.silence)
}

// Header implements [http.ResponseWriter].
func (p *Patient) Header() http.Header { return p.header }

// WriteHeader implements [http.ResponseWriter].
func (p *Patient) WriteHeader(status int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.begin(status)
}

func (p *Patient) begin(status int) {
	if p.begun {
		return
	}
	p.begun = true
	maps.Copy(p.w.Header(), p.header)
	p.w.WriteHeader(status)
}

// Write implements [http.ResponseWriter].
func (p *Patient) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.begin(http.StatusOK)
	if strings.HasPrefix(p.header.Get("Content-Type"), eventStream) {
		p.timer.Reset(p.silence)
		return p.w.Write(b)
	}
	p.close()
	if !p.kept {
		return p.w.Write(b)
	}
	if _, err := p.w.Write(slices.Concat([]byte("event: "+p.late+"\ndata: "), b, []byte("\n\n"))); err != nil {
		return 0, err
	}
	return len(b), nil
}

// FlushError sends what was written.
func (p *Patient) FlushError() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return http.NewResponseController(p.w).Flush()
}

// Unwrap lets an http.ResponseController reach what this one doesn't have.
func (p *Patient) Unwrap() http.ResponseWriter { return p.w }
