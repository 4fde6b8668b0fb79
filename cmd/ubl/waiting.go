package main

import (
	"errors"
	"net"
	"net/http"
	"time"

	"ubl"
	"ubl/transport"
	"ubl/transport/envelope"
)

// errStopped is a start that was called off.
var errStopped = errors.New("stopped before the server was ready")

// waiting answers health checks on the main address while the node waits for
// its cluster: it is alive, and not ready.
type waiting struct {
	door   net.Listener
	server *http.Server
	done   chan struct{}
}

// waitTimeout bounds an answer to a health check.
const waitTimeout = 5 * time.Second

// retryWaiting is when to ask such a node again.
const retryWaiting = time.Second

// wait begins to answer.
func (d *doors) wait(p *program) *waiting {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) })
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		request := &envelope.Request{At: ubl.TimeOf(p.now())}
		var err error
		if request.ID, err = ubl.NewRequestID(p.random); err == nil {
			w.Header().Set(transport.RequestIDHeader, request.ID)
			err = ubl.Errorf(ubl.CodeUnavailable, "this node waits for its cluster").Later(retryWaiting)
		}
		envelope.WriteError(w, r.WithContext(envelope.WithRequest(r.Context(), request)), err)
	})
	w := &waiting{
		door: d.main, done: make(chan struct{}),
		server: &http.Server{Handler: mux, ReadTimeout: waitTimeout, WriteTimeout: waitTimeout},
	}
	go func() {
		defer close(w.done)
		_ = w.server.Serve(borrowed{d.main}) // ends with end
	}()
	return w
}

// end stops answering and leaves the listener as it was.
func (w *waiting) end() {
	l, ok := w.door.(*net.TCPListener)
	if !ok {
		return
	}
	_ = l.SetDeadline(time.Unix(1, 0)) // wakes Accept: Close waits for it
	_ = w.server.Close()
	<-w.done
	_ = l.SetDeadline(time.Time{})
}

// borrowed is a listener that someone else closes.
type borrowed struct{ net.Listener }

// Close does nothing.
func (borrowed) Close() error { return nil }
