package cluster

import (
	"context"
	"fmt"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/mem"

	"ubl/cluster/wire"
)

// The calls between nodes: gRPC inside the mesh's mutual TLS, with messages in the
// form of package wire. A node of another version leaves out members that it
// doesn't know. Numbers are below 2^63, Raft's terms and indexes, too.
const (
	serviceName = "ubl.cluster.v1.Node"

	callAsk     = "Ask"     // stream of askBatch → stream of replyBatch: commands for actors
	callTerm    = "Term"    // termRequest → termReply: in which term is your replica?
	callReport  = "Report"  // none → Report: how the node stands
	callJoin    = "Join"    // joinRequest → joinReply: let me in
	callShared  = "Shared"  // none → sharedReply: what all nodes keep the same
	callLeave   = "Leave"   // leaveRequest → none: take a node out
	callReplica = "Replica" // replicaRequest → none: open or close a replica
	callChange  = "Change"  // changeRequest → none: change a group's servers or leader
	callFollow  = "Follow"  // followRequest → stream of ubl.Publication
	callFetch   = "Fetch"   // fetchRequest → stream of chunks: a copy of a partition
	callVoters  = "Voters"  // votersRequest → votersReply: who votes on the partition that you lead?
	callBlob    = "Blob"    // blobRequest → stream of chunks: a blob
	callUpload  = "Upload"  // uploadRequest → uploadReply: how far is it, finish it, end it

	callKeepBlob = "KeepBlob" // blobRequest, then chunks unless it is there → blobReply, before and after
	callAppend   = "Append"   // uploadRequest, then chunks → uploadReply: bytes of an upload

	// maxCall bounds a message in either direction.
	maxCall = 64 << 20

	// How much may be on its way in a stream and a connection. Where it isn't said,
	// gRPC measures it with a ping for each message, and its answer.
	streamWindow, connWindow = 4 << 20, 16 << 20
)

type (
	askBatch   struct{ Requests []askRequest }
	replyBatch struct{ Replies []askReply }
	askRequest struct {
		ID      int64 // within the stream
		Name    string
		Command []byte
		Timeout int64  // milliseconds that the asker waits
		Enter   []byte // an ubl.Enter to be asked first; nil for none
		// Relay lets a node that isn't the leader pass the command on, once: the
		// asker can't reach the leader itself.
		Relay bool
	}
	askReply struct {
		ID      int64
		Entered []byte // the answer to Enter
		Answer  []byte
		Error   []byte
		// Elsewhere says that the node doesn't lead the partition; Leader and Term
		// are who it thinks does.
		Elsewhere bool
		Leader    string
		Term      int64
	}
	termRequest struct{ Partition int }
	termReply   struct {
		Term uint64
		// Silent is for how many milliseconds nothing has come from a leader; 0 where
		// the replica leads. One that knows that its leader's process has ended says as
		// many more as who asks would wait for.
		Silent int64
		Last   uint64 // the index of the newest entry in the replica's log
	}
	joinRequest struct {
		NodeID, ServerID, Addr string
		Partitions             int
	}
	joinReply struct {
		ClusterID string
		// Shared is what all nodes keep the same, by name: the token key.
		Shared map[string][]byte
	}
	sharedReply  struct{ Shared map[string][]byte }
	leaveRequest struct {
		NodeID string
		Keep   int // how many nodes must stay; 0 says nothing
	}
	replicaRequest struct {
		Partition int
		Close     bool
		Config    uint64 // to close it: the newest configuration that it isn't in
	}
	changeRequest struct {
		Kind         int // placement.Kind
		Partition    int
		Server       string
		Term, Config uint64 // as they were when the change was decided
	}
	followRequest struct {
		Name  string
		Kinds []string // of events that the listener waits for; none for every commit
	}
	fetchRequest struct{ Partition int }
	chunk        struct{ Data []byte }
	none         struct{}
)

// size is about how many bytes it has.
func (q askRequest) size() int { return len(q.Command) + len(q.Enter) + len(q.Name) + 16 }
func (r askReply) size() int {
	return len(r.Answer) + len(r.Entered) + len(r.Error) + len(r.Leader) + 16
}

// codec is how messages are written, for gRPC.
type codec struct{}

func (codec) Name() string { return "msgpack" }

// overhead is about how many bytes the names in a question or a reply take.
const overhead = 128

// Marshal writes into a buffer that gRPC gives back once it is sent.
func (codec) Marshal(v any) (mem.BufferSlice, error) {
	pool := mem.DefaultBufferPool()
	buf := pool.Get(room(v))
	data, err := wire.Append((*buf)[:0], v)
	if err != nil {
		pool.Put(buf)
		return nil, err
	}
	*buf = data
	return mem.BufferSlice{mem.NewBuffer(buf, pool)}, nil
}

// room is how many bytes a message seldom has more than.
func room(v any) int {
	bytes := overhead
	switch m := v.(type) {
	case *askBatch:
		for i := range m.Requests {
			bytes += overhead + m.Requests[i].size()
		}
	case *replyBatch:
		for i := range m.Replies {
			bytes += overhead + m.Replies[i].size()
		}
	case *chunk:
		bytes += len(m.Data)
	}
	return bytes
}

