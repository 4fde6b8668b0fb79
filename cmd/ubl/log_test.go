package main

import (
	"bytes"
	"io"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// logged opens a server's log; written is what has reached its end.
func logged() (log *slog.Logger, w *logWriter, written func() string) {
	var out bytes.Buffer
	w = newLogWriter(&out)
	c := serveCmd{LogLevel: "info", LogFormat: "text"}
	return slog.New(c.handler(w)).With("part", "test"), w, func() string {
		w.mu.Lock()
		defer w.mu.Unlock()
		return out.String()
	}
}

func TestLinesWaitForEachOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log, w, written := logged()
		defer w.close()
		log.Info("one")
		time.Sleep(logDelay - time.Millisecond)
		log.Info("two")
		if len(written()) > 0 {
			t.Errorf("written before their time: %s", written())
		}
		time.Sleep(time.Millisecond)
		synctest.Wait()
		if got := strings.Count(written(), "part=test\n"); got != 2 {
			t.Errorf("%d lines after the delay: %s", got, written())
		}
	})
}

func TestWarningsAndWhatCameBeforeDontWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log, w, written := logged()
		defer w.close()
		log.Info("one")
		log.WithGroup("g").Warn("two", "n", 1)
		if !strings.Contains(written(), "msg=one part=test\n") || !strings.HasSuffix(written(), "msg=two part=test g.n=1\n") {
			t.Errorf("written at once: %q", written())
		}
	})
}

func TestManyLinesDontWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, w, written := logged()
		defer w.close()
		line := strings.Repeat("x", 1023) + "\n"
		for range logBytes / len(line) {
			if len(written()) > 0 {
				t.Fatalf("%d bytes were written before the buffer was full", len(written()))
			}
			_, _ = io.WriteString(w, line)
		}
		if len(written()) != logBytes {
			t.Errorf("%d bytes were written, want %d", len(written()), logBytes)
		}
	})
}

func TestNothingWaitsInAClosedLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log, w, written := logged()
		log.Info("one")
		w.close()
		if !strings.Contains(written(), "msg=one") {
			t.Error("closing lost a line")
		}
		log.Info("two")
		if !strings.Contains(written(), "msg=two") {
			t.Error("a line waits in a closed log")
		}
	})
}
