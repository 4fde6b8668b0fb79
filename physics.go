package ubl

import (
	"maps"
	"slices"
	"strings"
)

// Physics says how the things inside a container move. It stands in the
// Agreement that governs the container; the code is the same for all.
type Physics struct {
	Fungibility  Fungibility  `json:"fungibility"`
	Topology     Topology     `json:"topology"`
	Permeability Permeability `json:"permeability"`
	Execution    Execution    `json:"execution"`
}

// The four axes.
type (
	// Fungibility says what a transfer does to the source.
	Fungibility string
	// Topology says what is inside.
	Topology string
	// Permeability says who may carry things across the border.
	Permeability string
	// Execution says whether anything may be run inside.
	Execution string
)

// Values of the axes.
const (
	Strict    Fungibility = "strict"    // moves: the source has it no longer
	Versioned Fungibility = "versioned" // copies: the source keeps it
	Transient Fungibility = "transient" // passes through: nothing is kept

	Values   Topology = "values"   // an amount of credits
	Objects  Topology = "objects"  // documents
	Subjects Topology = "subjects" // people and rooms
	Links    Topology = "links"    // ways to somewhere else

	Sealed        Permeability = "sealed"        // nothing crosses
	Gated         Permeability = "gated"         // entries of the Agreement carry
	Collaborative Permeability = "collaborative" // entries of the Agreement look, write and carry
	Open          Permeability = "open"          // everyone of the tenant does
	// Public is for anyone, without an identity. There is no way in for them yet: a
	// kind may name it, and nothing is made with it.
	Public Permeability = "public"

	Disabled  Execution = "disabled"
	Sandboxed Execution = "sandboxed"
	Full      Execution = "full"
)

// presets are never changed.
var presets = map[string]Physics{
	"WALLET":            {Strict, Values, Sealed, Disabled},
	"WALLET_GATED":      {Strict, Values, Gated, Disabled},
	"ESCROW":            {Strict, Values, Sealed, Disabled},
	"WORKSPACE":         {Versioned, Objects, Collaborative, Sandboxed},
	"WORKSPACE_PRIVATE": {Versioned, Objects, Gated, Sandboxed},
	"ARCHIVE":           {Versioned, Objects, Sealed, Disabled},
	"REALM":             {Strict, Subjects, Gated, Full},
	"REALM_OPEN":        {Strict, Subjects, Open, Full},
	"NETWORK":           {Transient, Links, Open, Disabled},
	"NETWORK_PRIVATE":   {Transient, Links, Gated, Disabled},
}

// Presets are the known configurations by name.
func Presets() map[string]Physics { return maps.Clone(presets) }

// RoomPhysics is what every room's RoomGovernance says: messages are copied
// out, and whoever is a member writes.
func RoomPhysics() Physics { return Physics{Versioned, Objects, Collaborative, Sandboxed} }

// TenantPhysics is what every TenantLicense says.
func TenantPhysics() Physics { return presets["REALM"] }

// Operation is something done to a container or across its border.
type Operation string

// Operations. Read is always possible to those who may look.
const (
	OpRead     Operation = "read"
	OpWrite    Operation = "write"
	OpCreate   Operation = "create"
	OpDelete   Operation = "delete"
	OpDeposit  Operation = "deposit"
	OpWithdraw Operation = "withdraw"
	OpTransfer Operation = "transfer" // strict: the value or object leaves
	OpCopy     Operation = "copy"     // versioned: a copy leaves
	OpMove     Operation = "move"     // an object leaves for good
	OpPass     Operation = "pass"     // transient: it goes through
	OpExecute  Operation = "execute"
)

