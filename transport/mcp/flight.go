package mcp

import (
	"context"
	"slices"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
)

// flights are the calls of sessions that are under way on this node, so that
// notifications/cancelled can end one. A call on another node goes on: the
// protocol lets a server ignore the wish. An id should name one call, and who
// uses it again before that has ended cancels both.
type flights struct {
	mu    sync.Mutex
	calls map[flight][]*context.CancelFunc
}

type flight struct{ session, request string }

// start makes a context that ends with the call's, or when it is cancelled. done
// must be called at the end.
func (f *flights) start(ctx context.Context, session string, id jsontext.Value) (_ context.Context, done func()) {
	if session == "" {
		return ctx, func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	key := flight{session, string(id)}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.calls == nil {
		f.calls = make(map[flight][]*context.CancelFunc)
	}
	f.calls[key] = append(f.calls[key], &cancel)
	return ctx, func() {
		cancel()
		f.mu.Lock()
		defer f.mu.Unlock()
		f.calls[key] = slices.DeleteFunc(f.calls[key], func(c *context.CancelFunc) bool { return c == &cancel })
		if len(f.calls[key]) == 0 {
			delete(f.calls, key)
		}
	}
}

func (f *flights) cancel(session string, id jsontext.Value) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, cancel := range f.calls[flight{session, string(id)}] {
		(*cancel)()
	}
}
