package portal

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"ubl"
	"ubl/portal/stdio"
)

// Bounds of what a program says between two answers to what it was asked.
const (
	maxAsked   = 64     // requests of its own
	maxUnasked = 10_000 // messages that are no answer
)

// Why a program is given up.
var (
	errProgramEnded = ubl.Errorf(ubl.CodeUnavailable, "the program ended: it is started again in a few seconds")
	errMute         = ubl.Errorf(ubl.CodeUnavailable, "the program doesn't read what it is sent")
)

// Commands are the names of the programs that a tenant's owners may add as servers.
func (p *Portal) Commands(of ubl.TenantID) []string { return p.commands.Names(of) }

// checkProgram refuses a server that no program here can be.
func checkProgram(s *ubl.Server) error {
	for _, each := range []struct {
		bad        bool
		place, why string
	}{
		{!ubl.ValidCommand(s.Command), "command", "a program has the name of one that the operator allows"},
		{s.URL != "", "url", "a program has none"},
		{s.DocumentURL != "", "document_url", "only an API has a document"},
		{s.Auth != ubl.AuthNone && s.Auth != ubl.AuthEnvironment, "auth", "of a program it is none or environment"},
		{s.Header != "", "header", "a program has none"},
		{s.TokenURL != "" || s.AuthorizeURL != "" || s.ClientID != "" || len(s.Scopes) > 0, "auth", "a program has no OAuth"},
	} {
		if err := unwanted(each.bad, each.place, each.why); err != nil {
			return err
		}
	}
	return nil
}

// checkAllowed refuses a program that the operator doesn't allow to the tenant, and one without
// the secret that it wants.
func (p *Portal) checkAllowed(of ubl.TenantID, s *ubl.Server, secret string) error {
	if s.Kind != ubl.ServerStdio {
		return nil
	}
	c, ok := p.commands.Find(of, s.Command)
	if names := p.commands.Names(of); !ok && len(names) == 0 {
		return ubl.Errorf(ubl.CodeValidation, "command: the operator of this server allows none")
	} else if !ok {
		return ubl.Errorf(ubl.CodeValidation, "command: the operator of this server allows %s", listed(names))
	}
	if wants := c.Secret != ""; wants != (s.Auth == ubl.AuthEnvironment) {
		why := "none, as this program has no secret"
		if wants {
			why = "environment, as this program needs a secret"
		}
		return ubl.Errorf(ubl.CodeValidation, "auth: %s", why)
	}
	return unwanted(c.Secret != "" && secret == "", "secret", "this program needs one")
}

// listed names a few.
func listed(names []string) string {
	const few = 20
	var b bytes.Buffer
	for i, name := range names[:min(len(names), few)] {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(name)
	}
	if len(names) > few {
		b.WriteString(" and others")
	}
	return b.String()
}

// start starts the program of a session, which ends with the session.
func (p *Portal) start(who ubl.Identity, s *session) error {
	server, secret := &s.access.Server, ""
	c, ok := p.commands.Find(who.TenantID, server.Command)
	if !ok {
		return ubl.Errorf(ubl.CodeUnavailable, "the operator of this node doesn't allow the program")
	}
	if c.Secret != "" {
		opened, err := p.sealer.open(secretOf(who.TenantID, server), s.access.Secret)
		if err != nil || len(opened) == 0 {
			return errSecret.Because(err)
		}
		secret = string(opened)
	}
	s.guard.shown.addWords(c.Hidden(secret))
	s.timeout = c.Timeout
	child, err := p.commands.Start(stdio.Job{Tenant: who.TenantID, Server: server.ServerID, Command: server.Command, Secret: secret,
		Redact: func(text string) string { return s.guard.shown.get().redact(text) }})
	if err != nil {
		return err
	}
	s.program = &program{child: child, lines: bufio.NewReaderSize(child, 64<<10), kill: s.guard.kill, tasked: &s.guard.tasked, asked: map[jsonrpc.ID]bool{}}
	context.AfterFunc(s.guard.life, child.Kill)
	return nil
}

// program is the way of one session to a program: an [mcp.Connection] that bounds what it can
// make us hold, wait for or do. It is an [mcp.Transport], for one connection.
type program struct {
	child *stdio.Child
	lines *bufio.Reader
	kill  func()
	// tasked are tools that can't be called here.
	tasked *tasked

	write sync.Mutex

	mu        sync.Mutex
	asked     map[jsonrpc.ID]bool // what we asked, and it hasn't answered
	read      int                 // bytes since its last answer
	questions int                 // since then
	unasked   int
	why       error

	silent atomic.Bool // nothing comes from it any more
}

