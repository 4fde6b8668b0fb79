package placement

import "fmt"

// Kind says what a step does.
type Kind int

// The kinds of steps. AddLearner, Promote and Remove change a partition's
// configuration: its leader proposes them.
const (
	// OpenReplica has Server open an empty replica, or the one it has, without
	// being a member yet.
	OpenReplica Kind = iota + 1
	// AddLearner makes Server a non-voter.
	AddLearner
	// Promote makes the learner Server a voter.
	Promote
	// Remove takes Server out of the configuration, as voter or learner.
	Remove
	// CloseReplica has Server close its replica and delete it. It refuses if it
	// knows of a configuration newer than Config.
	CloseReplica
	// TransferLeader has Leader hand over to Server.
	TransferLeader
)

// String is the step's name for logs.
func (k Kind) String() string {
	switch k {
	case OpenReplica:
		return "open"
	case AddLearner:
		return "learner"
	case Promote:
		return "promote"
	case Remove:
		return "remove"
	case CloseReplica:
		return "close"
	case TransferLeader:
		return "transfer"
	}
	return fmt.Sprintf("kind %d", int(k))
}

// Step is one thing to do now in one partition. It holds only as long as Leader
// leads in Term with the configuration of Config; later it must be refused.
type Step struct {
	Kind      Kind
	Partition int
	Server    string // whom it is about; of a transfer, the next leader
	Addr      string // Server's address in the table; empty if it has none
	Leader    string // who leads: proposes changes of the configuration, hands over
	Term      uint64
	Config    uint64
}

// String is the step for logs.
func (s Step) String() string {
	return fmt.Sprintf("partition %d: %s %s", s.Partition, s.Kind, s.Server)
}

// ByLeader tells who carries the step out: the partition's leader or, where it
// is about opening and closing, Server itself.
func (s Step) ByLeader() bool {
	return s.Kind != OpenReplica && s.Kind != CloseReplica
}
