package container

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"ubl"
	"ubl/actors"
)

// behind is a Searcher that has more to take in than any caller waits for.
type behind struct{ ubl.Searcher }

func (behind) Search(ctx context.Context, _ ubl.Name, _ ubl.Mark, _ ubl.DocumentChanges, _ string, _ int) ([]ubl.DocumentMatch, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// TestASearchBehindItsIndex: a search that the index is not ready for says so, and
// when to come back, while there is still time for an answer. One whose caller goes
// earlier ends with the caller.
func TestASearchBehindItsIndex(t *testing.T) {
	for _, test := range []struct {
		caller, ends time.Duration
		code         ubl.Code
		retryAfter   int
	}{
		{time.Hour, findTimeout, ubl.CodeUnavailable, 10},
		{time.Second, time.Second, ubl.CodeUnavailable, 1},
	} {
		synctest.Test(t, func(t *testing.T) {
			c := &Container{search: behind{}, env: actors.Env{Name: "t:acme.com|w:general"}}
			ctx, cancel := context.WithTimeout(t.Context(), test.caller)
			defer cancel()
			began := time.Now()
			_, err := c.lookUp(ctx, ubl.Mark{}, "word", 10)
			e := ubl.AsError(err)
			if took := time.Since(began); took != test.ends || e.Code != test.code || e.RetryAfter() != test.retryAfter {
				t.Errorf("ended after %v with %v, to come back after %d s", took, err, e.RetryAfter())
			}
		})
	}
}
