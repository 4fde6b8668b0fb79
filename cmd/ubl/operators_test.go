package main

import (
	"bytes"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"

	"ubl"
	"ubl/test/harness"
)

// TestWarnUnnamed: a start warns where --operator names none of tenant 0's owners, and
// neither before there are any nor where it names one.
func TestWarnUnnamed(t *testing.T) {
	p := &program{now: testNow, random: &counter64{}}
	var log bytes.Buffer
	n, err := p.openNode(filepath.Join(t.TempDir(), "data"), slog.New(slog.NewTextHandler(&log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = n.close(t.Context()) }()
	if err := n.bootstrap(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name  string
		enter string // who becomes an owner before
		named []string
		warns bool
	}{
		{"nobody has come yet", "", []string{"ann@ops.example"}, false},
		{"an owner is named", "ann@ops.example", []string{"bob@ops.example", "Ann@ops.example"}, false},
		{"another is named", "", []string{"bob@ops.example"}, true},
		{"nobody is named", "", nil, true},
		{"the other has come", "bob@ops.example", []string{"bob@ops.example"}, false},
	} {
		if c.enter != "" {
			who := harness.User(c.enter)
			who.TenantID = ubl.CoreTenant
			req := ubl.Request{Who: who, ID: "req:" + c.enter, Key: c.enter}
			if _, err := n.asker.Ask(t.Context(), ubl.TenantName(ubl.CoreTenant), ubl.Enter{Request: req, Operator: true}); err != nil {
				t.Fatal(err)
			}
		}
		log.Reset()
		if n.warnUnnamed(t.Context(), c.named); strings.Contains(log.String(), "level=WARN") != c.warns {
			t.Errorf("%s: %q", c.name, log.String())
		}
	}
}

// TestFirstOwner may operate a node alone that nobody else can reach, and no other.
func TestFirstOwner(t *testing.T) {
	const here = "127.0.0.1:8080"
	for name, c := range map[string]struct {
		change  func(*serveCmd)
		section []oidcProvider
		at      string
		may     bool
	}{
		"alone":                       {at: here, may: true},
		"alone, over IPv6":            {at: "[::1]:8080", may: true},
		"reached from other machines": {at: "0.0.0.0:8080"},
		"reached by an address":       {at: "10.0.0.7:8080"},
		"with operators":              {func(c *serveCmd) { c.Operator = []string{"root@localhost"} }, nil, here, false},
		"of a cluster":                {func(c *serveCmd) { c.ClusterListen = "127.0.0.1:7101" }, nil, here, false},
		"with a public URL":           {func(c *serveCmd) { c.PublicURL = "https://ubl.example.com" }, nil, here, false},
		"behind a proxy":              {func(c *serveCmd) { c.TrustedProxy = []string{"127.0.0.1"} }, nil, here, false},
		"with a provider":             {func(c *serveCmd) { c.OIDCIssuer = []string{"https://id.example"} }, nil, here, false},
		"with a provider of the file": {nil, []oidcProvider{{}}, here, false},
	} {
		serve := &serveCmd{Owner: "owner@localhost"}
		if c.change != nil {
			c.change(serve)
		}
		if got := serve.firstOwner(&program{oidc: c.section}, c.at); (got == "owner@localhost") != c.may || got != "" && !c.may {
			t.Errorf("%s: %q, want %v", name, got, c.may)
		}
	}
}
