package actors

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// loadTimeout is how long a load may come no further. Other commands wait for it too:
// it must not end with the patience of the one that happened to come first. Nor has it
// an end of its own: a history that takes longer than any fixed time to replay, as
// before a first snapshot, would never be loaded at all.
const loadTimeout = time.Minute

// tellEvery is how often a load that takes long says in the log how far it is.
const tellEvery = 10 * time.Second

// loading watches one load. Those who read for it say how far they are by the context.
type loading struct {
	log *slog.Logger

	mu     sync.Mutex
	timer  *time.Timer
	began  time.Time
	told   time.Time
	events int
}

type loadingKey struct{}

// watchLoad is the context of a load: it ends when nothing was read for a while, or with
// stop.
func watchLoad(ctx context.Context, stop <-chan struct{}, log *slog.Logger) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	now := time.Now()
	l := &loading{log: log, began: now, told: now, timer: time.AfterFunc(loadTimeout, cancel)}
	ended := make(chan struct{})
	go func() {
		select {
		case <-stop:
			cancel()
		case <-ended:
		}
	}()
	return context.WithValue(ctx, loadingKey{}, l), sync.OnceFunc(func() {
		l.timer.Stop()
		close(ended)
		cancel()
	})
}

// Progressed says that more was read, where that is for a load.
func Progressed(ctx context.Context, events int) {
	l, ok := ctx.Value(loadingKey{}).(*loading)
	if !ok || ctx.Err() != nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.timer.Reset(loadTimeout)
	l.events += events
	if now := time.Now(); now.Sub(l.told) >= tellEvery {
		l.told = now
		l.log.Info("an actor with a long history is being loaded", "events", l.events, "seconds", int(now.Sub(l.began).Seconds()))
	}
}
