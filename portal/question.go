package portal

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"ubl"
)

const (
	// maxQuestions bounds what one call may ask.
	maxQuestions = 10
	// maxFields bounds a form, maxChoices what one of its fields offers.
	maxFields, maxChoices = 20, 100
	// maxAsking bounds how many calls of this node have a session of their own, and
	// maxAskingEach how many of one tenant: people take minutes to reply.
	maxAsking     = 64
	maxAskingEach = 16
)

// asked is a question with what became of it, for the effect of its call.
type asked struct {
	Question json.RawMessage `json:"question"`
	Action   string          `json:"action"`
}

// MayAsk reports whether a server may ask the caller of its tool something: an owner has opened
// what stands for it to them. A tool of the server's own that has the name stays what it is.
func (p *Portal) MayAsk(ctx context.Context, who ubl.Identity, tool string) bool {
	cat, err := p.catalogue(ctx, who)
	if err != nil {
		return false
	}
	server, _, _ := strings.Cut(tool, ".")
	r := cat.mayAsk(server)
	return r != nil && r.Admits(who)
}

// mayAsk is whom a server may ask, nil for nobody.
func (c *catalogue) mayAsk(server string) *ubl.ToolAccess {
	name := server + "." + ubl.AskForm
	if r := c.access[name]; r != nil && r.Allowed && c.byName[name] == nil && c.servers[server] != nil {
		return r
	}
	return nil
}

// alone has fn use a session of the call's own: the server's questions in it are about this call
// and reach nobody else.
func (p *Portal) alone(ctx context.Context, c *call, server string, fn func(context.Context, *session) error) error {
	if !p.asking.Try(c.req.Who.TenantID) {
		return ubl.Errorf(ubl.CodeOverloaded, "too many calls that may ask their callers are under way")
	}
	defer p.asking.Give(c.req.Who.TenantID)
	return p.apart(ctx, c.req.Who, server, &asker{p: p, c: c, ctx: ctx, turn: newTurn()}, fn)
}

// apart has fn use a session that nobody else does, in which the server may ask.
func (p *Portal) apart(ctx context.Context, who ubl.Identity, server string, asks *asker, fn func(context.Context, *session) error) error {
	connecting, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	access, err := p.openServer(connecting, who, server)
	if err != nil {
		return err
	}
	s, err := p.open(connecting, who, access, func() {}, asks)
	if err != nil {
		return err
	}
	defer func() {
		if !p.spawn(s.close) {
			s.close()
		}
	}()
	if err = s.do(ctx, fn); lost(err) {
		return explain(err, nil)
	}
	return err
}

// asker asks the caller of one call, one thing after the other. One without a call declines: a
// server that may ask is asked for its tools as one that can, since some have other tools then.
type asker struct {
	p   *Portal
	c   *call           // nil for none
	ctx context.Context // the call's
	// clock is the time that a program has for its answer; nil for what has none of its own.
	clock atomic.Pointer[stopwatch]
	turn
}

// elicited is called by the SDK for each question to a person, in both eras. A question that
// can't be passed on is declined: the server goes on without.
func (s *session) elicited(ctx context.Context, r *mcp.ElicitRequest) (result *mcp.ElicitResult, err error) {
	err = s.panics.Try("a server's question", func() error { // the goroutine is the SDK's
		result, err = s.asks.form(ctx, s, r.Params)
		return err
	})
	return result, err
}

func (a *asker) form(ctx context.Context, s *session, in *mcp.ElicitParams) (*mcp.ElicitResult, error) {
	if err := a.take(ctx); err != nil {
		return nil, err
	}
	defer a.give()
	declined := &mcp.ElicitResult{Action: "decline"}
	if a.c == nil {
		return declined, nil
	}
	if !a.c.mayAskMore() {
		return &mcp.ElicitResult{Action: "cancel"}, nil
	}
	// A page that a server chooses could pass for anybody's: forms alone are shown.
	if in.Mode != "" && in.Mode != "form" || in.URL != "" {
		a.c.note(nil, "decline")
		return declined, nil
	}
	params, err := formOf(s.access.Server.ServerID, in, s.guard.shown.get())
	if err == nil {
		err = a.let()
	}
	if err != nil {
		a.c.note(nil, "decline")
		return declined, nil
	}
	if clock := a.clock.Load(); clock != nil {
		clock.pause()
		defer clock.resume()
	}
	raw, err := a.c.flight.ask(a.ctx, ubl.QuestionForm, params)
	if err != nil { // nobody has replied
		a.c.note(params, "cancel")
		return &mcp.ElicitResult{Action: "cancel"}, nil
	}
	reply := readReply(raw)
	a.c.note(params, reply.Action)
	return reply, nil
}

