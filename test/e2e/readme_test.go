package e2e

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"ubl/test/built"
	"ubl/test/need"
	"ubl/test/ports"
)

// TestReadmeTour runs the README's five minutes as a newcomer would: each block
// in turn in one shell, in an empty directory, against a new server.
func TestReadmeTour(t *testing.T) {
	for _, tool := range []string{"bash", "curl"} {
		need.Tool(t, tool)
	}
	out := runSection(t, "tour")
	inOrder(t, out, []string{
		"t:localhost", "owner", // whoami
		"sent as 2 in r:general, receipt 9 ",           // hello
		`"did":"messenger.send"`, `"op":"room.append"`, // its receipt
		"r:launch-plans is made", "Launch plans", // the room, and the list
		`"did":"room.create"`,                              // its Agreement
		`"text":"ship it"`, `"room_seq":2`, `"room_seq":2`, // once, and its retry
		`"code":"idempotency_conflict"`,                                  // another body
		"id: 1\nevent: message.created", "id: 2\nevent: message.created", // the stream
		"hello from the shell", // history
		"\nubl_",               // the service token
		"office.document.delete", "Launch",
		"ok: t:localhost", // verify
		"a changed ledger doesn't verify",
	})
}

// TestReadmeAgents runs what the README has for agents.
func TestReadmeAgents(t *testing.T) {
	for _, tool := range []string{"bash", "curl"} {
		need.Tool(t, tool)
	}
	inOrder(t, runSection(t, "agents"), []string{
		"messenger.send", "office.document.create", "sent as 2 in r:general, receipt ", // mcp-check
		"hello from ubl mcp-check",                  // history
		`"version":1`, `"receipt":{`, `"snippet":"`, // a document, found
		`"tool":"office.document.delete"`, `"allowed":false`, `"per_minute":60`, // who may
		`"calls":[`,
	})
}

// TestReadmePublic runs what the README has for those without an account.
func TestReadmePublic(t *testing.T) {
	for _, tool := range []string{"bash", "curl"} {
		need.Tool(t, tool)
	}
	inOrder(t, runSection(t, "public"), []string{
		`"container_id":"k:handbook"`, `"title":"Rules"`, // made with a token
		"200 OK", "Access-Control-Allow-Origin: *", "Cache-Control: public, max-age=30", `Etag: "`, `"title":"Rules"`, `"next_cursor":null`, // and read without
	})
}

// runSection runs a section in one shell, in an empty directory, against a new
// server, and returns what it wrote.
func runSection(t *testing.T, name string) string {
	t.Helper()
	return newNode(t).runSection(name, "")
}

// runSection runs a section against the node, and then some more in the same shell.
func (n *node) runSection(name, more string) string {
	t := n.t
	t.Helper()
	dir := t.TempDir()
	if err := os.Symlink(n.path, filepath.Join(dir, "ubl")); err != nil {
		t.Fatal(err)
	}
	script := "set -e\n" + section(t, name) + more
	script = strings.ReplaceAll(script, "http://127.0.0.1:8080", "http://"+n.addr)
	script = strings.ReplaceAll(script, "./ubl token owner@localhost", "./ubl token owner@localhost --data "+n.dir)
	cmd := exec.Command("bash", "-c", script)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("the section ends with %v:\n%s", err, out)
	}
	return string(out)
}

// inOrder checks that texts come one after another.
func inOrder(t *testing.T, out string, texts []string) {
	t.Helper()
	rest := out
	for _, want := range texts {
		at := strings.Index(rest, want)
		if at < 0 {
			t.Fatalf("%q doesn't come where the README says so:\n%s", want, out)
		}
		rest = rest[at+len(want):]
	}
}

// section is the shell code between two comments of the README or the manual.
func section(t *testing.T, name string) string {
	t.Helper()
	var texts strings.Builder
	manual, err := filepath.Glob("../../docs/*.md")
	for _, file := range append(manual, "../../README.md") {
		text, failed := os.ReadFile(file)
		err = errors.Join(err, failed)
		texts.Write(text)
	}
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(texts.String(), "<!-- "+name+":")
	part, _, found := strings.Cut(rest, "<!-- end of "+name+" -->")
	if !found {
		t.Fatalf("neither README nor manual has a section %s", name)
	}
	var script strings.Builder
	for i, block := range strings.Split(part, "```") {
		if code, ok := strings.CutPrefix(block, "sh\n"); ok && i%2 == 1 {
			script.WriteString(code)
		}
	}
	return script.String()
}

// TestReadmeGrow runs the README's way from one node to three: a node alone with
// a message, and then what the README says, in one shell.
func TestReadmeGrow(t *testing.T) {
	need.Tool(t, "bash")
	dir := t.TempDir()
	if err := os.Symlink(built.Path(t), filepath.Join(dir, "ubl")); err != nil {
		t.Fatal(err)
	}
	script := `set -e
trap 'kill $(jobs -p) 2>/dev/null; wait; tail -n 50 *.log' EXIT
./ubl serve > alone.log 2>&1 & pid=$!
./ubl health --wait 30s
UBL_TOKEN=$(./ubl token owner@localhost) ./ubl send r:general "written by a node alone"
kill $pid; wait $pid; echo "stopped"
` + section(t, "grow")
	for _, port := range []string{"8080", "8082", "8083", "7101", "7102", "7103"} {
		script = strings.ReplaceAll(script, "127.0.0.1:"+port, ports.Free(t))
	}
	// What the README takes from the defaults.
	script = strings.ReplaceAll(script, "./ubl serve >", "./ubl serve --listen $UBL_LISTEN >")
	cmd := exec.Command("bash", "-c", script)
	cmd.Dir = dir
	main := ports.Free(t)
	cmd.Env = append(os.Environ(), "UBL_LISTEN="+main, "UBL_URL=http://"+main)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("the section ends with %v:\n%s", err, out)
	}
	inOrder(t, string(out), []string{"stopped", "written by a node alone", "n1  ", "still here", "ok: t:localhost"})
}
