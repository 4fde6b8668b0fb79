package mesh

import (
	"fmt"
	"testing"
	"time"
)

func TestEachKeySpeaksOnceAMinute(t *testing.T) {
	now := time.Unix(1000, 0)
	l := newLimiter(func() time.Time { return now })
	if _, ok := l.allow("a"); !ok {
		t.Fatal("the first was kept quiet")
	}
	for range 7 {
		if _, ok := l.allow("a"); ok {
			t.Fatal("it spoke again at once")
		}
	}
	if _, ok := l.allow("b"); !ok {
		t.Fatal("another key was kept quiet")
	}
	now = now.Add(time.Minute)
	if n, ok := l.allow("a"); !ok || n != 7 {
		t.Fatalf("after a minute: %d suppressed, %v", n, ok)
	}
	now = now.Add(time.Minute)
	if n, ok := l.allow("a"); !ok || n != 0 {
		t.Fatalf("after two: %d suppressed, %v", n, ok)
	}
}

func TestLimiterIsBounded(t *testing.T) {
	now := time.Unix(1000, 0)
	l := newLimiter(func() time.Time { return now })
	spoke := 0
	for i := range 10 * l.max {
		if _, ok := l.allow(fmt.Sprint(i)); ok {
			spoke++
		}
	}
	if len(l.seen) > l.max+1 || spoke > l.max+1 {
		t.Fatalf("it remembers %d keys, and %d spoke", len(l.seen), spoke)
	}
	now = now.Add(time.Hour)
	if _, ok := l.allow("new"); !ok || len(l.seen) != 1 {
		t.Fatalf("an hour later %d keys are remembered", len(l.seen))
	}
}
