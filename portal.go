package ubl

import (
	"context"
	"encoding/json"
	"hash/fnv"
	"slices"
	"strconv"
	"strings"
	"time"
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
	// AuthEnvironment is a variable in the environment of a server of ServerStdio.
	AuthEnvironment = "environment"
)

// Kinds of servers. A record without one is of MCP.
const (
	ServerMCP     = ""
	ServerOpenAPI = "openapi" // an HTTP API, whose operations are the tools
	// ServerStdio is a program that nodes run, which speaks MCP over standard input and output.
	ServerStdio = "stdio"
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
	OwnServer, ModelServer, "cluster", "document", "event", "identity", "ledger", "member", "person", "receipt", "search", "user", "webhook", "workspace",
}

// ServerSet begins the long form of the name of a server's set of tools, for a server whose id is
// the name of a set of ours.
const ServerSet = "server:"

// ValidHeader reports whether a name is one that an HTTP header can have (RFC 9110).
func ValidHeader(name string) bool {
	return name != "" && len(name) <= MaxHeader && !strings.ContainsFunc(name, func(c rune) bool {
		return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && !strings.ContainsRune("!#$%&'*+-.^_`|~", c)
	})
}

// ValidCommand reports whether an operator may allow a program under a name:
// ^[a-z0-9][a-z0-9-]{0,31}$.
func ValidCommand(name string) bool {
	return name != "" && len(name) <= 32 && name[0] != '-' && !strings.ContainsFunc(name, func(c rune) bool {
		return (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-'
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
var nounsOfOurs = []string{"sealed", "log", "deadletters", "upload", "device", "preferences", "reminder", "scheduled"}

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
	// URL is where it serves MCP over streamable HTTP, or what the paths of an API stand behind;
	// "" for a program.
	URL string `json:"url"`
	// Kind is ServerMCP, ServerOpenAPI or ServerStdio. It never changes.
	Kind string `json:"kind,omitempty"`
	// Command is the name under which the operator allows a program, see [ValidCommand]. It
	// never changes, and is set for those alone.
	Command string `json:"command,omitempty"`
	// DocumentURL is where the document of an API is, and is set for those alone.
	DocumentURL string `json:"document_url,omitempty"`
	Auth        string `json:"auth"`
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
	// Salt is what the commitments of the newest act on its terms were made with: terms_hash,
	// of what owners set of it, and url_hash, of {"url":…}. None for one from before.
	Salt Salt `json:"salt,omitzero"`

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

// AsksItself says that a server is asked for its tools by itself: daily, and while it is down.
// One that wants a user's own credentials is asked when a user signs in.
func (s *Server) AsksItself() bool { return !s.Disabled && s.Auth != AuthUser }

// Syncer asks a server for its tools, and has the Portal record what came of it: that it
// couldn't be asked is no error. It answers the server as that left it, nil where nothing may be
// asked now. Safe for concurrent use.
type Syncer interface {
	SyncServer(ctx context.Context, t TenantID, server string) (*Server, error)
}

// A server that is down is tried again by a timetable. It follows from when the server went
// down alone: so each node can tell when the next try is, and no try has to be put on record
// for the sake of the one after.

const (
	// firstWait is how long after a server went down it is tried again. Each wait is
	// twice the one before, up to longWait on the first day and to dayWait then.
	firstWait = 2 * time.Second
	longWait  = 5 * time.Minute
	dayWait   = time.Hour
	oneDay    = 24 * time.Hour
	// askedAfter is how old what a server said is when it is asked again, up to an hour more.
	askedAfter = 23 * time.Hour
	// firstAsk is when a server is asked by itself that nobody has asked yet: whoever added
	// or changed it does so at once, if their node lives.
	firstAsk = time.Minute
)

// NextAsk is when a server of a tenant is asked by itself, after a moment; 0 for never.
func (s *Server) NextAsk(t TenantID, after Time) Time {
	switch {
	case !s.AsksItself():
		return 0
	case s.Status == ServerDown:
		return s.NextTryAfter(t, after)
	case s.SyncedAt == nil:
		return after.Add(firstAsk)
	}
	return max(s.SyncedAt.Add(askedAfter+spread(t, s.ServerID, 0, 2*time.Hour)), after+1)
}

// NextTryAfter is the first try after a moment of a server that is down; 0 for one that isn't, or
// isn't asked by itself.
func (s *Server) NextTryAfter(t TenantID, after Time) Time {
	if s.Status != ServerDown || !s.AsksItself() || s.SyncedAt == nil {
		return 0
	}
	since := *s.SyncedAt
	if s.DownSince != nil { // a node of an early release doesn't say
		since = *s.DownSince
	}
	return NextTry(t, s.ServerID, since, after)
}

// NextTry is the first try after a moment, of a server that went down at another.
// Every wait is up to half longer than it has to be, by a hash: servers that go down
// together don't come under load together.
func NextTry(t TenantID, server string, since, after Time) Time {
	try := since
	for n, wait := 0, firstWait; try.Std().Sub(since.Std()) < oneDay; n++ {
		if try = try.Add(wait + spread(t, server, n, wait)); try > after {
			return try
		}
		wait = min(2*wait, longWait)
	}
	hours := int(max(0, after.Std().Sub(try.Std())) / dayWait)
	for n := max(0, hours-1); ; n++ {
		if at := try.Add(time.Duration(n+1)*dayWait + spread(t, server, n, dayWait)); at > after {
			return at
		}
	}
}

// spread is between 0 and half of a wait.
func spread(t TenantID, server string, n int, wait time.Duration) time.Duration {
	h := fnv.New32a()
	_, _ = h.Write([]byte(string(t) + "\n" + server + "\n" + strconv.Itoa(n)))
	return time.Duration(h.Sum32()%1024) * wait / 2048
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

// Version is that of the bounds, as of [VersionOf].
func (b Budget) Version() string {
	b.UsedToday = 0
	return VersionOf(b)
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
	// Salt is what the commitments to the arguments and to the answer were made with. It is
	// stored nowhere else.
	Salt Salt `json:"salt,omitzero"`
	// Led is the act that office.tool.call led to, where that has a salt of its own; nil for none.
	Led *LedAct `json:"led_to,omitempty"`
}

// LedAct is an act that another one led to: its receipt, nil where the answer has it, and its salt.
type LedAct struct {
	Receipt *Receipt `json:"receipt,omitempty"`
	Salt    Salt     `json:"salt"`
}

// Commitment is what the ledger says of what the tool answered, without our numbers: of its
// canonical JSON or, where it has none because of its numbers, of the bytes that are
// handed on. It is "" for what is no JSON.
func (r *ToolResult) Commitment(salt Salt) string {
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
	return salt.Commit(raw)
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

// concludeAgain is how soon an effect that couldn't be put on record is told again.
const concludeAgain = 200 * time.Millisecond

// Repeated refuses to make a call that its key has begun before; nil for the first.
// One that has ended is a conflict, since its answer is not kept; one that has not is
// unavailable: another node makes it, or the sweep has yet to end it.
func (t *CallTicket) Repeated() error {
	if !t.Again {
		return nil
	}
	e := Errorf(CodeConflict, "the call was made with this key before, and its answer is not kept: details tells what is known of it")
	if t.Status == string(StatusIntended) {
		e = Errorf(CodeUnavailable, "the call was begun with this key before, and has not ended yet")
	}
	e.Details = map[string]string{"n": strconv.FormatInt(t.N, 10)}
	if t.Status != "" {
		e.Details["seq"], e.Details["status"] = strconv.FormatInt(t.Receipt.Seq, 10), t.Status
	}
	return e
}

// Conclude puts the effect of a call on record, trying until it is or ctx is over,
// which needs a deadline. It fails too where another effect came first, as the
// sweep's: the caller must not be told what the ledger doesn't say. Only unavailable
// is an answer then, whatever the reason.
func Conclude(ctx context.Context, a Asker, end EndCall) error {
	call, err := conclude(ctx, a, end)
	switch {
	case err != nil:
		return Errorf(CodeUnavailable, "the call was made, and its effect couldn't be put on record").Because(err)
	case call.Code != end.Code:
		return Errorf(CodeUnavailable, "the call was made, and was on record as ended before its effect was known")
	}
	return nil
}

func conclude(ctx context.Context, a Asker, end EndCall) (*Call, error) {
	for {
		call, err := Ask[*Call](ctx, a, PortalName(end.Who.TenantID), end)
		if code := CodeOf(err); code != CodeUnavailable && code != CodeOverloaded {
			return call, err
		}
		timer := time.NewTimer(concludeAgain)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return nil, err
		}
	}
}

// Limits of calls that their callers come back for.
const (
	MaxKeep      = 24 * time.Hour // from a call's beginning
	MaxKept      = 256 << 10      // bytes of an answer that is kept, sealed
	MaxUserTasks = 50             // of one user, those under way and those kept
	MaxTasks     = 500            // of a tenant
	MaxQuestion  = 32 << 10       // bytes
	MaxReply     = 32 << 10
)

// Statuses of a [Task], as the protocol spells them.
const (
	TaskWorking   = "working"
	TaskAsking    = "input_required" // it waits for its caller's reply
	TaskCompleted = "completed"      // also where the tool says that it failed
	TaskFailed    = "failed"         // there is no answer
	TaskCancelled = "cancelled"
)

// Task is a call that its caller can come back for: one that is under way, or whose answer is kept.
type Task struct {
	N          int64 // of the call
	Capability string
	Status     string
	Code       Code // as in [Call]; "" while it runs
	CreatedAt  Time
	UpdatedAt  Time
	// KeepMS is for how long its answer is kept, from CreatedAt on; 0 for a call that is no task
	// of its caller's.
	KeepMS int64
	// Question is set with TaskAsking.
	Question *Question
	// Answer is sealed: what the call came to. Nil while it runs, and where nothing is left of it.
	Answer []byte
}

// Question is what a tool of another server asks of its caller in the middle of a call.
type Question struct {
	N    int    // from 1, in its call
	Kind string // QuestionForm
	// Params are those of the protocol's request, as the caller is to see them.
	Params json.RawMessage
}

// QuestionForm is the kind of a question to a person, and the protocol's method for it. AskForm is
// what an owner opens for it, behind the server's id, as if it were a tool.
const (
	QuestionForm = "elicitation/create"
	AskForm      = "elicitation"
)

// Mail is what the node that makes a call hears of its caller.
type Mail struct {
	// Reply is to the question that the node asked; nil for none yet.
	Reply []byte
	// Over says that the call is on record as ended, as when its caller has cancelled it.
	Over bool
}

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

	// ForgetGrants forgets what people who were shut out of the tenant have signed in to
	// servers with. The platform only. Answers how many grants they were.
	ForgetGrants struct {
		Request
		Users []UserID
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
		InputHash  string // b: + hash of the input: it tells retries apart, and stays out of the ledger
		Commitment string // to the input, which the ledger has; "" from nodes of earlier versions
		This       Fields // more of what the act is about
		Deadline   Time   // when the call has ended, whatever comes
		Tokens     int64  // at most used by a model
		Model      bool   // counts against the budget
		KeepMS     int64  // how long its answer is kept, from now on; 0 for not at all
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
		// Kept is the answer, sealed; nil for one that isn't kept. KeepMS is for how long, from now
		// on, where BeginCall hasn't said it.
		Kept   []byte
		KeepMS int64
	}
	// AskCaller shows a call's question to whoever began it, nil for none any more, and answers
	// the *Mail for it. It changes nothing that is stored: the node that makes the call asks
	// again until there is a reply, also of a Portal that has moved. Who began the call.
	AskCaller struct {
		Who      Identity
		N        int64
		Question *Question
	}
	// ReplyCall replies to the question of a call, once: not_found where the call asks nothing, or
	// something else. It changes nothing that is stored. Who began the call. Answers nil.
	ReplyCall struct {
		Who      Identity
		N        int64
		Question int
		Reply    []byte
	}
	// CancelCall ends a call, with the code cancelled: the node that makes it gives it up. A
	// conflict for one that has ended. Who began it. Answers *Task.
	CancelCall struct {
		Request
		N int64
	}
	// ReadTask reads a call that is under way or whose answer is kept. Who began it. Answers *Task.
	ReadTask struct {
		Who Identity
		N   int64
	}
	// ListTasks lists the caller's tasks, oldest first, without answers. Members. Answers []*Task.
	ListTasks struct{ Who Identity }
	// LogCalls adds rows for calls of our own tools, and of others' that the Tenant
	// refused, at most 1,000. The portal on a node only: the platform. Answers nil.
	LogCalls struct {
		Request
		Calls []*Call
	}
	// ReadCalls reads the log backwards: rows with N < Before (0: the newest).
	// Owners; others see their own, and those of agents that they keep. Answers *CallPage.
	ReadCalls struct {
		Who    Identity
		Owner  bool     // as the caller has asked of the Tenant
		Keeps  []UserID // agents that Who keeps, as the caller has asked of the Tenant
		Before int64
		Limit  int
	}
	// GetBudget reads it. Members. Answers *Budget.
	GetBudget struct{ Who Identity }
	// SetBudget changes it. Owners. Answers *Budget.
	SetBudget struct {
		Request
		Expects
		Owner             bool
		TokensPerDay      int64
		RequestsPerMinute int
	}
	// CloseCalls ends calls whose deadline has passed, with outcome error; with All
	// set every one that is open. The platform. Answers the number closed.
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
	// DocumentURL is that of a server of an API.
	DocumentURL *string `json:",omitempty"`
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

// Cost is 0: it nearly always only reads.
func (ForgetGrants) Cost() int { return 0 }

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

// Cost is 0: nothing is stored.
func (AskCaller) Cost() int { return 0 }

// Cost is 0: nothing is stored.
func (ReplyCall) Cost() int { return 0 }

// Cost is 0, as that of EndCall.
func (CancelCall) Cost() int { return 0 }

// Cost is 0: it reads.
func (ReadTask) Cost() int { return 0 }

// Cost is 0: it reads.
func (ListTasks) Cost() int { return 0 }

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

// EventPortalCall (internal) tells a row of the portal's log, when it is written
// and again when its call has ended; its payload is the [Call].
const EventPortalCall = "portal.call"
