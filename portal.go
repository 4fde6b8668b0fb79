package ubl

import (
	"encoding/json"
	"slices"
	"strings"
)

// The portal of a tenant keeps what it does outside: which servers of tools it
// knows, what they said their tools are, and every call to one of them or to a
// model, from the intent to the effect.

// PortalName addresses a tenant's Portal actor.
func PortalName(t TenantID) Name { return Name(string(t) + "|portal") }

// How the portal proves to a server who is calling.
const (
	AuthNone   = "none"
	AuthHeader = "header" // a fixed header, as an API key
	AuthClient = "client_credentials"
	AuthUser   = "authorization_code" // each user signs in by themselves
)

// Statuses of a server.
const (
	ServerNew      = "new"      // not asked yet
	ServerUp       = "up"       // the last sync worked
	ServerDown     = "down"     // it did not
	ServerDisabled = "disabled" // by an owner: hidden, never asked
)

// What the log calls a server that is none: our own tools, and models.
const (
	OwnServer   = "ubl"
	ModelServer = "model"
)

// Registry is what [MetaForeign] calls an MCP Registry. No server can have it as its id.
const Registry = "MCP registry"

// Limits of servers and their tools.
const (
	MaxServers     = 50  // of a tenant
	MaxClientID    = 256 // bytes of printable ASCII
	MaxScopes      = 50
	MaxScope       = 256 // bytes of printable ASCII
	MaxHeader      = 128 // bytes of a header's name
	MaxServerTools = 500
	MaxDefinition  = 64 << 10
	// MaxDefinitions bounds all definitions of a tenant together, pinned and held.
	MaxDefinitions = 8 << 20
	MaxSealed      = 16 << 10
)

// reservedServers are the first words of our own tools' names: a server of such
// an id could pass its tools off as ours.
var reservedServers = []string{
	OwnServer, ModelServer, "cluster", "document", "event", "identity", "ledger", "member", "receipt", "search", "user", "workspace",
}

// ValidHeader reports whether a name is one that an HTTP header can have (RFC 9110).
func ValidHeader(name string) bool {
	return name != "" && len(name) <= MaxHeader && !strings.ContainsFunc(name, func(c rune) bool {
		return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && !strings.ContainsRune("!#$%&'*+-.^_`|~", c)
	})
}

// ValidClientID reports whether OAuth's client id can be one, "" for none included.
func ValidClientID(id string) bool { return printable(id, MaxClientID) }

// ValidScopes reports whether OAuth's scopes can be asked for (RFC 6749).
func ValidScopes(scopes []string) bool {
	return len(scopes) <= MaxScopes && !slices.ContainsFunc(scopes, func(s string) bool {
		return s == "" || !printable(s, MaxScope) || strings.ContainsAny(s, "\"\\")
	})
}

func printable(s string, max int) bool {
	return len(s) <= max && !strings.ContainsFunc(s, func(c rune) bool { return c <= ' ' || c > '~' })
}