// Connect implements [mcp.Transport].
func (g *program) Connect(context.Context) (mcp.Connection, error) { return g, nil }

// SessionID implements [mcp.Connection].
func (g *program) SessionID() string { return "" }

// Read implements [mcp.Connection]. A message that can't be one ends the session.
func (g *program) Read(ctx context.Context) (jsonrpc.Message, error) {
	for {
		line, err := g.line()
		if err != nil {
			return nil, err
		}
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		m, err := jsonrpc.DecodeMessage(line)
		if err != nil {
			return nil, g.giveUp(errNoAnswer)
		}
		if r, ok := m.(*jsonrpc.Response); ok && r.Error == nil {
			g.tasked.note(r.Result)
		}
		return m, g.admit(m)
	}
}

// line is the next, which is no longer than it may be.
func (g *program) line() (line []byte, err error) {
	for {
		piece, err := g.lines.ReadSlice('\n')
		if !g.count(len(piece)) {
			return nil, g.giveUp(errTooLarge)
		}
		line = append(line, piece...)
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
		case err != nil: // the program has ended, or the session
			g.silent.Store(true)
			return nil, io.EOF
		default:
			return line, nil
		}
	}
}

// count notes what was read, and reports whether it may be.
func (g *program) count(n int) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.read += n
	return g.read <= maxAnswer
}

// admit counts a message of the program.
func (g *program) admit(m jsonrpc.Message) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch m := m.(type) {
	case *jsonrpc.Response:
		if g.asked[m.ID] {
			delete(g.asked, m.ID)
			g.read, g.questions, g.unasked = 0, 0, 0
			return nil
		}
	case *jsonrpc.Request:
		if m.ID.IsValid() {
			g.questions++
		}
	}
	if g.unasked++; g.unasked > maxUnasked || g.questions > maxAsked {
		return g.gaveUp(errFlood)
	}
	return nil
}

// Write implements [mcp.Connection]. A program that doesn't read is ended: part of a message is none.
func (g *program) Write(_ context.Context, m jsonrpc.Message) error {
	line, err := jsonrpc.EncodeMessage(m)
	if err != nil {
		return err
	}
	if ask, ok := m.(*jsonrpc.Request); ok && ask.ID.IsValid() {
		g.mu.Lock()
		if len(g.asked) > 2*maxCalls { // of those it never answered
			clear(g.asked)
		}
		g.asked[ask.ID] = true
		g.mu.Unlock()
	}
	g.write.Lock()
	defer g.write.Unlock()
	if _, err := g.child.Write(append(line, '\n')); err != nil {
		return g.giveUp(errMute)
	}
	return nil
}

// Close implements [mcp.Connection]. It returns when nothing is left of the program.
func (g *program) Close() error { return g.child.Close() }

// giveUp ends the session with its first reason.
func (g *program) giveUp(why error) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.gaveUp(why)
}

func (g *program) gaveUp(why error) error {
	if g.why == nil {
		g.why = why
	}
	g.kill()
	return g.why
}

// reason is why the program is of no use any more, nil where it is.
func (g *program) reason() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.why != nil {
		return explain(g.why, nil)
	}
	select {
	case <-g.child.Done():
		return errProgramEnded
	default:
		return nil
	}
}

// endsSoon waits a moment for the end of a program whose output has ended, to tell that from a
// broken session.
func (g *program) endsSoon() error {
	timer := time.NewTimer(settle)
	defer timer.Stop()
	select {
	case <-g.child.Done():
	case <-timer.C:
	}
	return g.reason()
}

// rests is until when a program isn't started again that has ended soon after its start, and why.
// One that ran for longer is started again with the next call.
func (s *session) rests(now ubl.Time) (ubl.Time, error) {
	if s.program == nil || !s.stale() {
		return 0, nil
	}
	ended := cmp.Or(ubl.Time(s.endedAt.Load()), now)
	if ended > s.openedAt.Add(downFor) {
		return 0, nil
	}
	why := s.program.reason()
	if why == nil {
		why = errProgramEnded
	}
	return ended.Add(downFor), why
}