// Unmarshal keeps nothing of data, which gRPC uses again.
func (codec) Unmarshal(data mem.BufferSlice, v any) error {
	if len(data) == 1 {
		return wire.Read(data[0].ReadOnlyData(), v)
	}
	return wire.Read(data.Materialize(), v)
}

// newServer makes the gRPC server of a node.
func newServer(n *Node) *grpc.Server {
	s := grpc.NewServer(
		grpc.ForceServerCodecV2(codec{}), grpc.MaxRecvMsgSize(maxCall), grpc.MaxSendMsgSize(maxCall),
		grpc.MaxConcurrentStreams(100_000), grpc.InitialWindowSize(streamWindow), grpc.InitialConnWindowSize(connWindow),
		grpc.KeepaliveParams(keepalive.ServerParameters{Time: keepaliveEvery, Timeout: keepaliveTimeout}),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: keepaliveEvery / 2, PermitWithoutStream: true}),
	)
	s.RegisterService(&grpc.ServiceDesc{
		ServiceName: serviceName,
		HandlerType: (*any)(nil),
		Methods: []grpc.MethodDesc{
			unary(n, callTerm, n.serveTerm), unary(n, callReport, n.serveReport), unary(n, callJoin, n.serveJoin), unary(n, callShared, n.serveShared),
			unary(n, callLeave, n.serveLeave), unary(n, callReplica, n.serveReplica), unary(n, callChange, n.serveChange),
			unary(n, callVoters, n.serveVoters), unary(n, callUpload, n.serveUpload),
		},
		Streams: []grpc.StreamDesc{
			{StreamName: callAsk, ServerStreams: true, ClientStreams: true, Handler: func(_ any, stream grpc.ServerStream) error {
				return n.opts.Panics.Try("answering another node", func() error { return n.serveAsk(stream) })
			}},
			{StreamName: callFollow, ServerStreams: true, Handler: streaming(n, n.serveFollow)},
			{StreamName: callFetch, ServerStreams: true, Handler: streaming(n, n.serveFetch)},
			{StreamName: callBlob, ServerStreams: true, Handler: streaming(n, n.serveBlob)},
			{StreamName: callKeepBlob, ServerStreams: true, ClientStreams: true, Handler: streaming(n, n.serveKeepBlob)},
			{StreamName: callAppend, ServerStreams: true, ClientStreams: true, Handler: streaming(n, n.serveAppend)},
		},
	}, n)
	return s
}

// unary fits a function into gRPC's table. gRPC lets a panic in one end the process.
func unary[Q, R any](n *Node, name string, serve func(context.Context, *Q) (*R, error)) grpc.MethodDesc {
	return grpc.MethodDesc{MethodName: name, Handler: func(_ any, ctx context.Context, decode func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
		q := new(Q)
		if err := decode(q); err != nil {
			return nil, err
		}
		var r *R
		err := n.opts.Panics.Try("answering another node", func() (err error) {
			r, err = serve(ctx, q)
			return err
		})
		return r, asStatus(err)
	}}
}

func streaming[Q any](n *Node, serve func(*Q, grpc.ServerStream) error) grpc.StreamHandler {
	return func(_ any, stream grpc.ServerStream) error {
		q := new(Q)
		if err := stream.RecvMsg(q); err != nil {
			return err
		}
		return asStatus(n.opts.Panics.Try("streaming to another node", func() error { return serve(q, stream) }))
	}
}

// dial makes a connection to a server, which is opened when it is first used.
func (n *Node) dial(server string) (*grpc.ClientConn, error) {
	conn, err := grpc.NewClient("passthrough:///"+server,
		grpc.WithContextDialer(n.mesh.DialGRPC), grpc.WithTransportCredentials(insecure.NewCredentials()), // the mesh has done mutual TLS
		grpc.WithConnectParams(reconnect), grpc.WithInitialWindowSize(streamWindow), grpc.WithInitialConnWindowSize(connWindow),
		grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: keepaliveEvery, Timeout: keepaliveTimeout, PermitWithoutStream: true}),
		grpc.WithDefaultCallOptions(grpc.ForceCodecV2(codec{}), grpc.MaxCallRecvMsgSize(maxCall), grpc.MaxCallSendMsgSize(maxCall)),
		grpc.WithDisableServiceConfig(), grpc.WithDisableRetry(),
	)
	if err != nil {
		return nil, fmt.Errorf("couldn't prepare a connection to %s: %w", server, err)
	}
	return conn, nil
}

// call asks another node.
func call[R any](ctx context.Context, n *Node, server, name string, request any) (*R, error) {
	conn, err := n.conns.to(server)
	if err != nil {
		return nil, err
	}
	reply := new(R)
	if err := conn.Invoke(ctx, "/"+serviceName+"/"+name, request, reply); err != nil {
		return nil, fromStatus(server, err)
	}
	return reply, nil
}

// openStream begins a stream from another node.
func openStream(ctx context.Context, n *Node, server, name string, request any) (grpc.ClientStream, error) {
	conn, err := n.conns.to(server)
	if err != nil {
		return nil, err
	}
	stream, err := conn.NewStream(ctx, &grpc.StreamDesc{StreamName: name, ServerStreams: true}, "/"+serviceName+"/"+name)
	if err == nil {
		err = stream.SendMsg(request)
	}
	if err == nil {
		err = stream.CloseSend()
	}
	if err != nil {
		return nil, fromStatus(server, err)
	}
	return stream, nil
}
