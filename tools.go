package ubl

import (
	"bytes"
	"encoding/json"
	"strings"
	"time"
)

// ToolAccess is the Agreement type that lets people use a tool: one of our own,
// named like its act (messenger.send), or one of another server's, named
// server.tool. The owners of the tenant decide it. A tool of our own without
// such an Agreement is open to whom its own rules let; another server's is open
// to nobody. One that has ended, which is final, lets nobody use the tool; the
// tool that sets records (tool.access) can have none.
type ToolAccess struct {
	AgreementID AgreementID `json:"agreement_id"`
	Tool        string      `json:"tool"`
	// Allowed is whether anyone may use the tool at all.
	Allowed bool `json:"allowed"`
	// Users and Groups narrow it to those; both empty is everyone in the tenant.
	Users  []UserID `json:"users"`
	Groups []string `json:"groups"`
	// PerMinute bounds the calls of one caller, 0 for no bound.
	PerMinute int `json:"per_minute"`
	// Confirm says before which uses of it by an agent a person is asked.
	Confirm   Confirm `json:"confirm,omitempty"`
	UpdatedAt Time    `json:"updated_at"`
	UpdatedBy UserID  `json:"updated_by"`
	Receipt   Receipt `json:"receipt"`
}

// Confirm says before which uses of tools an agent's person is asked, in the agent's client. An
// agent is a service. A tool's record and the agent's mandate may both say it: the stricter counts.
type Confirm string

// What it may say. No record has ConfirmNever: what is absent asks nobody.
const (
	ConfirmNever       Confirm = "never"
	ConfirmDestructive Confirm = "destructive" // what replaces or takes away, and what may
	ConfirmAlways      Confirm = "always"
)

// Valid reports whether it is one of the three, or absent.
func (c Confirm) Valid() bool { return c.Kept() == "" || c == ConfirmDestructive || c == ConfirmAlways }

// Kept is what a record has: "" for never.
func (c Confirm) Kept() Confirm {
	if c == ConfirmNever {
		return ""
	}
	return c
}

// Asks reports whether a person is asked before a use, of a tool that destroys something or doesn't.
func (c Confirm) Asks(destroys bool) bool {
	return c == ConfirmAlways || c == ConfirmDestructive && destroys
}

// covers reports whether it asks before everything that another does.
func (c Confirm) covers(o Confirm) bool {
	return (c.Asks(true) || !o.Asks(true)) && (c.Asks(false) || !o.Asks(false))
}

// ErrUnconfirmed refuses a use that a person has to confirm first, and says how they are asked.
func ErrUnconfirmed() *Error {
	return Errorf(CodeConfirmation, "an Agreement has a person confirm this use of the tool first, and they can't be asked here: "+
		"call it over MCP by itself, not inside another call or a program, and from a client that shows forms (elicitation)")
}

// ToolPart names the tool that another is a part of, which reads or writes the same: who may not use
// that one doesn't get there by this. "" for none.
func ToolPart(tool string) string { return string(partOf[Did(tool)]) }

var partOf = map[Did]Did{
	"messenger.entries":   "messenger.history",
	"messenger.entry":     "messenger.history",
	"messenger.file":      "messenger.history",
	"messenger.files":     "messenger.history",
	"messenger.mark_read": "messenger.history",
	"messenger.pins":      "messenger.history",
	"messenger.readers":   "messenger.history",
	"messenger.thread":    "messenger.history",
	"messenger.typing":    DidSend,
	DidEdit:               DidSend,
	DidPollCreate:         DidSend,
	DidFormCreate:         DidSend,
	DidCallBegin:          DidSend,
	"messenger.form.get":  "messenger.history",
	"messenger.poll.get":  "messenger.history",
	"office.file.read":    DidFileGet,
	"office.upload.begin": DidFilePut,
	"messenger.upload":    DidSend,
}

// Limits of tools. MaxToolArguments is in bytes; MaxToolNames bounds the users and groups
// that all records of a tenant name together.
const (
	MaxToolArguments = 1 << 20
	MaxToolName      = 128
	MaxToolUsers     = 1000
	MaxToolGroups    = 100
	MaxToolNames     = 10_000
	MaxPerMinute     = 100_000
)

// ToolAgreement names the ToolAccess Agreement of a tool.
func ToolAgreement(tool string) AgreementID { return AgreementID("a:tool:" + tool) }

// ValidToolName reports whether s may name a tool: 1 to 128 of [A-Za-z0-9_.-].
func ValidToolName(s string) bool {
	return s != "" && len(s) <= MaxToolName && !strings.ContainsFunc(s, func(c rune) bool {
		return c > 127 || !isIDByte(byte(c))
	})
}

