package mcp

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"ubl"
	"ubl/transport/envelope"
)

// catalog is our own tools. Nothing in it changes once it is made.
type catalog struct {
	own []*ownTool // by name
	// byName finds an act by its name, with dots or without.
	byName map[string]*envelope.Act
	// sets are the names of all sets of ours, in the table's order, families' own last.
	sets []string
}

// ownTool is one of our own, with where the table has it.
type ownTool struct {
	*envelope.Act
	placed
	standard bool // listed by default
	// forms are the tool as it is listed, made when it first is: without dots or with, with its
	// output's schema or without, with its view or without.
	forms [2][2][2]func() form
}

// form is a tool as a client sees it, and encoded so.
type form struct {
	tool *sdk.Tool
	raw  []byte
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
		c.own = append(c.own, newOwnTool(&act))
	}
	slices.SortFunc(c.own, func(a, b *ownTool) int { return strings.Compare(a.Name, b.Name) })
	c.sets = slices.Clone(setNames)
	for _, t := range c.own {
		if !slices.Contains(c.sets, t.set) {
			c.sets = append(c.sets, t.set)
		}
	}
	return c, nil
}

func newOwnTool(act *envelope.Act) *ownTool {
	t := &ownTool{Act: act, placed: placeOf[act.Name], standard: slices.Contains(standard, act.Name)}
	t.set = SetOf(act.Name)
	for i, d := range []*dialect{asIs, {plain: true, max: maxOwnName}} {
		for j, output := range []bool{false, true} {
			for k, view := range []bool{false, true} {
				t.forms[i][j][k] = sync.OnceValue(func() form {
					listed := *act
					listed.Input = lean(act.Input)
					tool := toolOf(&listed, d, output)
					if view {
						tool.Meta = viewMeta(act.Name)
					}
					f, _ := formOf(tool) // its schemas were encoded before
					return f
				})
			}
		}
	}
	return t
}

func formOf(t *sdk.Tool) (form, error) {
	raw, err := json.Marshal(t)
	return form{t, raw}, err
}

// size is what the tool takes in a list, in bytes.
func (f form) size() int { return len(f.raw) + len(",") }

// form is the tool as a client of the dialect sees it.
func (t *ownTool) form(d *dialect, output, view bool) form {
	return t.forms[index(d.plain)][index(output)][index(view)]()
}

func index(b bool) int {
	if b {
		return 1
	}
	return 0
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

func toolOf(act *envelope.Act, d *dialect, output bool) *sdk.Tool {
	t := &sdk.Tool{
		Name: d.spell(act.Name), Title: act.Title, Description: d.spellIn(act.Description, anyName), InputSchema: act.Input,
		Annotations: &sdk.ToolAnnotations{
			Title: act.Title, ReadOnlyHint: act.ReadOnly, DestructiveHint: &act.Destructive, IdempotentHint: act.Idempotent,
			OpenWorldHint: new(opensWorld(act.Name)),
		},
	}
	if output && act.Output != nil {
		t.OutputSchema = act.Output
	}
	return t
}

// anyName is for texts of our own, in which a dotted word is a tool.
func anyName(string) bool { return true }

// opensWorld reports whether a tool of ours reaches beyond the server: models
// and other servers do.
func opensWorld(name string) bool {
	return name == string(ubl.DidComplete) || name == string(ubl.DidToolCall) || passesOn(name)
}
