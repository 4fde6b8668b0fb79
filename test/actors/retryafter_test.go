package actors_test

import (
	"context"
	"testing"
	"time"

	"ubl"
	"ubl/test/harness"
)

// TestALimitSaysWhenToComeBack: who waits for as long gets through, and who waits
// for a second less doesn't.
func TestALimitSaysWhenToComeBack(t *testing.T) {
	p := openFiles(t)
	tenant := ubl.TenantName(p.ana.TenantID)
	harness.Must[*ubl.ToolAccess](p.House, tenant, ubl.SetToolAccess{Request: p.Request(p.ana), Tool: "messenger.send", Allowed: true, PerMinute: 3})
	budget := func(b ubl.SetBudget) func() {
		return func() {
			b.Request, b.Owner = p.Request(p.ana), true
			ask[*ubl.Budget](p, b)
		}
	}
	model := func() ubl.Command { return p.model(p.bob, 10) }
	for name, c := range map[string]struct {
		set func()
		at  ubl.Name
		cmd func() ubl.Command
		ok  int // how often before it is refused
		// wait is between the last of those and the next that isn't refused.
		wait time.Duration
	}{
		"a tool's calls":    {func() {}, tenant, func() ubl.Command { return ubl.Enter{Request: p.Request(p.bob), Tool: "messenger.send"} }, 3, 20 * time.Second},
		"a day's tokens":    {budget(ubl.SetBudget{TokensPerDay: 25}), p.name, model, 2, 11*time.Hour + 25*time.Minute + 4*time.Second},
		"a model's calls":   {budget(ubl.SetBudget{RequestsPerMinute: 3}), p.name, model, 3, 20 * time.Second},
		"one call a minute": {budget(ubl.SetBudget{RequestsPerMinute: 1}), p.name, model, 1, time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			p.Clock.Add(48*time.Hour - p.Clock.Now().Sub(p.Clock.Now().Truncate(24*time.Hour)) + 12*time.Hour + 34*time.Minute + 56*time.Second)
			c.set()
			refused := func() int {
				answer, err := p.Ask(context.Background(), c.at, c.cmd())
				if err != nil {
					return ubl.AsError(err).RetryAfter()
				}
				if begun, ok := answer.(*ubl.CallTicket); ok {
					ask[*ubl.Call](p, ubl.EndCall{Request: p.Request(p.bob), N: begun.N, Usage: &ubl.Usage{PromptTokens: 10}})
				}
				return 0
			}
			for range c.ok {
				if refused() != 0 {
					t.Fatal("refused too soon")
				}
			}
			if got := refused(); got != int(c.wait/time.Second) {
				t.Errorf("told to wait for %d s, want %s", got, c.wait)
			}
			p.Clock.Add(c.wait - time.Second)
			if got := refused(); got != 1 {
				t.Errorf("a second before, told to wait for %d s", got)
			}
			p.Clock.Add(time.Second)
			if got := refused(); got != 0 {
				t.Errorf("then told to wait for %d s more", got)
			}
		})
	}
}
