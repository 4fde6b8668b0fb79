package web

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
	"ubl/test/need"
	"ubl/test/poll"
	"ubl/test/ports"
)

// webkit is a browser with the engine of iPhones, steered by WebDriver.
type webkit struct {
	t    *testing.T
	base string // of its session
	http *http.Client
}

// newWebkit starts one on a display of its own. The test is skipped where a part is missing.
func newWebkit(t *testing.T) *webkit {
	t.Helper()
	if testing.Short() {
		t.Skip("a browser takes a while")
	}
	for _, tool := range []string{"WebKitWebDriver", "Xvfb"} {
		need.Tool(t, tool)
	}
	found, _ := filepath.Glob("/usr/lib/*/webkit*gtk-*/MiniBrowser") // the pattern is well formed
	if len(found) == 0 {
		need.Missing(t, "WebKit's MiniBrowser isn't installed: it comes with Debian's webkit2gtk-driver")
	}
	home := t.TempDir()
	address := ports.Free(t)
	driver := exec.Command("WebKitWebDriver", "--port="+address[strings.LastIndex(address, ":")+1:])
	driver.Env = append(os.Environ(), "DISPLAY="+display(t), "HOME="+home, "XDG_RUNTIME_DIR="+home, "LIBGL_ALWAYS_SOFTWARE=1",
		"WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS=1", "NO_AT_BRIDGE=1", "GSETTINGS_BACKEND=memory")
	startFor(t, driver)
	w := &webkit{t: t, base: "http://" + address, http: &http.Client{Timeout: time.Minute}}
	poll.Until(t, "the driver answers", func() bool { return w.try("GET", "/status", nil, nil) == nil })
	var session struct{ SessionID string }
	w.ask("POST", "/session", map[string]any{"capabilities": map[string]any{"alwaysMatch": map[string]any{
		"webkitgtk:browserOptions": map[string]any{"binary": found[len(found)-1], "args": []string{"--automation"}},
	}}}, &session)
	root := w.base
	w.base += "/session/" + session.SessionID
	t.Cleanup(func() {
		if err := w.try("DELETE", "", nil, nil); err != nil {
			t.Logf("couldn't end the browser at %s: %v", root, err)
		}
	})
	return w
}

// display starts an X server and answers its name.
func display(t *testing.T) string {
	t.Helper()
	r, w, err := os.Pipe()
	must(t, err)
	defer r.Close()
	x := exec.Command("Xvfb", "-displayfd", "3", "-screen", "0", "1280x900x24", "-nolisten", "tcp")
	x.ExtraFiles = []*os.File{w}
	startFor(t, x)
	_ = w.Close()
	must(t, r.SetReadDeadline(time.Now().Add(patience)))
	name, err := bufio.NewReader(r).ReadString('\n') // it comes in pieces
	must(t, err)
	return ":" + strings.TrimSpace(name)
}

// startFor runs a program as long as the test, and what it starts.
func startFor(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	must(t, cmd.Start())
	t.Cleanup(func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL); _ = cmd.Wait() })
}

// try sends a command and decodes its value.
func (w *webkit) try(method, path string, in, out any) error {
	var body io.Reader
	if method == "POST" {
		data, err := json.Marshal(in)
		if err != nil {
			return err
		}
		body = bytes.NewReader(data)
	}
	req, err := http.NewRequestWithContext(context.Background(), method, w.base+path, body)
	if err != nil {
		return err
	}
	resp, err := w.http.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	var answer struct{ Value json.RawMessage }
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s %s: %s", method, path, answer.Value)
	}
	if out == nil {
		return nil
	}
	return json.Unmarshal(answer.Value, out)
}

func (w *webkit) ask(method, path string, in, out any) {
	w.t.Helper()
	if err := w.try(method, path, in, out); err != nil {
		w.t.Fatal(err)
	}
}

func (w *webkit) visit(url string) {
	w.t.Helper()
	w.ask("POST", "/url", map[string]string{"url": url}, nil)
}

func (w *webkit) text() (text string) {
	_ = w.try("POST", "/execute/sync", map[string]any{"script": "return document.body?.innerText ?? ''", "args": []any{}}, &text)
	return text
}

func (w *webkit) sees(texts ...string) {
	w.t.Helper()
	for _, want := range texts {
		deadline := time.Now().Add(patience)
		for !strings.Contains(w.text(), want) {
			if time.Now().After(deadline) {
				w.t.Fatalf("%q doesn't show; the page says:\n%s", want, w.text())
			}
			time.Sleep(20 * time.Millisecond)
		}
	}
}

// element is a reference of WebDriver.
type element map[string]string

func (e element) id() string {
	for _, id := range e {
		return id
	}
	return ""
}

// named finds what can be used under a name, or a name that begins so.
const named = `return [...document.querySelectorAll('button, a[href], textarea, input, summary')].find((e) => {
	const name = e.getAttribute('aria-label') ?? e.innerText.trim();
	return e.getClientRects().length > 0 && !e.disabled && (name === arguments[0] || name.startsWith(arguments[0] + '\n'));
}) ?? null`

// do finds a control by its name and sends it a command, again until that works.
func (w *webkit) do(name, command string, in any) {
	w.t.Helper()
	var problem error
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		var found element
		if problem = w.try("POST", "/execute/sync", map[string]any{"script": named, "args": []any{name}}, &found); problem != nil || found == nil {
			continue
		}
		if problem = w.try("POST", "/element/"+found.id()+"/"+command, in, nil); problem == nil {
			return
		}
	}
	w.t.Fatalf("there is no %q to %s (%v); the page says:\n%s", name, command, problem, w.text())
}

func (w *webkit) press(name string) { w.t.Helper(); w.do(name, "click", map[string]any{}) }

func (w *webkit) write(name, text string) {
	w.t.Helper()
	w.do(name, "value", map[string]any{"text": text})
}

// TestInWebKit is the main flow in the engine of iPhones: sign in by the link, enter a
// room, write, see what another writes, look at the receipt, load the page anew.
func TestInWebKit(t *testing.T) {
	w := newWebkit(t)
	s := oneNode(t)
	c := s.client(owner)
	w.visit(s.link())
	w.press("Sign in")
	w.press("Skip")
	w.sees("Rooms", "general")
	w.visit(s.url + "/ui/rooms/r:general")
	w.write("Message to general", "hello from WebKit")
	w.press("Send")
	poll.Until(t, "the server has the message", func() bool { return len(c.history(general)) == 1 })
	m := c.said(general, "hello from WebKit")
	receipt := strconv.FormatInt(m.Receipt.Seq, 10)
	w.sees("hello from WebKit")
	c.send(general, "and an answer")
	w.sees("and an answer")
	w.press("Receipt " + receipt)
	w.sees("Receipt "+receipt, "Verified by this browser")
	w.press("Close")
	w.ask("POST", "/refresh", map[string]any{}, nil)
	w.sees("hello from WebKit", "and an answer")
	w.write("Message to general", "once more")
	w.press("Send")
	poll.Until(t, "the server has the next message", func() bool { return len(c.history(general)) == 3 })
	c.said(general, "once more")
}
