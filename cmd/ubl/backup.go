package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"ubl/durable"
	"ubl/storage"
	"ubl/transport/auth"
)

// closeTimeout bounds how long a command waits for its actors to settle.
const closeTimeout = 30 * time.Second

// backupCmd copies everything but the key into one file: from a running server
// for owners of tenant 0, or from a stopped one's directory.
type backupCmd struct {
	remote
	encryption
	s3Flags
	File  string `arg:"" help:"The file to make; it must not exist yet."`
	Data  string `type:"path" help:"Read a stopped server's data directory, instead of asking --url." placeholder:"DIR"`
	Quiet bool   `help:"Tell no progress."`
}

// Run makes the file, which appears whole or not at all.
func (c *backupCmd) Run(ctx context.Context, p *program) error {
	c.Data = p.offline(c.Data)
	recipients, err := c.recipients()
	if err == nil {
		err = c.use(p)
	}
	if err != nil {
		return err
	}
	err = durable.Create(c.File, func(w io.Writer) error {
		return encrypted(w, recipients, func(w io.Writer) error {
			if c.Data != "" {
				return c.offline(ctx, p, w)
			}
			return c.online(ctx, p, w)
		})
	})
	if err != nil {
		return fmt.Errorf("couldn't back up: %w", err)
	}
	fmt.Fprintf(p.out, "backup in %s\n", c.File)
	fmt.Fprintf(p.err, "The node's key is not in it; keep a copy of %s at another place.\n", keyFile)
	return nil
}

func (c *backupCmd) online(ctx context.Context, p *program, w io.Writer) error {
	server, err := c.client(p)
	if err != nil {
		return err
	}
	// The server checks its copies before the first byte comes.
	server.http.Transport.(*http.Transport).ResponseHeaderTimeout = 0
	resp, err := server.open(ctx, "POST", "/api/platform/backup", http.NoBody)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return errorOf(resp)
	}
	g := p.progress("backing up", "bytes", c.Quiet)
	defer g.end()
	// A broken connection is an error here: the answer comes in chunks.
	_, err = io.Copy(&counted{w: w, tell: func(n int64) { g.at(n, unknown) }}, resp.Body)
	return err
}

func (c *backupCmd) offline(ctx context.Context, p *program, w io.Writer) error {
	if err := mustHoldData(c.Data); err != nil {
		return err
	}
	o := new(storage.BackupOptions)
	key, err := auth.LoadKey(keyPath(c.Data))
	switch {
	case err == nil:
		o.Signer = key.Signer()
	case errors.Is(err, fs.ErrNotExist):
		fmt.Fprintf(p.err, "There is no %s in %s: the backup won't be signed.\n", keyFile, c.Data)
	default:
		return keyHint(err)
	}
	return p.withNode(ctx, c.Data, func(n *node) error {
		g := p.progress("backing up", "bytes", c.Quiet)
		defer g.end()
		o.Progress = g.at
		return n.backup(ctx, w, "ubl backup", o)
	})
}

// withNode runs fn over a data directory of no running server.
func (p *program) withNode(ctx context.Context, dir string, fn func(*node) error) error {
	n, err := p.openNode(dir, slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	p.tellRemade(n.store)
	if err = n.bootstrap(ctx); err == nil {
		err = fn(n)
	}
	closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
	defer cancel()
	return errors.Join(err, n.close(closing))
}

// tellRemade says what a start logs of a store whose ubl.json was made again.
func (p *program) tellRemade(store *storage.Engine) {
	if lost := store.Remade(); lost != nil {
		fmt.Fprintf(p.err, "ubl: %s (%v)\n", remade, lost)
	}
}

// mustHoldData refuses a directory that no server has made.
func mustHoldData(dir string) error {
	if _, err := os.Stat(filepath.Join(dir, "store")); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s is not a data directory", dir)
	}
	return nil
}

// counted tells how many bytes went through.
type counted struct {
	w    io.Writer
	n    int64
	tell func(int64)
}

func (c *counted) Write(b []byte) (int, error) {
	n, err := c.w.Write(b)
	c.n += int64(n)
	c.tell(c.n)
	return n, err
}
