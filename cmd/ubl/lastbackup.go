package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"time"

	"ubl"
	"ubl/durable"
)

// lastBackup is the file beside the data that says when the last backup was complete.
// The receipt of a backup says when it began and by whom; this is for the metric, which
// has to survive a restart.
type lastBackup struct {
	Format   int   `json:"format"`
	Complete int64 `json:"complete"` // in Unix seconds
}

// lastBackupFormat is the newest form of the file.
const lastBackupFormat = 1

// readLastBackup is when a backup of the directory was last complete, in Unix seconds;
// 0 where none is known of.
func readLastBackup(dir string) int64 {
	text, err := os.ReadFile(filepath.Join(dir, lastBackupFile))
	var b lastBackup
	if err != nil || json.Unmarshal(text, &b) != nil || b.Format > lastBackupFormat {
		return 0
	}
	return b.Complete
}

// backupAt is when the newest backup through this node was complete, nil where none is known of.
func (n *node) backupAt() *ubl.Time {
	at := n.lastBackup.Load()
	if at == 0 {
		return nil
	}
	return new(ubl.TimeOf(time.Unix(at, 0)))
}

// noteBackup says that a backup is complete. Where that can't be written it is known
// until the next start.
func (n *node) noteBackup() {
	at := n.now().Unix()
	n.lastBackup.Store(at)
	text, err := json.Marshal(lastBackup{Format: lastBackupFormat, Complete: at})
	if err == nil {
		err = durable.Replace(filepath.Join(n.dir, lastBackupFile), append(text, '\n'))
	}
	if err != nil {
		n.log.Warn("couldn't note when the backup was complete", "error", err)
	}
}