// ToolArguments brings the arguments of a tool into canonical form: a JSON object,
// the empty one where nothing was given. Errors are too_large and validation.
func ToolArguments(args []byte) ([]byte, error) {
	if len(bytes.TrimSpace(args)) == 0 {
		return []byte("{}"), nil
	}
	if len(args) > MaxToolArguments {
		return nil, Errorf(CodeTooLarge, "arguments: more than %d bytes", MaxToolArguments)
	}
	canonical, err := Canonical(args)
	if err != nil || canonical[0] != '{' {
		return nil, Errorf(CodeValidation, "arguments: not a JSON object that has one canonical form")
	}
	return canonical, nil
}

// Terms are what the record says, as those of any other Agreement.
func (t *ToolAccess) Terms() *Terms {
	terms := &Terms{Form: TermsForm, Permits: []Permit{}, Accept: AcceptProposer}
	if t.Allowed {
		to := make([]string, 0, max(1, len(t.Users)+len(t.Groups)))
		for _, u := range t.Users {
			to = append(to, string(u))
		}
		for _, g := range t.Groups {
			to = append(to, ToGroup+g)
		}
		if len(to) == 0 {
			to = append(to, ToTenant)
		}
		terms.Permits = append(terms.Permits, Permit{Did: t.Tool, To: to})
	}
	if t.PerMinute > 0 {
		terms.Limits = []Limit{{Did: t.Tool, PerMinute: t.PerMinute}}
	}
	return terms
}

// Admits reports whether the record lets a member of the tenant use the tool.
func (t *ToolAccess) Admits(who Identity) bool {
	return t.Terms().Permit(Did(t.Tool), Stance{Who: who, Role: RoleMember, Inside: true})
}

// Commands about ToolAccess, asked of the Tenant.
type (
	// SetToolAccess writes the record of a tool. Owners of the tenant. Users that the
	// record doesn't name yet are members. Answers *ToolAccess.
	SetToolAccess struct {
		Request
		Expects
		Tool      string
		Allowed   bool
		Users     []UserID
		Groups    []string
		PerMinute int
		Confirm   Confirm
	}
	// ListToolAccess lists the records by tool. Members; the portal asks it for
	// everyone. Answers []*ToolAccess.
	ListToolAccess struct {
		Who Identity
		// Only, where there is any, are the tools to list.
		Only []string
		// Brief leaves out all but Tool and AgreementID, so that nothing has to be read.
		Brief bool
	}
	// FindUsable asks which of our own tools somebody may use, as far as the tenant's
	// Agreements say it. It decides by memory alone, counts no use, and guards nothing: each use
	// is decided by itself. Members. Answers *UsableTools.
	FindUsable struct {
		Who   Identity
		Tools []string
	}
)

// UsableTools are those of a list that somebody may use.
type UsableTools struct {
	// Open are those that no ToolAccess closes to them.
	Open []string
	// Permitted are those whose act the terms of the TenantLicense permit to them.
	Permitted []string
}

// Cost is 0: it reads.
func (FindUsable) Cost() int { return 0 }

// Cost is that of the record.
func (c SetToolAccess) Cost() int { return writeCost + 64*(len(c.Users)+len(c.Groups)) }

// Cost is 0: it reads.
func (ListToolAccess) Cost() int { return 0 }

// AgentCodeTTL is how long an agent's code holds, and how long the refresh token before the
// newest may be used again: by who didn't get the answer, or who asked several times at once.
const AgentCodeTTL = time.Minute

