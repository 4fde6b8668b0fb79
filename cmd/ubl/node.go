package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"ubl"
	"ubl/actors"
	"ubl/actors/families"
	"ubl/actors/webhooks"
	"ubl/blobs"
	"ubl/blobs/bucket"
	"ubl/cluster"
	"ubl/mail"
	"ubl/panics"
	"ubl/scan"
	"ubl/search"
	"ubl/storage"
	"ubl/transport/api"
	"ubl/transport/auth"
)

// Inside a data directory, beside what storage keeps there.
const (
	// keyFile is the node's key.
	keyFile = "identity.key"
	// searchDir holds the full-text indexes, which may be deleted at any time.
	searchDir = "search"
	// lastBackupFile says when the last backup was complete.
	lastBackupFile = "last-backup.json"
	// blobsDir holds the contents of files, and those on their way in.
	blobsDir = "blobs"
)

// node is the server without its transports: storage and actors over one data
// directory, alone or as one of a cluster. Whoever opened it closes it.
type node struct {
	store   *storage.Engine
	search  *search.Index
	actors  *actors.Runtime
	cluster *cluster.Node // nil for a node alone
	// asker and feed reach actors wherever they are.
	asker   ubl.Visitor
	feed    ubl.Feed
	figures *figures
	// blobs are the contents of files, folder those that are on this node; uploads brings them.
	blobs    ubl.Blobs
	folder   *blobs.Folder
	uploads  api.Uploads
	incoming *blobs.Uploads
	bucket   *bucket.Options // nil where the folder has them
	// damagedBlobs counts those that were found, missingBlobs is how many the newest look missed.
	// suspects wait for being checked.
	damagedBlobs, missingBlobs atomic.Int64
	suspects                   chan tenantBlob
	// backups is held while one is made here, and by who removes blobs.
	backups sync.RWMutex
	// held: the data directory held data before the server's start.
	held bool
	// dir is the data directory, lastBackup when a backup of it was complete.
	dir        string
	lastBackup atomic.Int64
	panics     *panics.Catcher
	random     io.Reader
	now        func() time.Time
	log        *slog.Logger
	// key is what the node signs with now; nil before it has transports.
	key atomic.Pointer[auth.Key]
	// others is how the node's key stands to those of the other nodes; nil before it knows.
	others atomic.Pointer[keyVotes]
	// clock holds alarms while the clock can't be believed.
	clock *clockGuard
	// quota is what a tenant may have in all; nil for everything.
	quota ubl.Quota
	// kinds are those of containers.
	kinds []ubl.Kind
	// push reaches browsers; nil for none.
	push ubl.Pusher
	// mail hands mails to the operator's mail server, links are those by which they end; nil for none.
	mail  *mail.Service
	links *mail.Links
	// scanner looks into files before they are taken; nil for none.
	scanner *scan.Scanner
	// hooks reaches the servers that webhooks tell; nil for none.
	hooks webhooks.Sender
	// servers asks tools' servers, once the node has its portal.
	servers lateSyncer
}

// openNode opens a data directory as that of a node alone, making it where it is
// missing.
func (p *program) openNode(dir string, log *slog.Logger) (*node, error) {
	if err := cluster.CheckAlone(dir); err != nil {
		return nil, openHint(dir, err)
	}
	n := p.newNode(log)
	store, err := storage.Open(dir, n.storage())
	if err != nil {
		return nil, openHint(dir, err)
	}
	n.store = store
	if err := n.run(dir); err != nil {
		return nil, errors.Join(err, store.Close())
	}
	n.asker, n.feed = n.actors, n.actors
	return n, nil
}

func (p *program) newNode(log *slog.Logger) *node {
	n := &node{figures: newFigures(), panics: panics.New(log), random: p.random, now: p.now, log: log, quota: p.quota, bucket: p.bucket, suspects: make(chan tenantBlob, maxSuspects), kinds: append(ubl.Kinds(), p.kinds...)}
	n.push, n.hooks = n.pusher(p.reach), n.webhooks(p.reach)
	n.mails(p.mail)
	n.scans(p.scan)
	return n
}

// world is what the node's actors are opened over.
func (n *node) world() families.World {
	w := families.World{Store: n.store, Search: n.search, Kinds: n.kinds, Quota: n.quota, Push: n.push, Webhooks: n.hooks, Servers: &n.servers}
	if n.mail != nil { // a nil *mail.Service would not be nil there
		w.Mail = n.mail
	}
	return w
}

func (n *node) storage() *storage.Options {
	return &storage.Options{
		Random: n.random, Now: n.now, Observe: n.figures.committed, ObserveFile: n.figures.fileCommitted, Step: crashStep(),
		Numbers: families.All.Numbers(), Damaged: n.damaged(),
	}
}

// remade is what to say of a store whose ubl.json was made again.
const remade = "store/ubl.json was damaged or missing, and was made again from the partitions: look at the disk"

