package cluster

import (
	"context"
	"errors"
	"io"
	"slices"
	"sync"
	"time"

	"google.golang.org/grpc"

	"ubl"
	"ubl/blobs"
	"ubl/cluster/mesh"
)

// Blobs lie in the folders of the nodes that vote on their tenant's partition: a majority of them
// has one before the act is asked that refers to it. Those that were away fetch it later, and so
// does a node that comes to vote. Any node reads any: one that doesn't have it gets it from
// another, checks it, and keeps it where it votes.

const (
	// blobChunk is how much of a blob goes in one message.
	blobChunk = 256 << 10
	// spreadTimeout bounds the way of a blob to the voters beyond a majority.
	spreadTimeout = 30 * time.Minute
)

type (
	votersRequest struct{ Partition int }
	votersReply   struct{ Voters []string }
	// blobRequest asks for a blob, or begins to bring it.
	blobRequest struct{ Tenant, ID string }
	// blobReply says whether there is such a blob.
	blobReply struct{ Have bool }
)

// Blobs are those of all nodes as one [ubl.Blobs]; what is kept, removed and listed by itself is
// this node's.
type Blobs struct {
	node *Node
	here *blobs.Folder

	mu sync.Mutex
	// looked are the partitions whose references this node has looked at, all of them once. fresh
	// are those that came since, and lacks those whose blob it couldn't fetch.
	looked map[int]bool
	fresh  map[int][]reference
	lacks  map[int]map[reference]lack
}

// ServeBlobs has the node keep blobs and uploads, also for others. It is called once, before
// the node is asked for any.
func (n *Node) ServeBlobs(here *blobs.Folder) *Blobs {
	b := &Blobs{node: n, here: here, looked: make(map[int]bool), fresh: make(map[int][]reference), lacks: make(map[int]map[reference]lack)}
	n.blobs.Store(b)
	n.start("mending blobs", b.mend)
	return b
}

// Keep implements [ubl.Blobs].
func (b *Blobs) Keep(ctx context.Context, t ubl.TenantID, id ubl.BlobID, path string) error {
	if err := b.here.Keep(ctx, t, id, path); err != nil {
		return err
	}
	voters, err := b.votersOf(ctx, t)
	if err != nil {
		return err
	}
	if err := b.spread(ctx, t, id, voters); err != nil {
		return err
	}
	if !slices.Contains(voters, b.node.server) {
		_, err = b.here.Remove(ctx, t, id, ubl.TimeOf(b.node.opts.Now()))
	}
	return err
}

// votersOf are the servers that vote on a tenant's partition, as its leader says.
func (b *Blobs) votersOf(ctx context.Context, t ubl.TenantID) (voters []string, err error) {
	n := b.node
	partition := n.engine.Partition(ubl.TenantName(t).Group())
	err = n.untilLed(ctx, partition, deadlineOf(ctx), func(w way) error {
		switch w.leader {
		case "":
			return errNoLeader
		case n.server:
			reply, err := n.serveVoters(ctx, &votersRequest{partition})
			if err == nil {
				voters = reply.Voters
			}
			return err
		}
		reply, err := call[votersReply](ctx, n, w.leader, callVoters, &votersRequest{partition})
		if err == nil {
			voters = reply.Voters
		}
		return err
	})
	return voters, err
}

func deadlineOf(ctx context.Context) time.Time {
	if deadline, ok := ctx.Deadline(); ok {
		return deadline
	}
	return time.Now().Add(askTimeout)
}

// serveVoters is a leader's word on who votes.
func (n *Node) serveVoters(ctx context.Context, q *votersRequest) (*votersReply, error) {
	if q.Partition < 0 || q.Partition >= n.engine.Partitions() {
		return nil, ubl.Errorf(ubl.CodeValidation, "there is no such partition")
	}
	epoch, g := n.engine.Epoch(q.Partition), n.group(q.Partition)
	if epoch == 0 || g == nil {
		return nil, errNotHere
	}
	if err := g.confirm(ctx, epoch); err != nil {
		return nil, err
	}
	return &votersReply{g.configuration().voters}, nil
}

