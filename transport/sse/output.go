package sse

import (
	"net/http"
	"time"

	"ubl"
)

// maxPiece is about how much is written under one deadline. A client that
// takes 64 KiB in ten seconds is slow, not dead.
const maxPiece = 64 << 10

// output writes frames to one client, each piece under a deadline.
type output struct {
	w       http.ResponseWriter
	control *http.ResponseController
	now     func() time.Time
	timeout time.Duration
	http2   bool

	armed time.Time // when the deadline was set last
	last  time.Time // when something was written last
}

// newOutput checks that the response can stream under deadlines: without them
// one dead client would hold a goroutine and a socket for ever.
func newOutput(w http.ResponseWriter, r *http.Request, now func() time.Time, timeout time.Duration) (*output, error) {
	o := &output{w: w, control: http.NewResponseController(w), now: now, timeout: timeout, http2: r.ProtoMajor > 1}
	if err := o.arm(); err != nil {
		return nil, ubl.Errorf(ubl.CodeInternal, "this connection can't carry a stream").Because(err)
	}
	return o, nil
}

// start sends the headers and the first frames.
func (o *output) start(first []byte) error {
	h := o.w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no")
	if !o.http2 {
		// The connection keeps our write deadline, so no other request may use it.
		h.Set("Connection", "close")
	}
	o.w.WriteHeader(http.StatusOK)
	return o.write([]byte(retryFrame), first)
}

// write sends the pieces and flushes once.
func (o *output) write(pieces ...[]byte) error {
	if err := o.arm(); err != nil {
		return err
	}
	for _, p := range pieces {
		if _, err := o.w.Write(p); err != nil {
			return err
		}
	}
	if err := o.control.Flush(); err != nil {
		return err
	}
	if o.http2 { // there the deadline would end the stream even with nothing to write
		o.armed = time.Time{}
		return o.control.SetWriteDeadline(time.Time{})
	}
	return nil
}

// end leaves the server time to write the stream's last bytes: the deadline of
// the last event may be long past.
func (o *output) end() {
	o.armed = time.Time{}
	_ = o.arm() // fails only where the connection is gone
}

// arm sets the write deadline, but not again for every event of a burst.
func (o *output) arm() error {
	o.last = o.now()
	if o.last.Sub(o.armed) < o.timeout/10 {
		return nil
	}
	o.armed = o.last
	return o.control.SetWriteDeadline(o.last.Add(o.timeout))
}
