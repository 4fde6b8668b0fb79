package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"
)

// newRaftLog carries Raft's log into ours. Raft retries by itself, so its errors are our
// warnings, and the rest is for debugging: an election is no operator's business as long
// as it succeeds.
func newRaftLog(log *slog.Logger) hclog.Logger {
	l := hclog.NewInterceptLogger(&hclog.LoggerOptions{Level: hclog.Off, Output: io.Discard})
	l.RegisterSink(&raftSink{log: log.With("part", "raft"), seen: make(map[string]time.Time)})
	return l
}

// raftQuiet is how long a trouble must not show to count as another when it comes back.
// Raft's own pauses between two tries are shorter.
const raftQuiet = time.Minute

// raftSink takes Raft's lines. Raft repeats an error with each try, many times a second:
// the first is a warning, the others are for debugging.
type raftSink struct {
	log *slog.Logger

	mu   sync.Mutex
	seen map[string]time.Time // by message and peer, of all partitions
}

// Accept implements [hclog.SinkAdapter].
func (s *raftSink) Accept(_ string, level hclog.Level, msg string, args ...any) {
	if level < hclog.Info {
		return
	}
	to := slog.LevelDebug
	// A leader looks for entries that its log no longer has before it sends a snapshot.
	if err, ok := value(args, "error").(error); level >= hclog.Error && !(ok && errors.Is(err, raft.ErrLogNotFound)) && !s.again(msg, args) {
		to = slog.LevelWarn
	}
	s.log.Log(context.Background(), to, msg, plain(args)...)
}

// again reports whether the same was said of the same peer lately.
func (s *raftSink) again(msg string, args []any) bool {
	for _, name := range []string{"peer", "target"} {
		if peer := value(args, name); peer != nil {
			msg += fmt.Sprint("\n", peer)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	now, last := time.Now(), s.seen[msg]
	s.seen[msg] = now
	return now.Sub(last) < raftQuiet
}

// value is that of a name among pairs, nil without.
func value(args []any, name string) any {
	for pair := range slices.Chunk(args, 2) {
		if pair[0] == name && len(pair) == 2 {
			return pair[1]
		}
	}
	return nil
}

// plain are hclog's pairs with its own kinds of values as text.
func plain(args []any) []any {
	args = slices.Clone(args)
	for i, arg := range args {
		if f, ok := arg.(hclog.Format); ok && len(f) > 0 {
			args[i] = fmt.Sprintf(fmt.Sprint(f[0]), f[1:]...)
		}
	}
	return args
}
