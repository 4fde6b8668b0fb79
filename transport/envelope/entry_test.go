package envelope_test

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"ubl"
	"ubl/transport/envelope"
)

var ana = ubl.Identity{UserID: "u:ana", TenantID: "t:acme.com"}

// door is a tenant's: it notes who wants in, and lets them unless told not to.
type door struct {
	closed error
	taken  []ubl.Enter
}

func (d *door) Ask(_ context.Context, _ ubl.Name, cmd ubl.Command) (any, error) {
	if in, ok := cmd.(ubl.Enter); ok {
		d.taken = append(d.taken, in)
		return &ubl.Entered{TenantID: ana.TenantID, Role: ubl.RoleMember}, d.closed
	}
	return "answer", nil
}

func (d *door) Visit(ctx context.Context, in ubl.Enter, to ubl.Name, cmd ubl.Command) (*ubl.Entered, any, error) {
	entered, err := ubl.Ask[*ubl.Entered](ctx, d, ubl.TenantName(ana.TenantID), in)
	if err != nil {
		return nil, nil, err
	}
	answer, err := d.Ask(ctx, to, cmd)
	return entered, answer, err
}

func (d *door) tools() []string {
	var out []string
	for _, in := range d.taken {
		out = append(out, in.Tool)
	}
	return out
}

// comer is a caller who has yet to be let in.
func (d *door) comer() *envelope.Caller {
	c := &envelope.Caller{Identity: ana}
	c.Enters(ubl.Enter{Request: ubl.Request{Who: ana, ID: "req:1"}, Act: true}, d)
	return c
}

// TestUses: the tenant hears of the tool on the way in, and only then.
func TestUses(t *testing.T) {
	for name, enter := range map[string]func(context.Context, *door) error{
		"by itself": func(ctx context.Context, _ *door) error {
			_, err := envelope.CallerOf(ctx).Enter(ctx)
			return err
		},
		"with the first question": func(ctx context.Context, d *door) error {
			_, err := envelope.Entering(d).Ask(ctx, ubl.RoomName(ana.TenantID, "r:general"), ubl.RoomHead{})
			return err
		},
	} {
		d := &door{}
		c := d.comer()
		ctx := envelope.WithCaller(context.Background(), c)
		c.Uses("room.get", "")
		if err := enter(ctx, d); err != nil {
			t.Fatal(err)
		}
		c.Uses("room.create", ubl.Creations)
		if err := enter(ctx, d); err != nil || !slices.Equal(d.tools(), []string{"room.get"}) {
			t.Errorf("%s: the tenant heard of %q, %v", name, d.tools(), err)
		}
	}
}

// TestRefusedAtTheDoor stays outside, and is asked about again.
func TestRefusedAtTheDoor(t *testing.T) {
	d := &door{closed: ubl.Errorf(ubl.CodeForbidden, "not this tool")}
	c := d.comer()
	ctx := envelope.WithCaller(context.Background(), c)
	c.Uses("room.get", "")
	for range 2 {
		if _, err := c.Enter(ctx); ubl.CodeOf(err) != ubl.CodeForbidden {
			t.Errorf("entered: %v", err)
		}
	}
	if len(d.taken) != 2 {
		t.Errorf("the tenant was asked %d times", len(d.taken))
	}
}

