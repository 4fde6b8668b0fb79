package mcp

import (
	"context"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	strict "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"ubl"
	"ubl/transport/envelope"
	"ubl/transport/mcp/find"
)

// The three tools by which a client that lists few reaches all others.
const (
	toolSearch   = "tool.search"
	toolDescribe = "tool.describe"
	toolCall     = "tool.call"
)

// finding are the tools that every address lists.
var finding = []string{toolSearch, toolDescribe, toolCall}

// LongTail are their names, and that of the tool that runs programs.
var LongTail = []string{toolSearch, toolDescribe, toolCall, toolRun}

// Limits of a search.
const (
	defaultFound = 5
	maxFound     = 20
	maxQuery     = 500 // characters
	// withSchemas is how many tools come with the schemas of their arguments, and maxSchemas how many
	// bytes these have together at most.
	withSchemas = 3
	maxSchemas  = 6_000
)

// foundTool is a tool as tool.search and tool.describe tell of it.
type foundTool struct {
	Name        string          `json:"name"` // as this client spells it
	Title       string          `json:"title"`
	Description string          `json:"description"`
	Input       json.RawMessage `json:"input_schema,omitempty"`
	Output      json.RawMessage `json:"output_schema,omitempty"`
	Set         string          `json:"set"`
	ReadOnly    bool            `json:"read_only"`
	Score       float64         `json:"score,omitzero"`
}

const (
	foundProperties = `"name":{"type":"string","description":"What to call it by."},"title":{"type":"string"},"description":{"type":"string"},` +
		`"input_schema":{"type":"object","description":"JSON Schema of its arguments."},"set":{"type":"string","description":"The set of tools that it is in."},` +
		`"read_only":{"type":"boolean","description":"Whether it only reads."}`
	foundRequired = `"name","title","description","set","read_only"`
)

// tryElse says what to do where nothing was found.
const tryElse = "No tool that you may use fits these words. Try one verb and one thing, such as \"send a message\" or \"find a document\"; " +
	"leave names of people and places out, and set, too. If nothing comes then, nothing here does the job: tell whom you work for."

// tail are the acts of the three tools, and of the one that runs programs where the server has
// a runner.
func (s *Server) tail() []envelope.Act {
	acts := []envelope.Act{
		{
			Name: toolSearch, Title: "Find a tool",
			Description: "Finds tools that you may use, by plain words: what you want to do, as \"delete a file\". Use it when no tool that you see does the job. " +
				"The answer has the tools that fit, best first, and the input_schema of the first three (tool.describe has the others): call them by tool.call, or by their names. Where none fits it says what to try next.",
			Input: json.RawMessage(`{"type":"object","additionalProperties":false,"required":["query"],"properties":{` +
				`"query":{"type":"string","minLength":1,"maxLength":500,"description":"What you want to do, in English.","examples":["invite somebody to a room"]},` +
				`"limit":{"anyOf":[{"type":"integer","minimum":1,"maximum":20},{"type":"null"}],"default":5,"description":"How many tools to answer at most."},` +
				`"set":{"anyOf":[{"type":"string","maxLength":64},{"type":"null"}],"description":"Look only in this set of tools, as messenger, or the id of a tool server.","examples":["office"]}}}`),
			Output: json.RawMessage(`{"type":"object","additionalProperties":false,"required":["tools","more"],"properties":{` +
				`"tools":{"type":"array","description":"Best first.","items":{"type":"object","additionalProperties":false,"required":[` + foundRequired + `,"score"],` +
				`"properties":{` + foundProperties + `,"score":{"type":"number","description":"Higher is better; it compares the tools of one answer."}}}},` +
				`"more":{"type":"boolean","description":"Whether other tools were found besides."},` +
				`"next":{"type":"string","description":"Where no tool fits: what to try."}}}`),
			ReadOnly: true, Idempotent: true, Do: s.search, Foreign: foreignTools,
		},
		{
			Name: toolDescribe, Title: "Describe a tool",
			Description: "Tells of one tool what it does, which arguments it takes and what it answers. Use it when you know a tool's name and not its arguments.",
			Input: json.RawMessage(`{"type":"object","additionalProperties":false,"required":["name"],"properties":{` +
				`"name":{"type":"string","minLength":1,"maxLength":128,"description":"The tool's name, with dots or underscores.","examples":["office.file.list"]}}}`),
			Output: json.RawMessage(`{"type":"object","additionalProperties":false,"required":[` + foundRequired + `,"input_schema"],"properties":{` + foundProperties +
				`,"output_schema":{"type":"object","description":"JSON Schema of what it answers, where it has one."}}}`),
			ReadOnly: true, Idempotent: true, Do: s.describe, Foreign: foreignTools,
		},
		{
			Name: toolCall, Title: "Call a tool",
			Description: "Calls a tool by its name, with rights, receipt and answer as if called directly. Use it for one that isn't listed; " +
				"call others directly. Its arguments: tool.search or tool.describe.",
			Input: json.RawMessage(`{"type":"object","additionalProperties":false,"required":["name"],"properties":{` +
				`"name":{"type":"string","minLength":1,"maxLength":128,"description":"The tool's name, with dots or underscores.","examples":["room.create"]},` +
				`"arguments":{"anyOf":[{"type":"object"},{"type":"null"}],"description":"What the tool takes, as its input_schema says; client_request_id belongs in here.","examples":[{"name":"Design"}]}}}`),
			Destructive: true, Do: s.callNothing,
		},
	}
	if s.opts.Scripts != nil {
		acts = append(acts, s.runAct())
	}
	return acts
}

