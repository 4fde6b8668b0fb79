package cluster

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/hashicorp/raft"
)

// TestRaftLog: Raft's errors are told, but not that it found no entry before it sends a
// snapshot.
func TestRaftLog(t *testing.T) {
	var out bytes.Buffer
	log := newRaftLog(slog.New(slog.NewTextHandler(&out, nil)))
	log.Error("failed to get log", "index", 1, "error", raft.ErrLogNotFound)
	log.Error("failed to get log", "index", 2, "error", errors.New("the disk"))
	if said := out.String(); strings.Contains(said, "index=1") || !strings.Contains(said, "index=2") {
		t.Errorf("logged: %s", said)
	}
}
