// Package limits bounds what one address, one identity and one tenant may do to a node.
//
// The data: one [Table] of numbers, made from the defaults and what the operator
// changed; beside it, in memory and for this node alone, a bucket of tokens for each
// address, identity and tenant that has asked lately, and counts of what they hold
// open. Nothing is stored. What has to be counted for good (a tenant's rooms) counts
// the actor that owns it, by the same table.
//
// The way of one request:
//
//	connection   places of its address, and in all     [Limiter.Listen]
//	stranger     requests of its address               [Limiter.Address]
//	public       reads without an identity             [Limiter.Public]
//	founding     tenants founded from its address      [Limiter.Founding]
//	caller       requests of the identity, the tenant  [Limiter.Request]
//	act          sends or creations of both            [Limiter.Act]
//	stream       streams of address, identity, tenant  [Limiter.Stream]
//
// A stranger is who hasn't signed in: people behind one address, as an office's, don't use up
// each other's places, and a stranger there can't keep them out. So requests, sends, creations
// and bytes of those who have signed in aren't counted by address: each has an identity, each
// identity a tenant, and an address founds few tenants.
//
// A refusal is rate_limited (429), of bytes quota_exceeded (507). It names the limit, and
// says when to come back. The transports hold it for half a second, so that a flooder who
// comes back at once takes little time from others.
//
// Connections differ: where there is no place for a new one, the oldest over which nobody
// has signed in is closed for it, of the same address where that is full. Only where all
// of them belong to people who have signed in is the new one refused.
//
// An address is the client's own: that of the peer or, where the peer is a proxy that
// the operator named, the one that the proxy wrote down in X-Forwarded-For; what can't be
// read there counts as the proxy's own. A network
// of IPv6 (/64) counts as one address.
//
// What fails: a table of buckets is bounded. Where more ask than it holds, those that
// asked longest ago are forgotten and begin with a full bucket.
package limits
