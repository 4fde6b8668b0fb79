package e2e

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ubl/test/need"
	"ubl/test/poll"
)

// looking is an MCP server in a few lines: its tool says what it finds in the files that it is
// started with.
const looking = `
while read -r line; do
  id=$(printf %s "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
  case "$line" in
  *'"initialize"'*) answer='"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"look","version":"1"}}' ;;
  *'"tools/list"'*) answer='"result":{"tools":[{"name":"look","inputSchema":{"type":"object"}}]}' ;;
  *'"tools/call"'*) answer='"result":{"content":[{"type":"text","text":"'"$(cat "$@" 2>/dev/null | wc -c | tr -d ' ') bytes, token $TOKEN"'"}]}' ;;
  *'"id"'*) answer='"error":{"code":-32601,"message":"no"}' ;;
  *) continue ;;
  esac
  printf '{"jsonrpc":"2.0","id":%s,%s}\n' "$id" "$answer"
done
`

// TestProgramOfANode: what the YAML file allows is run by the node, without the node's files, and
// doesn't outlive it.
func TestProgramOfANode(t *testing.T) {
	need.Namespaces(t)
	dir, err := os.MkdirTemp("", "ubl-e2e-program-") // t.TempDir is closed to others
	must(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	must(t, os.Chmod(dir, 0o755))
	script, config := filepath.Join(dir, "look.sh"), filepath.Join(dir, "ubl.yaml")
	must(t, os.WriteFile(script, []byte(looking), 0o644))
	data := filepath.Join(dir, "data")
	must(t, os.WriteFile(config, fmt.Appendf(nil, "portal:\n  commands:\n    look: {command: [/bin/sh, %s, %s/identity.key, %s/serving.json, %s], secret: TOKEN}\n", script, data, data, config), 0o644))
	n := newNode(t, "--data", data, "--config", config)
	n.dir = data
	owner := n.bearer("the owner", n.token("owner@localhost"))
	ask := func(want int, method, path, body string) string {
		t.Helper()
		status, answer := owner.ask(method, path, body)
		if status != want {
			t.Fatalf("%s %s was answered %d %s", method, path, status, answer)
		}
		return answer
	}
	if got := ask(200, "GET", "/api/portal/servers", ""); !strings.Contains(got, `"commands":["look"]`) {
		t.Errorf("owners may add %s", got)
	}
	if got := ask(400, "POST", "/api/portal/servers", `{"server_id":"x","name":"X","kind":"stdio","command":"sh"}`); !strings.Contains(got, "allows look") {
		t.Errorf("another program is answered %s", got)
	}
	ask(201, "POST", "/api/portal/servers", `{"server_id":"look","name":"Look","kind":"stdio","command":"look","auth":"environment","secret":"open-sesame-123"}`)
	poll.Until(t, "its tool is known", func() bool { return strings.Contains(ask(200, "GET", "/api/portal/servers", ""), `"status":"up"`) })
	ask(200, "PUT", "/api/portal/tools/look.look/access", `{"allowed":true}`)
	look := func() string { return ask(200, "POST", "/api/portal/tools/look.look/call", `{"arguments":{}}`) }
	if got := look(); !strings.Contains(got, `0 bytes, token [secret]`) {
		t.Errorf("it finds %s", got)
	}
	if runs(t, script) == 0 {
		t.Error("no such program runs")
	}
	n.kill()
	poll.Until(t, "the program has ended with its node", func() bool { return runs(t, script) == 0 })
	n.start()
	if got := look(); !strings.Contains(got, `0 bytes`) {
		t.Errorf("it finds %s", got)
	}
}

// runs counts the processes whose command line names a file, but for nodes.
func runs(t *testing.T, file string) (count int) {
	t.Helper()
	all, err := filepath.Glob("/proc/[0-9]*/cmdline")
	must(t, err)
	for _, path := range all {
		words, _ := os.ReadFile(path) // it may have ended
		if bytes.Contains(words, []byte(file)) {
			count++
		}
	}
	return count
}