// Commands about agents that people connect (OAuth 2.1), asked of the Tenant. Codes and
// refresh tokens are drawn by who asks, and only their hashes (hex SHA-256) are sent.
//
// A refresh token has two secrets: one of its own, and one that all tokens of the grant
// share, its family. So the Tenant, which keeps the hash of the newest token and that of the
// family, knows every former token of the grant: by the right family with another secret.
// Nobody makes one up who hasn't had a token of the grant.
type (
	// ConnectAgent makes a service with a mandate, which its person keeps, and a code to
	// redeem within [AgentCodeTTL]. People of the tenant whose identity is proven, by the tool
	// tenant.agent.connect. Answers *ServiceToken.
	ConnectAgent struct {
		Request
		ClientID  string // the service's, as of a service token
		Name      string
		Client    string // the OAuth client that it comes by
		Resource  string // what its tokens are for (RFC 8707)
		CodeHash  string
		Mandate   Mandate
		ExpiresAt *Time // nil for [ServiceTokenTTL]
	}
	// RedeemAgentCode uses the code up for the first refresh token. One that is used a second
	// time ends the agent, on record, and is refused like one that never was: unauthorized.
	// The platform, for transport/auth. Answers *ServiceCaller.
	RedeemAgentCode struct {
		Request
		ClientID    string
		Client      string
		CodeHash    string
		FamilyHash  string // of the grant's refresh tokens
		RefreshHash string
	}
	// RefreshAgent puts another refresh token in the place of the newest. The one before may
	// do so again within [AgentCodeTTL], as long as the newest wasn't used, and with the same
	// NewHash it changes nothing; any other former one ends the agent, on record, and is refused
	// like one that never was: unauthorized. The platform, for transport/auth. Answers *ServiceCaller.
	RefreshAgent struct {
		Request
		ClientID    string
		Client      string
		FamilyHash  string
		RefreshHash string
		NewHash     string
	}
	// RevokeAgent ends an agent for who shows a refresh token of it (RFC 7009); unauthorized
	// where it is none. The platform, for transport/auth. Answers *ServiceToken.
	RevokeAgent struct {
		Request
		ClientID   string
		Client     string
		FamilyHash string
	}
	// CheckAgent answers the *ServiceCaller behind a client id whose agent was connected, or
	// unauthorized. Asked by transport/auth only, which has verified an access token.
	CheckAgent struct{ ClientID string }
	// SetMandate gives a service another mandate. Owners of the tenant and who keeps the
	// service; nobody who has a mandate. Answers *ServiceToken.
	SetMandate struct {
		Request
		ClientID string
		Mandate  Mandate
	}
)

// Cost is one act, a member and the mandate.
func (c ConnectAgent) Cost() int { return 2*writeCost + c.Mandate.size() }

// Cost is one act and the service.
func (RedeemAgentCode) Cost() int { return 2 * writeCost }

// Cost is one act and the service.
func (RefreshAgent) Cost() int { return 2 * writeCost }

// Cost is one act and the service.
func (RevokeAgent) Cost() int { return 2 * writeCost }

// Cost is 0: it reads.
func (CheckAgent) Cost() int { return 0 }

// Cost is one act and the mandate.
func (c SetMandate) Cost() int { return 2*writeCost + c.Mandate.size() }

// What the office does outside for its callers: it asks models. The shapes
// here are shared by package office, which does it, and the transports.

// Limits of a completion, and what is taken where the caller says nothing.
const (
	MaxPromptChars   = 100_000
	MaxModelName     = 64
	DefaultModel     = "gpt-4"
	MaxTokens        = 100_000
	DefaultMaxTokens = 1000
	MaxSteps         = 16
	DefaultSteps     = 4
)

// CompleteRequest asks a model, under the Agreement of a workspace.
type CompleteRequest struct {
	Request
	WorkspaceID ContainerID
	Prompt      string // 1 to MaxPromptChars characters
	Model       string // "" for DefaultModel
	MaxTokens   int    // of the answers of all steps together; 0 for DefaultMaxTokens
	// Temperature is 0 to 2, nil for the provider's own. At 0 an earlier answer to
	// the same request of the tenant may be given again, as with Cache.
	Temperature *float64
	// Cache says that such an earlier answer will do at any temperature.
	Cache bool
	// Tools are those that the model may use for the caller; none means that it
	// uses none.
	Tools []string
	// MaxSteps bounds how often the model is asked, the first time included and
	// then with what its tools answered; 0 for DefaultSteps. The last time it may
	// call none.
	MaxSteps int
}

// Completion is a model's answer.
type Completion struct {
	Completion string `json:"completion"`
	// FinishReason is why the model stopped: stop, or length where MaxTokens was
	// reached, or what else its provider said.
	FinishReason string `json:"finish_reason"`
	// Usage sums up what all steps used.
	Usage Usage `json:"usage"`
	// Checks are what the heuristics found in the prompt and in the answer.
	Checks Checks `json:"checks"`
	// Steps are the calls of tools, in order.
	Steps []CompletionStep `json:"steps"`
	// Receipt is that of the act, whose intent was on record before the model was
	// asked.
	Receipt Receipt `json:"receipt"`
	// Salt is what the commitments to request, prompt and completion were made with. It is
	// stored nowhere else.
	Salt Salt `json:"salt,omitzero"`
}

// Checks are what labelled heuristics found before and after a model.
type Checks struct {
	Before CheckResult `json:"before"`
	After  CheckResult `json:"after"`
}

// CheckResult is what they found in the texts of one stage; they are hints and no
// proof. What the operator has switched off is nil.
type CheckResult struct {
	PIIDetected    *bool `json:"pii_detected,omitempty"`
	InjectionScore *int  `json:"injection_score,omitempty"` // 0 to 100
	// UnsafeTopic is the topic's label, "" for none.
	UnsafeTopic *string `json:"unsafe_topic,omitempty"`
	// PII and Rules are the labels behind the first two, in order.
	PII   []string `json:"pii,omitempty"`
	Rules []string `json:"rules,omitempty"`
	// Blocked names the check because of which the text goes no further, "" where
	// it may. No answer has it: a blocked act is refused.
	Blocked string `json:"-"`
}