// ValidServerID reports whether s may name an external server:
// ^[a-z0-9][a-z0-9-]{0,31}$, and not the first word of a tool of our own.
func ValidServerID(s string) bool {
	if s == "" || len(s) > 32 || s[0] == '-' || slices.Contains(reservedServers, s) {
		return false
	}
	for _, did := range dids {
		if strings.HasPrefix(string(did), s+".") {
			return false
		}
	}
	return !strings.ContainsFunc(s, func(c rune) bool {
		return (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-'
	})
}

// nounsOfOurs are those in our own tools' names that no act has.
var nounsOfOurs = []string{"sealed", "log", "deadletters"}

// FreeServerID reports whether a server that is added may have an id: a valid one, and no
// noun in the names of our own tools, which are all words but the last. Servers that were
// added before keep theirs.
func FreeServerID(s string) bool {
	return ValidServerID(s) && !slices.Contains(nounsOfOurs, s) && !slices.ContainsFunc(dids, func(did Did) bool {
		return strings.Contains("."+string(did), "."+s+".")
	})
}

// Server is an external MCP server as it is listed; secrets are never in it.
type Server struct {
	// ServerID prefixes its tools' names; see [ValidServerID].
	ServerID string `json:"server_id"`
	Name     string `json:"name"`
	URL      string `json:"url"`
	Auth     string `json:"auth"`
	// Header is the name of the fixed header of AuthHeader.
	Header string `json:"header,omitempty"`
	// TokenURL, AuthorizeURL, ClientID and Scopes are those of OAuth; URLs that are
	// empty are discovered, on their issuer's host alone unless it names itself in its answers
	// (RFC 9207). With a secret TokenURL is needed: it goes nowhere else.
	TokenURL     string   `json:"token_url,omitempty"`
	AuthorizeURL string   `json:"authorize_url,omitempty"`
	ClientID     string   `json:"client_id,omitempty"`
	Scopes       []string `json:"scopes,omitempty"`
	Disabled     bool     `json:"disabled"`

	// Connected says whether whoever the answer is for has signed in to a server of
	// AuthUser. It is in lists, and where one signs out; else, and for other servers, nil.
	Connected *bool `json:"connected,omitempty"`

	Status string `json:"status"`
	// Problem is why it is down, or what of its tools was left out, without secrets.
	Problem string `json:"problem,omitempty"`
	// SyncedAt is when what stands here was put on record. Tries that fail as the one
	// before are on record once a day, so a server that is down was asked since.
	SyncedAt *Time `json:"synced_at"`
	// DownSince is when the first of the tries failed that all have failed since; nil
	// for a server that is not down.
	DownSince *Time `json:"down_since,omitempty"`
	// NextTry is when a node tries a server again that is down, and Connecting whether
	// the node that answers is asking it now. Nodes add both to what the Portal says.
	NextTry    *Time `json:"next_try,omitempty"`
	Connecting bool  `json:"connecting,omitempty"`
	Tools      int   `json:"tools"`
	// Held counts tools whose new definition waits for approval.
	Held      int     `json:"held"`
	CreatedAt Time    `json:"created_at"`
	CreatedBy UserID  `json:"created_by"`
	Receipt   Receipt `json:"receipt"`
}

// PortalTool is a tool of an external server.
type PortalTool struct {
	// Tool is the name callers use: server_id + "." + the server's own name.
	Tool     string `json:"tool"`
	ServerID string `json:"server_id"`
	Upstream string `json:"upstream"` // the server's own name
	// Definition is what the server said, pinned: name, title, description,
	// schemas and annotations as one JSON object. Hash is b: + its hash.
	Definition json.RawMessage `json:"definition"`
	Hash       string          `json:"hash"`
	// Held is a newer definition that an owner has yet to approve; until then the
	// tool can't be called. Nil where there is none.
	Held     json.RawMessage `json:"held,omitempty"`
	HeldHash string          `json:"held_hash,omitempty"`
	// Gone: the server lists it no more.
	Gone bool `json:"gone,omitempty"`
}

// Callable reports whether the definition is one that an owner has seen.
func (t *PortalTool) Callable() bool { return t.HeldHash == "" && !t.Gone }

// Call is a call to the outside on record, as the portal's log shows it.
type Call struct {
	N  int64 `json:"n"` // from 1, without gaps
	At Time  `json:"at"`
	// Did is the act in the ledger; of our own tools, of which some only read, the
	// tool's name.
	Did        Did    `json:"did"`
	Server     string `json:"server"`     // server id, "ubl" for our own tools, "model" for models
	Capability string `json:"capability"` // the tool's name
	UserID     UserID `json:"user_id"`
	IsService  bool   `json:"is_service"`
	// Status is intended while the call runs, then ok, error or denied.
	Status     string `json:"status"`
	Code       Code   `json:"code,omitempty"`
	DurationMS int64  `json:"duration_ms"`
	RequestID  string `json:"request_id"`
	// Parent is the request id of the call that this one was made for.
	Parent string `json:"parent,omitempty"`
	Usage  *Usage `json:"usage,omitempty"`
	// Receipt is that of the action; nil for calls of our own tools, whose acts
	// have receipts themselves.
	Receipt *Receipt `json:"receipt,omitempty"`
}

// Usage is what a model used. Cost is in millionths of the unit that the
// operator prices models in.
type Usage struct {
	PromptTokens     int64  `json:"prompt_tokens"`
	CompletionTokens int64  `json:"completion_tokens"`
	CostMicros       int64  `json:"cost_micros"`
	Provider         string `json:"provider"`
	Model            string `json:"model"`
	Cached           bool   `json:"cached"`
	// Estimated says that the provider told no usage, or an impossible one.
	Estimated bool `json:"estimated,omitempty"`
}

// Budget bounds what a tenant spends on models; 0 is no bound.
type Budget struct {
	TokensPerDay      int64 `json:"tokens_per_day"`
	RequestsPerMinute int   `json:"requests_per_minute"`
	// UsedToday is what was used since midnight UTC, those of calls under way included.
	UsedToday int64 `json:"used_today"`
}

// ToolResult is what an external tool answered.
type ToolResult struct {
	// Content is the list of MCP content blocks, Structured the structured content
	// beside it; nil where there is none. Their _meta is left out. Numbers are as the
	// server wrote them, or as a float64 holds them where it speaks a version before
	// 2026-07-28 or its caller is shown progress.
	Content    json.RawMessage `json:"content"`
	Structured json.RawMessage `json:"structured_content,omitempty"`
	// IsError is how a tool says that it failed; the call itself went well.
	IsError bool `json:"is_error"`
	// Foreign is the server whose words the content is, "" for none: see [MetaForeign].
	Foreign string `json:"foreign,omitempty"`
	// N is the call in the portal's log, Receipt that of its action.
	N       int64   `json:"n"`
	Receipt Receipt `json:"receipt"`
}

// Hash is b: + the hash of what the tool answered, without our numbers: of its
// canonical JSON or, where it has none because of its numbers, of the bytes that are
// handed on. It is "" for what is no JSON.
func (r *ToolResult) Hash() string {
	raw, err := json.Marshal(struct {
		Content    json.RawMessage `json:"content"`
		IsError    bool            `json:"is_error"`
		Structured json.RawMessage `json:"structured_content,omitempty"`
	}{r.Content, r.IsError, r.Structured})
	if err != nil {
		return ""
	}
	if canonical, err := Canonical(raw); err == nil {
		raw = canonical
	}
	return BodyHash(raw)
}

// ToolListing is a tool as the owners of a tenant see it: with who may use it,
// nil for nobody.
type ToolListing struct {
	PortalTool
	Access *ToolAccess `json:"access"`
}

// RegistryServer is a server that an MCP Registry offers, with an address that
// the portal can reach.
type RegistryServer struct {
	Name        string `json:"name"` // the registry's, as com.example/weather
	Title       string `json:"title,omitempty"`
	Description string `json:"description"`
	Version     string `json:"version"`
	URL         string `json:"url"`
	// Headers names what the server wants to be sent, as Authorization.
	Headers []string `json:"headers"`
}

// SigningIn is who a sign-in to a server was begun by. A page that asks for
// consent shows it: whoever follows another's link would give that other person
// access to their account.
type SigningIn struct {
	TenantID  TenantID
	UserID    UserID
	Email     string // "" for a service without one
	Unproven  bool   // nobody has verified the address
	IsService bool
	ServerID  string
	// ServerHost is the server's, and TokenHost that of the address that the answer of the
	// sign-in is sent to.
	ServerHost, TokenHost string
}
