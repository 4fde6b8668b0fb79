package stdio

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"ubl"
	"ubl/confine"
	"ubl/panics"
	"ubl/turns"
)

// Isolation is what keeps a child from others; see the package.
type Isolation string

// Isolations.
const (
	Isolated Isolation = "namespaces" // the default, as ""
	ByUser   Isolation = "user"
	Not      Isolation = "none"
)

// Command is what may be run under a name. A zero bound takes its default.
type Command struct {
	// Argv is the program, by its absolute path, and its arguments.
	Argv []string
	// Environment is all that the program has, but HOME and TMPDIR. Secrets are the
	// variables of it that nobody may be shown.
	Environment map[string]string
	Secrets     []string
	// Secret is the variable that has the secret of the owner who adds a server; "" for none.
	Secret string
	// Tenants are those whose owners may add it; nil for all.
	Tenants []ubl.TenantID
	// User is the name or the number of whom it runs as; "" for the node's own, or nobody where
	// that is root.
	User      string
	Isolation Isolation
	// Network says that it may use the network, wherever the node itself may.
	Network bool
	// Memory bounds each of its processes, in bytes; 1 GiB.
	Memory uint64
	// Processes bounds how many there are at a time, threads too; 64.
	Processes int
	// CPU bounds each process's time of a processor; 10 min.
	CPU time.Duration
	// Timeout bounds each answer; 0 leaves that to the portal.
	Timeout time.Duration
}

// Bounds of what an operator sets.
const (
	minMemory    = 64 << 20
	minProcesses = 8
	maxSecrets   = 8
)

// Check refuses a command that can't be run, on this machine. Errors name the field as the YAML
// file has it.
func (c *Command) Check() error {
	switch {
	case len(c.Argv) == 0 || !filepath.IsAbs(c.Argv[0]):
		return errors.New("command: a list, of the program's absolute path and its arguments")
	case slices.ContainsFunc(c.Argv, hasNUL):
		return errors.New("command: no argument has a zero byte")
	case c.Secret != "" && !validVariable(c.Secret):
		return errors.New("secret: the name of a variable")
	case c.Environment[c.Secret] != "":
		return errors.New("secret: the environment has this variable already")
	case len(c.Secrets) > maxSecrets:
		return fmt.Errorf("environment: at most %d of files", maxSecrets)
	case !slices.Contains([]Isolation{"", Isolated, ByUser, Not}, c.Isolation):
		return errors.New("isolation: namespaces, user or none")
	case c.Isolation == ByUser && c.User == "":
		return errors.New("isolation: by a user, whom user names")
	case c.Isolation == Not && c.User != "":
		return errors.New("user: with isolation user or namespaces alone")
	case (c.Isolation == ByUser || c.Isolation == Not) && !c.Network:
		return errors.New("network: true, since only namespaces keep a program from it")
	case c.Memory != 0 && c.Memory < minMemory:
		return fmt.Errorf("memory: at least %d MiB", minMemory>>20)
	case c.Processes != 0 && c.Processes < minProcesses:
		return fmt.Errorf("processes: at least %d, threads too", minProcesses)
	case c.CPU < 0 || c.CPU != 0 && c.CPU < time.Second:
		return errors.New("cpu: at least a second")
	case c.Timeout < 0:
		return errors.New("timeout: not below zero")
	}
	for name, value := range c.Environment {
		if !validVariable(name) || hasNUL(value) {
			return fmt.Errorf("environment: %q is no variable, or its value has a zero byte", name)
		}
	}
	for _, t := range c.Tenants {
		if !t.Valid() {
			return errors.New("tenants: ids, as t:example.com")
		}
	}
	_, err := c.account()
	if err != nil {
		return fmt.Errorf("user: %w", err)
	}
	return c.possible()
}

func hasNUL(s string) bool { return strings.ContainsRune(s, 0) }

func validVariable(name string) bool {
	return name != "" && (name[0] < '0' || name[0] > '9') && !strings.ContainsFunc(name, func(c rune) bool {
		return (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '_'
	})
}

// account is a user of the system.
type account struct{ uid, gid int }

// account is whom the command names, nil where it names nobody.
func (c *Command) account() (*account, error) {
	if c.User == "" {
		return nil, nil
	}
	u, err := user.Lookup(c.User)
	if err != nil {
		u, err = user.LookupId(c.User)
	}
	if err != nil {
		return nil, errors.New("the system knows nobody of this name")
	}
	uid, err := strconv.Atoi(u.Uid)
	if err != nil {
		return nil, errors.New("it has no number")
	}
	gid, err := strconv.Atoi(u.Gid)
	if err != nil {
		return nil, errors.New("its group has no number")
	}
	if uid == 0 || gid == 0 {
		return nil, errors.New("not root")
	}
	return &account{uid, gid}, nil
}

// environment is what the program gets, with the owner's secret.
func (c *Command) environment(folder, secret string) []string {
	all := maps.Clone(c.Environment)
	if all == nil {
		all = map[string]string{}
	}
	all["HOME"], all["TMPDIR"] = cmp.Or(all["HOME"], folder), cmp.Or(all["TMPDIR"], folder)
	if c.Secret != "" {
		all[c.Secret] = secret
	}
	var out []string
	for _, name := range slices.Sorted(maps.Keys(all)) {
		out = append(out, name+"="+all[name])
	}
	return out
}

// Hidden are the values of the program's environment that nobody may be shown, with the owner's
// secret.
func (c *Command) Hidden(secret string) (out []string) {
	for _, name := range c.Secrets {
		out = append(out, c.Environment[name])
	}
	if secret != "" {
		out = append(out, secret)
	}
	return out
}

// Options are what a [Runner] is made of; a zero field takes its default.
type Options struct {
	// Commands are those that may be run, by name. Each was checked.
	Commands map[string]Command
	// Hidden are files and folders that no child of namespaces is to see: the node's own.
	Hidden []string
	// AtOnce is how many children there are at a time, PerTenant how many of one tenant; 64
	// and 16.
	AtOnce, PerTenant int
	Log               *slog.Logger // nil for none
	Panics            *panics.Catcher
}

// Runner runs commands. A nil one knows none. It is safe for concurrent use.
type Runner struct {
	o     Options
	path  string // of this executable
	turns *turns.Turns
}

// New makes a Runner. It starts nothing.
func New(o Options) *Runner {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &Runner{o, confine.ThisProgram(), turns.New(cmp.Or(o.AtOnce, 64), cmp.Or(o.PerTenant, 16))}
}

// Names are those of the commands that a tenant's owners may add, in order.
func (r *Runner) Names(of ubl.TenantID) []string {
	names := []string{}
	if r == nil {
		return names
	}
	for name := range r.o.Commands {
		if _, ok := r.Find(of, name); ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// Find is a command that a tenant's owners may add.
func (r *Runner) Find(of ubl.TenantID, name string) (*Command, bool) {
	if r == nil {
		return nil, false
	}
	c, ok := r.o.Commands[name]
	if !ok || c.Tenants != nil && !slices.Contains(c.Tenants, of) {
		return nil, false
	}
	return &c, true
}
