package api

import (
	"context"
	"net/http"
	"time"
)

// patience is how long an operation may take that waits for nobody else. Where nothing
// was decided until then the caller hears overloaded, else unavailable.
const patience = 10 * time.Second

// timely serves an operation with a deadline.
func timely(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), patience)
		defer cancel()
		next(w, r.WithContext(ctx))
	}
}

// writePatience is how long a client may take for one piece of a slow answer.
const writePatience = time.Minute

// unhurried serves an operation that waits for somebody else: a model, another
// server. The server's time for an answer counts from the request on; here it
// counts from the moment that there is one.
func (a *API) unhurried(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		control := http.NewResponseController(w)
		// Writers without deadlines are those of tests and of acts.
		_ = control.SetWriteDeadline(time.Time{})
		next(&slowAnswer{w, control, a.Now}, r)
	}
}

// slowAnswer gives each write a deadline of its own.
type slowAnswer struct {
	http.ResponseWriter
	control *http.ResponseController
	now     func() time.Time
}

func (s *slowAnswer) Write(p []byte) (int, error) {
	_ = s.control.SetWriteDeadline(s.now().Add(writePatience))
	return s.ResponseWriter.Write(p)
}

// Unwrap lets an http.ResponseController reach flushing.
func (s *slowAnswer) Unwrap() http.ResponseWriter { return s.ResponseWriter }
