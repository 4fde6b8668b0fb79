package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"ubl/durable"
	"ubl/storage"
	"ubl/transport/auth"
)

const (
	// littleSpace and hardlyAny are what a disk should have left, in bytes.
	littleSpace = 2 << 30
	hardlyAny   = 256 << 20
	// noSpace is what a commit needs at least.
	noSpace = 1 << 20
	// syncs is how often the disk is asked to sync; slowSync and awfulSync are what it may
	// take, by the median. A disk that takes less than noSync hasn't written anything.
	syncs     = 25
	slowSync  = 20 * time.Millisecond
	awfulSync = 150 * time.Millisecond
	noSync    = 20 * time.Microsecond
)

// held reports whether there is a data directory at all.
func (d *doctor) held() bool { return mustHoldData(d.Data) == nil }

var noData = moot("no server's data is here")

func (d *doctor) directory(context.Context) finding {
	info, err := os.Stat(d.Data)
	switch {
	case errors.Is(err, fs.ErrNotExist) && d.p.given("data"):
		return broken("say with --data where a server keeps its data", "%s isn't there", d.Data)
	case errors.Is(err, fs.ErrNotExist):
		return moot("%s isn't there: no server has run here", d.Data)
	case err != nil:
		return broken("run this as the user that the server runs as", "%s can't be looked at: %v", d.Data, err)
	case !d.held():
		return odd("say with --data where a server keeps its data", "%s is not a data directory", d.Data)
	case d.unknown != nil:
		return broken(nextStep(d.unknown), "%v", d.unknown)
	case info.Mode().Perm()&0o002 != 0:
		return broken("chmod 700 "+quoted(d.Data), "anybody on this machine may write into %s", d.Data)
	case info.Mode().Perm()&othersMay != 0:
		return odd("chmod 700 "+quoted(d.Data), "others may look into %s (mode %s)", d.Data, info.Mode().Perm())
	}
	probe := filepath.Join(d.Data, ".doctor")
	if err := os.WriteFile(probe, nil, 0o600); err != nil {
		return broken("run this as the user that the server runs as, and see that the disk is mounted writable", "%s can't be written: %v", d.Data, errors.Unwrap(err))
	}
	if err := os.Remove(probe); err != nil {
		return broken("", "%v", err)
	}
	if d.here != nil {
		return well("%s, and the server that runs over it scrubs it", d.Data)
	}
	if err := storage.Glance(d.Data); err != nil {
		return broken("ubl scrub --data "+quoted(d.Data)+" lists what is damaged; deploy/RUNBOOK.md, UBLDamage, says what to do", "%v", err)
	}
	return well("%s; ubl scrub reads all of it", d.Data)
}

// secrets looks at the files that nobody else may read: the key, the cluster's secret, the
// profiles.
func (d *doctor) secrets(context.Context) finding {
	files := []string{keyPath(d.Data), servingPath(d.Data), d.p.env["UBL_CLUSTER_SECRET_FILE"], d.p.env["UBL_OIDC_CLIENT_SECRET_FILE"], d.TokenFile}
	if dir, err := d.p.configDir(); err == nil {
		files = append(files, filepath.Join(dir, "profiles.json"))
	}
	files = slices.DeleteFunc(files, func(path string) bool { _, err := os.Stat(path); return err != nil })
	for _, path := range files {
		if mode, open := readable(path); open {
			return broken("chmod 600 "+quoted(path)+"; if somebody may have read it, make a new one", "others may read %s (mode %s)", path, mode)
		}
	}
	found := plural(len(files), "file") + ", each for its owner alone"
	if d.held() {
		key, err := auth.LoadKey(keyPath(d.Data))
		if err != nil && d.here == nil {
			return broken("put your copy of the key back; without one, the next start makes a new key, and what the one before has signed ends", "%v", err)
		}
		if err == nil { // any 32 bytes are a key: only a copy tells whether it is the one
			found += "; the key is " + key.ID() + ", as your copy should be"
		}
	}
	return well("%s", found)
}

func (d *doctor) space(context.Context) finding {
	if !d.held() {
		return noData
	}
	free, size, ok := storage.DiskSpace(d.Data)
	if !ok {
		return moot("this system doesn't say")
	}
	found := fmt.Sprintf("%s of %s are free", amount(free), amount(size))
	switch {
	case free < hardlyAny:
		return broken("free some space, or move the data to a larger disk: writes "+refusedWhen(free), "%s", found)
	case free < littleSpace:
		return odd("free some space, or move the data to a larger disk", "%s", found)
	}
	return well("%s", found)
}

// refusedWhen says whether writes are refused already.
func refusedWhen(free int64) string {
	if free < noSpace {
		return "are refused now"
	}
	return "are refused soon"
}

// amount is a number of bytes for people.
func amount(bytes int64) string {
	if bytes >= 1<<30 {
		return fmt.Sprintf("%.1f GiB", float64(bytes)/(1<<30))
	}
	return fmt.Sprintf("%d MiB", bytes>>20)
}

// speed measures what every answer waits for.
func (d *doctor) speed(context.Context) finding {
	if !d.held() {
		return noData
	}
	took, err := syncTimes(d.Data)
	if err != nil {
		return broken("", "couldn't write and sync: %v", err)
	}
	median := took[len(took)/2]
	found := fmt.Sprintf("a sync takes %s, at most %s of %d", median.Round(10*time.Microsecond), took[len(took)-1].Round(10*time.Microsecond), len(took))
	switch {
	case median > awfulSync:
		return broken("every message waits for that: move the data to a local SSD", "%s", found)
	case median > slowSync:
		return odd("every message waits for that: a local SSD takes below 5ms", "%s", found)
	case median < noSync:
		return odd("no disk is that fast: see that the file system is none in memory (tmpfs), and that syncs aren't switched off", "%s", found)
	}
	return well("%s", found)
}

// syncTimes are how long writes of a page took with their sync, the shortest first.
func syncTimes(dir string) (took []time.Duration, err error) {
	f, err := os.CreateTemp(dir, ".doctor-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close(), os.Remove(f.Name())) }()
	page := durable.Pages(durable.PageSize)
	for range syncs {
		began := time.Now()
		if _, err := f.Write(page); err != nil {
			return nil, err
		}
		if err := durable.SyncData(f); err != nil {
			return nil, err
		}
		took = append(took, time.Since(began))
	}
	slices.Sort(took)
	return took, nil
}

func (d *doctor) backup(context.Context) finding {
	if !d.held() {
		return noData
	}
	at := readLastBackup(d.Data)
	how := "ubl backup FILE, to another disk; a timer should do that"
	if at == 0 {
		return odd(how, "none has been made of this directory")
	}
	age := d.p.now().Sub(time.Unix(at, 0)).Round(time.Minute)
	if age > d.BackupWithin {
		return odd(how, "the newest is %s old", age)
	}
	return well("the newest is %s old", age)
}
