package tenant_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"pgregory.net/rapid"

	"ubl"
	"ubl/actors"
	"ubl/actors/families"
	"ubl/actors/room"
	"ubl/actors/tenant"
	"ubl/test/harness"
)

var update = flag.Bool("update", false, "write what is stored now as what has to be")

// seeded is a family whose actors have random numbers that follow from their names.
func seeded(name string, owns func(string) bool, open func(context.Context, actors.Env) (actors.Actor, error)) actors.Family {
	return actors.Family{Name: name, Owns: owns, Open: func(ctx context.Context, env actors.Env) (actors.Actor, error) {
		env.Random = rand.NewChaCha8(sha256.Sum256([]byte(env.Name)))
		return open(ctx, env)
	}}
}

// TestStoredBytes: random histories leave the events and keys that they left before the
// kernel made them, byte for byte: later versions read them, and earlier ones on a cluster
// that is being upgraded. Who changes on purpose what is stored runs it with -update.
func TestStoredBytes(t *testing.T) {
	golden := filepath.Join("testdata", "stored.txt")
	var got bytes.Buffer
	for seed := range 4 {
		fmt.Fprintf(&got, "%d %x\n", seed, sha256.Sum256(history(t, seed)))
	}
	if *update {
		if err := os.WriteFile(golden, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if want, err := os.ReadFile(golden); err != nil || got.String() != string(want) {
		t.Errorf("stored is\n%s before\n%s%v", got.String(), want, err)
	}
}

// history is what an ordinary tenant and tenant 0 have stored after random commands, some
// of which are asked again, in memory and loaded anew.
func history(t *testing.T, seed int) []byte {
	var read ubl.Store
	h := harness.Open(t, harness.Options{
		Wrap: func(s ubl.Store) ubl.Store { read = s; return s },
		Families: []actors.Family{
			seeded("room", func(l string) bool { return ubl.RoomID(l).Valid() }, func(ctx context.Context, env actors.Env) (actors.Actor, error) {
				return room.Family(read).Open(ctx, env)
			}),
			seeded("tenant", func(l string) bool { return l == "" }, func(ctx context.Context, env actors.Env) (actors.Actor, error) {
				return tenant.Open(ctx, read, families.Places(), ubl.Kinds(), env)
			}),
		},
	})
	defer h.Close()
	worlds := []*world{{h: h, tenant: "t:acme.example"}, {h: h, tenant: ubl.CoreTenant}}
	for _, w := range worlds {
		for i := range 4 {
			u := harness.User(fmt.Sprintf("user%d@acme.example", i))
			u.TenantID = w.tenant
			w.users = append(w.users, u)
		}
		asked := 0
		w.told = func(cmd ubl.Command) {
			for n := range 1 + asked%3 {
				if n == 1 && asked%2 == 0 {
					h.Reload()
				}
				_, _ = h.Ask(context.Background(), ubl.TenantName(w.tenant), cmd)
			}
			asked++
		}
		w.enter(w.users[0])
	}
	rapid.Custom(func(rt *rapid.T) int {
		for range 300 {
			w := rapid.SampledFrom(worlds).Draw(rt, "tenant")
			all := []func(*rapid.T){
				func(rt *rapid.T) { w.enter(w.user(rt)) }, w.room, w.defaults, w.role, w.name, w.remove, w.token, w.renew, w.revoke, w.invite,
				w.uninvite, w.accept, w.prove, w.claim, w.admit, w.session, w.unadmit, w.everywhere, w.register, w.signIn,
				w.forget, w.make, w.look, w.access, w.use, w.close, w.end, w.release,
			}
			all[rapid.IntRange(0, len(all)-1).Draw(rt, "act")](rt)
		}
		return 0
	}).Example(seed)
	var stored bytes.Buffer
	for _, w := range worlds {
		err := h.Engine.View(t.Context(), ubl.TenantName(w.tenant).Group(), func(snap ubl.Snapshot) error {
			write := func(k, v []byte) bool {
				fmt.Fprintf(&stored, "%s %q %q\n", w.tenant, k, v)
				return true
			}
			return errors.Join(snap.Ascend([]byte("t"), []byte("u"), write), snap.Ascend([]byte("k\x00"), []byte("k\x01"), write))
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return stored.Bytes()
}

// renew prolongs a service token, with another secret sometimes.
func (w *world) renew(rt *rapid.T) {
	secret := rapid.SampledFrom([]string{"", "01"}).Draw(rt, "secret")
	w.ask(ubl.RenewServiceToken{Request: w.request(rt), ClientID: fmt.Sprint("client", rapid.IntRange(0, 3).Draw(rt, "token")), SecretHash: secret})
}

// release has an operator release a domain.
func (w *world) release(rt *rapid.T) {
	w.ask(ubl.ReleaseDomain{Request: w.request(rt), Domain: rapid.SampledFrom([]string{"a.example", "b.example"}).Draw(rt, "domain")})
}
