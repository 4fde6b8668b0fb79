package ubl

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// What an Agreement says of what it governs: its terms permit acts to people, and its physics
// rule how the things inside move. Terms can't go beyond physics.

// TermsForm is the version of the form that terms are written in, which the schema
// ubl.terms.v1 describes.
const TermsForm = "terms.v1"

// Terms say what an Agreement permits. They are data of the record, and one function
// decides by them: [Terms.Permit].
type Terms struct {
	Form string `json:"form"` // [TermsForm]
	// Permits add up: an act is permitted to whom any of them names.
	Permits []Permit `json:"permits"`
	Limits  []Limit  `json:"limits,omitempty"`
	// From and Until bound when acts are possible; 0 is no bound. At Until the Agreement
	// ends by itself.
	From  Time `json:"from,omitzero"`
	Until Time `json:"until,omitzero"`
	// Obligations are texts for people, who see them before they accept. No code reads them.
	Obligations []string `json:"obligations,omitempty"`
	// Accept is who must accept other terms before these are replaced.
	Accept Acceptance `json:"accept"`
}

// Permit lets some people do some acts.
type Permit struct {
	// Did is an act, or the beginning of several: "messenger.*", "*" for all. A tool that is
	// no act of its own, as messenger.history, is named like one.
	Did string `json:"did"`
	// To are [ToOwners], [ToEntries], [ToTenant], [ToAnyone], an entry by user id, or the
	// entries of an identity provider's group: "group:staff".
	To []string `json:"to"`
}

// To whom a [Permit] is.
const (
	ToOwners  = "owners"  // entries that are owners
	ToEntries = "entries" // everybody with an entry
	ToTenant  = "tenant"  // everybody of the tenant
	ToAnyone  = "anyone"  // also without an identity
	ToGroup   = "group:"  // begins that of a group
)

// Limit bounds some acts. At least one bound is above 0.
type Limit struct {
	Did string `json:"did"` // as in [Permit]
	// PerMinute is how many there may be a minute: of each caller, or of all together.
	PerMinute int  `json:"per_minute,omitempty"`
	Together  bool `json:"together,omitempty"`
	// Bytes is how large the content of one may be.
	Bytes int `json:"bytes,omitempty"`
}

// Acceptance is who must accept a proposal.
type Acceptance string

// Acceptances. What the proposer alone decides is in force at once.
const (
	AcceptProposer Acceptance = "proposer"
	AcceptOwners   Acceptance = "owners"  // all of them that are people
	AcceptEntries  Acceptance = "entries" // all of them that are people
)

// Limits of terms.
const (
	MaxPermits         = 64
	MaxPermitted       = 100 // in one permit
	MaxTermsLimits     = 32
	MaxTermsBytes      = 1 << 30
	MaxObligations     = 20
	MaxObligationChars = 2000
	MaxGroupChars      = 128
	MaxTermsSize       = 64 << 10 // of their canonical JSON, in bytes
)

// reads are what terms can permit besides acts: looks that leave no receipt.
var reads = []Did{"agreement.get", "container.get", "messenger.history", "room.get"}

// rights are what every entry may do, whatever the terms say: who is bound by an Agreement
// may read it, look into what it governs, take back what they wrote, answer a proposal, and leave. Who of them is asked to
// accept, and may decline, the decision knows.
var rights = []Did{
	"agreement.get", "container.get", "room.get", "messenger.history", DidAgreementAccept, DidAgreementWithdraw, DidRedact, DidRoomLeave, DidContainerLeave,
}

// moderation is what a room's moderators may do besides what its terms permit to every entry:
// say what the room is about, and take members out. They write where only owners and moderators
// do, and redact what others wrote; the Room decides those.
var moderation = []Did{DidRoomDescribe, DidRoomRemove}

// Permit says whether the terms permit an act to who has a standing. Nil ones permit nothing.
func (t *Terms) Permit(did Did, s Stance) bool {
	if t == nil {
		return false
	}
	for i := range t.Permits {
		if covers(t.Permits[i].Did, did) && s.among(t.Permits[i].To) {
			return true
		}
	}
	return false
}

// among tells whether one of a permit's To means somebody of this standing. A tool's may name a
// thousand people.
func (s *Stance) among(to []string) bool {
	for _, one := range to {
		if s.is(one) {
			return true
		}
	}
	return false
}

func (s *Stance) is(to string) bool {
	if strings.HasPrefix(to, "u:") { // most, where there are many
		return to == string(s.Who.UserID) && s.Role != ""
	}
	switch to {
	case ToAnyone:
		return true
	case ToTenant:
		return s.Inside
	case ToEntries:
		return s.Role != ""
	case ToOwners:
		return s.Role == RoleOwner
	}
	group, ok := strings.CutPrefix(to, ToGroup)
	return ok && s.Role != "" && slices.Contains(s.Who.Groups, group)
}

// covers tells whether a name of acts means one.
func covers(name string, did Did) bool {
	if beginning, ok := strings.CutSuffix(name, "*"); ok {
		return strings.HasPrefix(string(did), beginning)
	}
	return name == string(did)
}

// LimitsOf are the limits that bound an act.
func (t *Terms) LimitsOf(did Did) []Limit {
	if t == nil || len(t.Limits) == 0 {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(t.Limits), func(l Limit) bool { return !covers(l.Did, did) })
}

