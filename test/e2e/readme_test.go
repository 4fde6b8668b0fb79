package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestReadmeTour runs the README's five minutes as a newcomer would: each block
// in turn in one shell, in an empty directory, against a new server.
func TestReadmeTour(t *testing.T) {
	for _, tool := range []string{"bash", "curl"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("the tour needs %s", tool)
		}
	}
	n := newNode(t)
	dir := t.TempDir()
	if err := os.Symlink(n.path, filepath.Join(dir, "ubl")); err != nil {
		t.Fatal(err)
	}
	script := "set -e\n" + tour(t)
	script = strings.ReplaceAll(script, "http://127.0.0.1:8080", "http://"+n.addr)
	script = strings.ReplaceAll(script, "./ubl token owner@localhost", "./ubl token owner@localhost --data "+n.dir)
	cmd := exec.Command("bash", "-c", script)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("the tour ends with %v:\n%s", err, out)
	}
	rest := string(out)
	for _, want := range []string{
		`"tenant_id":"t:localhost","role":"owner"`, // whoami
		`"room_seq":2`,                                 // hello
		`"did":"messenger.send"`, `"op":"room.append"`, // its receipt
		`"room_id":"r:launch-plans"`,                       // the room
		`"did":"room.create"`,                              // its Agreement
		`"text":"ship it"`, `"room_seq":2`, `"room_seq":2`, // once, and its retry
		`"code":"idempotency_conflict"`,                                  // another body
		"id: 1\nevent: message.created", "id: 2\nevent: message.created", // the stream
		"hello from the shell", // history
		`"client_secret":"`,    // the service token
		"ok: t:localhost",      // verify
		"a changed ledger doesn't verify",
	} {
		at := strings.Index(rest, want)
		if at < 0 {
			t.Fatalf("%q doesn't come where the README says so:\n%s", want, out)
		}
		rest = rest[at+len(want):]
	}
}

// tour is the shell code between the README's tour comments.
func tour(t *testing.T) string {
	t.Helper()
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(readme), "<!-- tour:")
	part, _, found := strings.Cut(rest, "<!-- end of tour -->")
	if !found {
		t.Fatal("the README has no tour")
	}
	var script strings.Builder
	for i, block := range strings.Split(part, "```") {
		if code, ok := strings.CutPrefix(block, "sh\n"); ok && i%2 == 1 {
			script.WriteString(code)
		}
	}
	return script.String()
}