// spread brings a blob to the voters, and returns when a majority has it. The rest get it behind
// that, as far as they can be reached.
func (b *Blobs) spread(ctx context.Context, t ubl.TenantID, id ubl.BlobID, voters []string) error {
	missing := len(voters)/2 + 1
	others := slices.DeleteFunc(slices.Clone(voters), func(s string) bool { return s == b.node.server })
	if len(others) < len(voters) {
		missing--
	}
	brought := make(chan error, len(others))
	for _, server := range others {
		// The caller's time is over when a majority has it, that of the others isn't.
		ctx, cancel := context.WithTimeout(b.node.ctx, spreadTimeout)
		b.node.start("bringing a blob", func() {
			defer cancel()
			err := b.node.opts.Panics.Try("bringing a blob", func() error { return b.bring(ctx, server, t, id) })
			brought <- err
		})
	}
	var failures []error
	for open := len(others); missing > 0; open-- {
		if open < missing {
			return ubl.Errorf(ubl.CodeUnavailable, "too few nodes can keep the content now").Because(errors.Join(failures...)).Later(retryLost)
		}
		select {
		case err := <-brought:
			if err == nil {
				missing--
			} else {
				failures = append(failures, err)
			}
		case <-ctx.Done():
			return ubl.AsError(ctx.Err())
		}
	}
	return nil
}

// bring brings a blob of this node's to another one, which may have it.
func (b *Blobs) bring(ctx context.Context, server string, t ubl.TenantID, id ubl.BlobID) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	conn, err := b.node.conns.to(server)
	if err != nil {
		return err
	}
	stream, err := conn.NewStream(ctx, &grpc.StreamDesc{StreamName: callKeepBlob, ServerStreams: true, ClientStreams: true}, "/"+serviceName+"/"+callKeepBlob)
	if err == nil {
		err = stream.SendMsg(&blobRequest{string(t), string(id)})
	}
	var reply blobReply
	if err == nil {
		err = stream.RecvMsg(&reply)
	}
	if err != nil {
		return fromStatus(server, err)
	}
	if reply.Have {
		return nil
	}
	r, err := b.here.Open(ctx, t, id)
	if err != nil {
		return err
	}
	defer r.Close()
	if err := sendChunks(stream, r); err != nil && !errors.Is(err, io.EOF) { // EOF: the answer says why
		return err
	}
	if err := stream.RecvMsg(&reply); err != nil {
		return fromStatus(server, err)
	}
	return nil
}

// sendChunks sends what r holds, and then that this is all.
func sendChunks(stream interface {
	SendMsg(any) error
	CloseSend() error
}, r io.Reader) error {
	for buf := make([]byte, blobChunk); ; {
		n, err := 0, error(nil)
		for n < len(buf) && err == nil {
			var read int
			read, err = r.Read(buf[n:])
			n += read
		}
		if n > 0 {
			if err := stream.SendMsg(&chunk{Data: buf[:n]}); err != nil {
				return err
			}
		}
		switch {
		case errors.Is(err, io.EOF):
			return stream.CloseSend()
		case err != nil:
			return err
		}
	}
}

// chunks reads what a stream sends in chunks.
type chunks struct {
	stream interface{ RecvMsg(any) error }
	rest   []byte
}

// Read implements [io.Reader].
func (c *chunks) Read(p []byte) (int, error) {
	for len(c.rest) == 0 {
		var next chunk
		if err := c.stream.RecvMsg(&next); err != nil {
			return 0, err
		}
		c.rest = next.Data
	}
	n := copy(p, c.rest)
	c.rest = c.rest[n:]
	return n, nil
}

// served are the node's blobs, for others.
func (n *Node) served() (*Blobs, error) {
	if b := n.blobs.Load(); b != nil {
		return b, nil
	}
	return nil, ubl.Errorf(ubl.CodeUnavailable, "this node serves no blobs yet")
}

// serveKeepBlob keeps a blob that another node brings, and says first whether it is there.
func (n *Node) serveKeepBlob(q *blobRequest, stream grpc.ServerStream) error {
	b, err := n.served()
	if err != nil {
		return err
	}
	t, id := ubl.TenantID(q.Tenant), ubl.BlobID(q.ID)
	have, err := b.here.Renew(stream.Context(), t, id)
	if err == nil {
		err = stream.SendMsg(&blobReply{have})
	}
	if err != nil || have {
		return err
	}
	if err := b.here.Put(stream.Context(), t, id, &chunks{stream: stream}); err != nil {
		return err
	}
	if u := n.uploads.Load(); u != nil {
		kept, err := b.here.Stat(stream.Context(), t, id)
		if err != nil {
			return err
		}
		u.here.Brought(t, kept.Bytes)
	}
	return stream.SendMsg(&blobReply{true})
}

// serveBlob sends a blob that this node has.
func (n *Node) serveBlob(q *blobRequest, stream grpc.ServerStream) error {
	b, err := n.served()
	if err != nil {
		return err
	}
	r, err := b.here.Open(stream.Context(), ubl.TenantID(q.Tenant), ubl.BlobID(q.ID))
	if err != nil {
		return err
	}
	defer r.Close()
	return sendChunks(serverSide{stream}, r)
}

// serverSide ends a stream by returning.
type serverSide struct{ grpc.ServerStream }

func (serverSide) CloseSend() error { return nil }

