package main

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"net/netip"
	"slices"
	"strconv"

	"ubl/limits"
)

// limitFlags change the table of limits, as the section limits of the YAML file does.
type limitFlags struct {
	Limit        map[string]string `name:"limit" help:"Changes a limit; may be repeated. 0 is none, and all stands for every one. See ubl limits." placeholder:"NAME=NUMBER"`
	TrustedProxy []string          `name:"trusted-proxy" help:"Address or network of a proxy in front, which says in X-Forwarded-For for whom it asks; may be repeated." placeholder:"IP"`
}

// table is the limits as they hold: flags beat the file.
func (f *limitFlags) table(p *program) (limits.Table, error) {
	changes := maps.Clone(p.limits)
	if changes == nil {
		changes = map[string]int64{}
	}
	given, err := f.changes()
	if err != nil {
		return nil, err
	}
	maps.Copy(changes, given)
	t, err := limits.Default().With(changes)
	if err != nil {
		return nil, &usageError{err.Error()}
	}
	return t.Fit(limits.Files()), nil
}

// changes are those of --limit.
func (f *limitFlags) changes() (map[string]int64, error) {
	out := make(map[string]int64, len(f.Limit))
	for _, name := range slices.Sorted(maps.Keys(f.Limit)) {
		n, err := strconv.ParseInt(f.Limit[name], 10, 64)
		if err != nil {
			return nil, usagef("--limit %s takes a whole number, as in %[1]s=100", clean(name))
		}
		out[name] = n
	}
	return out, nil
}

// proxies are the networks of --trusted-proxy.
func (f *limitFlags) proxies() ([]netip.Prefix, error) {
	var out []netip.Prefix
	for _, s := range f.TrustedProxy {
		n, err := netip.ParsePrefix(s)
		if a, bad := netip.ParseAddr(s); bad == nil {
			n, err = netip.PrefixFrom(a, a.BitLen()), nil
		}
		if err != nil {
			return nil, usagef("--trusted-proxy is an address or a network such as 10.0.0.0/8")
		}
		out = append(out, n.Masked())
	}
	return out, nil
}

// check refuses what is neither a limit nor a proxy.
func (f *limitFlags) check() error {
	given, err := f.changes()
	if err != nil {
		return err
	}
	if _, err := limits.Default().With(given); err != nil {
		return &usageError{err.Error()}
	}
	_, err = f.proxies()
	return err
}

// bound gives the node that is opened next its quota.
func (f *limitFlags) bound(p *program) error {
	t, err := f.table(p)
	p.quota = t.Within
	return err
}

// limiter is the limits of a server.
func (f *limitFlags) limiter(p *program, log *slog.Logger) (*limits.Limiter, error) {
	t, err := f.table(p)
	if err != nil {
		return nil, err
	}
	proxies, err := f.proxies()
	if err != nil {
		return nil, err
	}
	return limits.New(t, proxies, p.now, log), nil
}

// limitsCmd prints the table of limits.
type limitsCmd struct{ limitFlags }

// Run prints the limits as a server with these settings would have them.
func (c *limitsCmd) Run(_ context.Context, p *program) error {
	t, err := c.table(p)
	if err != nil {
		return err
	}
	fmt.Fprintf(p.out, `%s
Rates hold for each node; %d seconds' worth, or an hour's, may come at once. A refusal is 429
(507 for bytes) and names the limit. Change them with --limit NAME=NUMBER, or in the YAML file:

limits:
  sends-identity: 200
  streams-ip: 0   # none
`, t, limits.Burst)
	return nil
}
