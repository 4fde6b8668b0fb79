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
	if _, ok := cmd.(ubl.Enter); ok {
		return &ubl.Entered{Role: ubl.RoleMember}, nil
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
		if _, err := w.resolve(b.Context(), c); err != nil {
			b.Fatal(err)
		}
	}
}
