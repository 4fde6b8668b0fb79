package ubl

// DeadLetter is something that an actor was to do by itself and couldn't, however often
// it was tried: nothing tries it any more until an owner or an operator redrives it.
type DeadLetter struct {
	TenantID TenantID `json:"tenant_id"`
	// Kind says what was to be done: [DeadAlarm].
	Kind string `json:"kind"`
	// Subject is the actor, by the part of its name behind the tenant's: a room's id, a
	// container's, "portal"; "" is the tenant itself.
	Subject string `json:"subject"`
	// Key is what the actor calls it; one of the subject has each key once.
	Key      string `json:"key"`
	Attempts int    `json:"attempts"`
	// Code is the error of the last attempt; "" where a version before kept none.
	Code Code `json:"code,omitempty"`
	// Since is when it should have been done.
	Since Time `json:"since"`
}

// DeadAlarm is the kind of an alarm whose decision or errand failed each time.
const DeadAlarm = "alarm"

// MaxDeadLetters is how many one list has at most.
const MaxDeadLetters = 500

type (
	// ListDeadLetters reads those of a tenant, [MaxDeadLetters] at most. Who asks has seen
	// that the caller is an owner of the tenant, or an operator. Answers []DeadLetter.
	ListDeadLetters struct{}
	// Redrive has the subject, which is the actor that is asked, try a dead letter again
	// at once, with as many attempts as at first. Owner says that who asks has seen the
	// caller to be an owner of the tenant, or an operator. Answers nil.
	Redrive struct {
		Request
		Owner  bool
		Letter string // its key
	}
)

// Cost is 0 for reads.
func (ListDeadLetters) Cost() int { return 0 }

// Cost is one act.
func (Redrive) Cost() int { return ActCost }
