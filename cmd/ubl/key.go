package main

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"text/tabwriter"
	"time"

	"ubl/transport/auth"
)

// keyCmd is for the key that a server signs with. It works on the key's file: a
// running server sees the change within two seconds.
type keyCmd struct {
	Rotate keyRotateCmd `cmd:"" help:"Make a new key; the one before is accepted for some time."`
	List   keyListCmd   `cmd:"" help:"List the keys, without showing them."`
}

// keyFileFlags say where the key is.
type keyFileFlags struct {
	Data        string `default:"./ubl-data" type:"path" help:"Data directory, which holds the key." placeholder:"DIR"`
	IdentityKey string `type:"path" help:"The key's file, instead of the one in --data." placeholder:"FILE"`
}

func (f *keyFileFlags) path() string {
	if f.IdentityKey != "" {
		return f.IdentityKey
	}
	return keyPath(f.Data)
}

// load reads the key.
func (f *keyFileFlags) load() (*auth.Key, error) {
	key, err := auth.LoadKey(f.path())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("there is no key at %s: \"ubl serve\" makes one at its first start; say with --data or --identity-key where it is", f.path())
	}
	return key, keyHint(err)
}

// keyHint says what to do where the file of a server's key holds none.
func keyHint(err error) error {
	if _, ok := errors.AsType[*auth.KeyFileError](err); ok {
		return fmt.Errorf("%w. Put your copy of the file back. Without one, move it away: the next start makes a new key (or gets that of the cluster's other nodes), "+
			"and what the one before has signed or sealed ends. A backup with --data is made without the file, too, and is not signed", err)
	}
	return err
}

// ownKey is the server's key, made where the file is missing. Held says that the data
// directory held data before the start: then its key has gone.
func (c *serveCmd) ownKey(p *program, log *slog.Logger, held bool) (*auth.Key, error) {
	key, created, err := auth.LoadOrCreateKey(c.keyPath(), p.random)
	if created && held {
		log.Warn("the data directory holds data and had no key: a new one was made, and tokens, sessions and signatures of the one before aren't accepted any more; "+
			"if there is a copy of that, put it back", "key", key.ID(), "file", c.keyPath())
	}
	return key, keyHint(err)
}

// keyRotateCmd puts a new key above the ones in the file.
type keyRotateCmd struct {
	keyFileFlags
	Keep time.Duration `default:"2160h" help:"How long what the key before has signed is accepted; 0 ends that at once, for a key that has leaked."`
}

// Run rotates.
func (c *keyRotateCmd) Run(p *program) error {
	if c.Keep < 0 {
		return usagef("--keep is not negative")
	}
	key, err := c.load()
	if err != nil {
		return err
	}
	next, err := key.Rotate(p.random, p.now(), c.Keep)
	if err != nil {
		return err
	}
	if err := auth.ReplaceKey(c.path(), next); err != nil {
		return err
	}
	fmt.Fprintf(p.out, "%s follows %s in %s\n", next.ID(), key.ID(), c.path())
	if c.Keep == 0 {
		fmt.Fprintln(p.err, p.copyable("Sessions and tokens of the key before end now. Sign in with a new link (ubl serve prints one at its start), and give agents new tokens."))
	}
	fmt.Fprintln(p.err, "In a cluster, copy the file to every node, with mode 0600. Keep a copy where your secrets are.")
	return nil
}

// keyListCmd lists the keys.
type keyListCmd struct{ keyFileFlags }

// Run prints a line for each key, newest first.
func (c *keyListCmd) Run(p *program) error {
	key, err := c.load()
	if err != nil {
		return err
	}
	table := tabwriter.NewWriter(p.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "KEY\tUSE")
	for i, k := range key.Uses() {
		switch {
		case i == 0:
			fmt.Fprintf(table, "%s\tsigns\n", k.ID)
		case k.Until.IsZero():
			fmt.Fprintf(table, "%s\taccepted\n", k.ID)
		case p.now().Before(k.Until):
			fmt.Fprintf(table, "%s\taccepted until %s\n", k.ID, k.Until.UTC().Format(time.RFC3339))
		default:
			fmt.Fprintf(table, "%s\topens what was sealed with it\n", k.ID)
		}
	}
	return table.Flush()
}
