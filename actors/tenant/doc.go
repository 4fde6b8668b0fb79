// Package tenant is the Tenant family: who belongs to a tenant, which rooms it
// has, and its credentials.
//
// # Data
//
// A Tenant owns its [State], which is derived by replaying its events. Stored,
// in the tenant's group, numbers as 8 bytes big-endian:
//
//	t 0 n   event n: creation, membership, defaults, rooms, tokens, ending (JSON)
//	e       counter of events
//	k, i    idempotency keys ([actors.Keys])
//
// # The way of one request
//
// Every authenticated request first asks Enter. Nearly always that only reads
// memory. The first one ever creates the tenant with its TenantLicense and
// r:general in one batch; a newcomer of the domain is added in one batch, and
// then welcomed by r:general in another. A crash in between is made good by the
// newcomer's next request, because Welcome is asked until it was answered.
//
// A room is created by the Tenant: one batch holds the directory entry and what
// [Founder] makes of the room's first records, so that neither can be without
// the other. From then on the Room alone writes its own.
//
// Tenant 0 is an ordinary tenant with three more rooms; it also remembers the
// platform's bearer tokens, each receipted at its first use.
package tenant

import "encoding/binary"

const refEvent = 't'

func eventKey(n int64) []byte {
	if n < 0 {
		return []byte{'t', 1}
	}
	return binary.BigEndian.AppendUint64([]byte{'t', 0}, uint64(n))
}

func eventCounter() []byte { return []byte{'e'} }
