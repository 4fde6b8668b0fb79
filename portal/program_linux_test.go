package portal_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"ubl"
	"ubl/portal"
	"ubl/portal/stdio"
	"ubl/test/harness"
	"ubl/test/need"
	"ubl/test/poll"
)

// playing is a command that plays a part in this executable.
func playing(part string) stdio.Command {
	return stdio.Command{Argv: []string{"/proc/self/exe", "play", part}}
}

// programs lets owners add programs.
func programs(log *slog.Logger, all map[string]stdio.Command) func(*portal.Options) {
	return func(o *portal.Options) {
		o.Commands, o.Log = stdio.New(stdio.Options{Commands: all, Log: log}), log
	}
}

// honest is one with a secret of its owner's, and one of its operator's.
func honest() stdio.Command {
	c := playing("honest")
	c.Secret, c.Environment, c.Secrets = "TOKEN", map[string]string{"KEY": "operators-own-key"}, []string{"KEY"}
	return c
}

const token = "sk-0123456789-owner"

func (w *world) program(name, auth, secret string) *ubl.Server {
	w.t.Helper()
	return w.add(ubl.Server{ServerID: name, Kind: ubl.ServerStdio, Command: name, Auth: auth}, secret)
}

// TestProgram: tools, prompts, secrets and changes of a program go the way of those of other servers.
func TestProgram(t *testing.T) {
	need.Namespaces(t)
	var log words
	w := newWorld(t, programs(slog.New(slog.NewJSONHandler(&log, nil)), map[string]stdio.Command{"honest": honest()}))
	s := w.program("honest", ubl.AuthEnvironment, token)
	if s.Status != ubl.ServerUp || s.Tools != 8 || s.Problem != "" || s.URL != "" {
		t.Fatalf("the server is %+v", s)
	}
	w.allow("honest.echo", "honest.tell", "honest.remember", "honest.crash", "honest.grow", "honest.prompts")
	if got := string(w.must("honest.echo", `{"text":"olá"}`).Content); !strings.Contains(got, "olá") {
		t.Errorf("it answers %s", got)
	}
	for _, answered := range []*ubl.ToolResult{w.must("honest.tell", `{}`), w.must("honest.prompts", `{"name":"greet"}`)} {
		if got := string(answered.Content) + string(answered.Structured); strings.Contains(got, "0123456789") || strings.Contains(got, "own-key") || !strings.Contains(got, "[secret]") {
			t.Errorf("it tells %s", got)
		}
	}
	w.must("honest.remember", `{"text":"one"}`)
	if got := string(w.must("honest.remember", `{"text":"two"}`).Content); !strings.Contains(got, "one") {
		t.Errorf("two calls had two programs: %s", got)
	}
	w.must("honest.grow", `{}`)
	w.await("honest", func(s *ubl.Server) bool { return s.Tools == 9 })
	w.refused(ubl.CodeUnavailable, "honest.crash", `{}`)
	if e := w.refused(ubl.CodeUnavailable, "honest.echo", `{}`); !strings.Contains(e.Message, "ended") {
		t.Errorf("it says %v", e)
	}
	w.house.Clock.Add(10 * time.Second)
	if got := string(w.must("honest.remember", `{"text":"three"}`).Content); strings.Contains(got, "two") {
		t.Errorf("it wasn't started again: %s", got)
	}
	poll.Until(t, "its last words are in the log", func() bool { return strings.Contains(log.String(), "crashing with [secret]") })
	if strings.Contains(log.String(), "0123456789") {
		t.Error("the log has the secret")
	}
	w.house.VerifyLedger(w.owner.TenantID)
}

// TestProgramAsks: a program's question reaches the caller of its call, by a process of the call's own, and the
// time that its operator gives it stands still while the person thinks. To others nobody is asked.
func TestProgramAsks(t *testing.T) {
	need.Namespaces(t)
	c := honest()
	c.Timeout = 3 * time.Second
	w := newWorld(t, programs(slog.New(slog.DiscardHandler), map[string]stdio.Command{"honest": c}))
	w.program("honest", ubl.AuthEnvironment, token)
	w.allow("honest.ask", "honest.remember")
	w.sees(w.bob, "honest.ask", "honest.remember")
	args := func(l *portal.Long) { l.Args = json.RawMessage(`{}`) }
	if news := w.next(w.begin("honest.ask", args), 0); news.Question != nil || news.Err == nil && !news.Result.IsError {
		t.Errorf("a program that may not ask came to %+v", news)
	}
	w.allow("honest.elicitation")
	poll.Until(t, "it may ask", func() bool { return w.MayAsk(t.Context(), w.bob, "honest.ask") })
	f := w.begin("honest.ask", args)
	news := w.next(f, 0)
	q := news.Question
	if q == nil {
		t.Fatalf("the call came to %+v", news)
	}
	if !strings.Contains(string(q.Params), `[Question of the server \"honest\", not of UBL.`) || strings.Contains(string(q.Params), "0123456789") {
		t.Fatalf("the person is shown %s", q.Params)
	}
	w.must("honest.remember", `{"text":"others call meanwhile"}`)
	thinks := time.Now().Add(c.Timeout + 500*time.Millisecond)
	poll.Until(t, "the person has thought", func() bool { return time.Now().After(thinks) })
	if err := w.Reply(t.Context(), w.bob, f.N(), 1, []byte(`{"action":"accept","content":{"name":"Bob"}}`)); err != nil {
		t.Fatal(err)
	}
	if got := texts(t, w.next(f, 1)); got != "accept Bob" {
		t.Errorf("the program got %q", got)
	}
	w.house.VerifyLedger(w.owner.TenantID)
}

