package mesh

import (
	"bytes"
	"crypto/rand"
	"log/slog"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"ubl/test/leaks"
	"ubl/test/ports"
)

// TestMain fails when any test leaves a goroutine behind. memberlist doesn't wait for its
// last question when it is shut down: that ends by its own timeout.
func TestMain(m *testing.M) {
	leaks.Main(m, goleak.IgnoreAnyFunction("github.com/hashicorp/memberlist.(*Memberlist).probeNode"))
}

// beforeForgotten is how long a test waits: memberlist forgets the dead after 30 s, which would hide
// that they didn't come back.
const beforeForgotten = 25 * time.Second

// directory is what Options.Resolve asks in tests: server id to address.
type directory struct{ m sync.Map }

func (d *directory) set(serverID, addr string) { d.m.Store(serverID, addr) }

func (d *directory) resolve(serverID string) (string, bool) {
	addr, ok := d.m.Load(serverID)
	if !ok {
		return "", false
	}
	return addr.(string), true
}

// journal is a log that tests can look at.
type journal struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (j *journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.buf.Write(p)
}

func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.buf.String()
}

func (j *journal) count(text string) int { return strings.Count(j.String(), text) }

func (j *journal) logger() *slog.Logger { return slog.New(slog.NewTextHandler(j, nil)) }

func newSecret(t testing.TB) Secret {
	t.Helper()
	text, err := NewSecret(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	s, err := ParseSecret(text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func credentials(t testing.TB, s Secret, serverID string) *Credentials {
	t.Helper()
	c, err := FromSecret(s, serverID)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// listen opens a mesh on loopback for a server such as "n1@a", and enters it in
// the directory. Its port is none that systems choose themselves: tests listen on it once more.
func listen(t testing.TB, s Secret, d *directory, serverID string, change ...func(*Options)) (*Mesh, *journal) {
	t.Helper()
	j := &journal{}
	node, _, _ := strings.Cut(serverID, "@")
	o := Options{
		Listen: ports.Free(t), NodeID: node, ServerID: serverID,
		Secret: s, Resolve: d.resolve, Log: j.logger(),
	}
	for _, c := range change {
		c(&o)
	}
	if o.Credentials == nil {
		o.Credentials = credentials(t, s, serverID)
	}
	m, err := Listen(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	d.set(serverID, m.Addr())
	return m, j
}

func at(addr string) func(*Options) { return func(o *Options) { o.Listen = addr } }

// echo answers every connection of the listener with what it sends.
func echo(t testing.TB, l net.Listener) {
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			wg.Go(func() {
				defer c.Close()
				buf := make([]byte, 64)
				for {
					n, err := c.Read(buf)
					if err != nil {
						return
					}
					c.Write(buf[:n])
				}
			})
		}
	})
	t.Cleanup(func() { l.Close(); wg.Wait() })
}

// says fails unless the connection echoes.
func says(t testing.TB, c net.Conn) {
	t.Helper()
	c.SetDeadline(time.Now().Add(time.Minute))
	if _, err := c.Write([]byte("hello")); err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 5)
	if _, err := c.Read(buf); err != nil || string(buf) != "hello" {
		t.Fatalf("got %q, %v", buf, err)
	}
}

// ended fails unless the other side closes the connection.
func ended(t testing.TB, c net.Conn) {
	t.Helper()
	c.SetDeadline(time.Now().Add(time.Minute))
	_, err := c.Read(make([]byte, 1))
	if ne, ok := err.(net.Error); err == nil || ok && ne.Timeout() {
		t.Fatalf("the connection is still open (%v)", err)
	}
}
