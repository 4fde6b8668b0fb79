package storage

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"ubl/durable"
)

// A partition that doesn't sync its commits has a mark beside its file as long
// as it is open: partition-N.mark. It names the boot of the machine whose page
// cache has what the disk may lack. A process that is killed leaves mark and
// page cache, and the next one goes on. After a power loss the boot is another
// one: the file may be anything, and is made anew from snapshot and log.
type mark struct {
	Format int    `json:"format"`
	Boot   string `json:"boot"`
}

const (
	markFormat = 1
	markSuffix = ".mark"
	// lostBoot is a boot that never was: what the page cache has is not to be
	// believed either.
	lostBoot = "lost"
	bootFile = "/proc/sys/kernel/random/boot_id"
)

// bootID is the machine's boot, "" where the system doesn't tell.
func bootID() string {
	id, err := os.ReadFile(bootFile)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(id))
}

// trusted reports whether a partition's file is whole: closed cleanly, or left
// by a process of the boot that still runs.
func trusted(path, boot string) (bool, error) {
	text, err := os.ReadFile(path + markSuffix)
	if errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	var m mark
	// A mark that a power loss has torn says that there was one.
	ok := json.Unmarshal(text, &m) == nil && m.Format == markFormat && boot != "" && m.Boot == boot
	return ok, nil
}

// writeMark makes the mark durable before anything is written without sync.
func writeMark(path, boot string) error {
	text, err := json.Marshal(mark{markFormat, boot})
	if err != nil {
		return err
	}
	if err := durable.Write(path+markSuffix, append(text, '\n')); err != nil {
		return err
	}
	return durable.Sync(filepath.Dir(path))
}

// clearMark says that the file is whole.
func clearMark(path string) error {
	if err := os.Remove(path + markSuffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return durable.Sync(filepath.Dir(path))
}
