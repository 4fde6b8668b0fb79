//go:build linux

package chaos

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"ubl/test/soak"
)

// TestGrowth: a node that ran alone, with data and under load, becomes one of
// three and then, in `make soak`, one of five. Its data is theirs, and no caller notices more
// than retries.
func TestGrowth(t *testing.T) {
	soak.Only(t, "the README's cluster grows in ./test/e2e, too")
	needsCluster(t)
	t.Parallel()
	w := newWorld(t, seedOf(t), plan{count: 1, alone: true})
	c := &trial{T: t}
	c.enter(w)
	w.up()
	c.begin()
	pause(c.ctx, time.Second) // in which it gathers data
	one := w.node(1)
	c.must(one.stop(stopTime))
	w.alone, one.founder = false, true
	c.must(one.start())
	c.whole()
	largest := soak.Of(3, 5)
	for size := 3; size <= largest; size += 2 {
		for len(w.all()) < size {
			n := w.add(t)
			c.must(n.start())
			c.must(poll(c.ctx, 50*time.Millisecond, n.ready))
			w.admit(true, n)
		}
		c.whole()
		c.sends(fmt.Sprintf("with %d nodes", size), quickly)
	}
	c.spread(largest)
	c.whole()
	c.end()
}

// spread wants the voters of all partitions spread evenly over so many nodes,
// after a while.
func (c *trial) spread(nodes int) {
	c.Helper()
	ctx, cancel := context.WithTimeout(c.ctx, healTime)
	defer cancel()
	least := 3 * partitions / nodes
	c.must(poll(ctx, 100*time.Millisecond, func(ctx context.Context) error {
		s, err := c.world.status(ctx)
		if err != nil {
			return err
		}
		for _, n := range s.Nodes {
			if n.Voters < least || n.Voters > least+1 {
				return fmt.Errorf("%s votes in %d partitions, want %d or %d", n.NodeID, n.Voters, least, least+1)
			}
		}
		return nil
	}))
}

// TestRemove: an operator takes one of four nodes out, with the command; the
// rest are whole without it, and it may come back as a new one.
func TestRemove(t *testing.T) {
	soak.Only(t, "TestEveryFault takes a node out and back, too")
	c := try(t, plan{count: 4})
	n := c.world.node(4)
	c.world.admit(false, n)
	n.expectEnd()
	_, err := c.world.ubl(c.ctx, c.world.node(1), nil, []string{"UBL_TOKEN=" + c.world.operator().token},
		"cluster", "remove", n.id, "--url", "http://"+c.world.node(1).addresses().api)
	c.must(err)
	c.whole()
	c.sends("without the fourth", quickly)
	n.kill()
	c.must(n.wipe())
	c.must(n.start())
	c.world.admit(true, n)
	c.whole()
	c.end()
}

// TestWrongSecret: a node that doesn't know the secret gets nowhere, and both
// sides say so.
func TestWrongSecret(t *testing.T) {
	soak.Only(t, "foreign secrets get nowhere in ./cluster/mesh, too")
	c := try(t, plan{count: 3})
	stranger := c.world.add(t)
	stranger.secret = newSecret()
	c.getsNowhere(stranger)
}

// TestForeignCertificate: a node that knows the secret but bears another CA's
// certificate gets nowhere either.
func TestForeignCertificate(t *testing.T) {
	soak.Only(t, "foreign certificates get nowhere in ./cluster/mesh, too")
	c := try(t, plan{count: 3})
	stranger := c.world.add(t)
	c.must(stranger.ownPKI())
	c.getsNowhere(stranger)
}

// getsNowhere starts a stranger and wants it to become nothing.
func (c *trial) getsNowhere(stranger *node) {
	c.Helper()
	stranger.expectEnd()
	c.must(stranger.start())
	p := stranger.expectEnd() // it may give up
	pause(c.ctx, 5*time.Second)
	if stranger.ready(c.ctx) == nil {
		c.Error("the stranger serves")
	}
	s, err := c.world.status(c.ctx)
	c.must(err)
	if lists(s, stranger.id) {
		c.Errorf("the stranger is a member: %+v", s.Nodes)
	}
	c.must(poll(c.ctx, 200*time.Millisecond, func(context.Context) error { return c.refusalsLogged(stranger) }))
	stranger.kill()
	<-p.ended
	c.end()
}

// refusalsLogged says that no member has told of a stranger that was refused.
func (c *trial) refusalsLogged(stranger *node) error {
	host, _, _ := strings.Cut(stranger.addresses().cluster, ":")
	for _, n := range c.world.members() {
		for line := range strings.Lines(n.logText()) {
			if strings.Contains(line, host) && (strings.Contains(line, `"WARN"`) || strings.Contains(line, `"ERROR"`)) {
				c.Logf("%s told: %s", n, line)
				return nil
			}
		}
	}
	return fmt.Errorf("no member told of %s in its log; the stranger's own:\n%s", host, stranger.logTail())
}