// TestHostilePrograms harm nobody, and are started again.
func TestHostilePrograms(t *testing.T) {
	need.Namespaces(t)
	// Who is found out has no need of the time that a call may take: on a busy machine that is long.
	long, short := playing("hostile"), playing("hostile")
	long.Timeout, short.Timeout = 25*time.Second, 6*time.Second
	w := newWorld(t, programs(slog.New(slog.DiscardHandler), map[string]stdio.Command{"hostile": long, "hasty": short}))
	w.program("hostile", ubl.AuthNone, "")
	w.program("hasty", ubl.AuthNone, "")
	for name, want := range map[string]string{
		"flood": "asks more", "forge": "asks more", "endless": "larger than", "large": "larger than", "ask": "asks more",
		"garbage": "doesn't answer as an MCP server", "batch": "doesn't answer as an MCP server", "deep": "doesn't answer as an MCP server",
		"never": "in time", "sleep": "in time", "exit": "ended", "close": "", "shout": "fine",
	} {
		t.Run(name, func(t *testing.T) {
			w.t = t
			server := "hostile."
			if want == "in time" {
				server = "hasty."
			}
			w.allow(server+name, server+"fine")
			w.house.Clock.Add(10 * time.Second)
			began := time.Now()
			if want == "fine" {
				w.must(server+name, `{}`)
			} else if e := w.refused(ubl.CodeUnavailable, server+name, `{}`); !strings.Contains(e.Message, want) {
				t.Errorf("it is answered %v", e)
			}
			if took := time.Since(began); took > 30*time.Second {
				t.Errorf("it took %v", took)
			}
			w.house.Clock.Add(10 * time.Second)
			w.must(server+"fine", `{}`)
		})
	}
}

// TestDeafProgram: one that doesn't read what it is sent holds nobody up.
func TestDeafProgram(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes as long as a write may")
	}
	need.Namespaces(t)
	w := newWorld(t, programs(slog.New(slog.DiscardHandler), map[string]stdio.Command{"hostile": playing("hostile")}), func(o *portal.Options) { o.CallTimeout = time.Minute })
	w.program("hostile", ubl.AuthNone, "")
	w.allow("hostile.sleep")
	sleeping := make(chan ubl.Code)
	req := w.house.Request(w.bob)
	go func() {
		_, err := w.Call(t.Context(), req, "hostile.sleep", json.RawMessage(`{}`), "", nil)
		sleeping <- ubl.CodeOf(err)
	}()
	poll.Until(t, "the first call is under way", func() bool { return portal.UnderWay(w.Portal) == 1 })
	w.refused(ubl.CodeUnavailable, "hostile.sleep", fmt.Sprintf(`{"text":%q}`, strings.Repeat("x", 500_000)))
	if code := <-sleeping; code != ubl.CodeUnavailable {
		t.Errorf("the other call was answered %q", code)
	}
}

// TestProgramsThatDontBegin are down, with a reason.
func TestProgramsThatDontBegin(t *testing.T) {
	need.Namespaces(t)
	w := newWorld(t, programs(slog.New(slog.DiscardHandler), map[string]stdio.Command{"brief": playing("brief"), "nowhere": {Argv: []string{"/nowhere"}}}))
	for _, name := range []string{"brief", "nowhere"} {
		if s := w.program(name, ubl.AuthNone, ""); s.Status != ubl.ServerDown || !strings.Contains(s.Problem, "ended") || s.NextTry == nil {
			t.Errorf("%s is %+v", name, s)
		}
	}
}

