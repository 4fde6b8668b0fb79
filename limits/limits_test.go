package limits

import (
	"bytes"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"ubl"
)

// clock is moved by hand.
type clock struct{ at time.Time }

func (c *clock) now() time.Time { return c.at }

func person(tenant, user string) ubl.Identity {
	return ubl.Identity{TenantID: ubl.TenantID(tenant), UserID: ubl.UserID(user)}
}

// limited are the changes under which a test runs; every other limit is none.
func limited(t *testing.T, c *clock, changes map[string]int64, trusted ...string) *Limiter {
	t.Helper()
	changes[All] = 0
	table, err := Default().With(changes)
	if err != nil {
		t.Fatal(err)
	}
	var networks []netip.Prefix
	for _, n := range trusted {
		networks = append(networks, netip.MustParsePrefix(n))
	}
	return New(table, networks, c.now, nil)
}

// refused checks that an error is the refusal by a limit, and says how long to wait.
func refused(t *testing.T, err error, limit Name) int {
	t.Helper()
	e := ubl.AsError(err)
	if err == nil || e.Code != ubl.CodeRateLimited || e.Details["limit"] != string(limit) || !strings.Contains(e.Message, string(limit)) || e.RetryAfter() < 1 {
		t.Fatalf("got %v with %v, want a refusal by %s", err, e.Details, limit)
	}
	return e.RetryAfter()
}

