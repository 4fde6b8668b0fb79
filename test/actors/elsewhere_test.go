package actors_test

import (
	"context"
	"strings"
	"testing"

	"ubl"
	"ubl/actors"
	"ubl/test/harness"
)

// errand has an actor ask another.
type errand struct{ to ubl.Name }

func (errand) Cost() int { return 0 }

// runner does errands beside its mailbox.
type runner struct{ env actors.Env }

func (r *runner) Receive(t *actors.Turn, cmd ubl.Command) {
	e, ok := cmd.(errand)
	if !ok {
		t.Reply("here")
		return
	}
	ctx := t.Context()
	t.Later(func() (any, error) { return r.env.Ask.Ask(ctx, e.to, ping{}) })
}

// away stands for the other nodes.
type away struct{}

func (away) Ask(context.Context, ubl.Name, ubl.Command) (any, error) { return "elsewhere", nil }

// TestActorsAskElsewhere: an actor that asks one of its own tenant finds it at its
// node; another tenant's may live at another.
func TestActorsAskElsewhere(t *testing.T) {
	family := actors.Family{
		Name: "runner",
		Owns: func(local string) bool { return strings.HasPrefix(local, "runner:") },
		Open: func(_ context.Context, env actors.Env) (actors.Actor, error) { return &runner{env}, nil },
	}
	for name, c := range map[string]struct {
		elsewhere   ubl.Asker
		same, other string
	}{
		"a node alone":     {nil, "here", "here"},
		"one of a cluster": {away{}, "here", "elsewhere"},
	} {
		h := harness.Open(t, harness.Options{Families: []actors.Family{family}, Elsewhere: c.elsewhere})
		for to, want := range map[ubl.Name]string{"t:a.example|runner:2": c.same, "t:b.example|runner:1": c.other} {
			if got, err := h.Ask(t.Context(), "t:a.example|runner:1", errand{to}); got != want || err != nil {
				t.Errorf("%s asking %s: %v, %v; want %s", name, to, got, err, want)
			}
		}
	}
}