// target is what tool.call is to call.
type target struct {
	Name      string         `json:"name"`
	Arguments jsontext.Value `json:"arguments"`
}

// target is the tool that a call means by tool.call; false where it calls another, or says
// none that could be called.
func (s *Server) target(called string, args jsontext.Value) (target, bool) {
	if act := s.tools.find(called); act == nil || act.Name != toolCall {
		return target{}, false
	}
	t, err := readTarget(args)
	return t, err == nil && !s.isCall(t.Name)
}

func (s *Server) isCall(name string) bool {
	act := s.tools.find(name)
	return act != nil && act.Name == toolCall
}

func readTarget(args jsontext.Value) (t target, err error) {
	if err = readArguments(args, &t); err != nil {
		return t, err
	}
	if t.Name == "" {
		return t, invalid("name", "expected the name of a tool")
	}
	_, err = object(t.Arguments, "arguments")
	return t, err
}

// mayCallByName refuses whom a record of the tenant closes tool.call to.
func mayCallByName(ctx context.Context) error {
	_, err := envelope.CallerOf(ctx).Anew(false, toolCall).Enter(ctx)
	return err
}

// callNothing says what is wrong with a tool.call that calls no tool: all others are run
// as the tool that they name.
func (s *Server) callNothing(ctx context.Context, args json.RawMessage) (json.RawMessage, error) {
	if err := mayCallByName(ctx); err != nil {
		return nil, err
	}
	if _, err := readTarget(jsontext.Value(args)); err != nil {
		return nil, err
	}
	return nil, invalid("name", toolCall+" can't call itself: name the tool that does the job")
}

// search answers tool.search.
func (s *Server) search(ctx context.Context, args json.RawMessage) (json.RawMessage, error) {
	in := struct {
		Query string `json:"query"`
		Limit int    `json:"limit"`
		Set   string `json:"set"`
	}{Limit: defaultFound}
	if err := readArguments(args, &in); err != nil {
		return nil, err
	}
	switch n := utf8.RuneCountInString(in.Query); {
	case strings.TrimSpace(in.Query) == "" || n > maxQuery:
		return nil, invalid("query", "expected 1 to 500 characters")
	case in.Limit < 1 || in.Limit > maxFound:
		return nil, invalid("limit", "expected an integer from 1 to 20")
	}
	v := visitOf(ctx)
	x, err := s.lookFor(ctx, v, toolSearch)
	if err != nil {
		return nil, err
	}
	names := []string{setAll}
	if in.Set != "" {
		names = []string{strings.ToLower(in.Set)}
	}
	sel, err := x.choose(names, "set")
	if err != nil {
		return nil, err
	}
	hits, more := s.index(x.others).Search(in.Query, in.Limit, func(i int) bool { return x.has(sel, i) })
	out := struct {
		Tools []foundTool `json:"tools"`
		More  bool        `json:"more"`
		Next  string      `json:"next,omitempty"`
	}{Tools: []foundTool{}, More: more}
	room := maxSchemas
	for i, h := range hits {
		t := x.tell(h.Tool)
		t.Output, t.Score = nil, math.Round(100*h.Score)/100
		if h.Tool < len(s.tools.own) {
			t.Input = lean(t.Input)
		}
		if i >= withSchemas || len(t.Input) > room {
			t.Input = nil
		}
		room -= len(t.Input)
		out.Tools = append(out.Tools, t)
	}
	if len(hits) == 0 {
		out.Next = tryElse
	}
	return strict.Marshal(out)
}