// TestRates: ten seconds' worth may come at once, then as many as the rate lets, for
// each who alone. What is refused takes nothing.
func TestRates(t *testing.T) {
	c := &clock{time.Unix(1e9, 0)}
	l := limited(t, c, map[string]int64{"sends-identity": 2, "sends-tenant": 5})
	ana, bob, eve := person("t:a", "u:ana"), person("t:a", "u:bob"), person("t:b", "u:ana")
	send := ubl.Sends
	for i := range 20 {
		if err := l.Of(ana, netip.Addr{}).Act(send); err != nil {
			t.Fatalf("message %d: %v", i+1, err)
		}
	}
	for range 100 {
		refused(t, l.Of(ana, netip.Addr{}).Act(send), SendsIdentity)
	}
	if err := l.Of(eve, netip.Addr{}).Act(send); err != nil {
		t.Errorf("another tenant's of the same id: %v", err)
	}
	if err := l.Of(ana, netip.Addr{}).Act(""); err != nil {
		t.Errorf("reading: %v", err)
	}
	c.at = c.at.Add(time.Second)
	for range 2 {
		if err := l.Of(ana, netip.Addr{}).Act(send); err != nil {
			t.Errorf("a second later: %v", err)
		}
	}
	refused(t, l.Of(ana, netip.Addr{}).Act(send), SendsIdentity)
	for range 20 {
		if err := l.Of(bob, netip.Addr{}).Act(send); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 40 { // each as one more of the tenant's people
		if err := l.Of(person("t:a", fmt.Sprint("u:", i)), netip.Addr{}).Act(send); err != nil {
			refused(t, err, SendsTenant)
			return
		}
	}
	t.Error("the tenant has no limit")
}

// TestStreamed: a second's worth goes out at once; what is more waits for its turn, for
// each tenant alone, and nothing is refused.
func TestStreamed(t *testing.T) {
	const second = 1000
	at := netip.Addr{}
	c := &clock{time.Unix(1e9, 0)}
	l := limited(t, c, map[string]int64{"streamed-tenant": second})
	ana, bob, eve := l.Of(person("t:a", "u:ana"), at), l.Of(person("t:a", "u:bob"), at), l.Of(person("t:b", "u:ana"), at)
	for _, step := range []struct {
		who   *Caller
		bytes int
		wait  time.Duration
	}{
		{ana, 600, 0},
		{bob, 400, 0},
		{ana, 100, 100 * time.Millisecond},
		{bob, 400, 500 * time.Millisecond},
		{eve, 1000, 0},
		{eve, 2500, 2500 * time.Millisecond}, // more than ever comes at once
		{l.Of(ubl.Platform(), at), 1e6, 0},
	} {
		if wait := step.who.Streamed(step.bytes); wait != step.wait {
			t.Errorf("%s after %d bytes waits %v, want %v", step.who.who.UserID, step.bytes, wait, step.wait)
		}
	}
	c.at = c.at.Add(1500 * time.Millisecond)
	if wait := ana.Streamed(second); wait != 0 {
		t.Errorf("when all has had its time: %v", wait)
	}
	if got := l.Refused()[StreamedTenant]; got != 0 {
		t.Errorf("%d were refused", got)
	}
	if wait := limited(t, c, map[string]int64{}).Of(person("t:a", "u:ana"), at).Streamed(1e9); wait != 0 {
		t.Errorf("without a limit: %v", wait)
	}
}

// from is a request of a peer, with headers.
func from(peer string, headers ...string) *http.Request {
	r := httptest.NewRequest("GET", "/", nil)
	r.RemoteAddr = netip.AddrPortFrom(netip.MustParseAddr(peer), 1).String()
	for i := 0; i < len(headers); i += 2 {
		r.Header.Add(headers[i], headers[i+1])
	}
	return r
}

// TestFoundings: an address founds so many tenants an hour; this machine as many as it
// wants.
func TestFoundings(t *testing.T) {
	c := &clock{time.Unix(1e9, 0)}
	l := limited(t, c, map[string]int64{"foundings-ip": 3})
	at := from("203.0.113.7")
	for i := range 3 {
		if err := l.Founding(at, false)(); err != nil {
			t.Fatalf("tenant %d: %v", i+1, err)
		}
	}
	if wait := refused(t, l.Founding(at, false)(), FoundingsIP); wait < 1000 || wait > 1200 {
		t.Errorf("the next one may come after %d s", wait)
	}
	if err := l.Founding(from("203.0.113.8"), false)(); err != nil {
		t.Errorf("from another address: %v", err)
	}
	c.at = c.at.Add(20 * time.Minute)
	if err := l.Founding(at, false)(); err != nil {
		t.Errorf("20 minutes later: %v", err)
	}
	var none *Limiter
	for _, may := range []func() error{none.Founding(at, false), l.Founding(from("::1"), false), limited(t, c, map[string]int64{}).Founding(at, false)} {
		if may != nil {
			t.Error("what isn't limited is counted")
		}
	}
}

// TestClients: programs that register are counted by their address, but for this machine's own.
func TestClients(t *testing.T) {
	c := &clock{time.Unix(1e9, 0)}
	l := limited(t, c, map[string]int64{"clients-ip": 2})
	at := from("203.0.113.7")
	for i := range 2 {
		if err := l.Client(at, false); err != nil {
			t.Fatalf("program %d: %v", i+1, err)
		}
	}
	if wait := refused(t, l.Client(at, false), ClientsIP); wait < 1700 || wait > 1900 {
		t.Errorf("the next one may come after %d s", wait)
	}
	var none *Limiter
	for _, err := range []error{l.Client(from("203.0.113.8"), false), none.Client(at, false), l.Client(from("127.0.0.1"), false), l.Client(from("127.0.0.1"), false), l.Client(from("127.0.0.1"), false)} {
		if err != nil {
			t.Errorf("what isn't limited is counted: %v", err)
		}
	}
	for range 2 {
		_ = l.Client(from("127.0.0.1"), true)
	}
	refused(t, l.Client(from("127.0.0.1"), true), ClientsIP) // a proxy is in front
}

// TestFoundingsBehindAProxy on the same machine are counted, one by one where it is
// named; where it isn't, the operator hears of it once.
func TestFoundingsBehindAProxy(t *testing.T) {
	table, err := Default().With(map[string]int64{"foundings-ip": 3})
	if err != nil {
		t.Fatal(err)
	}
	var said strings.Builder
	log := slog.New(slog.NewTextHandler(&said, nil))
	client := []string{"X-Forwarded-For", "203.0.113.9"}
	for what, c := range map[string]struct {
		trusted []netip.Prefix
		r       *http.Request
		behind  bool
		warns   bool
	}{
		"a proxy that isn't named":      {nil, from("127.0.0.1", client...), false, true},
		"one that writes Forwarded":     {nil, from("::1", "Forwarded", "for=203.0.113.9"), false, true},
		"one that writes X-Real-IP":     {nil, from("127.0.0.1", "X-Real-IP", "203.0.113.9"), false, true},
		"one that writes Via":           {nil, from("127.0.0.1", "Via", "1.1 front"), false, true},
		"Cloudflare's tunnel":           {nil, from("127.0.0.1", "Cf-Connecting-Ip", "203.0.113.9"), false, true},
		"one that says nothing":         {nil, from("127.0.0.1"), true, false},
		"one that is named":             {[]netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}, from("127.0.0.1", client...), false, false},
		"one that is named, of its own": {[]netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}, from("127.0.0.1", "X-Forwarded-For", "127.0.0.1"), false, false},
	} {
		said.Reset()
		l := New(table, c.trusted, nil, log)
		for range 3 {
			if may := l.Founding(c.r, c.behind); may == nil || may() != nil {
				t.Fatalf("%s: not counted, or refused too early", what)
			}
		}
		refused(t, l.Founding(c.r, c.behind)(), FoundingsIP)
		if warned := strings.Count(said.String(), "--trusted-proxy"); warned > 1 || (warned == 1) != c.warns {
			t.Errorf("%s: the log says %q", what, said.String())
		}
	}
}

