package mcp_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"ubl"
	"ubl/transport/api"
	"ubl/transport/mcp/find"
)

func TestEvaluation(t *testing.T) {
	var all []find.Tool
	for _, act := range api.New(api.Options{Version: "test"}).Acts() {
		all = append(all, find.Tool{Name: act.Name, Title: act.Title, Description: act.Description, Input: act.Input})
	}
	for _, n := range noise {
		all = append(all, find.Tool{Name: n.server + "." + n.tool, Description: ubl.ForeignTool(n.server, n.says)})
	}
	index := find.New(all)
	found := 0
	for _, task := range tasks {
		hits, _ := index.Search(task.said, 3, nil)
		var names []string
		for _, h := range hits {
			names = append(names, all[h.Tool].Name)
		}
		if slices.ContainsFunc(task.tools, func(name string) bool { return slices.Contains(names, name) }) {
			found++
			continue
		}
		t.Logf("%s: %s, want %s", task.said, strings.Join(names, " "), task.tools)
	}
	t.Log(fmt.Sprintf("%d of %d", found, len(tasks)))
}