// describe answers tool.describe. A tool that the caller isn't shown is as unknown as none.
func (s *Server) describe(ctx context.Context, args json.RawMessage) (json.RawMessage, error) {
	var in struct {
		Name string `json:"name"`
	}
	if err := readArguments(args, &in); err != nil {
		return nil, err
	}
	v := visitOf(ctx)
	x, err := s.lookFor(ctx, v, toolDescribe)
	if err != nil {
		return nil, err
	}
	place := x.named(in.Name)
	if place < 0 || !x.has(selection{all: true}, place) {
		return nil, s.withNear(ctx, v, in.Name, ubl.NoTool())
	}
	return strict.Marshal(x.tell(place))
}

// lookFor has the tenant let the caller in for one of the three tools, and finds out what they
// are shown.
func (s *Server) lookFor(ctx context.Context, v *visit, tool string) (*sight, error) {
	if _, err := envelope.CallerOf(ctx).Anew(false, tool).Enter(ctx); err != nil {
		return nil, err
	}
	return s.look(ctx, v)
}

// A tool's place in the catalogue that is searched: ours first, then the others.

// has reports whether a selection has the tool, and the caller is shown it.
func (x *sight) has(sel selection, place int) bool {
	own := x.s.tools.own
	if place < len(own) {
		return x.lists(sel, own[place])
	}
	t := x.others[place-len(own)]
	_, good := x.s.otherForm(t, x.v.names(), false)
	return (sel.all || slices.Contains(sel.servers, serverOf(t))) && good && x.s.tools.find(t.Tool) == nil && x.showsOther(t)
}

// named is the place of the tool that a client may mean by a name, -1 for none.
func (x *sight) named(name string) int {
	own := x.s.tools.own
	if act := x.s.tools.find(name); act != nil {
		return slices.IndexFunc(own, func(t *ownTool) bool { return t.Act == act })
	}
	if i := slices.IndexFunc(x.others, func(t *ubl.PortalTool) bool { return means(name, t.Tool) }); i >= 0 {
		return len(own) + i
	}
	return -1
}

// tell is what is told of a tool.
func (x *sight) tell(place int) foundTool {
	own, d := x.s.tools.own, x.v.names()
	if place < len(own) {
		t := own[place]
		return foundTool{
			Name: d.spell(t.Name), Title: t.Title, Description: t.Description, Input: t.Input, Output: t.Output,
			Set: t.set, ReadOnly: t.ReadOnly,
		}
	}
	t := x.others[place-len(own)]
	f, _ := x.s.otherForm(t, d, true)
	told := foundTool{
		Name: f.tool.Name, Title: f.tool.Title, Description: f.tool.Description, Input: f.tool.InputSchema.(json.RawMessage),
		Set: SetOf(t.Tool), ReadOnly: x.s.reads(t),
	}
	if output, ok := f.tool.OutputSchema.(json.RawMessage); ok {
		told.Output = output
	}
	return told
}

// foreignTools says whose words an answer of tool.search or tool.describe holds.
func foreignTools(answer json.RawMessage) (server string, failed bool) {
	var told struct {
		foundTool
		Tools []foundTool `json:"tools"`
	}
	if strict.Unmarshal(answer, &told) != nil {
		return "", false
	}
	var ids []string
	for _, t := range append(told.Tools, told.foundTool) {
		if id, ok := isServerSet(t.Set); ok {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return strings.Join(slices.Compact(ids), ", "), false
}

// catalogue is the tools of a search as package find knows them.
func (s *Server) catalogue(others []*ubl.PortalTool) []find.Tool {
	out := make([]find.Tool, 0, len(s.tools.own)+len(others))
	for _, t := range s.tools.own {
		out = append(out, find.Tool{Name: t.Name, Title: t.Title, Description: t.Description, Input: t.Input})
	}
	for _, t := range others {
		def, _ := defined(t)
		out = append(out, find.Tool{Name: t.Tool, Title: def.Title, Description: def.Description, Input: def.Input})
	}
	return out
}
