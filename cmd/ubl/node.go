package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"time"

	"ubl"
	"ubl/actors"
	"ubl/actors/ledger"
	"ubl/actors/room"
	"ubl/actors/tenant"
	"ubl/storage"
)

// keyFile is the node's key inside its data directory.
const keyFile = "identity.key"

// node is the server without its transports: storage and actors over one data
// directory. Whoever opened it closes it.
type node struct {
	store   *storage.Engine
	actors  *actors.Runtime
	figures *figures
	random  io.Reader
	now     func() time.Time
	log     *slog.Logger
}

// openNode opens a data directory, making it where it is missing.
func (p *program) openNode(dir string, log *slog.Logger) (*node, error) {
	n := &node{figures: newFigures(), random: p.random, now: p.now, log: log}
	store, err := storage.Open(dir, &storage.Options{Random: p.random, Now: p.now, Observe: n.figures.committed})
	if err != nil {
		return nil, openHint(dir, err)
	}
	n.store = store
	n.actors = actors.New(actors.Options{
		// Adding a family of actors takes one line here.
		Families: []actors.Family{
			ledger.Family(store),
			tenant.Family(store, room.Found),
			room.Family(store),
		},
		Now: p.now, Random: p.random, Log: log, Partition: store.Partition,
	})
	n.figures.watch(n)
	return n, nil
}

// openHint says what to do about a directory that can't be opened.
func openHint(dir string, err error) error {
	if errors.Is(err, storage.ErrInUse) {
		return fmt.Errorf("%s is in use by another process, probably a running \"ubl serve\": stop it first, or use --url and UBL_TOKEN to ask it", dir)
	}
	return err
}

// request is a new request of the platform's own.
func (n *node) request() (ubl.Request, error) {
	id, err := ubl.NewRequestID(n.random)
	return ubl.Request{Who: ubl.Platform(), ID: id, Key: id}, err
}

// bootstrap makes tenant 0 with its rooms, where it isn't there yet.
func (n *node) bootstrap(ctx context.Context) error {
	req, err := n.request()
	if err != nil {
		return err
	}
	if _, err = n.actors.Ask(ctx, ubl.TenantName(ubl.CoreTenant), ubl.Enter{Request: req, Act: true}); err != nil {
		return fmt.Errorf("couldn't begin tenant 0: %w", err)
	}
	return nil
}

// close lets everything accepted settle and gives the directory free.
func (n *node) close(ctx context.Context) error {
	return errors.Join(n.actors.Close(ctx), n.store.Close())
}

func keyPath(dir string) string { return filepath.Join(dir, keyFile) }
