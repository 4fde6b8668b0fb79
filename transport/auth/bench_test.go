package auth

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	"ubl"
)

// instant lets everyone in at no cost, to leave this package's own.
type instant struct{}

func (instant) Ask(_ context.Context, _ ubl.Name, cmd ubl.Command) (any, error) {
	switch cmd.(type) {
	case ubl.Enter:
		return &ubl.Entered{Role: ubl.RoleMember}, nil
	case ubl.FindHome:
		return &ubl.Home{TenantID: "t:corp.example", UserID: "u:ann", Member: true}, nil
	}
	return nil, nil
}

// BenchmarkAuthenticate is a request whose token is known; the tenant's answer
// costs nothing.
func BenchmarkAuthenticate(b *testing.B) {
	w := newWorld(b, func(o *Options) { o.Asker = instant{}; o.Now = nil })
	token, _ := w.token(b, "ann@corp.example")
	r := httptest.NewRequest(http.MethodPost, "/api/rooms/r:general/messages", nil)
	r.Header.Set("Authorization", "Bearer "+token)
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if _, err := w.Authenticate(r.Context(), r); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkResolve is the lookup alone.
func BenchmarkResolve(b *testing.B) {
	w := newWorld(b, func(o *Options) { o.Asker = instant{}; o.Now = nil })
	token, _ := w.token(b, "ann@corp.example")
	h := http.Header{"Authorization": {"Bearer " + token}}
	b.ReportAllocs()
	for b.Loop() {
		c, err := programs(&http.Request{Header: h})
		if err != nil {
			b.Fatal(err)
		}
		if _, _, err := w.resolve(b.Context(), c); err != nil {
			b.Fatal(err)
		}
	}
}

// service knows every service and agent, at no cost.
type service struct{ instant }

func (s service) Ask(ctx context.Context, to ubl.Name, cmd ubl.Command) (any, error) {
	switch cmd.(type) {
	case ubl.CheckServiceToken:
		return &ubl.ServiceCaller{Identity: ubl.Identity{UserID: "u:robot", IsService: true}}, nil
	case ubl.CheckAgent:
		return &ubl.ServiceCaller{Identity: ubl.Identity{UserID: "u:robot", IsService: true}, Resource: "https://ubl.example/mcp"}, nil
	}
	return s.instant.Ask(ctx, to, cmd)
}

// BenchmarkAgents: what an agent's access token costs a call at an MCP server, beside a service token.
func BenchmarkAgents(b *testing.B) {
	w := newWorld(b, func(o *Options) { o.Asker = service{}; o.Now = nil })
	token, err := w.SignAgent(agentToken(w))
	if err != nil {
		b.Fatal(err)
	}
	clientID, secret, _, err := NewServiceToken("t:corp.example", w.random)
	if err != nil {
		b.Fatal(err)
	}
	next := http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})
	for name, headers := range map[string]http.Header{
		"access token": {"Authorization": {"Bearer " + token}}, "service token": {headerClientID: {clientID}, headerClientSecret: {secret}},
	} {
		b.Run(name, func(b *testing.B) {
			h := w.MiddlewareForAgents("https://ubl.example")(next)
			r := httptest.NewRequest(http.MethodPost, "https://ubl.example/mcp", nil)
			r.Header = headers
			b.ReportAllocs()
			for b.Loop() {
				rec := httptest.NewRecorder()
				if h.ServeHTTP(rec, r); rec.Code != http.StatusOK {
					b.Fatal(rec.Body)
				}
			}
		})
	}
}
