package e2e

import (
	"bufio"
	"bytes"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"ubl/test/need"
	"ubl/test/poll"
	"ubl/test/ports"
)

// ircd is ngIRCd, a server that others wrote: plain for people, with TLS for the bridge, which comes
// by a door that the test closes.
type ircd struct {
	t           *testing.T
	path        string
	config      string
	plain, safe string // addresses
	ca          string // the file with its certificate
	proc        *exec.Cmd
	log         *tail
}

func newIRCD(t *testing.T) *ircd {
	t.Helper()
	s := &ircd{t: t, path: need.Tool(t, "ngircd"), plain: ports.Free(t), safe: ports.Free(t), log: &tail{}}
	dir := t.TempDir()
	var key string
	s.ca, key = certificate(t, dir)
	s.config = filepath.Join(dir, "ngircd.conf")
	port := func(address string) string { _, p, _ := strings.Cut(address, ":"); return p }
	must(t, os.WriteFile(s.config, fmt.Appendf(nil, `[Global]
Name = irc.test
Listen = 127.0.0.1
Ports = %s
ServerUID = %d
ServerGID = %d
[Limits]
MaxConnectionsIP = 0
MaxPenaltyTime = 0
[Options]
Ident = no
DNS = no
PAM = no
[SSL]
Ports = %s
CertFile = %s
KeyFile = %s
`, port(s.plain), os.Getuid(), os.Getgid(), port(s.safe), s.ca, key), 0o600))
	s.start()
	t.Cleanup(func() {
		s.stop()
		if t.Failed() {
			t.Logf("the IRC server's log:\n%s", s.log)
		}
	})
	return s
}

// certificate writes a certificate for 127.0.0.1 and its key.
func certificate(t *testing.T, dir string) (cert, key string) {
	t.Helper()
	s := httptest.NewUnstartedServer(nil)
	s.StartTLS()
	defer s.Close()
	der, err := x509.MarshalPKCS8PrivateKey(s.TLS.Certificates[0].PrivateKey)
	must(t, err)
	cert, key = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	must(t, os.WriteFile(cert, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}), 0o600))
	must(t, os.WriteFile(key, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), 0o600))
	return cert, key
}

// start starts it, and returns once it listens.
func (s *ircd) start() {
	s.t.Helper()
	s.proc = exec.Command(s.path, "--nodaemon", "--config", s.config)
	s.proc.Stdout, s.proc.Stderr = s.log, s.log
	must(s.t, s.proc.Start())
	poll.Until(s.t, "the IRC server listens", func() bool {
		c, err := net.Dial("tcp", s.safe)
		if err == nil {
			c.Close()
		}
		return err == nil
	})
}

func (s *ircd) stop() {
	if s.proc == nil {
		return
	}
	_ = s.proc.Process.Kill()
	_ = s.proc.Wait()
	s.proc = nil
}

// door is the way of the bridge to the IRC server: a listener that passes bytes on while it is open.
type door struct {
	t    *testing.T
	at   string
	to   string
	mu   sync.Mutex
	open net.Listener
	in   []net.Conn
}

func newDoor(t *testing.T, to string) *door {
	d := &door{t: t, at: ports.Free(t), to: to}
	d.unlock()
	t.Cleanup(d.shut)
	return d
}

func (d *door) unlock() {
	d.t.Helper()
	l, err := net.Listen("tcp", d.at)
	must(d.t, err)
	d.mu.Lock()
	d.open = l
	d.mu.Unlock()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			out, err := net.Dial("tcp", d.to)
			if err != nil {
				c.Close()
				continue
			}
			d.mu.Lock()
			d.in = append(d.in, c, out)
			d.mu.Unlock()
			go pass(c, out)
			go pass(out, c)
		}
	}()
}

func pass(a, b net.Conn) {
	_, _ = io.Copy(a, b)
	a.Close()
}

// shut closes the door, and cuts who is in it.
func (d *door) shut() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.open.Close()
	for _, c := range d.in {
		c.Close()
	}
	d.in = nil
}

// chatter is somebody on IRC with a client of a few lines.
type chatter struct {
	t    *testing.T
	nick string
	conn net.Conn

	mu    sync.Mutex
	lines []string
}

// chats connects somebody, who enters the channel.
func (s *ircd) chats(nick string) *chatter {
	s.t.Helper()
	conn, err := net.Dial("tcp", s.plain)
	must(s.t, err)
	c := &chatter{t: s.t, nick: nick, conn: conn}
	s.t.Cleanup(func() { conn.Close() })
	go c.read()
	c.write("NICK " + nick + "\r\nUSER " + nick + " 0 * :" + nick + "\r\nJOIN #ubl\r\n")
	poll.Until(s.t, nick+" is in the channel", func() bool { return c.saw(" 366 ") > 0 })
	return c
}