// CompletionStep is a call of a tool that a model made.
type CompletionStep struct {
	Tool string `json:"tool"`
	// RequestID is the call's own; its parent is the completion's.
	RequestID string `json:"request_id"`
	// Code says why the tool couldn't be called, "" where it was.
	Code Code `json:"code,omitempty"`
	// IsError is how a tool says that it failed.
	IsError bool `json:"is_error,omitempty"`
	// Receipt is that of the call; nil where there is none.
	Receipt *Receipt `json:"receipt,omitempty"`
	// Salt is what the call's commitments were made with: to the arguments and the answer of another
	// server's tool, to the query of a search. It is stored nowhere else.
	Salt Salt `json:"salt,omitzero"`
}

// What a server offers beside tools is used through two tools that the portal makes for it:
// server.prompts writes one of its prompts out, and server.resources reads one of its resources.
// So that is pinned, approved, opened, bounded and receipted as its tools are.
const (
	ToolPrompts   = "prompts"
	ToolResources = "resources"
)

// Limits of what a server offers beside tools.
const (
	MaxPrompts     = 200 // of a server
	MaxTemplates   = 200
	MaxResources   = 1000 // those that are listed
	MaxResourceURI = 2048 // bytes
)

// Offer is what the definition of such a tool says beside what any tool's does. It holds what
// clients of MCP are shown, by the members' names there, and is pinned with the rest.
type Offer struct {
	// Stands is ToolPrompts or ToolResources. A server can't write the member itself: of its own
	// tools' definitions only what MCP knows is kept.
	Stands    string            `json:"ubl/stands"`
	Prompts   []OfferedPrompt   `json:"prompts,omitempty"`
	Templates []OfferedTemplate `json:"resourceTemplates,omitempty"`
	// Left is how many were left out: too many, too large, or of no valid name.
	Left int `json:"ubl/left,omitempty"`
}

// OfferedPrompt is a prompt, by the server's own name.
type OfferedPrompt struct {
	Name        string            `json:"name"`
	Title       string            `json:"title,omitempty"`
	Description string            `json:"description,omitempty"`
	Arguments   []OfferedArgument `json:"arguments,omitempty"`
}

// OfferedArgument is one of a prompt's.
type OfferedArgument struct {
	Name        string `json:"name"`
	Title       string `json:"title,omitempty"`
	Description string `json:"description,omitempty"`
	Required    bool   `json:"required,omitempty"`
}

// OfferedTemplate is a template of resources (RFC 6570), in the server's own URIs.
type OfferedTemplate struct {
	URITemplate string `json:"uriTemplate"`
	Name        string `json:"name"`
	Title       string `json:"title,omitempty"`
	Description string `json:"description,omitempty"`
	MIMEType    string `json:"mimeType,omitempty"`
}

// OfferedResource is a resource that a server lists, by its own URI. Lists are not pinned: they
// are long and change, and what stands behind a URI changes without a word anyway.
type OfferedResource struct {
	URI         string `json:"uri"`
	Name        string `json:"name"`
	Title       string `json:"title,omitempty"`
	Description string `json:"description,omitempty"`
	MIMEType    string `json:"mimeType,omitempty"`
	Size        int64  `json:"size,omitempty"` // bytes, 0 where it isn't known
}

// Offered is what a pinned definition offers, nil for that of a tool of the server's own.
func (t *PortalTool) Offered() *Offer {
	o := new(Offer)
	if !bytes.Contains(t.Definition, []byte(`"ubl/stands"`)) || json.Unmarshal(PlainJSON(t.Definition), o) != nil || o.Stands == "" {
		return nil
	}
	return o
}

// Completing asks for what an argument of a prompt, or of a template, may be.
type Completing struct {
	// Tool is the portal's tool that the prompt or the template is used by.
	Tool string
	// Ref is the prompt's own name, or the template.
	Ref             string
	Argument, Value string
	// Known are arguments that have been filled in.
	Known map[string]string
}

// ValidResourceURI reports whether a text may be another server's URI, or its template: visible
// ASCII, of at most MaxResourceURI bytes, with a scheme.
func ValidResourceURI(s string) bool {
	scheme, rest, ok := strings.Cut(s, ":")
	return ok && scheme != "" && rest != "" && printable(s, MaxResourceURI) && !strings.ContainsFunc(scheme, func(c rune) bool {
		return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && !strings.ContainsRune("+-.", c)
	})
}
