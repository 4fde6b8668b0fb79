package e2e

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ubl/test/need"
	"ubl/test/poll"
)

// TestBridgeOfTheManual: the bridge that docs/bridges.md shows passes on both ways, and goes on after
// it was killed where it was.
func TestBridgeOfTheManual(t *testing.T) {
	node := need.Node(t)
	manual, err := os.ReadFile("../../docs/bridges.md")
	must(t, err)
	_, program, _ := strings.Cut(string(manual), "<!-- pipe: ")
	_, program, _ = strings.Cut(program, "```js\n")
	program, _, found := strings.Cut(program, "```\n<!-- end of pipe -->")
	if !found {
		t.Fatal("docs/bridges.md has no program")
	}
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "pipe.mjs"), []byte(program), 0o600))

	n := newNode(t)
	w := &bridging{t: t, node: n, ana: n.client(n.token("owner@localhost"))}
	must(t, w.ana.do(t.Context(), "GET", "/api/rooms", "", nil, nil)) // and so joins the tenant
	token := n.agentOf("pipe")
	said := &tail{}
	run := func() (in io.WriteCloser, kill func()) {
		cmd := exec.Command(node, "pipe.mjs")
		cmd.Dir, cmd.Stdout, cmd.Stderr = dir, said, said
		cmd.Env = append(os.Environ(), "UBL_URL=http://"+n.addr, "UBL_TOKEN="+token)
		in, err := cmd.StdinPipe()
		must(t, err)
		must(t, cmd.Start())
		return in, func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }
	}
	hears := func(text string) {
		poll.Until(t, "it says "+text, func() bool { return strings.Contains(said.String(), ": "+text+"\n") })
	}

	in, kill := run()
	_, err = io.WriteString(in, "hello from a pipe\n")
	must(t, err)
	w.reads("pipe: hello from a pipe")
	m := w.sends("hello pipe")
	hears("hello pipe")
	poll.Until(t, "it has written down that it said so", func() bool {
		kept, _ := os.ReadFile(filepath.Join(dir, "pipe.json"))
		return strings.Contains(string(kept), fmt.Sprintf(`"seq":%d}`, m.RoomSeq))
	})
	kill()
	w.sends("while you were away")
	_, kill = run()
	defer kill()
	hears("while you were away")
	if lines := strings.Count(said.String(), "\n"); lines != 2 {
		t.Errorf("it says:\n%s", said)
	}
	if texts := w.texts(); !slices.Contains(texts, "hello pipe") || count(texts, "pipe: ") != 1 {
		t.Errorf("the room has %q", texts)
	}
}