// TestRefusedIsCounted, and the platform itself is never refused.
func TestRefusedIsCounted(t *testing.T) {
	l := limited(t, &clock{time.Unix(1e9, 0)}, map[string]int64{"requests-identity": 1, "creations-identity": 1})
	for range 15 {
		_ = l.Request(person("t:a", "u:ana"))
		_ = l.Of(person("t:a", "u:ana"), netip.Addr{}).Act(ubl.Creations)
		if err := l.Request(ubl.Platform()); err != nil {
			t.Fatal(err)
		}
	}
	if got := l.Refused(); got[RequestsIdentity] != 5 || got[CreationsIdentity] != 5 {
		t.Errorf("counted %v", got)
	}
	var none *Limiter
	if none.Request(person("t:a", "u:ana")) != nil || none.Address(netip.Addr{}) != nil {
		t.Error("no limiter limits")
	}
}

// TestBucketsAreBounded, however many ask; who asks on keeps their bucket.
func TestBucketsAreBounded(t *testing.T) {
	b := newBuckets(1, Burst)
	now := time.Unix(1e9, 0)
	for i := range 3 * maxBuckets {
		b.take(fmt.Sprint(i), now)
		if i%1000 == 0 {
			b.take("ana", now)
		}
	}
	if n := len(b.young) + len(b.old); n > 2*maxBuckets {
		t.Errorf("it holds %d", n)
	}
	if b.take("ana", now) == 0 {
		t.Error("who asked all the time has a new bucket")
	}
}

