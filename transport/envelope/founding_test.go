package envelope_test

import (
	"context"
	"testing"

	"ubl"
	"ubl/transport/envelope"
)

// vacant is the door of a tenant that the first Enter founds.
type vacant struct {
	door
	founded bool
}

func (v *vacant) Ask(ctx context.Context, to ubl.Name, cmd ubl.Command) (any, error) {
	if in, ok := cmd.(ubl.Enter); ok && !v.founded {
		if in.NoFounding {
			return nil, ubl.ErrUnfounded()
		}
		v.founded = true
	}
	return v.door.Ask(ctx, to, cmd)
}

func (v *vacant) Visit(ctx context.Context, in ubl.Enter, to ubl.Name, cmd ubl.Command) (*ubl.Entered, any, error) {
	entered, err := ubl.Ask[*ubl.Entered](ctx, v, to, in)
	return entered, "answer", err
}

// TestFoundingsAreAskedFor: who founds a tenant asks first, and once; who enters one that
// exists doesn't.
func TestFoundingsAreAskedFor(t *testing.T) {
	for name, enter := range map[string]func(context.Context, *vacant) error{
		"by itself": func(ctx context.Context, v *vacant) error {
			c := &envelope.Caller{Identity: ana}
			c.Enters(ubl.Enter{Request: ubl.Request{Who: ana}}, v)
			_, err := c.Enter(ctx)
			return err
		},
		"with the first question": func(ctx context.Context, v *vacant) error {
			_, err := envelope.Entering(v).Ask(envelope.WithCaller(ctx, v.comer()), ubl.TenantName(ana.TenantID), ubl.GetTenant{})
			return err
		},
	} {
		v, asked := &vacant{}, 0
		no := error(ubl.Errorf(ubl.CodeRateLimited, "too many"))
		ctx := envelope.WithFounding(t.Context(), func() error { asked++; return no })
		if err := enter(ctx, v); ubl.CodeOf(err) != ubl.CodeRateLimited || v.founded || asked != 1 {
			t.Errorf("%s: refused with %v, founded %v, asked %d times", name, err, v.founded, asked)
		}
		no = nil
		for range 2 {
			if err := enter(ctx, v); err != nil || !v.founded || asked != 2 {
				t.Errorf("%s: let in with %v, founded %v, asked %d times", name, err, v.founded, asked)
			}
		}
	}
}
