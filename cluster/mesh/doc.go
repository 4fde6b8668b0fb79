// Package mesh is how the nodes of a cluster speak with one another: over one
// port, with those only who hold the cluster's secret or a certificate of its
// authority.
//
// # One port
//
// A node listens on one TCP port. Every connection is TLS 1.3 with certificates
// on both sides, and its ALPN protocol says what it is for:
//
//	ubl-raft/1     Raft of one partition      RaftLayer
//	ubl-beat/1     heartbeats of all groups   BeatLayer
//	ubl-rpc/1      gRPC between nodes         GRPC, DialGRPC
//	ubl-gossip/1   memberlist's streams       StartGossip
//
// After the handshake the dialer sends a preface (see hello) that names the
// server it wants, the partition and itself; the acceptor answers one byte. A
// server id carries the incarnation of its data directory, so a node that was
// wiped never gets what was meant for the server it was. Gossip alone may call
// an address without knowing who is there.
//
// UDP on the same port number carries memberlist's packets, encrypted with a
// key of the secret; the streams are encrypted with it too, inside TLS.
//
// # Names and addresses
//
// Nodes dial a server id, never an address: [Options].Resolve says where that
// server is now. So one that comes back on another address is found there, and
// nothing that was stored goes stale.
//
// # Rotation
//
// A [Secret] may have several keys: the node uses the first, for its certificate
// and for gossip, and accepts all. SetSecret changes them while the node runs, and
// closes connections with peers that are no longer accepted. Which step is safe is
// decided by package cluster, which knows what the others accept.
//
// # What fails, and then what
//
//   - A stranger (plain text, no certificate, a foreign one, an unknown
//     protocol) is closed and logged, once a minute for each host.
//   - A silent peer holds one of the pending handshakes for some seconds. Their number
//     is bounded; where there is no place the oldest gives way, and hosts at which a
//     node has proved itself keep half of the places (see gate).
//   - A peer that calls another server, or a partition that isn't open here,
//     gets an answer that says so, and its Dial fails with it.
//   - Nobody listens at a server's address any more: Refuses says so, and that the process
//     that was there has ended.
//   - Gossip is advice: it finds nodes and tells addresses. Members that died
//     are dialed again from time to time, so that the two halves of a split
//     network find each other after it healed.
package mesh