// let asks the Tenant whether the caller may be asked, which counts it.
func (a *asker) let() error {
	req, err := a.p.request(a.c.req.Who)
	if err != nil {
		return err
	}
	req.Parent = a.c.req.ID
	_, err = ubl.Ask[*ubl.Entered](a.ctx, a.p.asker, ubl.TenantName(req.Who.TenantID), ubl.Enter{
		Request: req, Tool: a.c.server + "." + ubl.AskForm, External: true, NoFounding: true,
	})
	return err
}

// readReply is a reply as the server gets it: that of a form, and no more. What is none is as good
// as a window that was closed.
func readReply(raw []byte) *mcp.ElicitResult {
	var r struct {
		Action  string         `json:"action"`
		Content map[string]any `json:"content"`
	}
	if json.Unmarshal(raw, &r) != nil {
		return &mcp.ElicitResult{Action: "cancel"}
	}
	switch r.Action {
	case "accept":
		for _, v := range r.Content {
			if !flat(v) {
				return &mcp.ElicitResult{Action: "cancel"}
			}
		}
		return &mcp.ElicitResult{Action: r.Action, Content: r.Content}
	case "decline":
		return &mcp.ElicitResult{Action: r.Action}
	}
	return &mcp.ElicitResult{Action: "cancel"}
}

// flat reports whether a value is one that a form's field can have.
func flat(v any) bool {
	switch v := v.(type) {
	case string, float64, bool:
		return true
	case []any:
		return !slices.ContainsFunc(v, func(e any) bool { _, text := e.(string); return !text })
	}
	return false
}

// askLeft is how long the call may yet wait for its caller.
func (c *call) askLeft() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return askTime - c.asking
}

// waited counts how long the call has waited for its caller.
func (c *call) waited(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asking += d
}

// nextQuestion is the number of another question.
func (c *call) nextQuestion() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.questions++
	return c.questions
}

// mayAskMore reports whether the call may ask another.
func (c *call) mayAskMore() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.asked) < maxQuestions && c.asking < askTime
}

// note remembers what became of a question; nil is one that nobody was shown.
func (c *call) note(question json.RawMessage, action string) {
	if question == nil {
		question = json.RawMessage("null")
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asked = append(c.asked, asked{question, action})
}

// questioned adds to a call's effect what it has asked: commitments, and never a reply.
func (c *call) questioned(end *ubl.EndCall) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.asked) == 0 {
		return nil
	}
	raw, err := json.Marshal(c.asked)
	if err == nil {
		raw, err = ubl.Canonical(raw)
	}
	if err != nil {
		return err
	}
	var actions []string
	for _, a := range c.asked {
		actions = append(actions, a.Action)
	}
	end.Effect = append(end.Effect, ubl.Int("asked", int64(len(c.asked))), ubl.Str("asked_hash", c.salt.Commit(raw)), ubl.Str("replies", strings.Join(actions, ",")))
	return nil
}

// field is one of a form, with what the protocol lets it say but for patterns: matching a
// hostile one can hang the client.
type field struct {
	Type        string   `json:"type"`
	Title       string   `json:"title,omitempty"`
	Description string   `json:"description,omitempty"`
	MinLength   *int     `json:"minLength,omitempty"`
	MaxLength   *int     `json:"maxLength,omitempty"`
	Format      string   `json:"format,omitempty"`
	Minimum     *float64 `json:"minimum,omitempty"`
	Maximum     *float64 `json:"maximum,omitempty"`
	MinItems    *int     `json:"minItems,omitempty"`
	MaxItems    *int     `json:"maxItems,omitempty"`
	Default     any      `json:"default,omitempty"`
	Enum        []string `json:"enum,omitempty"`
	EnumNames   []string `json:"enumNames,omitempty"`
	OneOf       []choice `json:"oneOf,omitempty"`
	Items       *items   `json:"items,omitempty"`
}