// TestOnlyAllowedPrograms: owners name what their operator allows to their tenant, and are told what
// that is.
func TestOnlyAllowedPrograms(t *testing.T) {
	elsewhere := playing("honest")
	elsewhere.Tenants = []ubl.TenantID{"t:elsewhere.org"}
	all := map[string]stdio.Command{"files": playing("honest"), "github": honest(), "theirs": elsewhere}
	w := newWorld(t, programs(slog.New(slog.DiscardHandler), all))
	none := w.node()
	for _, c := range []struct {
		what         string
		p            *portal.Portal
		s            ubl.Server
		secret, want string
	}{
		{"an unknown name", w.Portal, ubl.Server{Command: "rm"}, "", "command: the operator of this server allows files, github"},
		{"a command line", w.Portal, ubl.Server{Command: "/bin/sh -c id"}, "", "command:"},
		{"another tenant's", w.Portal, ubl.Server{Command: "theirs"}, "", "command: the operator of this server allows files, github"},
		{"where there are none", none, ubl.Server{Command: "files"}, "", "command: the operator of this server allows none"},
		{"an address", w.Portal, ubl.Server{Command: "files", URL: "https://one.example"}, "", "url:"},
		{"a header", w.Portal, ubl.Server{Command: "files", Header: "X-Key"}, "", "header:"},
		{"OAuth", w.Portal, ubl.Server{Command: "files", Auth: ubl.AuthUser}, "", "auth:"},
		{"a secret too many", w.Portal, ubl.Server{Command: "files"}, token, "secret:"},
		{"a secret that nobody wants", w.Portal, ubl.Server{Command: "files", Auth: ubl.AuthEnvironment}, token, "auth:"},
		{"no secret", w.Portal, ubl.Server{Command: "github", Auth: ubl.AuthEnvironment}, "", "secret:"},
		{"a secret unsaid", w.Portal, ubl.Server{Command: "github"}, "", "auth: environment"},
		{"a short secret", w.Portal, ubl.Server{Command: "github", Auth: ubl.AuthEnvironment}, "short", "secret:"},
		{"a command of what is no program", w.Portal, ubl.Server{Kind: "openapi", Command: "files", URL: "https://one.example", DocumentURL: "https://one.example/x"}, "", "command:"},
		{"a program's way elsewhere", w.Portal, ubl.Server{Kind: "openapi", Auth: ubl.AuthEnvironment, URL: "https://one.example", DocumentURL: "https://one.example/x"}, token, "auth:"},
	} {
		c.s.ServerID, c.s.Name = "s", "S"
		if c.s.Kind == "" {
			c.s.Kind = ubl.ServerStdio
		}
		if c.s.Auth == "" {
			c.s.Auth = ubl.AuthNone
		}
		_, err := c.p.Add(t.Context(), w.house.Request(w.owner), true, c.s, c.secret)
		if ubl.CodeOf(err) != ubl.CodeValidation || !strings.HasPrefix(ubl.AsError(err).Message, c.want) {
			t.Errorf("%s: %v, want %s", c.what, err, c.want)
		}
	}
}

// TestTenantsShareNoProgram, and another node of the same house starts its own.
func TestTenantsShareNoProgram(t *testing.T) {
	need.Namespaces(t)
	all := map[string]stdio.Command{"honest": playing("honest")}
	w := newWorld(t, programs(slog.New(slog.DiscardHandler), all))
	w.program("honest", ubl.AuthNone, "")
	eve := harness.User("eve@other.org")
	w.house.Enter(eve)
	if _, err := w.Add(t.Context(), w.house.Request(eve), true, ubl.Server{ServerID: "honest", Name: "H", Kind: ubl.ServerStdio, Command: "honest", Auth: ubl.AuthNone}, ""); err != nil {
		t.Fatal(err)
	}
	w.syncs.first(t, eve.TenantID, "honest")
	for _, who := range []ubl.Identity{w.owner, eve} {
		harness.Must[*ubl.ToolAccess](w.house, ubl.TenantName(who.TenantID), ubl.SetToolAccess{Request: w.house.Request(who), Tool: "honest.remember", Allowed: true})
	}
	remember := func(p *portal.Portal, who ubl.Identity, text string) string {
		r, err := p.Call(t.Context(), w.house.Request(who), "honest.remember", json.RawMessage(fmt.Sprintf(`{"text":%q}`, text)), "", nil)
		if err != nil {
			t.Fatal(err)
		}
		return string(r.Content)
	}
	remember(w.Portal, w.owner, "ours")
	if got := remember(w.Portal, eve, "theirs"); strings.Contains(got, "ours") {
		t.Error("two tenants share a program")
	}
	other := w.node(programs(slog.New(slog.DiscardHandler), all))
	if got := remember(other, w.owner, "there"); strings.Contains(got, "ours") {
		t.Error("two nodes share a program")
	}
}

// TestIdlePrograms are ended, as idle sessions are.
func TestIdlePrograms(t *testing.T) {
	need.Namespaces(t)
	place, err := os.MkdirTemp("", "ubl-test-")
	if err == nil {
		err = os.Chmod(place, 0o755) // that of t.TempDir is closed to others
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(place) })
	t.Setenv("TMPDIR", place)
	w := newWorld(t, programs(slog.New(slog.DiscardHandler), map[string]stdio.Command{"honest": playing("honest")}))
	w.program("honest", ubl.AuthNone, "")
	w.allow("honest.remember")
	w.must("honest.remember", `{"text":"one"}`)
	folders := func() []string {
		all, _ := filepath.Glob(filepath.Join(place, "ubl-command-*"))
		return all
	}
	if len(folders()) != 1 {
		t.Errorf("there are the folders %v", folders())
	}
	w.house.Clock.Add(11 * time.Minute)
	portal.Tidy(w.Portal)
	poll.Until(t, "the idle program has gone", func() bool { return len(folders()) == 0 })
	if got := string(w.must("honest.remember", `{"text":"two"}`).Content); strings.Contains(got, "one") {
		t.Error("it is the same program")
	}
}

// words collects a log.
type words struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *words) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *words) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}