// Open implements [ubl.Blobs].
func (b *Blobs) Open(ctx context.Context, t ubl.TenantID, id ubl.BlobID) (io.ReadSeekCloser, error) {
	r, err := b.here.Open(ctx, t, id)
	if ubl.CodeOf(err) != ubl.CodeNotFound {
		return r, err
	}
	if b.votes(t) {
		if err := b.fetch(ctx, t, id, func(r io.Reader) error { return b.here.Put(ctx, t, id, r) }); err != nil {
			return nil, err
		}
		return b.here.Open(ctx, t, id)
	}
	err = b.fetch(ctx, t, id, func(from io.Reader) (err error) {
		r, err = b.here.Borrow(from, id)
		return err
	})
	return r, err
}

// votes reports whether this node votes on a tenant's partition.
func (b *Blobs) votes(t ubl.TenantID) bool {
	g := b.node.group(b.node.engine.Partition(ubl.TenantName(t).Group()))
	return g != nil && g.votes()
}

// fetch has another node send a blob to take. Those that vote come first.
func (b *Blobs) fetch(ctx context.Context, t ubl.TenantID, id ubl.BlobID, take func(io.Reader) error) error {
	voters, err := b.votersOf(ctx, t)
	failures := []error{err}
	away := err != nil
	for _, server := range b.others(voters) {
		err := b.fetchFrom(ctx, server, t, id, take)
		if err == nil {
			return nil
		}
		away = away || ubl.CodeOf(err) == ubl.CodeUnavailable
		failures = append(failures, err)
	}
	if away {
		return ubl.Errorf(ubl.CodeUnavailable, "the nodes that have the content can't be reached now").Because(errors.Join(failures...)).Later(retryLost)
	}
	return ubl.ErrNoBlob().Because(errors.Join(failures...))
}

// others are the other nodes that may have a blob: voters, and then who is up besides.
func (b *Blobs) others(voters []string) []string {
	list := slices.Clone(voters)
	for _, m := range b.node.gossip.Members() {
		if m.State == mesh.Alive && m.ClusterID == b.node.clusterID() && !slices.Contains(list, m.ServerID) {
			list = append(list, m.ServerID)
		}
	}
	return slices.DeleteFunc(list, func(s string) bool { return s == b.node.server })
}

func (b *Blobs) fetchFrom(ctx context.Context, server string, t ubl.TenantID, id ubl.BlobID, take func(io.Reader) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := openStream(ctx, b.node, server, callBlob, &blobRequest{string(t), string(id)})
	if err != nil {
		return err
	}
	return take(&statused{server, &chunks{stream: stream}})
}

// statused reads with errors as they were at the other node.
type statused struct {
	server string
	r      io.Reader
}

func (s *statused) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = fromStatus(s.server, err)
	}
	return n, err
}

// Remove implements [ubl.Blobs].
func (b *Blobs) Remove(ctx context.Context, t ubl.TenantID, id ubl.BlobID, after ubl.Time) (bool, error) {
	return b.here.Remove(ctx, t, id, after)
}

// Each implements [ubl.Blobs].
func (b *Blobs) Each(ctx context.Context, fn func(ubl.TenantID, ubl.Blob) error) error {
	return b.here.Each(ctx, fn)
}

// Yield removes this node's copies of the blobs that others keep: those of partitions on which it
// doesn't vote any more, kept last before a time. One goes when every voter has it.
func (b *Blobs) Yield(ctx context.Context, before ubl.Time) (done blobs.Collected, err error) {
	var of ubl.TenantID
	var voters []string
	var unknown error
	var failures []error
	err = b.here.Each(ctx, func(t ubl.TenantID, blob ubl.Blob) error {
		if blob.KeptAt > before || b.votes(t) {
			return nil
		}
		if t != of { // of one tenant: its leader may be away
			of = t
			if voters, unknown = b.votersOf(ctx, t); unknown != nil {
				failures = append(failures, unknown)
			}
		}
		if unknown != nil || slices.Contains(voters, b.node.server) {
			return ctx.Err()
		}
		yielded, err := b.yield(ctx, t, blob.ID, voters, before)
		if err != nil {
			failures = append(failures, err)
		}
		if yielded {
			done.Blobs, done.Bytes = done.Blobs+1, done.Bytes+blob.Bytes
		}
		return ctx.Err()
	})
	if done.Blobs > 0 {
		b.LookAgain() // it may come to vote again
	}
	return done, errors.Join(append(failures, err)...)
}

func (b *Blobs) yield(ctx context.Context, t ubl.TenantID, id ubl.BlobID, voters []string, before ubl.Time) (bool, error) {
	for _, server := range voters {
		if err := b.bring(ctx, server, t, id); err != nil {
			return false, err
		}
	}
	return b.here.Remove(ctx, t, id, before)
}
