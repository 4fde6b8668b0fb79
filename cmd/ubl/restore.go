package main

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"ubl/storage"
	"ubl/transport/auth"
)

// restoreCmd makes a new data directory from a backup.
type restoreCmd struct {
	decryption
	s3Flags
	File        string `arg:"" help:"The backup; - reads standard input."`
	Data        string `required:"" type:"path" help:"The directory to make; it must be new or empty." placeholder:"NEWDIR"`
	IdentityKey string `type:"path" help:"Your copy of the server's key: the backup must be signed with it. It is put into the new directory." placeholder:"FILE"`
	Quiet       bool   `help:"Tell no progress."`
}

// Run restores and receipts that in the restored tenant 0.
func (c *restoreCmd) Run(ctx context.Context, p *program) error {
	key, err := c.key()
	if err == nil {
		err = c.use(p)
	}
	if err != nil {
		return err
	}
	in := p.in
	if c.File != "-" {
		f, err := os.Open(c.File)
		if err != nil {
			return fmt.Errorf("couldn't read the backup: %w", err)
		}
		defer f.Close()
		if info, err := f.Stat(); err == nil && info.IsDir() {
			return fmt.Errorf("%s is a directory, not a backup: restore takes the file that ubl backup made", c.File)
		}
		in = f
	}
	p.tellReadable("the age identity", c.DecryptWith)
	if in, err = c.decrypted(in); err != nil {
		return err
	}
	g := p.progress("restoring", "bytes", c.Quiet)
	err = storage.Restore(ctx, in, c.Data, &storage.Options{Random: p.random, Now: p.now}, &storage.RestoreOptions{
		Progress: g.at,
		Blobs:    p.restoredBlobs(ctx),
		Signed:   func(signer ed25519.PublicKey) error { return mustBeSigned(p.err, signer, key, p.now()) },
	})
	g.end()
	if err != nil {
		return err
	}
	if key != nil {
		err = putKey(c.Data, key)
	}
	if err == nil {
		err = p.withNode(ctx, c.Data, func(*node) error { return nil }) // which receipts it
	}
	if err != nil {
		return fmt.Errorf("restored into %s, and not yet receipted, which the server's start does: %w", c.Data, err)
	}
	fmt.Fprintf(p.out, "restored into %s\n", c.Data)
	if key == nil {
		fmt.Fprintf(p.err, "Put your copy of %s there before the first start, else tokens made before no longer hold.\n", keyFile)
	}
	return nil
}

// key is the operator's copy of the server's key, nil where none was named.
func (c *restoreCmd) key() (*auth.Key, error) {
	if c.IdentityKey == "" {
		return nil, nil
	}
	return auth.LoadKey(c.IdentityKey)
}

// putKey makes the key that of a restored directory.
func putKey(dir string, key *auth.Key) error {
	pem, err := key.PEM()
	if err != nil {
		return err
	}
	return auth.SaveKey(keyPath(dir), pem)
}

// mustBeSigned refuses a backup that the operator's key didn't sign. Without a
// key to compare with, it tells the operator whose signature there is. It names a key
// that has ended: one that leaked signs for others, too.
func mustBeSigned(out io.Writer, signer ed25519.PublicKey, key *auth.Key, now time.Time) error {
	switch {
	case key != nil && signer == nil:
		return errors.New("the backup isn't signed: restore it without --identity-key if you trust where it was kept")
	case key != nil && !slices.Contains(key.IDs(), auth.KeyID(signer)):
		return fmt.Errorf("key %s signed the backup, not yours, which is %s", auth.KeyID(signer), key.ID())
	case key != nil:
		for _, use := range key.Uses() {
			if use.ID == auth.KeyID(signer) && !use.Until.IsZero() && !now.Before(use.Until) {
				fmt.Fprintf(out, "Key %s signed the backup, and ended at %s. If it was ended because it leaked, anybody who has it can have made this backup: compare it with one that is signed by a later key.\n",
					use.ID, use.Until.UTC().Format(time.RFC3339))
			}
		}
	case signer == nil:
		fmt.Fprintln(out, "The backup isn't signed: nothing shows that nobody changed it.")
	default:
		fmt.Fprintf(out, "Key %s signed the backup. Give your copy of the key with --identity-key to have that compared.\n", auth.KeyID(signer))
	}
	return nil
}
