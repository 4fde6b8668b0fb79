package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"
)

// doctorCmd looks whether all is well, with a server on this machine and with the one that
// commands ask. It changes nothing: it writes one small file into the data directory, to
// see how fast the disk is, and removes it.
type doctorCmd struct {
	remote
	format
	Data      string   `default:"./ubl-data" type:"path" help:"Data directory of a server on this machine." placeholder:"DIR"`
	Listen    string   `default:"127.0.0.1:8080" help:"Address to listen on; port 0 picks one." placeholder:"HOST:PORT"`
	PublicURL string   `name:"public-url" help:"Where the server is reached from outside." placeholder:"URL"`
	Join      []string `help:"Other nodes' --cluster-listen; may be repeated. Without it the node founds a cluster, with the data it has." placeholder:"HOST:PORT"`
	mailFlags
	scanFlags
	BackupWithin time.Duration `default:"168h" help:"How old the newest backup may be." config:"-"`
}

// How a check ends.
const (
	isWell   = "ok"
	isOdd    = "warn"
	isBroken = "fail"
	isMoot   = "skip"
)

// finding is what one check found.
type finding struct {
	Check string `json:"check"`
	State string `json:"state"` // ok, warn, fail or skip
	Found string `json:"found"`
	Next  string `json:"next,omitempty"`
}

func well(found string, args ...any) finding {
	return finding{State: isWell, Found: fmt.Sprintf(found, args...)}
}

func odd(next, found string, args ...any) finding {
	return finding{State: isOdd, Found: fmt.Sprintf(found, args...), Next: next}
}

func broken(next, found string, args ...any) finding {
	return finding{State: isBroken, Found: fmt.Sprintf(found, args...), Next: next}
}

func moot(found string, args ...any) finding {
	return finding{State: isMoot, Found: fmt.Sprintf(found, args...)}
}

// doctor is one visit.
type doctor struct {
	*doctorCmd
	p       *program
	here    *serving // the server that runs over the data directory; nil for none
	unknown error    // why nobody can say whether one does; nil where that is known
	at      *target  // the server that commands ask; nil where that is the unknown one
	told    *told    // what that says of itself; nil where it doesn't answer
}

// checks are all of them, in the order in which they are told. Later ones stand on what
// earlier ones found.
func (d *doctor) checks() []struct {
	name string
	look func(context.Context) finding
} {
	return []struct {
		name string
		look func(context.Context) finding
	}{
		{"data directory", d.directory},
		{"secrets", d.secrets},
		{"disk space", d.space},
		{"disk speed", d.speed},
		{"backup", d.backup},
		{"port", d.port},
		{"server", d.server},
		{"clock", d.clock},
		{"version", d.version},
		{"sign-in", d.signIn},
		{"jobs", d.jobs},
		{"public URL", d.public},
		{"peers", d.peers},
		{"mail", d.mail},
		{"malware scanner", d.scanner},
	}
}

// Run tells what each check found. It fails where one did; what is merely odd is no failure.
func (c *doctorCmd) Run(ctx context.Context, p *program) error {
	d := &doctor{doctorCmd: c, p: p}
	d.here, d.unknown = running(c.Data)
	if err := d.find(); err != nil {
		return err
	}
	var found []finding
	failed := 0
	for _, check := range d.checks() {
		f := check.look(ctx)
		if f.Check = check.name; f.State == isBroken {
			failed++
		}
		found = append(found, f)
	}
	if err := c.tell(p, found); err != nil || failed == 0 {
		return err
	}
	return fmt.Errorf("%s failed", plural(failed, "check"))
}

// find is which server to look at: the one over the directory that --data names, else the
// one that commands ask. It can be looked at without a sign-in, too.
func (d *doctor) find() (err error) {
	if d.p.given("data") && !d.p.given("url") && d.Profile == "" {
		switch {
		case d.unknown != nil:
			return nil
		case d.here != nil:
			d.at = &target{url: d.here.URL, token: d.p.ownersToken(d.here), by: "the key in " + d.here.dir}
			return nil
		}
	}
	if d.at, err = d.target(d.p); err != nil {
		d.at, _, err = d.place(d.p, "")
	}
	return err
}

func (c *doctorCmd) tell(p *program, found []finding) error {
	if c.JSON {
		out := json.NewEncoder(p.out)
		for _, f := range found {
			f.Next = p.copyable(f.Next)
			if err := out.Encode(f); err != nil {
				return err
			}
		}
		return nil
	}
	table := tabwriter.NewWriter(p.out, 0, 0, 2, ' ', 0)
	for _, f := range found {
		fmt.Fprintf(table, "%s\t%s\t%s\n", f.State, f.Check, oneLine(f.Found))
		if f.Next != "" {
			fmt.Fprintf(table, "\t\tnext: %s\n", strings.TrimSpace(p.copyable(oneLine(f.Next))))
		}
	}
	return table.Flush()
}
