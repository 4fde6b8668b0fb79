package mcp_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"ubl"
	"ubl/actors/families"
	"ubl/transport/mcp"
)

// How many of the tasks have one of their tools among the first three that tool.search
// finds, at least. Raise them where words get better; never lower them.
const (
	foundTasks    = 59 // of 60
	foundFresh    = 16 // of 20
	foundBuilders = 45 // of 50
	foundOwn      = 20 // of 20
	// foundElsewhere is how many of the queries for what no tool does find one all the same, at most.
	foundElsewhere = 4 // of 30
)

// among is how many tools a task looks at.
const among = 3

// TestEvaluation: tasks in plain words find their tools among all of ours and a hundred of
// other servers.
func TestEvaluation(t *testing.T) {
	w := evaluationWorld(t)
	for name, c := range map[string]struct {
		tasks []task
		want  int
	}{"tasks": {tasks, foundTasks}, "fresh": {fresh, foundFresh}, "builders": {builders, foundBuilders}, "own": {own, foundOwn}} {
		t.Run(name, func(t *testing.T) {
			choose := func(said string) []string {
				names, _, _ := w.search(t, "/portal/mcp", "ana", string(encode(t, map[string]any{"query": said, "limit": among})))
				return names
			}
			if found := measure(t, c.tasks, choose); found < c.want {
				t.Errorf("%d of %d tasks find a right tool, want %d", found, len(c.tasks), c.want)
			}
		})
	}
}

// TestEvaluationTerse: a word or two find their tools among ours.
func TestEvaluationTerse(t *testing.T) {
	w := newWorld(t, withScripts)
	choose := func(said string) []string {
		names, _, _ := w.search(t, "/mcp", "ana", string(encode(t, map[string]any{"query": said, "limit": among})))
		return names
	}
	if found := measure(t, terse, choose); found < len(terse) {
		t.Errorf("%d of %d find a right tool", found, len(terse))
	}
}

// TestEvaluationElsewhere: where no tool does what is wanted, none is found, and the answer says what to try.
func TestEvaluationElsewhere(t *testing.T) {
	w := newWorld(t, withScripts)
	wrong := 0
	for _, said := range elsewhere {
		var out struct {
			Tools []found
			Next  string
		}
		structured(t, w.use(t, "/mcp", "ana", "test", "tool.search", string(encode(t, map[string]any{"query": said}))), &out)
		if len(out.Tools) > 0 {
			wrong++
			t.Logf("%s: finds %s", said, out.Tools[0].Name)
		}
		if (len(out.Tools) == 0) != strings.Contains(out.Next, "Try one verb and one thing") || len(out.Tools) > 2 {
			t.Errorf("%s: found are %v, and next is %q", said, namesOf(out.Tools), out.Next)
		}
	}
	if wrong > foundElsewhere {
		t.Errorf("%d of %d queries find tools that do something else, want at most %d", wrong, len(elsewhere), foundElsewhere)
	}
}

func namesOf(tools []found) (names []string) {
	for _, tool := range tools {
		names = append(names, tool.Name)
	}
	return names
}

// measure counts the tasks of which a right tool is chosen, and logs the others.
func measure(t *testing.T, tasks []task, choose func(said string) []string) (found int) {
	t.Helper()
	for _, task := range tasks {
		names := choose(task.said)
		if slices.ContainsFunc(task.tools, func(tool string) bool { return slices.Contains(names, tool) }) {
			found++
			continue
		}
		t.Logf("%s: chosen are %s, and not %s", task.said, strings.Join(names, ", "), strings.Join(task.tools, " or "))
	}
	t.Logf("a right tool for %d of %d tasks", found, len(tasks))
	return found
}

// evaluationWorld has all tools of ours, and those of other servers.
func evaluationWorld(t *testing.T) *world {
	t.Helper()
	o := &others{}
	for _, n := range noise {
		o.tools = append(o.tools, tool(n.server+"."+n.tool, string(encode(t, map[string]any{
			"name": n.tool, "description": n.says, "inputSchema": json.RawMessage(`{"type":"object"}`),
		}))))
	}
	slices.SortFunc(o.tools, func(a, b *ubl.PortalTool) int { return strings.Compare(a.Tool, b.Tool) })
	return newWorld(t, withScripts, func(opts *mcp.Options) { opts.Portal, opts.Blobs = o, contents{} })
}

// TestTasksAreWhole: each names tools that there are, and stands there once.
func TestTasksAreWhole(t *testing.T) {
	w := evaluationWorld(t)
	seen := map[string]bool{}
	for _, task := range slices.Concat(tasks, fresh, builders, own, terse) {
		if seen[task.said] || len(task.tools) == 0 {
			t.Errorf("%q is there twice, or has no tool", task.said)
		}
		seen[task.said] = true
		for _, tool := range task.tools {
			var got struct{ Name string }
			structured(t, w.use(t, "/portal/mcp", "ana", "test", "tool.describe", `{"name":"`+tool+`"}`), &got)
			if got.Name != tool {
				t.Errorf("%q: %s is no tool", task.said, tool)
			}
		}
	}
	for _, o := range families.All.Offers() {
		if !slices.ContainsFunc(own, func(task task) bool { return slices.Contains(task.tools, o.Tool) }) {
			t.Errorf("no task is for %s", o.Tool)
		}
	}
	if len(tasks) != 60 || len(builders) != 50 || len(noise) != 100 {
		t.Errorf("%d tasks and %d of builders among %d tools of others", len(tasks), len(builders), len(noise))
	}
}
