package api

import (
	"context"
	"net/http"
	"time"

	"ubl/transport/envelope"
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

// unhurried serves an operation that waits for somebody else: a model, another server.
func (a *API) unhurried(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) { next(envelope.Unhurried(w, a.Now), r) }
}
