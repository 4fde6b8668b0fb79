package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"google.golang.org/grpc"

	"ubl"
	"ubl/blobs"
	"ubl/cluster/mesh"
	"ubl/cluster/wire"
)

// Uploads are those of all nodes: each is where it was begun, and its id says where that is. Any
// node passes on what belongs to another. One whose node is gone has ended; its sender begins
// again, and nothing refers to what had come in.
type Uploads struct {
	node *Node
	here *blobs.Uploads

	mu   sync.Mutex
	away map[string]away // nodes that didn't answer when they were asked last
}

// away is from when until when a node didn't answer.
type away struct{ since, last time.Time }

// givenUp is for how long a node that has uploads may be away before these count as lost. Its
// sender waits for that and no longer: sending again costs less than a node's return may take.
const givenUp = 5 * time.Second

type (
	// uploadRequest asks something about an upload, or begins to bring bytes of it at Offset.
	uploadRequest struct {
		Tenant, User string
		ID           string
		Do           string
		Offset       int64
	}
	// uploadReply has both where the upload was told beside an error.
	uploadReply struct {
		Upload []byte // JSON
		Error  []byte
	}
)

// What an uploadRequest asks to do.
const (
	lookUpload, finishUpload, endUpload = "look", "finish", "end"
)

// ServeUploads has the node take uploads in, also by way of others.
func (n *Node) ServeUploads(here *blobs.Uploads) *Uploads {
	u := &Uploads{node: n, here: here, away: make(map[string]away)}
	n.uploads.Store(u)
	return u
}

// Staged is how many bytes count on this node where somebody begins another upload.
func (u *Uploads) Staged(who ubl.Identity) int64 { return u.here.Staged(who) }

// Put keeps a content that came as a whole.
func (u *Uploads) Put(ctx context.Context, who ubl.Identity, content []byte) (ubl.BlobID, error) {
	return u.here.Put(ctx, who, content)
}

// Begin makes an upload on this node.
func (u *Uploads) Begin(ctx context.Context, who ubl.Identity, up ubl.Upload) (*ubl.Upload, error) {
	return u.here.Begin(ctx, who, up)
}

// Look tells how far one is.
func (u *Uploads) Look(ctx context.Context, who ubl.Identity, id ubl.UploadID) (*ubl.Upload, error) {
	return u.ask(ctx, who, id, lookUpload)
}

// Finish keeps a whole upload as a blob.
func (u *Uploads) Finish(ctx context.Context, who ubl.Identity, id ubl.UploadID) (*ubl.Upload, error) {
	return u.ask(ctx, who, id, finishUpload)
}

// End ends one that is under way.
func (u *Uploads) End(ctx context.Context, who ubl.Identity, id ubl.UploadID) error {
	_, err := u.ask(ctx, who, id, endUpload)
	return err
}

// at is the server that has an upload, "" for this one.
func (u *Uploads) at(id ubl.UploadID) (server string, err error) {
	if !id.Valid() {
		return "", errNoUpload()
	}
	if id.Node() == ubl.UploadNode(u.node.opts.NodeID) {
		return "", nil
	}
	for _, m := range u.node.gossip.Members() {
		if m.ClusterID != u.node.clusterID() || id.Node() != ubl.UploadNode(m.NodeID) {
			continue
		}
		if m.State != mesh.Dead && m.State != mesh.Left {
			return m.ServerID, nil
		}
	}
	return "", errNoUpload()
}

// heard takes what came of asking a node. One that has been away for long has lost its uploads,
// as far as their senders are concerned.
func (u *Uploads) heard(server string, err error) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	if ubl.CodeOf(err) != ubl.CodeUnavailable {
		delete(u.away, server)
		return err
	}
	now := time.Now()
	a := u.away[server]
	if now.Sub(a.last) > 2*givenUp { // nobody has asked for long
		a.since = now
	}
	a.last = now
	u.away[server] = a
	if now.Sub(a.since) > givenUp {
		return errNoUpload()
	}
	return err
}

func errNoUpload() error {
	return ubl.Errorf(ubl.CodeNotFound, "there is no such upload, or it has ended: begin again")
}

func (u *Uploads) ask(ctx context.Context, who ubl.Identity, id ubl.UploadID, do string) (*ubl.Upload, error) {
	server, err := u.at(id)
	if err != nil {
		return nil, err
	}
	q := &uploadRequest{Tenant: string(who.TenantID), User: string(who.UserID), ID: string(id), Do: do}
	if server == "" {
		return u.do(ctx, q)
	}
	reply, err := call[uploadReply](ctx, u.node, server, callUpload, q)
	if err = u.heard(server, err); err != nil {
		return nil, err
	}
	return reply.read()
}

func (q *uploadRequest) who() ubl.Identity {
	return ubl.Identity{TenantID: ubl.TenantID(q.Tenant), UserID: ubl.UserID(q.User)}
}

// do does what is asked for an upload of this node.
func (u *Uploads) do(ctx context.Context, q *uploadRequest) (*ubl.Upload, error) {
	id := ubl.UploadID(q.ID)
	switch q.Do {
	case lookUpload:
		return u.here.Look(ctx, q.who(), id)
	case finishUpload:
		return u.here.Finish(ctx, q.who(), id)
	case endUpload:
		return nil, u.here.End(ctx, q.who(), id)
	}
	return nil, ubl.Errorf(ubl.CodeValidation, "a question about an upload is not well formed")
}

