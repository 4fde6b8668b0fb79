package ubl

import "encoding/json"

// Commands of the Portal family.
type (
	// AddServer makes an external server known. Secret is sealed by the node, never
	// plain, nil for none. Owners. Answers *Server.
	//
	// Owner, here and below, says that the caller is an owner of the tenant: the
	// Tenant has said so when it let them in, and the Portal doesn't know.
	//
	// SecretMAC tells one secret from another under the same key, which the sealed one
	// can't: it is another with every attempt. It is a MAC under a key of the nodes, ""
	// for no secret.
	AddServer struct {
		Request
		Owner     bool
		Server    Server
		Secret    []byte
		SecretMAC string
	}
	// UpdateServer changes what is set. SecretMAC is as in AddServer. Owners. Answers
	// *Server.
	UpdateServer struct {
		Request
		Owner     bool
		ServerID  string
		Patch     ServerPatch
		SecretMAC string
	}
	// RemoveServer forgets a server with its tools. Owners. Answers *Server as it was.
	RemoveServer struct {
		Request
		Owner    bool
		ServerID string
	}
	// ListServers lists the servers by id, each with whether Who has signed in to it.
	// Members. Answers []*Server.
	ListServers struct{ Who Identity }
	// ListPortalTools lists the tools of all servers that are not disabled, by
	// name. Members. Answers []*PortalTool.
	ListPortalTools struct{ Who Identity }
	// OpenServer answers what is needed to connect, to a disabled server too:
	// *ServerAccess. Asked by the portal on a node only; its secrets are still sealed.
	OpenServer struct {
		Who      Identity
		ServerID string
	}
	// RecordSync tells what a server said: its tools, or why it couldn't be asked.
	// A definition seen for the first time is pinned, a changed one is held. The
	// platform and owners. Answers *Server.
	RecordSync struct {
		Request
		Owner    bool
		ServerID string
		Problem  string // "" for none
		Tools    []ToolDefinition
	}
	// ApproveTool pins the held definition with the hash. Owners. Answers
	// *PortalTool.
	ApproveTool struct {
		Request
		Owner bool
		Tool  string
		Hash  string
	}
	// SaveGrant keeps a user's own sealed credentials for a server (AuthUser); nil
	// forgets them. Renews replaces those that are there and nothing else: a node that
	// refreshes a token must not bring back what the user has forgotten meanwhile.
	// The user. Answers nil.
	SaveGrant struct {
		Request
		ServerID string
		Sealed   []byte
		Renews   bool
	}

	// BeginCall puts the intent of a call on record before it is made. It refuses
	// what the portal can't call, and models beyond the budget (rate_limited), as
	// a denied action. Members. Answers *CallTicket.
	//
	// Attempt is drawn anew whenever a node wants to make a call, and stays the same
	// while it asks, however often that takes: so an answer that was lost on the way
	// still is the right to make the call, and a refusal is on record once. "" is
	// never the same.
	BeginCall struct {
		Request
		Attempt    string // a request id
		Did        Did
		Agreement  AgreementID // in force, as the caller has asked
		Server     string
		Capability string
		InputHash  string // b: + hash of the input
		This       Fields // more of what the act is about
		Deadline   Time   // when the call has ended, whatever comes
		Tokens     int64  // at most used by a model
		Model      bool   // counts against the budget
	}
	// EndCall puts the effect on record. The first one counts: a later one answers
	// what it led to. Who began it, by [Conclude]. Answers *Call.
	EndCall struct {
		Request
		N          int64
		Code       Code   // "" where it went well
		Message    string // why not, free of submitted values
		OutputHash string
		DurationMS int64
		Usage      *Usage
		Effect     Fields // more of what came of it
	}
	// LogCalls adds rows for calls of our own tools, and of others' that the Tenant
	// refused, at most 1,000. The portal on a node only: the platform. Answers nil.
	LogCalls struct {
		Request
		Calls []*Call
	}
	// ReadCalls reads the log backwards: rows with N < Before (0: the newest).
	// Owners; others see their own. Answers *CallPage.
	ReadCalls struct {
		Who    Identity
		Owner  bool // as the caller has asked of the Tenant
		Before int64
		Limit  int
	}
	// GetBudget reads it. Members. Answers *Budget.
	GetBudget struct{ Who Identity }
	// SetBudget changes it. Owners. Answers *Budget.
	SetBudget struct {
		Request
		Owner             bool
		TokensPerDay      int64
		RequestsPerMinute int
	}
	// CloseCalls ends calls whose deadline has passed, with outcome error; with All
	// set every one that is open: nothing can be under way when a server has just
	// started alone. The platform. Answers the number closed.
	CloseCalls struct {
		Request
		All bool
	}
)

