package preview_test

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"testing"
	"time"

	"ubl/panics"
	"ubl/portal"
	"ubl/preview"
)

// guarded are previews by the portal's own way.
func guarded(t *testing.T, allowed ...netip.Prefix) *preview.Previews {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	return preview.New(preview.Options{Transport: portal.GuardedTransport(allowed, log), Now: time.Now, Log: log, Panics: panics.New(log)})
}

// inside is a server on this machine, and its port.
func inside(t *testing.T, h http.HandlerFunc) (at, port string) {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	u, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	return s.URL, u.Port()
}

// TestGuard: nothing inside is asked, by whatever name, unless the operator allows its network.
func TestGuard(t *testing.T) {
	asked := 0
	at, port := inside(t, func(w http.ResponseWriter, _ *http.Request) {
		asked++
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, "<title>inside</title>")
	})
	p := guarded(t)
	for _, link := range []string{
		at, "http://localhost:" + port, "http://[::1]:" + port, "http://[::ffff:127.0.0.1]:" + port, "http://0.0.0.0:" + port, "http://127.1:" + port,
		"http://2130706433:" + port, "http://0x7f000001:" + port, "http://10.0.0.1/", "http://169.254.169.254/latest/meta-data/", "http://[fd00::1]/",
	} {
		if list := p.Of(t.Context(), "t:acme.com", link); len(list) != 0 || asked != 0 {
			t.Fatalf("%s was asked", link)
		}
	}
	if list := guarded(t, netip.MustParsePrefix("127.0.0.0/8")).Of(t.Context(), "t:acme.com", at); len(list) != 1 || asked != 1 {
		t.Errorf("what is allowed has %d previews", len(list))
	}
}

// TestGuardOnTheWay: neither a redirect nor a picture leads inside. The first server is where it is
// allowed; the second isn't.
func TestGuardOnTheWay(t *testing.T) {
	other, err := net.Listen("tcp", "127.0.0.2:0")
	if err != nil {
		t.Skipf("this machine has one loopback address: %v", err)
	}
	asked := 0
	secret := &http.Server{Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked++ }), ReadHeaderTimeout: time.Minute}
	go secret.Serve(other)
	defer secret.Close()
	at, _ := inside(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/redirect" {
			http.Redirect(w, r, "http://"+other.Addr().String()+"/", http.StatusFound)
			return
		}
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, `<title>x</title><meta property="og:image" content="http://%s/">`, other.Addr())
	})
	p := guarded(t, netip.MustParsePrefix("127.0.0.1/32"))
	if list := p.Of(context.Background(), "t:acme.com", at+"/redirect"); len(list) != 0 {
		t.Error("a redirect leads inside")
	}
	if list := p.Of(context.Background(), "t:acme.com", at+"/picture"); len(list) != 1 || list[0].Image != nil {
		t.Error("a picture from inside is shown")
	}
	if asked > 0 {
		t.Errorf("what is inside was asked %d times", asked)
	}
}