// replyOf is an answer as it travels.
func replyOf(up *ubl.Upload, err error) (*uploadReply, error) {
	reply := new(uploadReply)
	if err != nil {
		reply.Error = wire.EncodeError(nil, err)
	}
	if up == nil {
		return reply, nil
	}
	var failed error
	reply.Upload, failed = json.Marshal(up)
	return reply, failed
}

func (r *uploadReply) read() (up *ubl.Upload, err error) {
	if r.Upload != nil {
		up = new(ubl.Upload)
		if err := json.Unmarshal(r.Upload, up); err != nil {
			return nil, fmt.Errorf("couldn't read another node's answer: %w", err)
		}
	}
	if r.Error != nil {
		e, err := wire.DecodeError(r.Error)
		if err != nil {
			return up, err
		}
		return up, e
	}
	return up, nil
}

// taking are the node's uploads, for others.
func (n *Node) taking() (*Uploads, error) {
	if u := n.uploads.Load(); u != nil {
		return u, nil
	}
	return nil, ubl.Errorf(ubl.CodeUnavailable, "this node takes no uploads yet")
}

func (n *Node) serveUpload(ctx context.Context, q *uploadRequest) (*uploadReply, error) {
	u, err := n.taking()
	if err != nil {
		return nil, err
	}
	return replyOf(u.do(ctx, q))
}

// serveAppend takes bytes in that came by way of another node.
func (n *Node) serveAppend(q *uploadRequest, stream grpc.ServerStream) error {
	u, err := n.taking()
	if err != nil {
		return err
	}
	in := n.readApart(stream)
	defer in.interrupt()
	reply, err := replyOf(u.here.Append(stream.Context(), q.who(), ubl.UploadID(q.ID), q.Offset, ubl.Source{Reader: in, Interrupt: in.interrupt}))
	if err != nil {
		return err
	}
	return stream.SendMsg(reply)
}

// Append adds bytes at an offset, wherever the upload is.
func (u *Uploads) Append(ctx context.Context, who ubl.Identity, id ubl.UploadID, offset int64, from ubl.Source) (*ubl.Upload, error) {
	server, err := u.at(id)
	if err != nil {
		return nil, err
	}
	if server == "" {
		return u.here.Append(ctx, who, id, offset, from)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	conn, err := u.node.conns.to(server)
	if err != nil {
		return nil, err
	}
	stream, err := conn.NewStream(ctx, &grpc.StreamDesc{StreamName: callAppend, ServerStreams: true, ClientStreams: true}, "/"+serviceName+"/"+callAppend)
	if err == nil {
		err = stream.SendMsg(&uploadRequest{Tenant: string(who.TenantID), User: string(who.UserID), ID: string(id), Offset: offset})
	}
	if err != nil {
		return nil, u.heard(server, fromStatus(server, err))
	}
	return u.pass(server, stream, from)
}

// pass passes a source on, until it ends or the other node answers.
func (u *Uploads) pass(server string, stream grpc.ClientStream, from ubl.Source) (*ubl.Upload, error) {
	type outcome struct {
		reply uploadReply
		err   error
	}
	answered := make(chan outcome, 1)
	u.node.start("awaiting an upload's answer", func() {
		var o outcome
		o.err = stream.RecvMsg(&o.reply)
		answered <- o
		if from.Interrupt != nil {
			from.Interrupt() // nobody takes the rest
		}
	})
	sent := sendChunks(stream, from)
	if sent != nil && !errors.Is(sent, io.EOF) {
		// What came so far is kept by the other node, which is told that no more comes.
		sent = errors.Join(sent, stream.CloseSend())
	}
	select {
	case o := <-answered:
		if o.err != nil {
			return nil, fromStatus(server, o.err)
		}
		up, err := o.reply.read()
		if err == nil && sent != nil && !errors.Is(sent, io.EOF) {
			err = ubl.Errorf(ubl.CodeUnavailable, "the connection broke, or was replaced by a newer one").Because(sent)
		}
		return up, err
	case <-time.After(answerTimeout):
		return nil, ubl.Errorf(ubl.CodeUnavailable, "the node that has the upload doesn't answer")
	}
}

// answerTimeout bounds how long a node takes to make durable what it got.
const answerTimeout = time.Minute

// apart reads what a stream sends in chunks, and can be interrupted while it waits.
type apart struct {
	next chan received
	rest []byte
	ends chan struct{}
	once sync.Once
}

type received struct {
	data []byte
	err  error
}

var errInterrupted = errors.New("interrupted by a newer request")

// readApart begins to. Who has it interrupts it at the end.
func (n *Node) readApart(stream grpc.ServerStream) *apart {
	a := &apart{next: make(chan received), ends: make(chan struct{})}
	n.start("reading an upload", func() {
		for {
			var c chunk
			err := stream.RecvMsg(&c)
			select {
			case a.next <- received{c.Data, err}:
			case <-a.ends:
				return
			}
			if err != nil {
				return
			}
		}
	})
	return a
}

func (a *apart) interrupt() { a.once.Do(func() { close(a.ends) }) }

// Read implements [io.Reader].
func (a *apart) Read(p []byte) (int, error) {
	for len(a.rest) == 0 {
		select {
		case r := <-a.next:
			if r.err != nil {
				return 0, r.err
			}
			a.rest = r.data
		case <-a.ends:
			return 0, errInterrupted
		}
	}
	n := copy(p, a.rest)
	a.rest = a.rest[n:]
	return n, nil
}
