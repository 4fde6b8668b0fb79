package failover

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"ubl/test/bench/internal/load"
	"ubl/test/bench/internal/rawhttp"
)

// writer sends one message after another, each until it is acknowledged.
type writer struct {
	options Options
	id      int
	lines   []line
}

// send posts message n under a key of its own, until it is acknowledged.
func (w *writer) send(ctx context.Context, n int) (Ack, error) {
	ack := Ack{Writer: w.id, Key: fmt.Sprintf("%swriter-%d-send-%d", w.options.Name, w.id, n), Began: time.Now()}
	body := fmt.Appendf(nil, `{"type":"text","body":{"text":"%s"},"reply_to":null,"client_request_id":"%s"}`, ack.Key, ack.Key)
	for ctx.Err() == nil {
		at := w.at(n + ack.Attempts)
		ack.Attempts++
		status, reply, err := at.do(rawhttp.Post(at.host, w.options.Path, w.options.Token, body))
		switch {
		case err == nil && status/100 == http.StatusOK/100:
			ack.Ended = time.Now()
			ack.Seq, err = load.RoomSeq(reply)
			return ack, err
		case err == nil && !passing(status):
			return ack, fmt.Errorf("send %s was refused for good: %d %.200s", ack.Key, status, reply)
		}
		pause(ctx, backoff)
	}
	return ack, fmt.Errorf("send %s was given up: %w", ack.Key, context.Cause(ctx))
}

// at is the line for the nth attempt of all.
func (w *writer) at(n int) *line {
	if w.options.Stay {
		n = 0
	}
	return &w.lines[(w.id+n)%len(w.lines)]
}

func (w *writer) close() {
	for i := range w.lines {
		w.lines[i].close()
	}
}

// passing tells whether a refusal may pass: overload, no leader, a server that
// stops. All else is a fault, here or there.
func passing(status int) bool {
	return status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable
}

// line is the keep-alive connection to one node, made again after it broke.
type line struct {
	host   string
	within time.Duration
	conn   *rawhttp.Conn
}

// do makes one exchange. After an error the line is new: an answer that comes
// late must not be taken for another's.
func (l *line) do(request []byte) (status int, body []byte, err error) {
	if l.conn == nil {
		if l.conn, err = rawhttp.DialWithin(l.host, l.within); err != nil {
			l.conn = nil
			return 0, nil, err
		}
	}
	status, body, err = l.conn.Do(request)
	if err != nil {
		l.close()
	}
	return status, body, err
}

func (l *line) close() {
	if l.conn != nil {
		l.conn.Close() // an answer under way is not waited for
		l.conn = nil
	}
}