// TestClientOf: X-Forwarded-For counts from the operator's proxies only, from its end.
func TestClientOf(t *testing.T) {
	l := limited(t, &clock{}, map[string]int64{}, "10.0.0.0/8", "::1/128")
	var told bytes.Buffer
	l.log = slog.New(slog.NewTextHandler(&told, nil))
	for _, c := range []struct {
		peer string
		xff  []string
		want string // "" for none
	}{
		{"203.0.113.7:1", nil, "203.0.113.7"},
		{"203.0.113.7:1", []string{"198.51.100.1"}, "203.0.113.7"}, // nobody we trust says so
		{"10.0.0.1:1", []string{"198.51.100.1"}, "198.51.100.1"},
		{"10.0.0.1:1", []string{"1.2.3.4, 198.51.100.1"}, "198.51.100.1"}, // the client made up the first
		{"10.0.0.1:1", []string{"1.2.3.4", "198.51.100.1, 10.9.9.9"}, "198.51.100.1"},
		{"[::1]:1", []string{"2001:db8::1"}, "2001:db8::1"},
		{"[::ffff:10.0.0.1]:1", []string{"::ffff:198.51.100.1"}, "198.51.100.1"},
		{"10.0.0.1:1", nil, "10.0.0.1"},
		{"10.0.0.1:1", []string{"198.51.100.1, unknown"}, "10.0.0.1"},
		{"10.0.0.1:1", []string{"unknown, 10.0.0.2"}, "10.0.0.2"},
		{"10.0.0.1:1", []string{"[2001:db8::1"}, "10.0.0.1"},
		{"10.0.0.1:1", []string{""}, "10.0.0.1"},
		{"10.0.0.1:1", []string{"10.0.0.2"}, "10.0.0.2"},
		{"10.0.0.1:1", []string{"1.2.3.4, 198.51.100.1:4711"}, "198.51.100.1"},
		{"10.0.0.1:1", []string{"[2001:db8::1]"}, "2001:db8::1"},
		{"10.0.0.1:1", []string{"[2001:db8::1]:4711, 10.0.0.2:80"}, "2001:db8::1"},
		{"@", nil, ""},
	} {
		r := httptest.NewRequest("GET", "/", nil)
		r.RemoteAddr = c.peer
		r.Header["X-Forwarded-For"] = c.xff
		got := l.ClientOf(r)
		if !got.IsValid() && c.want != "" || got.IsValid() && got.String() != c.want {
			t.Errorf("%s with %q is %v, want %q", c.peer, c.xff, got, c.want)
		}
	}
	if n := strings.Count(told.String(), "level=WARN"); n != 1 {
		t.Errorf("the operator was warned %d times", n)
	}
	if a, b := network(netip.MustParseAddr("2001:db8::1")), network(netip.MustParseAddr("2001:db8::2:3")); a != b || a == network(netip.MustParseAddr("2001:db8:0:1::1")) {
		t.Errorf("networks are %s and %s", a, b)
	}
}

// TestStreamsAndPlaces: places are given back, once each.
func TestStreamsAndPlaces(t *testing.T) {
	l := limited(t, &clock{}, map[string]int64{"streams-identity": 2, "streams-tenant": 3, "streams-ip": 100})
	ana, bob, at := person("t:a", "u:ana"), person("t:a", "u:bob"), netip.MustParseAddr("203.0.113.7")
	one, err := l.Of(ana, at).Stream()
	if err != nil {
		t.Fatal(err)
	}
	if _, err = l.Of(ana, at).Stream(); err != nil {
		t.Fatal(err)
	}
	_, err = l.Of(ana, at).Stream()
	refused(t, err, StreamsIdentity)
	if _, err = l.Of(bob, at).Stream(); err != nil {
		t.Fatal(err)
	}
	_, err = l.Of(bob, at).Stream()
	refused(t, err, StreamsTenant)
	one()
	one()
	if _, err = l.Of(bob, at).Stream(); err != nil {
		t.Errorf("with a place given back: %v", err)
	}
	_, err = l.Of(ana, at).Stream()
	refused(t, err, StreamsTenant)
}

// TestStreamsOfAnAddress: people of any tenant share those of the address that they come from, and
// of a network of version 6.
func TestStreamsOfAnAddress(t *testing.T) {
	l := limited(t, &clock{}, map[string]int64{"streams-identity": 100, "streams-tenant": 100, "streams-ip": 2})
	at := netip.MustParseAddr("2001:db8::1")
	one, err := l.Of(person("t:a", "u:ana"), at).Stream()
	if err != nil {
		t.Fatal(err)
	}
	if _, err = l.Of(person("t:b", "u:bob"), at).Stream(); err != nil {
		t.Fatal(err)
	}
	_, err = l.Of(person("t:c", "u:cyd"), netip.MustParseAddr("2001:db8::2:3")).Stream()
	refused(t, err, StreamsIP)
	if _, err = l.Of(person("t:c", "u:cyd"), netip.MustParseAddr("2001:db8:0:1::1")).Stream(); err != nil {
		t.Errorf("from another network: %v", err)
	}
	one()
	if _, err = l.Of(person("t:c", "u:cyd"), at).Stream(); err != nil {
		t.Errorf("with a place given back: %v", err)
	}
}

