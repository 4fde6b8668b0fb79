//go:build linux

package chaos

import (
	"context"
	"encoding/base64"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

const (
	stop = syscall.SIGSTOP
	wake = syscall.SIGCONT
)

// flood has callers write until the logs of the tenant's partition were cut
// behind what they have now: who was away meanwhile needs a snapshot.
func (c *trial) flood() {
	c.Helper()
	begin := c.applied()
	ctx, cancel := context.WithCancel(c.ctx)
	defer cancel()
	var callers sync.WaitGroup
	r := c.one.rooms[0]
	for who := range 4 {
		callers.Go(func() {
			noise := rand.NewChaCha8([32]byte{byte(who)}) // what a log can't compress
			bytes := make([]byte, 3000)
			for i := 0; ctx.Err() == nil; i++ {
				noise.Read(bytes)
				r.say(0, fmt.Sprintf("%s: flood %d-%d %s", r.name, who, i, base64.StdEncoding.EncodeToString(bytes)), deadline)
			}
		})
	}
	err := poll(ctx, 100*time.Millisecond, func(context.Context) error {
		const kept = 1024 + 100 // entries stay in a log when it is cut; and some are not applied yet
		if newest := c.newestSnapshot(); newest < begin+kept {
			return fmt.Errorf("the newest snapshot is of entry %d, at the beginning it was %d", newest, begin)
		}
		return nil
	})
	cancel()
	callers.Wait()
	c.must(err)
}

// applied is how far the leader of the case's partition is.
func (c *trial) applied() (most uint64) {
	c.Helper()
	all, _ := c.world.picture(c.ctx) // as far as they say
	for _, r := range all[c.one.partition] {
		most = max(most, r.applied)
	}
	return most
}

// newestSnapshot is the entry of the case's partition at which every running
// node has taken one; each does on its own. Their names are term-entry-time.
func (c *trial) newestSnapshot() uint64 {
	everywhere := uint64(math.MaxUint64)
	for _, n := range c.world.members() {
		if n.running() == nil {
			continue
		}
		newest := uint64(0)
		for _, name := range n.snapshots(c.one.partition) {
			_, rest, _ := strings.Cut(name, "-")
			digits, _, _ := strings.Cut(rest, "-")
			entry, _ := strconv.ParseUint(digits, 10, 64)
			newest = max(newest, entry)
		}
		everywhere = min(everywhere, newest)
	}
	return everywhere
}

// snapshots are the names of those that the node has of a partition.
func (n *node) snapshots(partition int) []string {
	paths, _ := filepath.Glob(filepath.Join(n.data(), "raft", fmt.Sprint(partition), "snapshots", "*-*"))
	for i := range paths {
		paths[i] = filepath.Base(paths[i])
	}
	return slices.Sorted(slices.Values(paths))
}
