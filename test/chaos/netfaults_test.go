//go:build linux

package chaos

import (
	"errors"
	"fmt"
)

func (n *namespaces) lacks() string { return "" }

// rule is the routing rule of the hub that drops one direction. It names the
// whole net of each node, so that it holds for a new address too.
func (n *namespaces) rule(verb string, from, to int) error {
	return ip("-n", n.name, "rule", verb, "from", fmt.Sprintf("10.77.%d.0/24", from), "to", fmt.Sprintf("10.77.%d.0/24", to), "blackhole")
}

func (n *namespaces) cut(from, to int) error  { return n.rule("add", from, to) }
func (n *namespaces) join(from, to int) error { return n.rule("del", from, to) }

func (n *namespaces) unplug(i int) error { return ip("-n", n.name, "link", "set", link(i), "down") }
func (n *namespaces) plug(i int) error   { return ip("-n", n.name, "link", "set", link(i), "up") }

// slow uses netem where the kernel has it, else a token bucket, whose queue
// delays what exceeds the rate and drops what would wait too long.
func (n *namespaces) slow(i int, how slowness) error {
	for _, end := range n.ends(i) {
		rate := fmt.Sprintf("%dkbit", how.kbit)
		netem := append(qdisc(end, "add"), "netem", "delay", how.delay.String(), "rate", rate)
		bucket := append(qdisc(end, "add"), "tbf", "rate", rate, "burst", "4kb", "latency", how.delay.String())
		if err := run("tc", netem...); err == nil {
			continue
		}
		if err := run("tc", bucket...); err != nil {
			return err
		}
	}
	return nil
}

func (n *namespaces) fast(i int) error {
	var errs []error
	for _, end := range n.ends(i) {
		errs = append(errs, run("tc", qdisc(end, "del")...))
	}
	return errors.Join(errs...)
}

// end is one of the two devices of a link.
type end struct{ place, device string }

func (n *namespaces) ends(i int) []end { return []end{{n.name, link(i)}, {n.place(i), "eth0"}} }

func qdisc(e end, verb string) []string {
	return []string{"-n", e.place, "qdisc", verb, "dev", e.device, "root"}
}