// deadlined notes what is asked of a connection.
type deadlined struct {
	net.Conn
	read time.Time
}

func (d *deadlined) SetReadDeadline(at time.Time) error { d.read = at; return nil }

// TestSilentStrangers: a connection over which nobody has signed in may not be silent
// for long.
func TestSilentStrangers(t *testing.T) {
	d := &deadlined{}
	c := &Conn{Conn: d, places: newPlaces(nil)}
	long := time.Now().Add(time.Hour)
	_ = c.SetReadDeadline(long)
	if until := time.Until(d.read); until > unknownIdle {
		t.Errorf("a stranger may be silent for %s", until)
	}
	_ = c.SetReadDeadline(time.Time{})
	if !d.read.IsZero() {
		t.Error("a deadline stays though it was taken away")
	}
	c.Known()
	_ = c.SetReadDeadline(long)
	if d.read != long {
		t.Errorf("who has signed in may be silent until %s", d.read)
	}
}

// TestTable: every limit has a number, a unit and a text, and changes name limits that
// there are.
func TestTable(t *testing.T) {
	for _, r := range Rows() {
		if r.Default < 1 || r.Unit == "" || r.Says == "" {
			t.Errorf("%+v", r)
		}
	}
	table, err := Default().With(map[string]int64{"all": 0, "rooms-tenant": 5})
	if err != nil || table[RoomsTenant] != 5 || table[SendsTenant] != 0 || Default()[SendsTenant] == 0 {
		t.Errorf("%v, %v", table, err)
	}
	for _, bad := range []map[string]int64{{"rooms": 5}, {"rooms-tenant": -1}, {"all": -1}} {
		if _, err := Default().With(bad); err == nil {
			t.Errorf("%v is taken", bad)
		}
	}
	if !strings.Contains(New(table, nil, nil, nil).table.String(), "rooms-tenant") {
		t.Error("the table doesn't show")
	}
}

// TestPublic: an address reads so often, and has containers asked less often; all together may
// not have them asked more often than the node can take.
func TestPublic(t *testing.T) {
	c := &clock{time.Unix(1e9, 0)}
	l := limited(t, c, map[string]int64{"public-ip": 3, "public-asked-ip": 1, "public-asked": 2}, "10.0.0.1/32")
	from := func(address string) *http.Request {
		r := httptest.NewRequest("GET", "/public/x", nil)
		r.RemoteAddr = address + ":1"
		return r
	}
	var ask func() error
	var err error
	for i := range 3 * Burst {
		if ask, err = l.Public(from("192.0.2.1")); err != nil {
			t.Fatalf("read %d: %v", i+1, err)
		}
		if err := ask(); (err != nil) != (i >= Burst) {
			t.Fatalf("of read %d the container was asked: %v", i+1, err)
		}
	}
	_, err = l.Public(from("192.0.2.1"))
	refused(t, err, PublicIP)
	refused(t, ask(), PublicAskedIP)
	proxied := from("10.0.0.1")
	proxied.Header.Set("X-Forwarded-For", "192.0.2.1")
	_, err = l.Public(proxied)
	refused(t, err, PublicIP)
	for i := range Burst {
		if ask, err = l.Public(from("192.0.2.2")); err != nil || ask() != nil {
			t.Fatalf("another address' read %d: %v", i+1, err)
		}
	}
	if ask, err = l.Public(from("192.0.2.3")); err != nil {
		t.Fatal(err)
	}
	refused(t, ask(), PublicAsked)
	if ask, err := (*Limiter)(nil).Public(from("192.0.2.1")); err != nil || ask() != nil {
		t.Error("without a limiter something is limited")
	}
}
