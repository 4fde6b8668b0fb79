// Package tenant is the Tenant family: who belongs to a tenant, which rooms and
// containers it has, who may use which tool, and its credentials.
//
// # Data
//
// A Tenant owns its [State], which is derived by replaying its events. Stored,
// in the tenant's group, numbers as 8 bytes big-endian:
//
//	t 0 n   event n: creation, membership, defaults, rooms, containers, tools,
//	        tokens, ending (JSON)
//	s       head of the newest snapshot; s 0 turn i: its pieces; s 0 2 n and s 0 3 n i: those that are kept, by their last event ([actors.Snapshots])
//	s 1     a byte, where decisions have alarms (finish.go)
//	e       counter of events
//	k       idempotency keys ([actors.Keys])
//
// Tenant 0 has an event for every session, so it is opened from its newest snapshot and the
// events after that. A history without one, as before an upgrade, is replayed however long
// that takes, and the log says how far it is; the acts that follow write the first.
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
// [Places] makes of the room's first records ([actors.Plan], Founding), so that neither
// can be without the other. From then on the Room alone writes its own.
//
// Containers are made the same way: a [ubl.Kind] says under which act and with
// which physics, so that a new kind is one more entry of the list that cmd/ubl
// hands over, or of the tenant's own (kinds.go). Every tenant has w:general. It is made with the tenant; one from
// before there were workspaces gets it with the first Enter that writes, under
// the TenantLicense, and whoever came then owns it; others join with their first act. Credits come from here too,
// by an owner's act: the container that takes them in puts it on record.
//
// # Where people belong
//
// Tenant 0 says which tenant somebody with a verified address belongs to (FindHome): by
// their domain before what they proved of invitations, so that nobody draws them away.
// It asks the tenants in question whether they know the person, beside its mailbox, so
// that one of them that can't be reached is a failure for that person alone. A tenant
// believes the identity that transport/auth hands it: who names it as their home joins.
//
// # Domains
//
// Tenant 0 keeps the claims of domains: one tenant at a time has one, the first whose
// DNS record was seen. Each command goes to the claiming tenant, which lets its owners
// pass (mayClaim), asks tenant 0 to decide (KeepDomain), and then puts on its own record
// what came of it. A crash between the two commits leaves its record behind: a retry
// compares the two and adds what is missing. So does an alarm of tenant 0, also where an
// operator released the domain. transport/api has read DNS before it asks to verify.
//
// An owner stands for each claim: who made it, or verified it in their place. It may be
// their own domain, so once they are no owner nobody new joins by it (join), until another
// owner verifies it again or releases it. That follows from the tenant's own record alone,
// and so it counts from the commit that removes or demotes them; their act's effects and
// its answer name the domains. Newcomers are told to ask an owner. They don't found a
// tenant of their own instead, which they would keep.
//
// # Names
//
// A member's entry has a name where somebody gave one: the credential that they came
// in with, the token that an agent was made with, the member, or an owner. It decides
// nothing, two may have the same, and it is the Tenant's alone: entries of rooms and
// containers would go on with an old one.
//
// # Agents
//
// A service token may have a mandate, which is an Agreement (mandates.go): the Tenant holds
// the agent to it at Enter, by its own record. People connect agents too (agents.go): the
// token has a grant in place of a secret, hashes of a code and of refresh tokens. What was
// used before ends the agent.
//
// # Invitations
//
// An owner invites a person by address, of whatever domain. The link's secret is
// drawn and hashed by transport/auth; its hash is an entry of the state, found by
// going through the few there are. Who accepts becomes an unproven member under an id
// that follows from tenant and invitation, never that of the address: who invited could
// open the link themselves. ProveMember hands that id to whom a provider has verified
// under the same address; tenant 0 has kept by then where that person belongs. Those of an owner who is one no longer end with that
// act. In the ledger stands the id of who is invited; the address comes with them.
//
// # Shutting out
//
// Removing a person, or their leaving, takes everything of theirs along. One commit
// takes out their entry, the services that they keep and the services of those, and
// ends those services' tokens and the person's open invitations. From then on Enter
// refuses all of them. Then other actors let go: the rooms and containers that the
// index has them in, the Portal, which forgets what they signed in to servers with, and
// tenant 0, which ends their sessions, bearer tokens and passkeys. A retry or an alarm (finish.go) finishes what a crash left. Neither their id nor another
// one with the same verified address joins by itself after that: an owner sets the entry
// again, or invites the address.
//
// A person keeps each service (keepers.go): who made its token, or renewed it last. That
// prolongs it, and no more: its secret opens what the service is in, so only its maker
// gets a new one. Other owners make another token. A service of a token of the nodes' key
// belongs to the address in its subject. A service that renews a token changes no keeper,
// and its own keeper keeps what it makes. Who demotes a person demotes the services that
// they keep in the same act. What was left by versions before these rules is refused at
// once, or counts as a member; the sweep removes or demotes it, and gives an end to tokens
// that have none.
//
// # Who comes after
//
// Where somebody who is shut out was the last owner of a room or container, the first of
// these has it ([ubl.Agreement.Removal]):
//
//   - the heir whom an owner of the place has named (SetHeir), if they are inside;
//   - the oldest person inside;
//   - the named heir from outside, if they are in the tenant;
//   - for a place that others could enter, the tenant's oldest owner.
//
// A private place is sealed in the commit that takes its last person out, with whatever
// services are left in it: its messages and documents stay closed for good, to an heir
// from outside too. Without an heir nobody gets in. The tenant's owners see the place in a list (ListSealed), which is found by its
// having no entries in the indexes; NameHeir, an act of theirs, gives it to a person from
// then on, with its credits. The named heir is looked up before the place is asked to let
// go, and the place takes them only if it has named them still.
//
// # Tools
//
// A ToolAccess record says who may use a tool and how often. Enter holds each
// request that names a tool against it, after membership and the TenantLicense: a
// tool of our own without a record is open, another server's is closed, one whose
// record has ended is closed for good. The records are in memory, so a quota bounds how
// many there are, and [ubl.MaxToolNames] how many they name. What a caller has used in the last minute
// is counted in memory, so that an allowed request costs a look and no write. A
// refusal is an act of status denied (portal.tool.deny), but no more than sixty a
// minute of one caller, and one for a request that is sent again.
//
// # Terms
//
// The terms of the TenantLicense say who joins, makes rooms and containers, and does what
// owners do (terms.go); decisions ask them. Those of a tool follow from its record.
//
// # Physics
//
// A tenant is a container of people and rooms: its TenantLicense says how they
// come and go, and [ubl.Agreement.May] rules as for any other.
//
// Tenant 0 is an ordinary tenant with three more rooms; it also remembers the
// platform's bearer tokens, each receipted at its first use, and everybody's
// passkeys, of whatever tenant they are: who signs in with one has not said yet
// who they are, so that it must be found by itself.
package tenant

import (
	"encoding/binary"

	"ubl"
)

// Kinds of [actors.Ref]. A denial leaves nothing but its act.
const (
	refEvent  = 't'
	refDenial = 'd'
)

func eventKey(n int64) []byte {
	return binary.BigEndian.AppendUint64([]byte{'t', 0}, uint64(n))
}

func eventCounter() []byte { return []byte{'e'} }

// runs are a Tenant's runs of keys.
func runs() []ubl.Numbers {
	return []ubl.Numbers{{Space: 't', Counter: "e", FromOne: true, Fixed: true}}
}

// counted is what of a Tenant's records counts as stored: its events.
func counted() []ubl.Content { return []ubl.Content{{Space: 't'}} }
