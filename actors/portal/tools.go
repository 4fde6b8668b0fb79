package portal

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"ubl"
	"ubl/actors"
)

// maxKnown is how many tools of a server are remembered, those that are gone
// included: a server that lists others every day must not fill memory. One that is
// gone is not forgotten for another's sake, else a changed definition could come
// back as a new one that nobody has to approve.
const maxKnown = 2 * ubl.MaxServerTools

// quiet is how old a sync must be before the same again is another act. A server that
// is down is tried every few minutes, which must not fill the ledger.
func quiet(c ubl.RecordSync) time.Duration {
	if c.Problem != "" && c.Who.IsPlatform() {
		return 23 * time.Hour
	}
	return time.Minute
}

// maxProblem bounds why a server is down, in bytes.
const maxProblem = 500

// listContent tells one list of tools from another. What a server sent need not
// be JSON.
func listContent(list []ubl.ToolDefinition) string {
	var b strings.Builder
	for _, d := range list {
		b.WriteString(strconv.Quote(d.Name))
		b.WriteString(ubl.BodyHash(d.Definition))
	}
	return b.String()
}

// decideSync records what a server said, unless it is what the last one just said.
func (s *State) decideSync(c ubl.RecordSync, at actors.Moment) (*plan, error) {
	err := s.owner(c.Who, c.Owner || c.Who.IsPlatform())
	if err != nil {
		return nil, err
	}
	asked, err := s.enabled(c.ServerID)
	if err != nil {
		return nil, err
	}
	last := asked.sync
	said := &syncing{form: form{version}, ServerID: c.ServerID, At: at.Now, Down: c.Problem != "", Problem: clipped(c.Problem, maxProblem)}
	var changed []*ubl.PortalTool
	if said.Down {
		if said.Since = said.At; last != nil && last.Down {
			said.Since = last.since()
		}
	} else {
		var left int
		if changed, left = s.merge(c.ServerID, c.Tools); left > 0 {
			said.Problem = fmt.Sprintf("tools left out: %d (too many, too large, not canonical JSON, or of a name that is no tool's)", left)
		}
	}
	if last != nil && len(changed) == 0 && last.Down == said.Down && last.Problem == said.Problem && said.At < last.At.Add(quiet(c)) {
		return nil, nil
	}
	return &plan{
		Act:   executed(ubl.DidServerSync, ubl.Fields{ubl.Str("server", c.ServerID)}, s.syncEffect(said, changed)),
		Event: event{sync: said, tools: changed},
		// As it is from now on.
		Alarms: []actors.Alarm{s.asking(&server{config: asked.config, sync: said}, at.Now)},
	}, nil
}

// syncEffect is how the server is once it has said so.
func (s *State) syncEffect(said *syncing, changed []*ubl.PortalTool) ubl.Fields {
	tools := make(map[string]*ubl.PortalTool)
	for _, t := range append(s.toolsOf(said.ServerID), changed...) {
		tools[t.Tool] = t
	}
	var n count
	for _, t := range tools {
		n.add(t)
	}
	now := (&server{config: s.Servers[said.ServerID].config, sync: said}).view(n)
	return ubl.Fields{
		ubl.Int("changed", int64(len(changed))), ubl.Int("held", int64(now.Held)), ubl.Str("server", said.ServerID),
		ubl.Str("status", now.Status), ubl.Int("tools", int64(now.Tools)),
	}
}

// synced answers with the server as it is.
func (s *State) synced(c ubl.RecordSync) func() (any, error) {
	asked, err := s.server(c.ServerID)
	if err != nil {
		return func() (any, error) { return nil, err }
	}
	view, receipt := s.view(asked), asked.receipt
	return func() (any, error) { return receipted(view, receipt), nil }
}