// TestAnew: each act of a request is let in by itself, wherever the request
// itself stands.
func TestAnew(t *testing.T) {
	d := &door{}
	whole := d.comer()
	whole.Operates, whole.OneAddress = true, true
	ctx := context.Background()
	for i, tool := range []string{"room.get", "room.create", "messenger.send"} {
		c := whole.Anew(tool != "room.get", tool)
		if role, err := c.Enter(ctx); err != nil || role != ubl.RoleMember || c.Identity.UserID != ana.UserID || !c.Operates || !c.OneAddress {
			t.Fatalf("%s: %s, %v, as %+v", tool, role, err, c.Identity)
		}
		if last := d.taken[i]; last.Tool != tool || last.Act != (tool != "room.get") || last.Still || last.ID != "req:1" {
			t.Errorf("the tenant heard %+v", last)
		}
		if i == 1 { // and now the request itself
			if _, err := whole.Enter(ctx); err != nil {
				t.Fatal(err)
			}
			d.taken = d.taken[:2]
		}
	}
	if _, err := whole.Still("room.get").Enter(ctx); err != nil {
		t.Fatal(err)
	}
	if last := d.taken[len(d.taken)-1]; last.Tool != "room.get" || last.Act || !last.Still {
		t.Errorf("of what goes on the tenant heard %+v", last)
	}
	if _, err := whole.Still("git.log").External().Enter(ctx); err != nil {
		t.Fatal(err)
	}
	if last := d.taken[len(d.taken)-1]; last.Tool != "git.log" || !last.Still || !last.External {
		t.Errorf("of another server's tool the tenant heard %+v", last)
	}
	let := &envelope.Caller{Identity: ana}
	let.Let(ubl.RoleOwner)
	if role, err := let.Anew(true, "room.get").Enter(ctx); err != nil || role != ubl.RoleOwner {
		t.Errorf("who need not be asked about is %s, %v", role, err)
	}
}

// TestRefusalIsHeld: who is refused for load, or by a limit, hears of it after a moment, so that coming
// back at once costs the server no more than waiting; every other answer comes at once.
func TestRefusalIsHeld(t *testing.T) {
	for code, want := range map[ubl.Code]time.Duration{
		ubl.CodeOverloaded: 500 * time.Millisecond, ubl.CodeRateLimited: 500 * time.Millisecond, ubl.CodeUnavailable: 0, ubl.CodeForbidden: 0,
	} {
		for _, gone := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				want := want
				if gone {
					cancel()
					want = 0
				}
				d := &door{closed: ubl.Errorf(code, "no")}
				began := time.Now()
				_, err := envelope.Entering(d).Ask(envelope.WithCaller(ctx, d.comer()), ubl.RoomName(ana.TenantID, "r:general"), ubl.RoomHead{})
				if took := time.Since(began); ubl.CodeOf(err) != code || took != want {
					t.Errorf("%s, caller gone %t: answered %v after %s, want %s", code, gone, err, took, want)
				}
			})
		}
	}
}

// TestRemains: whoever was shut out, or whose credential was ended, since the tenant let them
// in, doesn't get the answer. One that this node only no longer knows is asked about.
func TestRemains(t *testing.T) {
	out := ubl.Errorf(ubl.CodeForbidden, "not a member")
	ended := ubl.Errorf(ubl.CodeUnauthorized, "revoked")
	forgotten := make(chan struct{})
	close(forgotten)
	for name, c := range map[string]struct {
		closed  error
		revoked <-chan struct{}
		holds   error
		want    error
	}{
		"still there":              {},
		"removed":                  {closed: out, want: out},
		"removed, and revoked":     {closed: out, revoked: forgotten, holds: ended, want: out},
		"revoked":                  {revoked: forgotten, holds: ended, want: ended},
		"forgotten by this node":   {revoked: forgotten},
		"not heard of here so far": {revoked: make(chan struct{}), holds: ended},
	} {
		d := &door{}
		who := d.comer()
		who.Revoked, who.Holds = c.revoked, func(context.Context) error { return c.holds }
		who.ExpiresAt = 1 // long ago: it was good for the request
		if _, err := who.Enter(t.Context()); err != nil {
			t.Fatal(err)
		}
		d.closed = c.closed
		if err := who.Remains(t.Context()); err != c.want {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
		if in := d.taken[len(d.taken)-1]; len(d.taken) != 2 || in.Act || in.Tool != "" {
			t.Errorf("%s: the tenant was asked %+v", name, d.taken)
		}
	}
}
