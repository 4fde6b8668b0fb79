package envelope

import (
	"context"

	"ubl"
)

// Aside is what a tool answers for programs alone, beside what a model reads.
type Aside struct {
	// Salt is what the act's commitments were made with, where nothing but the whole answer has it.
	Salt ubl.Salt
}

type asideKey struct{}

// WithAside has a tool put there what it answers aside. It belongs to one call.
func WithAside(ctx context.Context) (context.Context, *Aside) {
	aside := new(Aside)
	return context.WithValue(ctx, asideKey{}, aside), aside
}

// AsideOf is where to put it, nil where nobody looks.
func AsideOf(ctx context.Context) *Aside {
	aside, _ := ctx.Value(asideKey{}).(*Aside)
	return aside
}