// merge compares what a server lists with what is known of it: the tools that
// differ, as they are from now on, by name, and how many were left out. A tool
// that was left out is one that the server doesn't list.
func (s *State) merge(server string, listed []ubl.ToolDefinition) (changed []*ubl.PortalTool, left int) {
	known, size := len(s.toolsOf(server)), s.size()
	seen := make(map[string]*ubl.PortalTool)
	for _, d := range listed {
		name := server + "." + d.Name
		was := s.Tools[name]
		now := follow(was, server, name, d)
		more := sizeOf(now) - sizeOf(was)
		takes := d.Name != "" && ubl.ValidToolName(name) && seen[name] == nil && len(seen) < ubl.MaxServerTools &&
			(was != nil || known < maxKnown) && size+more <= ubl.MaxDefinitions && fits(was, now, d.Definition)
		if !takes {
			left++
			continue
		}
		if was == nil {
			known++
		}
		size += more
		seen[name] = now
	}
	for _, was := range s.toolsOf(server) {
		if seen[was.Tool] == nil {
			seen[was.Tool] = vanished(was)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(seen)) {
		if seen[name] != s.Tools[name] {
			changed = append(changed, seen[name])
		}
	}
	return changed, left
}

// follow is a tool after its server listed it: pinned where it is new, held where
// it changed, and free again where it is as it was pinned. It is the same pointer
// where nothing differs.
func follow(was *ubl.PortalTool, server, name string, d ubl.ToolDefinition) *ubl.PortalTool {
	hash := ubl.BodyHash(d.Definition)
	if was == nil {
		return &ubl.PortalTool{Tool: name, ServerID: server, Upstream: d.Name, Definition: d.Definition, Hash: hash}
	}
	now := *was
	now.Gone = false
	switch hash {
	case was.Hash, plainHash(was.Definition):
		now.Held, now.HeldHash = nil, ""
	case was.HeldHash:
	default:
		now.Held, now.HeldHash = d.Definition, hash
	}
	if now.Gone == was.Gone && now.HeldHash == was.HeldHash {
		return was
	}
	return &now
}

// plainHash hashes a definition as an owner saw it. Definitions that were pinned by
// earlier versions may still hold characters that can't be seen.
func plainHash(pinned json.RawMessage) string {
	plain := ubl.PlainJSON(pinned)
	if canonical, err := ubl.Canonical(plain); err == nil {
		return ubl.BodyHash(canonical)
	}
	return ""
}

// vanished is a tool that its server lists no more. What was held goes with it;
// what is pinned stays, so that it is known when it comes back.
func vanished(was *ubl.PortalTool) *ubl.PortalTool {
	if was.Gone {
		return was
	}
	now := *was
	now.Gone, now.Held, now.HeldHash = true, nil, ""
	return &now
}

// fits reports whether a definition that is new may be kept.
func fits(was, now *ubl.PortalTool, definition []byte) bool {
	if was != nil && (now.HeldHash == "" || now.HeldHash == was.HeldHash) {
		return true // it is kept already
	}
	if len(definition) > ubl.MaxDefinition {
		return false
	}
	canonical, err := ubl.Canonical(definition)
	return err == nil && bytes.Equal(canonical, definition) && definition[0] == '{'
}

// size is how much all definitions take.
func (s *State) size() (n int) {
	for _, t := range s.Tools {
		n += sizeOf(t)
	}
	return n
}

func sizeOf(t *ubl.PortalTool) int {
	if t == nil {
		return 0
	}
	return len(t.Definition) + len(t.Held)
}

func (s *State) decideApprove(c ubl.ApproveTool, _ actors.Moment) (*plan, error) {
	if err := s.owner(c.Who, c.Owner); err != nil {
		return nil, err
	}
	was := s.Tools[c.Tool]
	switch {
	case was == nil:
		return nil, ubl.NoTool()
	case was.HeldHash == "":
		return nil, ubl.Errorf(ubl.CodeConflict, "no definition of this tool waits for approval")
	case was.HeldHash != c.Hash:
		return nil, ubl.Errorf(ubl.CodeConflict, "the definition that waits for approval is another one")
	}
	now := *was
	now.Definition, now.Hash, now.Held, now.HeldHash = was.Held, was.HeldHash, nil, ""
	about := ubl.Fields{ubl.Str("definition_hash", now.Hash), ubl.Str("tool", now.Tool)}
	return &plan{Act: executed(ubl.DidToolApprove, about, slices.Clone(about)), Event: event{Tool: &now}}, nil
}

// listed are the tools of all servers that are not disabled, by name.
func (s *State) listed() []*ubl.PortalTool {
	list := []*ubl.PortalTool{}
	for _, name := range slices.Sorted(maps.Keys(s.Tools)) {
		if tool := s.Tools[name]; !s.Servers[tool.ServerID].config.Disabled {
			list = append(list, tool)
		}
	}
	return list
}
