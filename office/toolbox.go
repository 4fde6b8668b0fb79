package office

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"ubl"
	"ubl/gateway"
)

const (
	// maxTools is how many tools a completion may use.
	maxTools = 100
	// maxFunction is the longest name of a tool that models take.
	maxFunction = 64
)

// toolbox is the tools of one completion: as they are offered to the model, and by
// the names that it has for them.
type toolbox struct {
	offered []gateway.Tool
	named   map[string]string
}

// findTools takes those of the caller's tools that the request names.
func (c *completing) findTools(ctx context.Context) error {
	if len(c.Tools) == 0 {
		return nil
	}
	var list []Tool
	if c.o.Tools != nil {
		var err error
		if list, err = c.o.Tools.List(ctx, c.Who); err != nil {
			return err
		}
	}
	c.tools.named = map[string]string{}
	for i, name := range c.Tools {
		at := slices.IndexFunc(list, func(t Tool) bool { return t.Name == name })
		switch {
		case name == string(ubl.DidComplete) || name == string(ubl.DidToolCall):
			return wrong(fmt.Sprintf("tools[%d]", i), "can't be used inside a completion")
		case at < 0:
			return wrong(fmt.Sprintf("tools[%d]", i), "is no tool that the caller may use")
		case slices.Contains(c.Tools[:i], name):
			continue
		}
		c.tools.add(list[at])
	}
	return nil
}

// add offers a tool under a name that models take.
func (b *toolbox) add(t Tool) {
	name := functionName(t.Name)
	if _, taken := b.named[name]; taken {
		name = shortened(t.Name, name)
	}
	b.named[name] = t.Name
	b.offered = append(b.offered, gateway.Tool{Name: name, Description: t.Description, Parameters: t.Input})
}

// functionName is a tool's name with what models take: letters, digits, _ and -,
// at most 64 of them.
func functionName(tool string) string {
	name := strings.ReplaceAll(tool, ".", "_")
	if len(name) > maxFunction {
		return shortened(tool, name)
	}
	return name
}

// shortened ends a name with a part of the tool's hash, so that two that begin
// alike stay two.
func shortened(tool, name string) string {
	sum := sha256.Sum256([]byte(tool))
	end := "_" + hex.EncodeToString(sum[:4])
	return name[:min(len(name), maxFunction-len(end))] + end
}