// Check refuses combinations that contradict themselves: validation_error with
// the first axis that is wrong in Details. Presets are right by definition.
func (p Physics) Check() error {
	for _, axis := range []struct {
		name string
		ok   bool
	}{
		{"fungibility", slices.Contains([]Fungibility{Strict, Versioned, Transient}, p.Fungibility)},
		{"topology", slices.Contains([]Topology{Values, Objects, Subjects, Links}, p.Topology)},
		{"permeability", slices.Contains([]Permeability{Sealed, Gated, Collaborative, Open, Public}, p.Permeability)},
		{"execution", slices.Contains([]Execution{Disabled, Sandboxed, Full}, p.Execution)},
	} {
		if !axis.ok {
			return wrongPhysics(axis.name, "not one of its values")
		}
	}
	for _, preset := range presets {
		if p == preset {
			return nil
		}
	}
	switch {
	case p.Permeability == Public:
		return wrongPhysics("permeability", "nobody gets in without signing in yet: use open for everyone of the tenant")
	case p.Fungibility == Strict && p.Permeability != Sealed && p.Permeability != Gated:
		return wrongPhysics("permeability", "strict needs sealed or gated")
	case p.Topology == Values && p.Fungibility != Strict:
		return wrongPhysics("fungibility", "values need strict")
	case p.Topology == Subjects && p.Fungibility == Transient:
		return wrongPhysics("fungibility", "subjects can't be transient")
	case p.Permeability == Sealed && p.Execution == Full:
		return wrongPhysics("execution", "what is sealed can't have full execution")
	}
	return nil
}

func wrongPhysics(axis, reason string) error {
	e := Errorf(CodeValidation, "the physics contradict themselves; see details")
	e.Details = map[string]string{"physics." + axis: reason}
	return e
}

// May refuses an operation that the physics rule out, whoever asks.
func (p Physics) May(op Operation) error {
	sealed := p.Permeability == Sealed
	ok := true
	switch op {
	case OpRead:
	case OpDeposit, OpWithdraw:
		ok = p.Topology == Values && !sealed
	case OpTransfer:
		ok = p.Fungibility == Strict && !sealed
	case OpCopy:
		ok = p.Fungibility == Versioned && !sealed
	case OpMove:
		ok = p.Fungibility != Transient && !sealed
	case OpPass:
		ok = p.Fungibility == Transient && !sealed
	case OpExecute:
		ok = p.Execution != Disabled
	default: // write, create, delete
		ok = !sealed
	}
	if !ok {
		return Errorf(CodeForbidden, "the physics of the container rule out %s: it is %s", op, p)
	}
	return nil
}

// Leaving is what a transfer does to its source: the value or object moves, a
// copy of it goes, or it passes through.
func (p Physics) Leaving() Operation {
	switch p.Fungibility {
	case Strict:
		return OpTransfer
	case Versioned:
		return OpCopy
	}
	return OpPass
}

// Converts refuses a transfer that would make more of something than there was
// (strict to versioned duplicates, transient to strict mints) or less (strict to
// transient destroys: the source lets go of what the target doesn't keep), or put
// one kind of thing where another belongs.
func (p Physics) Converts(to Physics) error {
	switch {
	case p.Fungibility == Strict && to.Fungibility == Versioned:
		return Errorf(CodeForbidden, "a strict thing can't become a versioned one: that would duplicate it")
	case p.Fungibility == Strict && to.Fungibility == Transient:
		return Errorf(CodeForbidden, "a strict thing can't pass through a transient container: that would destroy it")
	case p.Fungibility == Transient && to.Fungibility == Strict:
		return Errorf(CodeForbidden, "a transient thing can't become a strict one: that would mint it")
	case (p.Topology == Values) != (to.Topology == Values):
		return Errorf(CodeForbidden, "values and other things can't become each other")
	}
	return nil
}

// String is fungibility/topology/permeability/execution.
func (p Physics) String() string {
	return strings.Join([]string{string(p.Fungibility), string(p.Topology), string(p.Permeability), string(p.Execution)}, "/")
}

// Field writes the physics into an act.
func (p Physics) Field() Field { return Str("physics", p.String()) }

// AsPromised are the physics that a container of the first form stands for. In that,
// collaborative let in everyone of the tenant, which is open now: who could read and
// write there goes on. Only [GeneralWorkspace] is collaborative still, since everyone
// of the tenant joins it by touching it.
func (p Physics) AsPromised(id ContainerID) Physics {
	if p.Permeability == Collaborative && id != GeneralWorkspace {
		p.Permeability = Open
	}
	return p
}
