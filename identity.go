package ubl

import (
	"slices"
	"strings"
)

// Identity is who a caller is, as an issuer vouched for it.
type Identity struct {
	UserID      UserID   `json:"user_id"`
	Email       string   `json:"email"` // empty only for a service
	EmailDomain string   `json:"email_domain"`
	Groups      []string `json:"groups"`
	IsService   bool     `json:"is_service"`
	// Unproven says that nobody has verified that Email is theirs: they came by an
	// invitation.
	Unproven bool `json:"-"`

	// TenantID is the tenant that the identity acts in.
	TenantID TenantID `json:"-"`
	// Issuer and Subject are the pair that owns UserID; a tenant refuses the
	// same id from another pair.
	Issuer  string `json:"-"`
	Subject string `json:"-"`

	// Mandate bounds what an agent may do, nil for who has none. It is as the tenant said
	// when it was last asked about the agent's credential.
	Mandate *Mandate `json:"-"`
}

// Author is the identity as it is written into atoms.
func (id Identity) Author() Who {
	return Who{UserID: id.UserID, Email: id.Email, IsService: id.IsService, Unproven: id.Unproven}
}

// Mandate is the Agreement by which a person lets one agent act, and no further: type
// agent_mandate, one for a service token, kept by the Tenant with it. It takes away from what
// the agent's membership would give, and never adds to it. It ends with the token.
type Mandate struct {
	// Sets are the tool sets that the agent is shown first: messenger, office, the id of a
	// tool server, or [ServerSet] and that. They decide nothing.
	Sets []string `json:"sets"`
	// Tools are those that it may use: a name, or the beginning of several as [Permit.Did]
	// has it (messenger.*, weather.*). Empty is every tool that the tenant lets it use.
	Tools []string `json:"tools"`
	// ReadOnly refuses everything that changes something.
	ReadOnly bool `json:"read_only"`
	// Places are the ids of rooms and containers that it may touch. Empty is wherever it is
	// let in. An agent with places sees nothing of the tenant that isn't of one of them: no
	// ledger, no list of the others, and it makes none.
	Places []string `json:"places"`
	// PerMinute bounds its uses of all tools together, 0 for no bound.
	PerMinute int `json:"per_minute"`
	// Confirm says before which of its uses of tools a person is asked.
	Confirm Confirm `json:"confirm,omitempty"`
}

// Limits of a mandate.
const (
	MaxMandateSets   = 32
	MaxMandateTools  = 64
	MaxMandatePlaces = 100
	// MaxAgents is how many agents that a person has connected may hold at a time.
	MaxAgents = 50
)

// What mandates say of our own tools. Looks at who the agent is every mandate leaves it: it has
// to be able to say what it may do. So does every mandate leave it the ways to tools that aren't
// listed, which are asked about by themselves. An agent with places may use tools of a place, whose actor
// holds it to them, and lists that show its places alone; some of those beginnings are of tools
// about the whole tenant.
var (
	mandateFree = []Did{"user.whoami", "agreement.get", "tool.search", "tool.describe", "tool.call", "tool.run"}
	ofPlaces    = []string{"messenger.*", "room.*", "office.*", "container.*", "agreement.*", "tool.*", "user.whoami", "portal.tool.list"}
	ofTenants   = []Did{DidRoomCreate, DidDirectOpen, DidContainerCreate, DidWorkspaceCreate, "agreement.list", DidToolAccess}
	ofMembers   = []Did{
		DidRoomInvite, DidRoomRemove, DidRoomMemberUpdate, DidContainerInvite, DidContainerRemove, DidContainerMemberUpdate,
		DidHeirSet, DidAgreementHeir,
	}
)

// Governs refuses an agent with a mandate an act, or a tool, about who else is in a place and
// in what role: people decide that. Nil refuses none, and nobody is refused to join or leave.
func (m *Mandate) Governs(did Did) error {
	if m != nil && slices.Contains(ofMembers, did) {
		return Errorf(CodeForbidden, "an agent with a mandate doesn't decide who is in a place: ask a person who may")
	}
	return nil
}

// Uses reports whether the mandate leaves the agent a tool by its name; nil leaves all. It is
// not all that the mandate says of it: see [Mandate.May].
func (m *Mandate) Uses(tool string) bool {
	return m == nil || len(m.Tools) == 0 || slices.Contains(mandateFree, Did(tool)) || anyCovers(m.Tools, Did(tool))
}

