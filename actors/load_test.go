package actors

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"ubl"
)

// longAgo is a Reader of many events, each page of which takes as long as pages says.
type longAgo struct {
	events int64
	page   time.Duration
}

func (r longAgo) View(ctx context.Context, _ ubl.Group, fn func(ubl.Snapshot) error) error {
	select {
	case <-time.After(r.page):
		return fn(longAgoSnap{r: r})
	case <-ctx.Done():
		return ctx.Err()
	}
}

type longAgoSnap struct {
	ubl.Snapshot
	r longAgo
}

func (s longAgoSnap) Ascend(from, to []byte, fn func(k, v []byte) bool) error {
	for n := range s.r.events {
		if k := longAgoKey(n + 1); bytes.Compare(k, from) >= 0 && bytes.Compare(k, to) < 0 {
			if v, err := json.Marshal(longAgoEvent{N: n + 1}); err != nil || !fn(k, v) {
				return err
			}
		}
	}
	return nil
}

func longAgoKey(n int64) []byte { return fmt.Appendf(nil, "t%08d", n) }

type longAgoEvent struct{ N int64 }

func (longAgoEvent) FormatVersion() int { return 1 }

// TestALoadThatComesFurtherHasNoEnd: a history is replayed that takes longer than any
// timeout, and the log says how far it is; one that hangs is given up.
func TestALoadThatComesFurtherHasNoEnd(t *testing.T) {
	load := func(r longAgo, stop chan struct{}) (read int64, took time.Duration, log string, err error) {
		var said strings.Builder
		began := time.Now()
		ctx, cancel := watchLoad(t.Context(), stop, slog.New(slog.NewTextHandler(&said, nil)))
		defer cancel()
		events := Events[longAgoEvent]{Read: r, Key: longAgoKey, Newest: 1}
		err = events.Each(ctx, 1, 1<<40, func(longAgoEvent) error { read++; return nil })
		return read, time.Since(began), said.String(), err
	}
	synctest.Test(t, func(t *testing.T) {
		read, took, log, err := load(longAgo{20*EventPage + 1, 40 * time.Second}, nil)
		if err != nil || read != 20*EventPage+1 || took != 21*40*time.Second {
			t.Errorf("after %v it has %d events: %v", took, read, err)
		}
		if strings.Count(log, "long history") != 21 || !strings.Contains(log, "events=10001 seconds=840") {
			t.Errorf("the log says %s", log)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		if _, took, _, err := load(longAgo{1, time.Hour}, nil); !errors.Is(err, context.Canceled) || took != loadTimeout {
			t.Errorf("a load that hangs ends after %v with %v", took, err)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		stop := make(chan struct{})
		time.AfterFunc(5*time.Second, func() { close(stop) })
		if _, took, _, err := load(longAgo{1, time.Hour}, stop); !errors.Is(err, context.Canceled) || took != 5*time.Second {
			t.Errorf("when the node stops it ends after %v with %v", took, err)
		}
	})
}
