package mcp

import (
	"net/http"
	"time"
)

// output is a response that may take longer than the server allows: each write
// has a deadline of its own. It belongs to its request's goroutine, or to an
// [envelope.Patient].
type output struct {
	http.ResponseWriter
	control *http.ResponseController
	now     func() time.Time
	timeout time.Duration
	http2   bool

	armed time.Time // when the deadline was set last
	last  time.Time // when something was written last
}

func newOutput(w http.ResponseWriter, r *http.Request, now func() time.Time, timeout time.Duration) *output {
	return &output{ResponseWriter: w, control: http.NewResponseController(w), now: now, timeout: timeout, http2: r.ProtoMajor > 1}
}

// Write writes under a deadline.
func (o *output) Write(p []byte) (int, error) {
	o.arm()
	return o.ResponseWriter.Write(p)
}

// FlushError sends what was written.
func (o *output) FlushError() error {
	o.arm()
	err := o.control.Flush()
	if o.http2 { // there the deadline would end the stream even with nothing to write
		o.armed = time.Time{}
		_ = o.control.SetWriteDeadline(time.Time{})
	}
	return err
}

// Unwrap lets an http.ResponseController reach what this one doesn't have.
func (o *output) Unwrap() http.ResponseWriter { return o.ResponseWriter }

// arm sets the deadline, but not again for every piece of a burst. A writer
// without deadlines is a test's.
func (o *output) arm() {
	o.last = o.now()
	if o.last.Sub(o.armed) < o.timeout/10 {
		return
	}
	o.armed = o.last
	_ = o.control.SetWriteDeadline(o.last.Add(o.timeout))
}

// startStream sends the headers of a stream of events and its first bytes.
func (o *output) startStream(first []byte) error {
	h := o.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-cache, no-transform")
	h.Set("X-Accel-Buffering", "no")
	if !o.http2 {
		// The connection keeps our write deadline, so no other request may use it.
		h.Set("Connection", "close")
	}
	o.WriteHeader(http.StatusOK)
	return o.send(first)
}

// send writes and flushes.
func (o *output) send(p []byte) error {
	if _, err := o.Write(p); err != nil {
		return err
	}
	return o.FlushError()
}