// Fits refuses content of an act that is larger than a limit of the act, or of the one that it is a
// part of: an edit and a poll are no way round the bound of messages.
func (t *Terms) Fits(did Did, bytes int) error {
	for ; did != ""; did = partOf[did] {
		for _, l := range t.LimitsOf(did) {
			if l.Bytes > 0 && bytes > l.Bytes {
				return Errorf(CodeTooLarge, "the Agreement's terms let this have at most %d bytes", l.Bytes)
			}
		}
	}
	return nil
}

// Running refuses what is done before the terms begin, or after they have ended.
func (t *Terms) Running(now Time) error {
	switch {
	case t == nil:
		return nil
	case now < t.From:
		return Errorf(CodeForbidden, "the Agreement's terms don't begin before %s", t.From)
	case t.Until != 0 && now >= t.Until:
		return Errorf(CodeForbidden, "the Agreement's terms ended at %s", t.Until)
	}
	return nil
}

// Hash is "b:" and the hex SHA-256 of the terms' canonical JSON.
func (t *Terms) Hash() string { return BodyHash(canonical(t)) }

// Check refuses terms that are none: validation_error with the places that are wrong. They may name
// acts that families bring along, besides those of [Dids].
func (t *Terms) Check(brought ...Did) error {
	wrong := map[string]string{}
	mustBe := func(ok bool, place, reason string) {
		if !ok {
			wrong["terms."+place] = reason
		}
	}
	mustBe(t.Form == TermsForm, "form", "not "+TermsForm)
	mustBe(len(t.Permits) <= MaxPermits, "permits", "too many")
	for _, p := range t.Permits {
		mustBe(names(p.Did, brought), "permits.did", "no act, and no beginning of one with * behind it")
		mustBe(len(p.To) > 0 && len(p.To) <= MaxPermitted && !slices.ContainsFunc(p.To, nobody), "permits.to", "empty, too many, or nobody that a permit can be to")
	}
	mustBe(len(t.Limits) <= MaxTermsLimits, "limits", "too many")
	for _, l := range t.Limits {
		mustBe(names(l.Did, brought), "limits.did", "no act, and no beginning of one with * behind it")
		mustBe(l.PerMinute >= 0 && l.PerMinute <= MaxPerMinute, "limits.per_minute", "out of range")
		mustBe(l.Bytes >= 0 && l.Bytes <= MaxTermsBytes, "limits.bytes", "out of range")
		mustBe(l.PerMinute+l.Bytes > 0, "limits", "one of them bounds nothing")
	}
	mustBe(t.Until == 0 || t.Until > t.From, "until", "not after from")
	mustBe(len(t.Obligations) <= MaxObligations && !slices.ContainsFunc(t.Obligations, unreadable), "obligations", "too many, or one is empty, too long or no plain text")
	mustBe(slices.Contains([]Acceptance{AcceptProposer, AcceptOwners, AcceptEntries}, t.Accept), "accept", "not one of its values")
	mustBe(t.size() <= MaxTermsSize, "size", "too large together")
	mustBe(t.Permit(DidAgreementPropose, Stance{Role: RoleOwner, Inside: true}), "permits", "no owner could propose others ever after: permit agreement.propose to owners")
	if len(wrong) == 0 {
		return nil
	}
	e := Errorf(CodeValidation, "the terms are not as they must be; see details")
	e.Details = wrong
	return e
}

// size is how many bytes the terms take as JSON.
func (t *Terms) size() int {
	b, _ := json.Marshal(t) // strings, numbers and times
	return len(b)
}

// names tells whether a permit's or a limit's Did means anything.
func names(name string, brought []Did) bool {
	some := func(did Did) bool { return covers(name, did) }
	return slices.ContainsFunc(dids, some) || slices.ContainsFunc(reads, some) || slices.ContainsFunc(brought, some)
}

// nobody tells what can't be a permit's To.
func nobody(to string) bool {
	if group, ok := strings.CutPrefix(to, ToGroup); ok {
		return unreadable(group) || utf8.RuneCountInString(group) > MaxGroupChars
	}
	return !slices.Contains([]string{ToOwners, ToEntries, ToTenant, ToAnyone}, to) && !UserID(to).Valid()
}

func unreadable(text string) bool {
	return !seen(text) || !utf8.ValidString(text) || utf8.RuneCountInString(text) > MaxObligationChars ||
		strings.ContainsFunc(text, func(c rune) bool { return c != '\n' && unicode.IsControl(c) })
}

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
	// Public is open, and anyone looks, also without an identity. For containers alone.
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

// RoomPhysics is what a room's RoomGovernance says unless its maker says another: messages are
// copied out, and whoever is a member writes.
func RoomPhysics() Physics { return Physics{Versioned, Objects, Collaborative, Sandboxed} }

// CheckRoomPhysics refuses physics that no room can have: messages are objects that are copied
// out, and members alone get at them. In a sealed room nobody writes.
func CheckRoomPhysics(p Physics) error {
	switch {
	case p.Fungibility != Versioned:
		return wrongPhysics("fungibility", "messages are versioned: they are copied out")
	case p.Topology != Objects:
		return wrongPhysics("topology", "messages are objects")
	case p.Permeability != Collaborative && p.Permeability != Gated && p.Permeability != Sealed:
		return wrongPhysics("permeability", "a room is its members': collaborative, gated or sealed")
	}
	return p.Check()
}

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
	case p.Permeability == Public && p.Topology == Subjects:
		return wrongPhysics("permeability", "people and rooms can't be public")
	case p.Permeability == Public && p.Execution != Disabled:
		return wrongPhysics("execution", "nothing runs in what is public")
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
