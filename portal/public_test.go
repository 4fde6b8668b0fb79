package portal

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"testing"
	"time"

	"ubl"
)

// TestPublicClient: what a stranger names is fetched from public addresses alone, and how it fails
// says nothing of what is there.
func TestPublicClient(t *testing.T) {
	p, err := New(Options{Keys: oneKey(0), AllowPrivate: func(ubl.TenantID) []netip.Prefix { return Everywhere() }}) // for tenants
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close(context.Background())
	p.even = 20 * time.Millisecond
	reached := 0
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached++ }))
	defer s.Close()
	client := p.PublicClient()
	if client.Timeout == 0 || client.Timeout > 10*time.Second {
		t.Errorf("it waits for %s", client.Timeout)
	}
	var said string
	for _, at := range []string{s.URL, "http://127.0.0.1:1/", "http://[::1]:1/", "http://10.0.0.1/", "http://169.254.169.254/latest/meta-data", "http://nobody.invalid/"} {
		_, err := client.Get(at)
		failed, ok := errors.AsType[*url.Error](err)
		if !ok {
			t.Fatalf("%s is reached: %v", at, err)
		}
		if why := ubl.AsError(failed.Err).Message; said != "" && why != said {
			t.Errorf("%s fails with %q, others with %q", at, why, said)
		} else {
			said = why
		}
	}
	if reached > 0 {
		t.Error("a server on this machine was asked")
	}
}
