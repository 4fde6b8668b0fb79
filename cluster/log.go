package cluster

import (
	"bytes"
	"context"
	"log/slog"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"
)

// newRaftLog carries Raft's log into ours, one level down: an election is no
// operator's business as long as it succeeds.
func newRaftLog(log *slog.Logger) hclog.Logger {
	level := hclog.Warn
	if log.Enabled(context.Background(), slog.LevelDebug) {
		level = hclog.Info
	}
	return hclog.New(&hclog.LoggerOptions{
		Name: "raft", Level: level, DisableTime: true, Output: lines{log.With("part", "raft")},
	})
}

// lines takes hclog's lines; each comes in one Write. A leader looks for an entry that
// its log doesn't have any more before it sends a snapshot, which is no error.
type lines struct{ log *slog.Logger }

func (l lines) Write(line []byte) (int, error) {
	level := slog.LevelDebug
	if bytes.HasPrefix(line, []byte("[ERROR]")) && !bytes.Contains(line, []byte(raft.ErrLogNotFound.Error())) {
		level = slog.LevelInfo
	}
	l.log.Log(context.Background(), level, string(bytes.TrimSpace(line)))
	return len(line), nil
}