// May refuses a tool that the mandate leaves the agent no use of, however often: nil refuses
// none. Acts says that the tool changes something, external that it is another server's, of
// which only that server knows what it changes.
func (m *Mandate) May(tool Did, acts, external bool) error {
	switch err := m.Governs(tool); {
	case err != nil:
		return err
	case !m.Uses(string(tool)):
		return Errorf(CodeForbidden, "the agent's mandate doesn't let it use this tool")
	case m.Reads() && (acts || external):
		return Errorf(CodeForbidden, "the agent's mandate is to read alone")
	case m.Placed() && !external && (!anyCovers(ofPlaces, tool) || slices.Contains(ofTenants, tool)):
		return ErrElsewhere()
	}
	return nil
}

// anyCovers tells whether one of the names of acts means one.
func anyCovers(names []string, did Did) bool {
	return slices.ContainsFunc(names, func(name string) bool { return covers(name, did) })
}

// ErrElsewhere refuses an agent with places what is about the whole tenant.
func ErrElsewhere() *Error {
	return Errorf(CodeForbidden, "the agent's mandate is for some places, and this is about the whole tenant")
}

// Asks reports whether the mandate has a person asked before a use of a tool; nil asks nobody.
func (m *Mandate) Asks(destroys bool) bool { return m != nil && m.Confirm.Asks(destroys) }

// Includes reports whether the mandate lets the agent into a room or container; nil lets it
// into all.
func (m *Mandate) Includes(place string) bool {
	return !m.Placed() || slices.Contains(m.Places, place)
}

// Placed reports whether the mandate is for some places alone.
func (m *Mandate) Placed() bool { return m != nil && len(m.Places) > 0 }

// Reads reports whether the mandate is to read alone.
func (m *Mandate) Reads() bool { return m != nil && m.ReadOnly }

// Within reports whether the mandate leaves nothing that another doesn't: to change that one
// to this one only narrows it.
func (m *Mandate) Within(o *Mandate) bool {
	switch {
	case o == nil:
		return true
	case m == nil, o.ReadOnly && !m.ReadOnly, o.PerMinute > 0 && (m.PerMinute == 0 || m.PerMinute > o.PerMinute), !m.Confirm.covers(o.Confirm):
		return false
	}
	return part(m.Tools, o.Tools, within) && part(m.Places, o.Places, func(a, b string) bool { return a == b })
}

// part reports whether each of list is within one of whole, where an empty one is everything.
func part(list, whole []string, in func(a, b string) bool) bool {
	if len(whole) == 0 || len(list) == 0 {
		return len(whole) == 0
	}
	return !slices.ContainsFunc(list, func(a string) bool {
		return !slices.ContainsFunc(whole, func(b string) bool { return in(a, b) })
	})
}

// within reports whether a name of tools means nothing that another doesn't.
func within(name, of string) bool {
	beginning, many := strings.CutSuffix(name, "*")
	if !many || strings.HasSuffix(of, "*") {
		return covers(of, Did(beginning))
	}
	return false
}

// Check refuses a mandate that is none: validation_error with the places that are wrong.
func (m *Mandate) Check() error {
	wrong := map[string]string{}
	mustBe := func(ok bool, place, reason string) {
		if !ok {
			wrong["mandate."+place] = reason
		}
	}
	tool := func(name string) bool {
		beginning, many := strings.CutSuffix(name, "*")
		return ValidToolName(beginning) || many && beginning == ""
	}
	mustBe(len(m.Sets) <= MaxMandateSets && !slices.ContainsFunc(m.Sets, func(s string) bool {
		name := strings.TrimPrefix(s, ServerSet)
		return !ValidToolName(name) || len(name) > 64
	}),
		"sets", "too many, or one is not 1 to 64 of A-Z, a-z, 0-9, _, - and ., which server: may precede")
	mustBe(len(m.Tools) <= MaxMandateTools && !slices.ContainsFunc(m.Tools, func(s string) bool { return !tool(s) }),
		"tools", "too many, or one is no name of a tool, and no beginning of one with * behind it")
	mustBe(len(m.Places) <= MaxMandatePlaces && !slices.ContainsFunc(m.Places, func(s string) bool { return !RoomID(s).Valid() && !ContainerID(s).Valid() }),
		"places", "too many, or one is no id of a room or container")
	mustBe(m.PerMinute >= 0 && m.PerMinute <= MaxPerMinute, "per_minute", "out of range")
	mustBe(m.Confirm.Valid(), "confirm", "expected never, destructive or always")
	if len(wrong) == 0 {
		return nil
	}
	e := Errorf(CodeValidation, "the mandate is not as it must be; see details")
	e.Details = wrong
	return e
}

