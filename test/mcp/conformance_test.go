package mcp_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestConformance runs the protocol's own suite: what it requires of a server
// for each revision, on one node and through a balancer over two. What can't
// pass is listed with the reason in testdata/cannot-pass-REVISION.yaml; the suite
// fails, too, where something of that list does pass.
func TestConformance(t *testing.T) {
	box := tools(t)
	for name, open := range map[string]func(*testing.T) []*program{
		"one node":  func(t *testing.T) []*program { return []*program{start(t, fixed)} },
		"two nodes": func(t *testing.T) []*program { return startCluster(t) },
	} {
		t.Run(name, func(t *testing.T) {
			at := front(t, open(t)...)
			for _, revision := range []string{"2025-11-25", "2026-07-28"} {
				t.Run(revision, func(t *testing.T) { box.conforms(t, at+"/mcp", revision) })
			}
		})
	}
}

// conforms runs the suite for one revision.
func (b toolbox) conforms(t *testing.T, url, revision string) {
	list, err := filepath.Abs(filepath.Join("testdata", "cannot-pass-"+revision+".yaml"))
	if err != nil {
		t.Fatal(err)
	}
	results := t.TempDir()
	out, code := b.run(t, b.module("@modelcontextprotocol", "conformance", "dist", "index.js"), "server",
		"--url", url, "--requirements", revision, "--expected-failures", list, "--output-dir", results)
	if code != 0 {
		t.Errorf("the suite ended with %d:\n%s\n%s", code, failures(results), out[max(0, strings.Index(out, "=== SUMMARY")):])
	}
}

// failures are the checks that failed, whether that was expected or not.
func failures(dir string) string {
	var b strings.Builder
	files, _ := filepath.Glob(filepath.Join(dir, "*", "checks.json"))
	for _, file := range files {
		var checks []struct{ ID, Status, ErrorMessage string }
		data, err := os.ReadFile(file)
		if err != nil || json.Unmarshal(data, &checks) != nil {
			continue
		}
		for _, c := range checks {
			if c.Status == "FAILURE" || c.Status == "WARNING" {
				fmt.Fprintf(&b, "%s %s %s: %s\n", filepath.Base(filepath.Dir(file)), c.Status, c.ID, c.ErrorMessage)
			}
		}
	}
	return b.String()
}
