package portal

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"testing"
	"time"
)

// Tests call what [Portal.Run] calls by the clock.
var (
	SyncAs  = (*Portal).syncAs
	Flush   = (*Portal).flush
	MaxRows = maxTenantRows
)

// Tidy lets go of what nobody uses, and says how many slots and shops are left.
func Tidy(p *Portal) (slots, shops int) {
	p.tidy()
	p.forgetShops()
	p.forgetSyncs()
	p.sessions.mu.Lock()
	defer p.sessions.mu.Unlock()
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.sessions.slots), len(p.shops)
}

// Waiting is how many rows wait to be written.
func Waiting(p *Portal) int {
	p.rows.mu.Lock()
	defer p.rows.mu.Unlock()
	return p.rows.count
}

// CheckArguments compiles an input schema and checks arguments against it.
func CheckArguments(definition string, args []byte) error {
	in := compile([]byte(definition))
	return in.check(args)
}

// Checkable reports whether an input schema is one that is checked here.
func Checkable(definition string) bool { return compile([]byte(definition)).schema != nil }

// Sessions are the sessions that there are. Whoever keeps them can tell them from all later
// ones: none of those has the address of one that is kept.
func Sessions(p *Portal) map[place]*session {
	p.sessions.mu.Lock()
	defer p.sessions.mu.Unlock()
	out := make(map[place]*session)
	for at, sl := range p.sessions.slots {
		sl.turn <- struct{}{}
		out[at] = sl.s
		sl.give()
	}
	return out
}

// UnderWay is how many calls have a session.
func UnderWay(p *Portal) (n int) {
	for _, s := range Sessions(p) {
		if s != nil {
			n += len(s.calls)
		}
	}
	return n
}

// DialWith has a portal that may go everywhere make its connections with dial.
func DialWith(p *Portal, dial func(ctx context.Context, network, address string) (net.Conn, error)) {
	p.way(Everywhere()).DialContext = dial
}

// SetEven changes how long it takes to say that a server can't be reached.
func SetEven(p *Portal, d time.Duration) { p.even = d }

// Redact takes a secret out of a text.
func Redact(key, text string) string { return secrets{newSecret(key)}.redact(text) }

// RedactShown takes what is secret in a header's value out of a text.
func RedactShown(value, text string) string {
	var sh shown
	sh.add(http.Header{"Authorization": {value}})
	return sh.get().redact(text)
}

// RedactJSON takes a secret out of JSON.
func RedactJSON(t testing.TB, key string, raw []byte) []byte {
	t.Helper()
	out, err := secrets{newSecret(key)}.redactJSON(raw)
	if err != nil {
		t.Error(err)
	}
	return out
}

var many = func() (ss secrets) {
	for i := range maxShown {
		ss = append(ss, newSecret(fmt.Sprintf("sk-%d-0123456789abcdef0123456789abcdef", i)))
	}
	return ss
}()

// RedactMany takes as many secrets as there may be out of JSON.
func RedactMany(raw []byte) { _, _ = many.redactJSON(raw) }