// Terms are what the mandate says, as those of any other Agreement: what the agent may use
// until the end of its token. Places and ReadOnly are the record's own.
func (m *Mandate) Terms(agent UserID, until *Time) *Terms {
	terms := &Terms{Form: TermsForm, Permits: []Permit{}, Accept: AcceptProposer}
	tools := m.Tools
	if len(tools) == 0 {
		tools = []string{"*"}
	}
	for _, tool := range tools {
		terms.Permits = append(terms.Permits, Permit{Did: tool, To: []string{string(agent)}})
	}
	if m.PerMinute > 0 {
		terms.Limits = []Limit{{Did: "*", PerMinute: m.PerMinute}}
	}
	if until != nil {
		terms.Until = *until
	}
	return terms
}

// AgentAgreement names the mandate of the service with a client id: by what stands before the
// tenant in it.
func AgentAgreement(clientID string) AgreementID {
	digits, _, _ := strings.Cut(clientID, ".")
	return AgreementID("a:agent:" + digits)
}

// size is about how many bytes the mandate takes where it is stored.
func (m *Mandate) size() int {
	n := 128
	for _, list := range [][]string{m.Sets, m.Tools, m.Places} {
		for _, s := range list {
			n += len(s) + 3
		}
	}
	return n
}

// EmailDomain is the lower-case domain of an address, "" where it has none
// that could name a tenant.
func EmailDomain(email string) string {
	at := strings.LastIndexByte(email, '@')
	if at < 1 || at == len(email)-1 {
		return ""
	}
	domain := lowerASCII(email[at+1:])
	if !TenantID("t:"+domain).Valid() || slices.Contains(strings.Split(domain, "."), "") {
		return ""
	}
	return domain
}

// SameEmail reports whether two addresses are one, but for the case of ASCII
// letters.
func SameEmail(a, b string) bool { return lowerASCII(a) == lowerASCII(b) }

// lowerASCII leaves other letters alone: Unicode would fold the Kelvin sign to
// k, and a look-alike address would pass for another's.
func lowerASCII(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' {
			return r - 'A' + 'a'
		}
		return r
	}, s)
}

// PlatformIssuer vouches for the platform's own identity. No token carries it:
// only code inside the server acts as the platform.
const PlatformIssuer = "urn:ubl:platform"

// Platform is who starts, stops and trims: a service of tenant 0.
func Platform() Identity {
	return Identity{
		UserID: UserIDFor(PlatformIssuer, "platform", false), IsService: true,
		TenantID: CoreTenant, Issuer: PlatformIssuer, Subject: "platform",
	}
}

// IsPlatform reports whether the identity is [Platform]'s.
func (id Identity) IsPlatform() bool { return id.Issuer == PlatformIssuer }

// LocalIssuer vouches for the identities of tokens made with the nodes' own key.
const LocalIssuer = "urn:ubl:local"

// servicePrefix keeps the subjects of services apart from those of people, which
// are addresses and have no colon.
const servicePrefix = "service:"

// LocalSubject is the subject under which [LocalIssuer] knows a person or, where
// service isn't "", a service: it names the maker too, so that two makers' services
// of one name are two.
func LocalSubject(service, email string) string {
	if service == "" {
		return email
	}
	return servicePrefix + service + ":" + email
}

// LocalService is the name and the maker's address in such a subject; ok is false
// for a person's.
func LocalService(subject string) (name, maker string, ok bool) {
	rest, ok := strings.CutPrefix(subject, servicePrefix)
	if !ok {
		return "", "", false
	}
	return strings.Cut(rest, ":")
}

// PasskeyID matches ^p:[0-9a-f]{32}$. It is made of the credential's id, which
// may be a kilobyte long.
type PasskeyID string

