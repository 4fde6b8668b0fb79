package tenant_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"ubl"
	"ubl/actors"
	"ubl/actors/families"
	"ubl/actors/tenant"
	"ubl/test/harness"
)

func TestSnapshotHasEveryField(t *testing.T) {
	state, stored, follow := tenant.SnapshotFields()
	harness.EveryField(t, state, stored, follow)
}

// spoiled shows another value under a key.
type spoiled struct {
	ubl.Reader
	key []byte
	fn  func([]byte) []byte
}

func (s spoiled) View(ctx context.Context, g ubl.Group, fn func(ubl.Snapshot) error) error {
	return s.Reader.View(ctx, g, func(snap ubl.Snapshot) error { return fn(spoiledSnap{snap, s}) })
}

type spoiledSnap struct {
	ubl.Snapshot
	spoiled spoiled
}

func (s spoiledSnap) Get(key []byte) ([]byte, error) {
	v, err := s.Snapshot.Get(key)
	if bytes.Equal(key, s.spoiled.key) {
		return s.spoiled.fn(slices.Clone(v)), err
	}
	return v, err
}

// TestBadSnapshots: a damaged one is left alone, one of a newer release refused.
func TestBadSnapshots(t *testing.T) {
	h, env := signedIn(t, 40, 10, -1)
	var logged strings.Builder
	env.Log = slog.New(slog.NewTextHandler(&logged, nil))
	open := func(read ubl.Reader) (*tenant.Tenant, error) {
		return tenant.Open(t.Context(), read, families.Places(), ubl.Kinds(), env)
	}
	good, err := open(h.Engine)
	if err != nil || harness.Saved(t, h.Engine, env.Name, tenant.HeadKey()) == 0 {
		t.Fatalf("there is no snapshot: %v", err)
	}
	want := fmt.Sprintf("%+v", good.Snapshot())
	piece := tenant.PieceKey(0)
	if err := h.Engine.View(t.Context(), env.Name.Group(), func(snap ubl.Snapshot) error {
		v, err := snap.Get(tenant.HeadKey())
		var head struct{ Turn byte }
		_ = json.Unmarshal(v, &head)
		piece = tenant.PieceKey(head.Turn)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	flip := func(v []byte) []byte { v[len(v)/2] ^= 1; return v }
	for name, bad := range map[string]spoiled{
		"a flipped bit":      {h.Engine, piece, flip},
		"no piece":           {h.Engine, piece, func([]byte) []byte { return nil }},
		"an empty piece":     {h.Engine, piece, func([]byte) []byte { return []byte{} }},
		"no JSON for a head": {h.Engine, tenant.HeadKey(), func([]byte) []byte { return []byte("x") }},
		"a head of nothing":  {h.Engine, tenant.HeadKey(), func([]byte) []byte { return []byte("{}") }},
	} {
		logged.Reset()
		x, err := open(bad)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if fmt.Sprintf("%+v", x.Snapshot()) != want || !strings.Contains(logged.String(), "damaged") {
			t.Errorf("%s: the state is %+v; the log says %q", name, x.Snapshot(), logged.String())
		}
	}
	if x, err := open(spoiled{h.Engine, tenant.HeadKey(), func([]byte) []byte { return nil }}); err != nil || fmt.Sprintf("%+v", x.Snapshot()) != want {
		t.Errorf("a store without a snapshot: %v", err)
	}
	_, err = open(spoiled{h.Engine, tenant.HeadKey(), func([]byte) []byte { return []byte(`{"v":2,"more":1}`) }})
	if err == nil || !strings.Contains(err.Error(), "version 2") {
		t.Errorf("a newer release's: %v", err)
	}
}

// TestSnapshotOfOlderRelease: a release that knows no claims passes over them, and
// what it saves says nothing of them. They are found among the events again.
func TestSnapshotOfOlderRelease(t *testing.T) {
	var read ubl.Reader
	older := false
	family := actors.Family{Name: "tenant", Owns: func(local string) bool { return local == "" },
		Open: func(ctx context.Context, env actors.Env) (actors.Actor, error) {
			x, err := tenant.OpenEvery(ctx, read, families.Places(), ubl.Kinds(), env, tenant.Saving{Every: 3, Each: -1})
			if err == nil && older {
				x.ForgetClaims()
			}
			return x, err
		}}
	h := harness.Open(t, harness.Options{Families: []actors.Family{family}, Wrap: func(s ubl.Store) ubl.Store { read = s; return s }})
	core := ubl.TenantName(ubl.CoreTenant)
	ops, ana := harness.User("ops@example.com"), harness.User("ana@acme.example")
	ops.TenantID, ana.TenantID = ubl.CoreTenant, "t:acme"
	h.Enter(ops)
	keep := func(did ubl.Did, domain string) {
		harness.Must[*ubl.DomainClaim](h, core, ubl.KeepDomain{Request: h.Request(ubl.Platform()), By: ana, Did: did, Domain: domain, Value: "v"})
	}
	for _, domain := range []string{"one.example", "two.example"} {
		keep(ubl.DidDomainClaim, domain)
		keep(ubl.DidDomainVerify, domain)
	}
	keep(ubl.DidDomainRelease, "one.example")
	older = true
	h.Reload()
	for n := range 10 {
		harness.Must[*ubl.RoomSummary](h, core, ubl.CreateRoom{Request: h.Request(ops), Name: fmt.Sprint("more ", n)})
		name := "Op"
		harness.Must[*ubl.Member](h, core, ubl.SetTenantMember{Request: h.Request(ops), UserID: ops.UserID, Name: &name})
	}
	older = false
	h.Reload()
	x, err := tenant.Open(t.Context(), read, families.Places(), ubl.Kinds(), actors.Env{Name: core, Now: h.Clock.Now, Random: rand.Reader})
	if saved := harness.Saved(t, h.Engine, core, tenant.HeadKey()); err != nil || saved < 9 {
		t.Fatalf("the older release's snapshot is of event %d, %v", saved, err)
	}
	s := x.Snapshot().State
	if len(s.Claims["t:acme"]) != 1 || s.Holders["two.example"].Now != "t:acme" || s.Holders["one.example"].Now != "" || len(s.Holders["one.example"].Former) != 1 {
		t.Errorf("it knows the claims %+v, the holders %+v", s.Claims, s.Holders)
	}
}

// signedIn is a house where so many have signed in to tenant 0, and renewed their
// session as often, with a snapshot every few events.
func signedIn(t testing.TB, sessions, every, each int) (*harness.House, actors.Env) {
	t.Helper()
	var read ubl.Reader
	family := actors.Family{Name: "tenant", Owns: func(local string) bool { return local == "" },
		Open: func(ctx context.Context, env actors.Env) (actors.Actor, error) {
			return tenant.OpenEvery(ctx, read, families.Places(), ubl.Kinds(), env, tenant.Saving{Every: every, Each: each})
		}}
	h := harness.Open(t, harness.Options{Families: []actors.Family{family}, Wrap: func(s ubl.Store) ubl.Store { read = s; return s }})
	core := ubl.TenantName(ubl.CoreTenant)
	ops := harness.User("ops@example.com")
	ops.TenantID = ubl.CoreTenant
	h.Enter(ops)
	for n := range sessions {
		h.Clock.Add(6 * time.Minute)
		for turn := range int64(2) {
			_, err := h.Ask(context.Background(), core, ubl.AdmitToken{Request: h.Request(ubl.Platform()), Token: ubl.PlatformToken{
				JTI: fmt.Sprint("session", n), UserID: ubl.UserID(fmt.Sprint("u:", n)), TenantID: "t:acme.com", Turn: turn,
				ExpiresAt: ubl.TimeOf(h.Clock.Now()).Add(12 * time.Hour), Kind: ubl.TokenSession, Method: ubl.SignInLink,
			}})
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	return h, actors.Env{Name: core, Now: h.Clock.Now, Random: rand.Reader}
}

// BenchmarkOpenTenant0 opens it with and without a snapshot.
func BenchmarkOpenTenant0(b *testing.B) {
	h, env := signedIn(b, 5000, 1000, 2)
	for name, read := range map[string]ubl.Reader{
		"replay all": spoiled{h.Engine, tenant.HeadKey(), func([]byte) []byte { return nil }}, "snapshot": h.Engine,
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := tenant.Open(b.Context(), read, families.Places(), ubl.Kinds(), env); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
