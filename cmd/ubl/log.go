package main

import (
	"context"
	"io"
	"log/slog"
	"sync"
	"time"
)

const (
	// logDelay is how long a line of the log may wait for others to be written
	// with; a crash loses no more than that.
	logDelay = 100 * time.Millisecond
	// logBytes may wait at most.
	logBytes = 64 << 10
)

// logWriter gathers the lines of the log, because a busy server logs every
// request and a write for each costs more than the line itself. Each Write is
// whole lines, which stay together. It is safe for concurrent use.
type logWriter struct {
	to    io.Writer
	later *time.Timer // flushes

	mu      sync.Mutex
	waiting []byte
	closed  bool // nothing waits any more
}

func newLogWriter(to io.Writer) *logWriter {
	w := &logWriter{to: to}
	w.later = time.AfterFunc(logDelay, w.flush)
	return w
}

// Write implements io.Writer. What goes wrong when lines are written later,
// nobody learns: there is no better place to tell.
func (w *logWriter) Write(lines []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.waiting) == 0 {
		w.later.Reset(logDelay)
	}
	w.waiting = append(w.waiting, lines...)
	if w.closed || len(w.waiting) >= logBytes {
		w.write()
	}
	return len(lines), nil
}

func (w *logWriter) flush() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.write()
}

func (w *logWriter) write() {
	if len(w.waiting) > 0 {
		_, _ = w.to.Write(w.waiting)
		w.waiting = w.waiting[:0]
	}
}

// close writes what waits, and lets nothing wait from now on.
func (w *logWriter) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
	w.write()
	w.later.Stop()
}

// promptly is a handler over a logWriter that has warnings and worse written at
// once, with all before them.
type promptly struct {
	slog.Handler
	w *logWriter
}

// Handle implements [slog.Handler].
func (h promptly) Handle(ctx context.Context, r slog.Record) error {
	err := h.Handler.Handle(ctx, r)
	if r.Level >= slog.LevelWarn {
		h.w.flush()
	}
	return err
}

// WithAttrs implements [slog.Handler].
func (h promptly) WithAttrs(attrs []slog.Attr) slog.Handler {
	return promptly{h.Handler.WithAttrs(attrs), h.w}
}

// WithGroup implements [slog.Handler].
func (h promptly) WithGroup(name string) slog.Handler {
	return promptly{h.Handler.WithGroup(name), h.w}
}
