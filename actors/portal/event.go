package portal

import (
	"ubl"
	"ubl/actors"
)

// Disk forms: fields are only ever added, and a change of meaning raises the
// version.
type (
	// event is a stored fact of a portal, or one that passes.
	event struct {
		actors.Stamp
		// Server, Tool and Budget are what the act answered, so that a retry is
		// answered alike.
		Server *ubl.Server     `json:"server,omitempty"`
		Tool   *ubl.PortalTool `json:"tool,omitempty"`
		Budget *ubl.Budget     `json:"budget,omitempty"`

		// These pass: what a server said with the tools that differ, who signed in to a
		// server or out, a step of a call.
		sync  *syncing
		tools []*ubl.PortalTool
		grant *granting
		call  *step
	}
	// syncing is what the newest sync said of a server.
	syncing struct {
		form
		ServerID string   `json:"server_id"`
		At       ubl.Time `json:"at"`
		Down     bool     `json:"down"`
		// Since is when the first of the failures in a row was; 0 in records from before
		// that was kept.
		Since   ubl.Time `json:"since,omitzero"`
		Problem string   `json:"problem,omitempty"`
	}
	// tool is a tool with its definitions.
	tool struct {
		form
		ubl.PortalTool
	}
	// sealed are credentials that only a node can open.
	sealed struct {
		form
		ServerID string     `json:"server_id"`
		UserID   ubl.UserID `json:"user_id,omitempty"`
		Sealed   []byte     `json:"sealed"`
	}
	// usage is what models used on the newest day with any.
	usage struct {
		form
		Day    ubl.Time `json:"day"` // its midnight, UTC
		Tokens int64    `json:"tokens"`
	}
	// open is a call under way.
	open struct {
		form
		Call      ubl.Call        `json:"call"`
		Attempt   string          `json:"attempt,omitempty"`
		Agreement ubl.AgreementID `json:"agreement_id"`
		Deadline  ubl.Time        `json:"deadline"`
		Tokens    int64           `json:"tokens"` // reserved
		KeepMS    int64           `json:"keep_ms,omitempty"`

		receipt *ubl.Receipt // of the action: read only behind the gate
		early   bool         // it isn't in the outbox
	}
)

// kept is a call that has ended and whose caller may come back for its answer.
type kept struct {
	form
	Call   ubl.Call `json:"call"`
	Ended  ubl.Time `json:"ended"`
	Until  ubl.Time `json:"until"`
	KeepMS int64    `json:"keep_ms,omitempty"` // 0 for a call that was no task
	Answer []byte   `json:"answer,omitempty"`  // sealed; the state has none
}

// These pass with an event.
type (
	// granting is that a user signed in to a server, or out.
	granting struct {
		grant
		has bool
	}
	// step is one of a call, or of its row in the log alone.
	step struct {
		row          ubl.Call // as it is from now on
		begins, ends *open
		drops        int64   // how many of the oldest rows go for this new one
		used         *int64  // tokens that count for the day; nil for none
		keeps        *kept   // nil for nothing
		forgets      []int64 // what isn't kept any more
	}
)

// fresh reports whether the row is a new one.
func (c *step) fresh() bool { return c.ends == nil }

// version is that of every disk form.
const version = 1

// form begins what is stored besides events.
type form struct {
	Version int `json:"v"`
}

// FormatVersion implements [actors.Versioned].
func (f form) FormatVersion() int { return f.Version }