type choice struct {
	Const string `json:"const"`
	Title string `json:"title,omitempty"`
}

type items struct {
	Type  string   `json:"type,omitempty"`
	Enum  []string `json:"enum,omitempty"`
	AnyOf []choice `json:"anyOf,omitempty"`
}

// question is one to a person, as the protocol has it in both eras.
type question struct {
	Message string `json:"message"`
	Schema  struct {
		Type       string           `json:"type"`
		Properties map[string]field `json:"properties"`
		Required   []string         `json:"required,omitempty"`
	} `json:"requestedSchema"`
}

var errForm = ubl.Errorf(ubl.CodeValidation, "the server's question is not a flat form of bounded size")

// formOf is a server's question as a person is shown it: whose it is before its words, which don't
// look like another speaker's, nothing that can't be seen, no credential, and of its schema what a form
// can show.
func formOf(server string, in *mcp.ElicitParams, hide secrets) (json.RawMessage, error) {
	var f question
	f.Message = ubl.ForeignQuestion(server, hide.words(in.Message))
	raw, err := json.Marshal(in.RequestedSchema)
	if err != nil {
		return nil, errForm
	}
	raw = ubl.PlainJSON(raw)
	if len(raw) > ubl.MaxQuestion/2 || json.Unmarshal(raw, &f.Schema) != nil {
		return nil, errForm
	}
	if f.Schema.Type != "object" || len(f.Schema.Properties) > maxFields {
		return nil, errForm
	}
	for name, field := range f.Schema.Properties {
		if name == "" || hide.redact(name) != name || broken(name) || !field.fits() {
			return nil, errForm
		}
		field.inLines()
		f.Schema.Properties[name] = field
	}
	if f.Schema.Properties == nil {
		f.Schema.Properties = map[string]field{}
	}
	f.Schema.Required = slices.DeleteFunc(f.Schema.Required, func(name string) bool {
		_, known := f.Schema.Properties[name]
		return !known
	})
	out, err := json.Marshal(f)
	if err == nil {
		out, err = ubl.Canonical(out)
	}
	if err != nil || len(out) > ubl.MaxQuestion {
		return nil, errForm
	}
	return hide.redactJSON(out)
}

// fits reports whether a field is of a type that the protocol allows, and each of its values, which
// go back as they are, on one line.
func (f *field) fits() bool {
	many := max(len(f.Enum), len(f.OneOf))
	if f.Default != nil && !flat(f.Default) {
		return false
	}
	if slices.ContainsFunc(f.Enum, broken) || slices.ContainsFunc(f.OneOf, choice.broken) ||
		f.Items != nil && (slices.ContainsFunc(f.Items.Enum, broken) || slices.ContainsFunc(f.Items.AnyOf, choice.broken)) {
		return false
	}
	switch f.Type {
	case "string", "number", "integer", "boolean":
		return f.Items == nil && many <= maxChoices
	case "array":
		return f.Items != nil && max(len(f.Items.Enum), len(f.Items.AnyOf)) <= maxChoices && len(f.Items.Enum)+len(f.Items.AnyOf) > 0
	}
	return false
}

func broken(value string) bool { return strings.Contains(value, "\n") }

func (c choice) broken() bool { return broken(c.Const) }

// inLines puts each text that a person is shown on one line.
func (f *field) inLines() {
	texts := []*string{&f.Title, &f.Description}
	for i := range f.EnumNames {
		texts = append(texts, &f.EnumNames[i])
	}
	for i := range f.OneOf {
		texts = append(texts, &f.OneOf[i].Title)
	}
	if f.Items != nil {
		for i := range f.Items.AnyOf {
			texts = append(texts, &f.Items.AnyOf[i].Title)
		}
	}
	for _, text := range texts {
		*text = ubl.PlainLine(*text)
	}
	if text, ok := f.Default.(string); ok {
		f.Default = ubl.PlainLine(text)
	}
}
