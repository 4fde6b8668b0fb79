package stdio_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"ubl"
	"ubl/portal/stdio"
	"ubl/test/need"
	"ubl/test/poll"
)

const tenant = ubl.TenantID("t:acme.com")

// playing is a command that plays a part in this executable. A test binary may be where another
// user can't get, so it is named by what it runs as.
func playing(part string, args ...string) stdio.Command {
	return stdio.Command{Argv: append([]string{"/proc/self/exe", "play", part}, args...)}
}

// running starts a command, and reads the first line that it says.
func running(t *testing.T, o stdio.Options, c stdio.Command, secret string) (*stdio.Child, *bufio.Reader, string) {
	t.Helper()
	need.Namespaces(t)
	if err := c.Check(); err != nil {
		t.Fatal(err)
	}
	o.Commands = map[string]stdio.Command{"it": c}
	child, err := stdio.New(o).Start(stdio.Job{Tenant: tenant, Server: "s", Command: "it", Secret: secret})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = child.Close() })
	out := bufio.NewReader(child)
	line, err := out.ReadString('\n')
	if err != nil {
		t.Logf("it says nothing: %v", err)
	}
	return child, out, strings.TrimSpace(line)
}

// TestAChildHasWhatItsCommandSays, and nothing else: from a node that is root, and from one that
// is another user, whose own files the child must not see.
func TestAChildHasWhatItsCommandSays(t *testing.T) {
	need.Namespaces(t)
	listening, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listening.Close()
	dir, err := os.MkdirTemp("", "ubl-test-") // t.TempDir is closed to others
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	data, open := filepath.Join(dir, "data"), filepath.Join(dir, "open")
	for _, path := range []string{data, open} {
		if err := os.Mkdir(path, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	own, public, key := filepath.Join(data, "identity.key"), filepath.Join(open, "public"), filepath.Join(dir, "key")
	for _, path := range []string{own, public, key} {
		if err := os.WriteFile(path, []byte("content"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, path := range []string{dir, data, open} { // all could get there but for what is hidden
		if err := os.Chmod(path, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	c := playing("look", own, public, key, "dial="+listening.Addr().String())
	c.Environment, c.Secret = map[string]string{"MODE": "test"}, "TOKEN"
	t.Setenv("UBL_SECRET", "the node's")
	as := map[string]uint32{"a node of its own user": uint32(os.Geteuid())}
	if os.Geteuid() == 0 {
		as = map[string]uint32{"a node that is root": 0, "a node that isn't": 65533}
	}
	for name, uid := range as {
		t.Run(name, func(t *testing.T) {
			raw, err := json.Marshal(c)
			if err != nil {
				t.Fatal(err)
			}
			node := exec.Command("/proc/self/exe", "play", "node", string(raw), data, key)
			node.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: uid, NoSetGroups: os.Geteuid() != 0}}
			node.Dir = "/"
			out, err := node.Output()
			if err != nil {
				t.Fatal(err)
			}
			var s sight
			if err := json.Unmarshal(out, &s); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			want := []string{"HOME=" + s.Folder, "MODE=test", "TMPDIR=" + s.Folder, "TOKEN="}
			if !slices.Equal(s.Environment, want) {
				t.Errorf("its environment is %q", s.Environment)
			}
			if expected := int(uid); uid == 0 && s.UID != 65534 || uid != 0 && s.UID != expected {
				t.Errorf("it is user %d", s.UID)
			}
			if uid == 0 && len(s.Groups) > 0 {
				t.Errorf("it is in the groups %v", s.Groups)
			}
			if s.PID != 1 || s.Processes > 1 || strings.Trim(s.Rights, "0") != "" || s.Processes == 1 && s.NoNew != "1" {
				t.Errorf("it is process %d of %d, with rights %s and no_new_privs %s", s.PID, s.Processes, s.Rights, s.NoNew)
			}
			if s.Read[own] != "no" || s.Read[key] != "" || s.Read[public] != "content" {
				t.Errorf("it reads %v", s.Read)
			}
			if s.Wrote[own] != "no" || s.Wrote[public] != "no" || s.Wrote["."] != "yes" {
				t.Errorf("it writes %v", s.Wrote)
			}
			if s.Dialed != "no" {
				t.Error("it reaches the network")
			}
			if _, err := os.Stat(s.Folder); err == nil {
				t.Errorf("its folder %s is still there", s.Folder)
			}
		})
	}
}

// TestWhatIsAllowed: a network, another user, and no isolation at all.
func TestWhatIsAllowed(t *testing.T) {
	listening, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listening.Close()
	for _, isolation := range []stdio.Isolation{stdio.Isolated, stdio.ByUser, stdio.Not} {
		t.Run(string(isolation), func(t *testing.T) {
			c := playing("look", "dial="+listening.Addr().String())
			c.Isolation, c.Network = isolation, true
			if isolation == stdio.ByUser {
				if os.Geteuid() != 0 {
					t.Skip("only root can be another user")
				}
				c.User = "nobody"
			}
			_, _, line := running(t, stdio.Options{}, c, "")
			var s sight
			if err := json.Unmarshal([]byte(line), &s); err != nil {
				t.Fatal(err)
			}
			if s.Dialed != "yes" || s.NoNew != "1" || isolation == stdio.ByUser && s.UID == os.Geteuid() || isolation != stdio.Isolated && s.PID == 1 {
				t.Errorf("it sees %+v", s)
			}
		})
	}
}

// TestNothingOfAChildStays: whatever it has started, and however it takes its end.
func TestNothingOfAChildStays(t *testing.T) {
	for _, part := range []string{"echo", "stay", "fork", "deaf"} {
		t.Run(part, func(t *testing.T) {
			child, out, _ := runningOrQuiet(t, part)
			began := time.Now()
			if err := child.Close(); err != nil {
				t.Error(err)
			}
			if took := time.Since(began); took > 10*time.Second {
				t.Errorf("it took %v", took)
			}
			// All that had its output open has gone: those in other sessions, too.
			// What they said before may be there to be read yet.
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				_, _ = io.Copy(io.Discard, out)
			}()
			select {
			case <-ended:
			case <-time.After(10 * time.Second):
				t.Error("somebody still has its output open")
			}
			gone(t)
		})
	}
}

func runningOrQuiet(t *testing.T, part string) (*stdio.Child, *bufio.Reader, string) {
	t.Helper()
	need.Namespaces(t)
	c := playing(part)
	if part != "echo" {
		return running(t, stdio.Options{}, c, "")
	}
	child, err := stdio.New(stdio.Options{Commands: map[string]stdio.Command{"it": c}}).Start(stdio.Job{Tenant: tenant, Command: "it"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := child.Write([]byte("hello\n")); err != nil {
		t.Fatal(err)
	}
	out := bufio.NewReader(child)
	line, err := out.ReadString('\n')
	if err != nil || line != "hello\n" {
		t.Fatalf("it says %q, %v", line, err)
	}
	return child, out, line
}

// gone waits until no process of this executable plays a part any more.
func gone(t *testing.T) {
	t.Helper()
	self, err := os.Readlink("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	poll.Until(t, "no child is left", func() bool {
		all, _ := filepath.Glob("/proc/[0-9]*")
		return !slices.ContainsFunc(all, func(dir string) bool {
			exe, _ := os.Readlink(dir + "/exe")
			words, _ := os.ReadFile(dir + "/cmdline")
			return exe == self && bytes.Contains(words, []byte("\x00play\x00"))
		})
	})
}

// TestANodeThatIsKilledLeavesNoChild.
func TestANodeThatIsKilledLeavesNoChild(t *testing.T) {
	need.Namespaces(t)
	for _, part := range []string{"stay", "fork"} {
		raw, err := json.Marshal(playing(part))
		if err != nil {
			t.Fatal(err)
		}
		node := exec.Command("/proc/self/exe", "play", "node", string(raw))
		in, err := node.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		defer in.Close()
		out, err := node.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := node.Start(); err != nil {
			t.Fatal(err)
		}
		if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "here\n" {
			t.Errorf("it says %q, %v", line, err)
		}
		if err := node.Process.Kill(); err != nil {
			t.Error(err)
		}
		_ = node.Wait()
		gone(t)
	}
}

// TestBounds: memory, processor, processes and files.
func TestBounds(t *testing.T) {
	for _, c := range []struct {
		part   string
		change func(*stdio.Command)
		want   string // what it says in the end
		most   int
	}{
		{part: "eat", change: func(c *stdio.Command) { c.Memory = 256 << 20 }},
		{part: "burn", change: func(c *stdio.Command) { c.CPU = time.Second }},
	} {
		t.Run(c.part, func(t *testing.T) {
			it := playing(c.part)
			c.change(&it)
			child, out, _ := running(t, stdio.Options{}, it, "")
			if line, err := out.ReadString('\n'); err == nil {
				t.Errorf("it goes on and says %q", line)
			}
			<-child.Done()
		})
	}
	for _, c := range []struct {
		part string
		most int
	}{{"breed", 40}, {"fill", 64}} {
		t.Run(c.part, func(t *testing.T) {
			it := playing(c.part)
			it.Processes = 40
			_, _, line := running(t, stdio.Options{}, it, "")
			var n int
			if _, err := fmt.Sscan(line, &n); err != nil || n == 0 || n > c.most {
				t.Errorf("it says %q, want at most %d", line, c.most)
			}
		})
	}
}

// TestLastWords are in the operator's log, without secrets.
func TestLastWords(t *testing.T) {
	var log lines
	c := playing("deaf")
	c.Secret = "TOKEN"
	child, _, _ := running(t, stdio.Options{Log: slog.New(slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))}, c, "sesame-open")
	child.Close()
	if got := log.String(); strings.Contains(got, "sesame") || !strings.Contains(got, "the token is [secret]") {
		t.Errorf("the log says %s", got)
	}
	it := stdio.Command{Argv: []string{"/nowhere/program"}}
	log = lines{}
	child, _, _ = running(t, stdio.Options{Log: slog.New(slog.NewJSONHandler(&log, nil))}, it, "")
	<-child.Done()
	if got := log.String(); !strings.Contains(got, "couldn't start /nowhere/program") {
		t.Errorf("the log says %s", got)
	}
}

type lines struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// TestPlaces: so many children at a time, and of one tenant; each command for its tenants.
func TestPlaces(t *testing.T) {
	need.Namespaces(t)
	ours := playing("deaf")
	ours.Tenants = []ubl.TenantID{tenant}
	r := stdio.New(stdio.Options{Commands: map[string]stdio.Command{"it": playing("deaf"), "ours": ours}, AtOnce: 3, PerTenant: 2})
	if got := r.Names("t:other.org"); !slices.Equal(got, []string{"it"}) {
		t.Errorf("another tenant may add %v", got)
	}
	if got := r.Names(tenant); !slices.Equal(got, []string{"it", "ours"}) {
		t.Errorf("the tenant may add %v", got)
	}
	var children []*stdio.Child
	start := func(of ubl.TenantID, name string, want ubl.Code) {
		t.Helper()
		child, err := r.Start(stdio.Job{Tenant: of, Command: name})
		if ubl.CodeOf(err) != want {
			t.Errorf("%s for %s: %v, want %q", name, of, err, want)
		}
		if err == nil {
			children = append(children, child)
		}
	}
	start("t:other.org", "ours", ubl.CodeUnavailable)
	start(tenant, "it", "")
	start(tenant, "ours", "")
	start(tenant, "it", ubl.CodeOverloaded)
	start("t:other.org", "it", "")
	start("t:third.org", "it", ubl.CodeOverloaded)
	for _, child := range children {
		child.Kill()
		<-child.Done()
		child.Close()
	}
	children = nil
	start(tenant, "it", "")
	children[0].Close()
}
