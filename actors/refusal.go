package actors

// Refusal is where a command is refused for load.
type Refusal int

// The places.
const (
	RefusedMailbox   Refusal = iota // too many wait for the actor, or for its commits
	RefusedTenant                   // too many of the tenant's writes are under way
	RefusedPartition                // too many of the partition's are
	RefusedLate                     // it waited for too long, behind others that are late
	RefusedWaiting                  // its caller's time was over before anybody decided
)

// refusals are the places' names, as metrics show them.
var refusals = [...]string{
	RefusedMailbox: "mailbox", RefusedTenant: "tenant", RefusedPartition: "partition", RefusedLate: "late", RefusedWaiting: "waiting",
}
