package portal

import (
	"context"
	"errors"
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

// TestReachable is the table of where a name may lead.
func TestReachable(t *testing.T) {
	const never, private, always = 0, 1, 2
	for ip, want := range map[string]int{
		"93.184.216.34":             always,
		"2606:2800:220:1::1":        always,
		"10.0.0.1":                  private,
		"172.16.0.1":                private,
		"192.168.1.1":               private,
		"127.0.0.1":                 private,
		"127.1.2.3":                 private,
		"::1":                       private,
		"fc00::1":                   private,
		"100.64.0.1":                private,
		"::ffff:10.0.0.1":           private,
		"64:ff9b::10.0.0.1":         private,
		"2002:a00:1::":              private,
		"169.254.169.254":           never,
		"::ffff:169.254.169.254":    never,
		"64:ff9b::a9fe:a9fe":        never,
		"2002:a9fe:a9fe::":          never,
		"::a9fe:a9fe":               never,
		"fd00:ec2::254":             never,
		"100.100.100.200":           never,
		"168.63.129.16":             never,
		"192.0.0.192":               never,
		"0.0.0.0":                   never,
		"0.1.2.3":                   never,
		"::":                        never,
		"fe80::1":                   never,
		"fe80::1%eth0":              never,
		"224.0.0.1":                 never,
		"255.255.255.255":           never,
		"240.0.0.1":                 never,
		"ff02::1":                   never,
		"2001:db8::1":               private,
		"192.0.2.2":                 private,
		"198.18.0.1":                private,
		"64:ff9b::c000:201":         private,
		"64:ff9b:1::10.0.0.1":       never,
		"64:ff9b:1:a9fe:a9:fe00::":  never,
		"2001::4136:e378:8000:1":    never,
		"64:ff9b::5db8:d822":        always,
		"::ffff:93.184.216.34":      always,
		"2002:5db8:d822::":          always,
		"fd12:3456:789a::1":         private,
		"::ffff:127.0.0.1":          private,
		"0000:0000::0000:5db8:d822": always,
	} {
		addr := netip.MustParseAddr(ip)
		if got := reachable(addr, Everywhere()); got != (want >= private) {
			t.Errorf("%s, with private networks: %v", ip, got)
		}
		if got := reachable(addr, nil); got != (want == always) {
			t.Errorf("%s, without private networks: %v", ip, got)
		}
	}
	if reachable(netip.Addr{}, Everywhere()) {
		t.Error("no address is one")
	}
}

// TestOwnAddresses: this machine's addresses are inside, public ones too.
func TestOwnAddresses(t *testing.T) {
	own, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range own {
		ip, _, err := net.ParseCIDR(a.String())
		if err != nil {
			t.Fatal(err)
		}
		addr, _ := netip.AddrFromSlice(ip)
		if !isOwn(addr.Unmap()) || reachable(addr, nil) {
			t.Errorf("%s is reachable from outside", addr)
		}
	}
	if isOwn(netip.MustParseAddr("93.184.216.34")) {
		t.Error("an address of another machine is its own")
	}
}

func TestCheckURL(t *testing.T) {
	strict, loose := &Portal{}, &Portal{allowHTTP: true}
	for s, want := range map[string][2]bool{
		"https://ev.example/mcp":                         {true, true},
		"https://ev.example:8443/mcp?a=b":                {true, true},
		"http://localhost:3000/mcp":                      {true, true},
		"http://127.0.0.1:3000":                          {true, true},
		"http://[::1]:3000/mcp":                          {true, true},
		"http://ev.example/mcp":                          {false, true},
		"http://mcp:3000/mcp":                            {false, true},
		"http://localhost.evil.example":                  {false, true},
		"https://user@ev.example":                        {false, false},
		"https://user:hunter2@ev.example":                {false, false},
		"https://ev.example/#part":                       {false, false},
		"https://":                                       {false, false},
		"https:ev.example":                               {false, false},
		"http://10.1.2.3/mcp":                            {true, true},
		"http://[fd12::1]:80/mcp":                        {true, true},
		"http://93.184.216.34/mcp":                       {false, true},
		"http://169.254.169.254/":                        {false, true},
		"ftp://ev.example":                               {false, false},
		"file:///etc/passwd":                             {false, false},
		"ev.example":                                     {false, false},
		"":                                               {false, false},
		"https://ev.example/" + strings.Repeat("x", 3e3): {false, false},
		"https://ev.example/%zz":                         {false, false},
	} {
		for i, p := range []*Portal{strict, loose} {
			err := p.checkURL("url", s)
			if (err == nil) != want[i] {
				t.Errorf("%.60s: %v", s, err)
			}
			if err != nil && strings.Contains(err.Error(), "hunter2") {
				t.Errorf("%.60s: the error quotes it: %v", s, err)
			}
		}
	}
}

// TestDialChecksAddress: where a name leads is checked by what it resolves to.
func TestDialChecksAddress(t *testing.T) {
	s := httptest.NewServer(http.NotFoundHandler())
	defer s.Close()
	get := func(allowed []netip.Prefix, even time.Duration) error {
		outside := newOutside(allowed, even, slog.New(slog.DiscardHandler))
		defer outside.CloseIdleConnections()
		req, err := http.NewRequestWithContext(context.Background(), http.MethodGet, strings.Replace(s.URL, "127.0.0.1", "localhost", 1), nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := outside.RoundTrip(req)
		if err == nil {
			resp.Body.Close()
		}
		return err
	}
	if err := get([]netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}, 0); !errors.Is(err, errAddress) {
		t.Errorf("localhost is reached where only another network is allowed: %v", err)
	}
	if err := get([]netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")}, 0); err != nil {
		t.Errorf("localhost isn't reached where it is allowed: %v", err)
	}
	if err := get(Everywhere(), time.Hour); err != nil {
		t.Errorf("localhost isn't reached: %v", err)
	}
}

// TestRedirects stay with the server.
func TestRedirects(t *testing.T) {
	evil := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the other server was asked") }))
	defer evil.Close()
	var s *httptest.Server
	s = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/away":
			http.Redirect(w, r, evil.URL, http.StatusFound)
		case "/here":
			http.Redirect(w, r, s.URL+"/end", http.StatusFound)
		case "/loop":
			http.Redirect(w, r, "/loop", http.StatusFound)
		}
	}))
	defer s.Close()
	p, err := New(Options{Keys: oneKey(0)})
	if err != nil {
		t.Fatal(err)
	}
	defer p.way(Everywhere()).CloseIdleConnections()
	for path, ok := range map[string]bool{"/away": false, "/here": true, "/loop": false} {
		resp, err := p.plainClient(ubl.CoreTenant).Get(s.URL + path)
		if err == nil {
			resp.Body.Close()
		}
		if (err == nil) != ok {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// TestNothingToTell: a tenant that isn't allowed inside hears the same, after the same
// time, of a private address, of names that lead there or nowhere, and of a server that
// is down. What it may reach is no other's by a shared connection.
func TestNothingToTell(t *testing.T) {
	const even = 300 * time.Millisecond
	s := httptest.NewServer(http.NotFoundHandler())
	defer s.Close()
	port := s.URL[strings.LastIndex(s.URL, ":"):]
	p, err := New(Options{Keys: oneKey(0), AllowPrivate: func(t ubl.TenantID) []netip.Prefix {
		switch t {
		case "t:all":
			return Everywhere()
		case "t:some":
			return []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")}
		}
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close(context.Background())
	p.even = even
	get := func(tenant ubl.TenantID, url string) (string, time.Duration) {
		began := time.Now()
		resp, err := p.plainClient(tenant).Get(url)
		if err == nil {
			resp.Body.Close()
			return "reached", 0
		}
		e := ubl.AsError(explain(err, nil))
		return string(e.Code) + ": " + e.Message, time.Since(began)
	}
	for _, tenant := range []ubl.TenantID{"t:all", "t:some"} {
		if got, _ := get(tenant, "http://localhost"+port); got != "reached" {
			t.Errorf("%s, which may go there, was told %s", tenant, got)
		}
	}
	for _, url := range []string{
		"http://localhost" + port,          // resolves, to an open port
		"http://127.0.0.1" + port,          // needs no name
		"http://127.0.0.1:1",               // nothing there
		"http://no-such-name.invalid",      // doesn't resolve
		"http://10.255.255.1",              // private, and nobody's
		"https://no-such-name.invalid:444", // another scheme
	} {
		got, took := get("t:none", url)
		if want := string(errUnreachable.Code) + ": " + errUnreachable.Message; got != want {
			t.Errorf("%s: %s", url, got)
		}
		if took < even {
			t.Errorf("%s: after %v, want %v or more", url, took, even)
		}
	}
	if got, _ := get("t:some", "http://no-such-name.invalid"); !strings.HasSuffix(got, errUnreachable.Message) {
		t.Errorf("a tenant that may go to some networks was told %s", got)
	}
	if got, _ := get("t:all", "http://no-such-name.invalid"); strings.HasSuffix(got, errUnreachable.Message) {
		t.Errorf("a tenant that may go everywhere isn't told what is wrong: %s", got)
	}
}

// TestOperatorsAreTold: the log has the cause that the tenant isn't told, and nothing
// secret of the address.
func TestOperatorsAreTold(t *testing.T) {
	var log strings.Builder
	p, err := New(Options{Keys: oneKey(0), AllowPrivate: func(ubl.TenantID) []netip.Prefix { return nil },
		Log: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close(context.Background())
	p.even = time.Millisecond
	for url, want := range map[string][]string{
		"http://ana:hunter2@127.0.0.1:1/mcp?key=hunter2": {"level=WARN", "address=127.0.0.1:1", errAddress.Message},
		"http://no-such-name.invalid/hunter2":            {"level=DEBUG", "address=no-such-name.invalid:80", "lookup"},
	} {
		log.Reset()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer hunter2")
		resp, err := p.plainClient("t:none").Do(req)
		if err == nil {
			resp.Body.Close()
			t.Fatalf("%s was reached", url)
		}
		for _, part := range want {
			if !strings.Contains(log.String(), part) {
				t.Errorf("%s: the log lacks %q: %s", url, part, log.String())
			}
		}
		if strings.Contains(log.String(), "hunter2") {
			t.Errorf("%s: a secret is in the log: %s", url, log.String())
		}
	}
}

func TestCheckNetwork(t *testing.T) {
	for s, ok := range map[string]bool{
		"10.1.0.0/16": true, "127.0.0.1/32": true, "fd12:3456::/32": true, "0.0.0.0/0": true, "::/0": true,
		"10.1.2.0/16": false, "169.254.0.0/16": false, "169.254.169.254/32": false, "fe80::/64": false, "::ffff:10.0.0.0/104": false,
	} {
		if err := CheckNetwork(netip.MustParsePrefix(s)); (err == nil) != ok {
			t.Errorf("%s: %v", s, err)
		}
	}
}