// PasskeyIDOf names the passkey with a credential id (WebAuthn's own).
func PasskeyIDOf(credentialID []byte) PasskeyID {
	return PasskeyID("p:" + hexHash("passkey|" + string(credentialID))[:32])
}

// Valid reports whether the id has its pattern.
func (id PasskeyID) Valid() bool {
	digits, ok := strings.CutPrefix(string(id), "p:")
	return ok && len(digits) == 32 && strings.Trim(digits, "0123456789abcdef") == ""
}

// Limits of passkeys.
const (
	// MaxPasskeys is how many a person may have in a tenant.
	MaxPasskeys = 20
	// PasskeyHandle is how many bytes a user's handle has.
	PasskeyHandle = 32
	// MinCredentialID and MaxCredentialID bound a credential's id, in bytes: fewer
	// could be guessed, and WebAuthn has no longer ones.
	MinCredentialID = 16
	MaxCredentialID = 1023
	// MaxPasskeyKey bounds a public key in COSE form, in bytes.
	MaxPasskeyKey = 4096
)

// Passkey is what its owner is shown of one.
type Passkey struct {
	ID         PasskeyID `json:"id"`
	Name       string    `json:"name"`
	CreatedAt  Time      `json:"created_at"`
	LastUsedAt *Time     `json:"last_used_at"` // null until it has signed somebody in
}

// Authenticator is what is kept of the device or password manager that has a
// passkey's private key. Nothing of it is secret.
type Authenticator struct {
	CredentialID []byte `json:"credential_id"`
	// PublicKey is in COSE form.
	PublicKey []byte `json:"public_key"`
	// SignCount rises with each use; it stays 0 where the passkey is on several
	// devices.
	SignCount int64 `json:"sign_count"`
	// Transports are ways to reach it, for browsers: internal, hybrid, usb …
	Transports []string `json:"transports"`
	// BackupEligible says that the passkey may be on several devices, BackedUp that
	// it is.
	BackupEligible bool `json:"backup_eligible"`
	BackedUp       bool `json:"backed_up"`
}

// PasskeyRecord is all that tenant 0 keeps of a passkey.
type PasskeyRecord struct {
	Passkey
	Authenticator
	// Handle is how authenticators know the person: random, the same in all of
	// their passkeys of a tenant.
	Handle []byte `json:"handle"`
	// Who it signs in, as they were signed in when they registered it, without groups.
	Who Identity `json:"-"`
}

// Passkeys are a person's. Handle is nil for one who has never had any.
type Passkeys struct {
	Handle []byte
	List   []*PasskeyRecord // oldest first
}

// Commands of the Tenant family about passkeys. Only tenant 0 answers them.
type (
	// RegisterPasskey records a passkey of the caller, whose possession
	// transport/auth has verified. People of any tenant, who have been let into it.
	// Answers *Passkey.
	RegisterPasskey struct {
		Request
		Name          string
		Handle        []byte
		Authenticator Authenticator
	}
	// ListPasskeys answers the caller's *Passkeys.
	ListPasskeys struct{ Who Identity }
	// FindPasskey answers the *PasskeyRecord with a credential id, or not_found.
	// Asked by transport/auth only.
	FindPasskey struct{ CredentialID []byte }
	// UsePasskey receipts that a passkey signs its owner in. Its key is made of the
	// challenge that was signed, and Attempt tells one use of the challenge from
	// another: a second is an idempotency_conflict. A SignCount that doesn't rise is
	// a copied key's: that is forbidden, on record. The platform only, for
	// transport/auth. Answers *Passkey.
	UsePasskey struct {
		Request
		PasskeyID PasskeyID
		SignCount int64
		BackedUp  bool
		Attempt   string
	}
	// RemovePasskey forgets one. Anyone their own, and owners of tenant 0 any.
	// Answers *Passkey.
	RemovePasskey struct {
		Request
		PasskeyID PasskeyID
	}
)

// Cost is one act and the key.
func (RegisterPasskey) Cost() int { return writeCost + MaxPasskeyKey }

// Cost is 0: it reads.
func (ListPasskeys) Cost() int { return 0 }

// Cost is 0: it reads.
func (FindPasskey) Cost() int { return 0 }

// Cost is one act and the key.
func (UsePasskey) Cost() int { return writeCost + MaxPasskeyKey }

// Cost is one act and the key.
func (RemovePasskey) Cost() int { return writeCost + MaxPasskeyKey }
