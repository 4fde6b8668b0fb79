package ubl

import (
	"context"
	"sync/atomic"
)

// Session is a run of views of one group that belong together. Each sees what was written
// before the first began, and perhaps more. So only the first has a store put into place
// what is being written meanwhile, for which those who write wait. It is for reading what
// nobody changes, as the actor that is being loaded, or what has happened long ago.
type Session struct {
	group Group
	begun atomic.Bool
}

type sessionKey struct{}

// WithSession begins a session of the views of a group that have the context.
func WithSession(ctx context.Context, g Group) context.Context {
	return context.WithValue(ctx, sessionKey{}, &Session{group: g})
}

// SessionOf is the session that a view of a group belongs to, nil for none.
func SessionOf(ctx context.Context, g Group) *Session {
	if s, ok := ctx.Value(sessionKey{}).(*Session); ok && s.group == g {
		return s
	}
	return nil
}

// Begun reports whether the session has had a view.
func (s *Session) Begun() bool { return s != nil && s.begun.Load() }

// Begin notes that it has had one.
func (s *Session) Begin() {
	if s != nil {
		s.begun.Store(true)
	}
}
