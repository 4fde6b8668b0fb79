package cluster

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/raft"
)

// TestRaftLog: Raft's errors are warnings, each once while it lasts, but not that it found
// no entry before it sends a snapshot.
func TestRaftLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		log := newRaftLog(slog.New(slog.NewTextHandler(&out, nil)))
		log.Error("failed to get log", "index", 1, "error", raft.ErrLogNotFound)
		log.Error("failed to get log", "index", 2, "error", errors.New("the disk"))
		for try := range 600 { // of two partitions
			for _, peer := range []string{"n2", "n3"} {
				log.With("partition", try%2).Error("failed to heartbeat to", "peer", peer, "error", errors.New("refused"))
			}
			time.Sleep(time.Second)
		}
		time.Sleep(2 * raftQuiet)
		log.Error("failed to heartbeat to", "peer", "n2", "error", errors.New("refused"))
		log.Warn("heartbeat timeout reached, starting election")
		log.Trace("nothing")
		want := []string{"failed to get log", "n2", "n3", "n2"}
		said := strings.Split(strings.TrimSpace(out.String()), "\n")
		if len(said) != len(want) {
			t.Fatalf("logged: %s", out.String())
		}
		for i, line := range said {
			if !strings.Contains(line, "level=WARN") || strings.Contains(line, "ERROR") || !strings.Contains(line, want[i]) || !strings.Contains(line, "part=raft") {
				t.Errorf("line %d is %s", i, line)
			}
		}
	})
}