// ServerPatch changes the members that are set. A Secret that is not nil
// replaces the sealed one, empty to forget it.
type ServerPatch struct {
	Name     *string
	URL      *string
	Disabled *bool
	Secret   []byte
}

// ToolDefinition is a tool as its server described it.
type ToolDefinition struct {
	Name       string
	Definition json.RawMessage // canonical JSON
}

// ServerAccess is a server with its sealed secrets.
type ServerAccess struct {
	Server Server
	Secret []byte // sealed
	Grant  []byte // the asking user's, sealed
}

// CallTicket is the right to make a call.
type CallTicket struct {
	N       int64
	Receipt Receipt
	// Again says that the key has begun this call before, in another attempt: it must
	// not be made a second time. Status is the call's, as in [Call]; where the log
	// keeps its row no more it is "", and there is no Receipt.
	Again  bool
	Status string
}

// CallPage is part of the log, newest first.
type CallPage struct {
	Calls []*Call
	// Next is the Before of the next page, nil at the end.
	Next *int64
}

// forgetCost covers the keys of what goes with a server: its tools, and as many
// users' credentials.
const forgetCost = 256 << 10

// Cost is that of the record.
func (c AddServer) Cost() int { return writeCost + len(c.Secret) }

// Cost is that of the record. A new address forgets who has signed in.
func (c UpdateServer) Cost() int {
	n := writeCost + len(c.Patch.Secret)
	if c.Patch.URL != nil {
		n += forgetCost
	}
	return n
}

// Cost is one act, and of forgetting.
func (RemoveServer) Cost() int { return writeCost + forgetCost }

// Cost is 0: it reads.
func (ListServers) Cost() int { return 0 }

// Cost is 0: it reads.
func (ListPortalTools) Cost() int { return 0 }

// Cost is 0: it reads.
func (OpenServer) Cost() int { return 0 }

// Cost is that of the definitions.
func (c RecordSync) Cost() int {
	n := writeCost
	for _, t := range c.Tools {
		n += writeCost/4 + 2*len(t.Definition)
	}
	return n
}

// Cost is that of a definition, in an event and in the tool's record.
func (ApproveTool) Cost() int { return writeCost + 2*MaxDefinition }

// Cost is that of the credentials.
func (c SaveGrant) Cost() int { return writeCost + len(c.Sealed) }

// Cost is that of the action, its row and the open call.
func (c BeginCall) Cost() int {
	n := 2 * writeCost
	for _, f := range c.This {
		n += len(f.Name) + len(f.value)
	}
	return n
}

// Cost is 0: an effect needs no credits, since what it tells has happened. It is
// still refused where too many answers wait; [Conclude] tells it again then.
func (EndCall) Cost() int { return 0 }

// Cost is that of the rows.
func (c LogCalls) Cost() int { return writeCost/4 + 512*len(c.Calls) }

// Cost is 0: it reads.
func (ReadCalls) Cost() int { return 0 }

// Cost is 0: it reads.
func (GetBudget) Cost() int { return 0 }

// Cost is one act.
func (SetBudget) Cost() int { return writeCost }

// Cost is 0, as that of EndCall: a sweep that is refused is followed by another.
func (CloseCalls) Cost() int { return 0 }