// run starts the actors over the store of a data directory.
func (n *node) run(dir string) (err error) {
	n.dir = dir
	if lost := n.store.Remade(); lost != nil {
		n.log.Error(remade, "error", lost)
	}
	n.lastBackup.Store(readLastBackup(dir))
	if err = n.openBlobs(context.Background(), filepath.Join(dir, blobsDir)); err != nil {
		return err
	}
	if n.search, err = search.Open(filepath.Join(dir, searchDir), &search.Options{Log: n.log, Panics: n.panics, Written: n.figures.written.Load}); err != nil {
		return err
	}
	var elsewhere ubl.Asker // a nil *cluster.Node would not be nil there
	if n.cluster != nil {
		elsewhere = n.cluster
	}
	begun := time.Now()
	n.clock = &clockGuard{now: n.now, elapsed: func() time.Duration { return time.Since(begun) }, ahead: n.clockOffset, log: n.log}
	n.actors = actors.New(actors.Options{
		Families: families.All.In(n.world()),
		Now:      n.now, Random: n.random, Log: n.log, Panics: n.panics, Partition: n.store.Partition,
		Elsewhere: elsewhere, Shelf: n.store, Wrote: n.figures.wrote, Quota: n.quota, Hold: n.clock.holds,
	})
	n.figures.watch(n)
	return nil
}

// id is the node's name: in a cluster the operator's, else that of its data.
func (n *node) id() string {
	if n.cluster != nil {
		return n.cluster.ID()
	}
	return n.store.Incarnation()
}

// openHint says what to do about a directory that can't be opened.
func openHint(dir string, err error) error {
	if errors.Is(err, storage.ErrInUse) {
		return fmt.Errorf("%s is in use by another process, probably a running \"ubl serve\": stop it first, or ask it with --url and UBL_TOKEN where the command can", dir)
	}
	if errors.Is(err, storage.ErrFull) {
		return fullHint(dir, err)
	}
	if errors.Is(err, storage.ErrNewerFormat) {
		return fmt.Errorf("%w. Nothing was changed. Start the version of ubl that wrote %s, or a later one. "+
			"To go back to this version, restore a backup from before the upgrade into another directory", err, dir)
	}
	if errors.Is(err, cluster.ErrMember) {
		return fmt.Errorf("%s belongs to a node of a cluster: start it with --cluster-listen, or ask it with --url and UBL_TOKEN where the command can", dir)
	}
	if errors.Is(err, storage.ErrJournalLoss) {
		err = fmt.Errorf("%w: ubl scrub --data %s --accept-journal-loss", err, dir)
	}
	if errors.Is(err, storage.ErrDamaged) {
		return fmt.Errorf("%w. To list the damaged places: ubl scrub --data %s. To read what is sound of a tenant's ledger: ubl export --data %[2]s --tenant T. "+
			"What to do then is in the runbook (UBLDamage)", err, dir)
	}
	return err
}

// fullHint says what to do about a disk that is full, where that is what err is about.
func fullHint(dir string, err error) error {
	if !errors.Is(err, storage.ErrFull) {
		return err
	}
	return fmt.Errorf("the disk of %s is full. Nothing that was acknowledged is lost: what the files have no room for is in their journals. Free some space, then start again. (%w)", dir, inOneLine{err})
}

// inOneLine is an error of several parts that is told in one line, as a log's last one.
type inOneLine struct{ error }

func (e inOneLine) Error() string { return strings.ReplaceAll(e.error.Error(), "\n", "; ") }

func (e inOneLine) Unwrap() error { return e.error }

// keyIDs name the keys that the node signs with and accepts, for other nodes.
func (n *node) keyIDs() []string {
	if key := n.key.Load(); key != nil {
		return key.AcceptedIDs(n.now())
	}
	return nil
}

// derived are keys for another purpose, of the key and those before it: newest
// first, as they are at each call.
func (n *node) derived(purpose string) func() [][]byte {
	return func() [][]byte { return n.key.Load().Derived(purpose) }
}

// request is a new request of the platform's own.
func (n *node) request() (ubl.Request, error) {
	id, err := ubl.NewRequestID(n.random)
	return ubl.Request{Who: ubl.Platform(), ID: id, Key: id}, err
}

// bootstrap makes tenant 0 with its rooms, where it isn't there yet, and
// receipts that the data came from a backup, where that is still to be done.
func (n *node) bootstrap(ctx context.Context) error {
	req, err := n.request()
	if err != nil {
		return err
	}
	if _, err = n.asker.Ask(ctx, ubl.TenantName(ubl.CoreTenant), ubl.Enter{Request: req, Name: "UBL", Act: true}); err != nil {
		return fmt.Errorf("couldn't begin tenant 0: %w", err)
	}
	return errors.Join(n.announceRestore(ctx), n.announceLosses(ctx))
}

// close lets everything accepted settle and gives the directory free.
func (n *node) close(ctx context.Context) error {
	err := n.actors.Close(ctx)
	n.search.Close()
	if n.cluster != nil {
		return errors.Join(err, n.cluster.Close())
	}
	return errors.Join(err, n.store.Close())
}

func keyPath(dir string) string { return filepath.Join(dir, keyFile) }
