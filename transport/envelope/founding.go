package envelope

import (
	"context"

	"ubl"
)

type foundingKey struct{}

// WithFounding says what to ask before a request founds a tenant.
func WithFounding(ctx context.Context, may func() error) context.Context {
	return context.WithValue(ctx, foundingKey{}, may)
}

// Entry has ask let somebody into their tenant. Where ctx limits foundings, it is asked
// for one that exists first: only a tenant that is about to be founded counts.
func Entry(ctx context.Context, in ubl.Enter, ask func(ubl.Enter) error) error {
	may, _ := ctx.Value(foundingKey{}).(func() error)
	if may == nil {
		return ask(in)
	}
	in.NoFounding = true
	if err := ask(in); !ubl.IsUnfounded(err) {
		return err
	}
	if err := may(); err != nil {
		return err
	}
	in.NoFounding = false
	return ask(in)
}
