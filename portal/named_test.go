package portal

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"ubl"
)

// abroad is a connection to a server at a public address.
type abroad struct{ net.Conn }

// RemoteAddr implements [net.Conn].
func (abroad) RemoteAddr() net.Addr {
	return &net.TCPAddr{IP: net.IPv4(93, 184, 216, 34), Port: 443}
}

// resolve has https://example.com lead to a test server as if it were abroad.
func resolve(tr *http.Transport, s *httptest.Server) {
	dial := tr.DialContext
	tr.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		if address != "example.com:443" {
			return dial(ctx, network, address)
		}
		c, err := new(net.Dialer).DialContext(ctx, network, s.Listener.Addr().String())
		return abroad{c}, err
	}
	tr.TLSClientConfig = &tls.Config{RootCAs: x509.NewCertPool()}
	tr.TLSClientConfig.RootCAs.AddCert(s.Certificate())
}

// TestNamedInside: a server abroad can't have us ask this machine, whichever of the
// addresses that it may name it tries. One that is here itself can.
func TestNamedInside(t *testing.T) {
	var asked atomic.Int32
	inside := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		http.NotFound(w, nil)
	}))
	defer inside.Close()
	var names func(own string) (hint, issuer, endpoints string)
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		own := "https://" + r.Host
		hint, issuer, endpoints := names(own)
		w.Header().Set("Content-Type", "application/json")
		switch path := r.URL.Path; {
		case path == "/mcp":
			w.Header().Set("WWW-Authenticate", fmt.Sprintf("Bearer resource_metadata=%q", hint))
			w.WriteHeader(http.StatusUnauthorized)
		case path == "/meta":
			fmt.Fprintf(w, `{"resource":%q,"authorization_servers":[%q]}`, own+"/mcp", issuer)
		case strings.HasSuffix(path, "/oauth-authorization-server"):
			fmt.Fprintf(w, `{"issuer":%q,"authorization_endpoint":%q,"token_endpoint":%q,"registration_endpoint":%q,"code_challenge_methods_supported":["S256"],"response_types_supported":["code"],"authorization_response_iss_parameter_supported":true}`,
				own, own+"/authorize", endpoints+"/token", endpoints+"/register")
		default:
			http.NotFound(w, r)
		}
	}))
	defer s.Close()
	p, err := New(Options{Keys: oneKey(0), PublicURL: "https://ubl.example", Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close(context.Background())
	p.even = time.Millisecond
	resolve(p.way(Everywhere()).Transport, s)
	resolve(p.way(nil).Transport, s)

	// try goes the way of a sign-in, as far as the server lets it.
	try := func(address string) {
		a := &ubl.ServerAccess{Server: ubl.Server{ServerID: "ev", URL: address, Auth: ubl.AuthUser}}
		at, err := p.authorityOf(t.Context(), ubl.CoreTenant, &a.Server)
		if err != nil {
			return
		}
		_, _ = p.register(t.Context(), ubl.CoreTenant, at)
		st := &state{Tenant: ubl.CoreTenant, Grant: grant{ClientID: "c", TokenURL: at.token, Inside: at.inside}}
		_ = p.exchange(t.Context(), a, st, "code")
	}
	for _, c := range []struct {
		name  string
		names func(own string) (hint, issuer, endpoints string)
	}{
		{"the page of metadata", func(own string) (string, string, string) { return inside.URL + "/meta", own, own }},
		{"the issuer", func(own string) (string, string, string) { return own + "/meta", inside.URL, own }},
		{"its endpoints", func(own string) (string, string, string) { return own + "/meta", own, inside.URL }},
	} {
		t.Run(c.name, func(t *testing.T) {
			names = c.names
			asked.Store(0)
			try("https://example.com/mcp")
			if n := asked.Load(); n != 0 {
				t.Errorf("this machine was asked %d times for a server abroad", n)
			}
			try(s.URL + "/mcp")
			if asked.Load() == 0 {
				t.Error("this machine wasn't asked for a server on it")
			}
		})
	}
}