func (c *chatter) read() {
	lines := bufio.NewReaderSize(c.conn, 1<<16)
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			return
		}
		if rest, ok := strings.CutPrefix(line, "PING"); ok {
			_, _ = io.WriteString(c.conn, "PONG"+rest)
			continue
		}
		c.mu.Lock()
		c.lines = append(c.lines, strings.TrimSuffix(line, "\r\n"))
		c.mu.Unlock()
	}
}

func (c *chatter) write(raw string) {
	c.t.Helper()
	_, err := io.WriteString(c.conn, raw)
	must(c.t, err)
}

func (c *chatter) says(text string) {
	c.t.Helper()
	c.write("PRIVMSG #ubl :" + text + "\r\n")
}

// saw counts the lines that have a text.
func (c *chatter) saw(text string) (n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, line := range c.lines {
		if strings.Contains(line, text) {
			n++
		}
	}
	return n
}

// heard are what others have said in the channel, without who of whom a bridge says it.
func (c *chatter) heard() (out []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, line := range c.lines {
		if _, text, ok := strings.Cut(line, " PRIVMSG #ubl :"); ok {
			_, text, _ = strings.Cut(text, "\x02> ")
			out = append(out, text)
		}
	}
	return out
}

func (c *chatter) waitFor(text string) {
	c.t.Helper()
	poll.Until(c.t, c.nick+" hears "+text, func() bool { return c.saw(text) > 0 })
}

// joiners waits until somebody has come into the channel so often.
func (c *chatter) joins(nick string, times int) {
	c.t.Helper()
	poll.Until(c.t, nick+" joins", func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		n := 0
		for _, line := range c.lines {
			if strings.HasPrefix(line, ":"+nick+"!") && strings.Contains(line, " JOIN ") {
				n++
			}
		}
		return n >= times
	})
}

// bridged is a bridge as a process.
type bridged struct {
	n     *node
	args  []string
	token string
	proc  *exec.Cmd
	log   *tail
}

// agentOf is the token of an agent as docs/bridges.md has one made.
func (n *node) agentOf(name string) string {
	n.t.Helper()
	return strings.TrimSpace(n.run("token", "owner@localhost", "--data", n.dir, "--service", name, "--room", "general",
		"--tools", "messenger.*", "--tools", "room.get", "--tools", "tenant.member.list"))
}

// bridge makes one of the room general, as an agent of its own. It doesn't run yet.
func (n *node) bridge(name, server, ca string) *bridged {
	n.t.Helper()
	b := &bridged{n: n, token: n.agentOf(name), log: &tail{}, args: []string{"bridge", "irc", "general", "--url", "http://" + n.addr, "--server", server, "--ca", ca,
		"--channel", "#ubl", "--nick", name, "--pace", "1ms", "--state", filepath.Join(n.t.TempDir(), "bridge.json")}}
	n.t.Cleanup(func() {
		b.kill()
		if n.t.Failed() {
			n.t.Logf("the log of the bridge %s:\n%s", name, b.log)
		}
	})
	return b
}

func (b *bridged) command(more ...string) *exec.Cmd {
	cmd := exec.Command(b.n.path, append(b.args[:len(b.args):len(b.args)], more...)...)
	cmd.Env = append(os.Environ(), "UBL_TOKEN="+b.token)
	return cmd
}

func (b *bridged) start() {
	b.n.t.Helper()
	b.proc = b.command()
	b.proc.Stdout, b.proc.Stderr = b.log, b.log
	must(b.n.t, b.proc.Start())
}

// kill ends it as a power cut would.
func (b *bridged) kill() {
	if b.proc == nil {
		return
	}
	_ = b.proc.Process.Kill()
	_ = b.proc.Wait()
	b.proc = nil
}

// stop asks it to end, which is no failure.
func (b *bridged) stop() {
	b.n.t.Helper()
	_ = b.proc.Process.Signal(os.Interrupt)
	if err := b.proc.Wait(); err != nil {
		b.n.t.Errorf("the bridge didn't stop cleanly: %v", err)
	}
	b.proc = nil
}

// check is what --check says.
func (b *bridged) check() (string, error) {
	var out bytes.Buffer
	cmd := b.command("--check")
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	return out.String(), err
}

// kept is the bridge's file.
func (b *bridged) kept() string {
	data, _ := os.ReadFile(b.args[len(b.args)-1]) // none there yet is as good as empty
	return string(data)
}
