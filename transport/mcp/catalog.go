package mcp

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"ubl"
	"ubl/transport/envelope"
)

// catalog is our own tools. Nothing in it changes once it is made.
type catalog struct {
	acts []*envelope.Act // by name
	// byName finds an act by its name, with dots or without.
	byName map[string]*envelope.Act
}

// newCatalog checks that every act can be a tool: clients and models choke on
// what the protocol would allow.
func newCatalog(acts []envelope.Act) (*catalog, error) {
	c := &catalog{byName: make(map[string]*envelope.Act, 2*len(acts))}
	for _, act := range acts {
		if err := errors.Join(checkAct(&act), makeActPortable(&act)); err != nil {
			return nil, fmt.Errorf("couldn't make a tool of %s: %w", act.Name, err)
		}
		for _, name := range slices.Compact([]string{act.Name, plain(act.Name)}) {
			if c.byName[name] != nil {
				return nil, fmt.Errorf("couldn't make a tool of %s: %s is a tool already", act.Name, name)
			}
			c.byName[name] = &act
		}
		c.acts = append(c.acts, &act)
	}
	slices.SortFunc(c.acts, func(a, b *envelope.Act) int { return strings.Compare(a.Name, b.Name) })
	return c, nil
}

func checkAct(act *envelope.Act) error {
	switch {
	case !ubl.ValidToolName(act.Name) || len(act.Name) > maxOwnName:
		return fmt.Errorf("a name has 1 to %d of [A-Za-z0-9_.-]", maxOwnName)
	case act.Do == nil || act.Description == "":
		return fmt.Errorf("it does nothing, or doesn't say what")
	}
	var in struct {
		Type string `json:"type"`
		More *bool  `json:"additionalProperties"`
	}
	if err := json.Unmarshal(act.Input, &in); err != nil || in.Type != "object" || in.More == nil || *in.More {
		return fmt.Errorf("its input is not an object without additionalProperties")
	}
	if act.Output == nil {
		return nil
	}
	var out struct {
		Type string `json:"type"`
	}
	if err := json.Unmarshal(act.Output, &out); err != nil || out.Type != "object" {
		return fmt.Errorf("its output is not an object")
	}
	return nil
}

func makeActPortable(act *envelope.Act) (err error) {
	if act.Input, err = portable(act.Input); err != nil || act.Output == nil {
		return err
	}
	act.Output, err = portable(orFailure(act.Output))
	return err
}

// maxOwnName fits every client as it is.
const maxOwnName = 48

// find is the act of a name in either spelling, nil where it isn't ours.
func (c *catalog) find(name string) *envelope.Act { return c.byName[name] }

// list is the visible tools as a client sees them.
func (c *catalog) list(d *dialect, visible func(string) bool) []*sdk.Tool {
	out := make([]*sdk.Tool, 0, len(c.acts))
	for _, act := range c.acts {
		if visible(act.Name) {
			out = append(out, toolOf(act, d))
		}
	}
	return out
}

func toolOf(act *envelope.Act, d *dialect) *sdk.Tool {
	t := &sdk.Tool{
		Name: d.spell(act.Name), Title: act.Title, Description: act.Description, InputSchema: act.Input,
		Annotations: &sdk.ToolAnnotations{
			Title: act.Title, ReadOnlyHint: act.ReadOnly, DestructiveHint: &act.Destructive, IdempotentHint: act.Idempotent,
			OpenWorldHint: new(opensWorld(act.Name)),
		},
	}
	if act.Output != nil {
		t.OutputSchema = act.Output
	}
	return t
}

// opensWorld reports whether a tool of ours reaches beyond the server: models
// and other servers do.
func opensWorld(name string) bool {
	return name == string(ubl.DidComplete) || name == string(ubl.DidToolCall)
}
