package cluster

import (
	"cmp"
	"context"
	"errors"
	"io"
	"log/slog"
	"time"

	"ubl"
	"ubl/cluster/mesh"
	"ubl/cluster/wire"
	"ubl/panics"
	"ubl/storage"
)

// Options say what a node is and whom it looks for. Dir, Listen, Secret,
// Registry, Now, Random and Log are required.
type Options struct {
	// Dir is the data directory.
	Dir string
	// NodeID is the operator's name for the node; "" makes one of the data
	// directory's incarnation, or keeps the one it has.
	NodeID string
	// Listen and Advertise are where the node listens for others and where they
	// find it, as HOST:PORT; Advertise defaults to Listen.
	Listen, Advertise string
	// Join are addresses of other nodes. With none, a node that is in no cluster
	// yet founds one.
	Join []string
	// Expect is how many new nodes wait for each other before one of them founds
	// a cluster; 0 doesn't wait.
	Expect int
	// Secret is what the nodes of a cluster share.
	Secret mesh.Secret
	// CAFile, CertFile and KeyFile are an own PKI, instead of the one that comes
	// from the secret.
	CAFile, CertFile, KeyFile string
	// Timeout is how long a leader may be silent before another is elected (500 ms).
	Timeout time.Duration
	// LogBytes is how far a partition's log grows before it is cut (128 MiB), or
	// an eighth of the partition's size where that is more.
	LogBytes int64
	// DeadAfter is how long a node is dead before others take its places (1 min).
	DeadAfter time.Duration
	// SpreadEvery is how often, at most, a leadership is moved to spread the load (2 s).
	SpreadEvery time.Duration
	// MendBlobsEvery is how often a node looks for blobs that it should have (10 s).
	MendBlobsEvery time.Duration
	// Registry knows the commands and answers that travel between nodes.
	Registry *wire.Registry
	// Shared are the small things that all nodes keep the same, by name. A node
	// hands them to those it lets in, and to members that ask. alone tells that no
	// other node can have them: what is missing is made.
	Shared func(alone bool) (map[string][]byte, error)
	// Keep is given what a joining node got of those, before it serves.
	Keep func(shared map[string][]byte) error
	// Keys name the keys that the node signs with and accepts, the first in use; the
	// others are told.
	Keys func() []string
	// Version is the program's. BackupAt says when the newest backup through this node was
	// complete; nil for none. The other nodes are told both.
	Version  string
	BackupAt func() *ubl.Time
	// Joined puts on record, on partition 0's leader, that a node is in, before it
	// is handed what is shared, or out, before it is forgotten. What fails is tried
	// again, and so may be what succeeded: of one server id it records each once.
	// It may be called before Open has returned.
	Joined func(ctx context.Context, nodeID, serverID string, in bool) error
	// Logged is told of each write to a partition's log, its sync included, which
	// callers wait for. It must not block.
	Logged func(took time.Duration, err error)
	// Snapshotted is told of each snapshot that this node takes of a partition,
	// Installed of each that a leader sent and this node took over. Neither may block.
	Snapshotted, Installed func(took time.Duration, err error)
	// Panics catches what panics in questions, calls and rounds.
	Panics *panics.Catcher
	// Storage are the engine's options.
	Storage storage.Options
	Now     func() time.Time
	Random  io.Reader
	Log     *slog.Logger

	// probe reports whether the disk takes writes for a partition; see replica.go.
	probe func(dir string, partition int) error
	// earlier has a test's node do without what nodes of earlier versions don't know: messages of
	// heartbeats.
	earlier bool
}

func (o Options) withDefaults() (Options, error) {
	o.Timeout = cmp.Or(o.Timeout, 500*time.Millisecond)
	o.LogBytes = cmp.Or(o.LogBytes, 128<<20)
	o.SpreadEvery = cmp.Or(o.SpreadEvery, 2*time.Second)
	o.DeadAfter = cmp.Or(o.DeadAfter, time.Minute)
	o.MendBlobsEvery = cmp.Or(o.MendBlobsEvery, mendBlobsEvery)
	if o.Shared == nil {
		o.Shared = func(bool) (map[string][]byte, error) { return nil, nil }
	}
	if o.Keep == nil {
		o.Keep = func(map[string][]byte) error { return nil }
	}
	if o.Keys == nil {
		o.Keys = func() []string { return nil }
	}
	if o.BackupAt == nil {
		o.BackupAt = func() *ubl.Time { return nil }
	}
	if o.probe == nil {
		o.probe = probe
	}
	if o.Joined == nil {
		o.Joined = func(context.Context, string, string, bool) error { return nil }
	}
	if o.Logged == nil {
		o.Logged = func(time.Duration, error) {}
	}
	if o.Snapshotted == nil {
		o.Snapshotted = func(time.Duration, error) {}
	}
	if o.Installed == nil {
		o.Installed = func(time.Duration, error) {}
	}
	switch {
	case o.Dir == "" || o.Listen == "" || o.Registry == nil || o.Now == nil || o.Random == nil || o.Log == nil:
		return o, errors.New("couldn't start the cluster's node: an option is missing")
	case o.NodeID != "" && !ubl.ValidNodeID(o.NodeID):
		return o, ubl.Errorf(ubl.CodeValidation, "the node id is not well formed")
	}
	return o, nil
}

// plainStorage opens the store as that of a node alone.
func (o *Options) plainStorage() *storage.Options {
	s := o.Storage
	s.Propose = nil
	return &s
}

// entryBytes bounds a log entry: a larger one would hold up the heartbeats'
// neighbours on its way to the followers.
const entryBytes = 512 << 10

func (o *Options) replicatedStorage(n *Node) *storage.Options {
	s := o.Storage
	s.Propose, s.Halted = n.propose, n.halted
	s.Damaged, s.Remade = n.damaged, n.remade
	s.Referred = n.referred
	s.TxBytes = entryBytes
	return &s
}

func (o *Options) step() func(string) {
	if o.Storage.Step == nil {
		return func(string) {}
	}
	return o.Storage.Step
}

func (o *Options) credentials(server string) (*mesh.Credentials, error) {
	if o.CAFile == "" && o.CertFile == "" && o.KeyFile == "" {
		return mesh.FromSecret(o.Secret, server)
	}
	return mesh.FromFiles(o.CAFile, o.CertFile, o.KeyFile, o.Now())
}
