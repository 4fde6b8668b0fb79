package main

import (
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ubl"
)

// TestNetworks: which private networks the servers of a tenant may be in.
func TestNetworks(t *testing.T) {
	c := &serveCmd{Owner: "ana@acme.com", allowFlags: allowFlags{PortalAllow: []string{"t:b.com=10.2.0.0/16"}}}
	p := &program{portal: portalSection{Allow: []allowance{{"t:b.com", "10.3.0.0/16"}, {"*", "10.9.0.0/24"}}}}
	allowed := c.networks(p)
	for tenant, want := range map[ubl.TenantID]string{
		"t:acme.com":   "[0.0.0.0/0 ::/0]",
		ubl.CoreTenant: "[0.0.0.0/0 ::/0]",
		"t:b.com":      "[10.9.0.0/24 10.3.0.0/16 10.2.0.0/16]",
		"t:c.com":      "[10.9.0.0/24]",
	} {
		if got := fmt.Sprint(allowed(tenant)); got != want {
			t.Errorf("%s may reach %s, want %s", tenant, got, want)
		}
	}
	if got := (&serveCmd{Owner: "ana@acme.com"}).networks(&program{})("t:c.com"); fmt.Sprint(got) != fmt.Sprint([]netip.Prefix{}) {
		t.Errorf("without a word of the operator a tenant may reach %v", got)
	}
}

// TestAllowIsChecked: what can't be meant is refused, and the place is named.
func TestAllowIsChecked(t *testing.T) {
	for _, bad := range []string{"10.0.0.0/8", "t:b.com", "t:b.com=10.0.0.1/8", "t:b.com=169.254.0.0/16", "b.com=10.0.0.0/8", "=10.0.0.0/8"} {
		if err := (&allowFlags{PortalAllow: []string{bad}}).check(); err == nil {
			t.Errorf("--portal-allow %s is taken", bad)
		}
	}
	for content, want := range map[string]string{
		"portal:\n  allow:\n    - {tenant: 't:b.com', network: 10.0.0.1/8}\n": "portal.allow[0].network",
		"portal:\n  allow:\n    - {tenant: b.com, network: 10.0.0.0/8}\n":     "portal.allow[0].tenant",
		"portal:\n  deny: []\n": "portal",
	} {
		path := filepath.Join(t.TempDir(), "ubl.yaml")
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		file, err := readConfig(path)
		if err == nil {
			_, err = takePortal(file)
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", content, err)
		}
	}
}
