package actors_test

import (
	"testing"
	"time"

	"ubl"
)

// TestBudget: a day's tokens, with what calls under way may yet use, across
// midnight and restarts.
func TestBudget(t *testing.T) {
	p := openPortal(t)
	used := func(when string, want int64) {
		t.Helper()
		for range 2 {
			if b := ask[*ubl.Budget](p, ubl.GetBudget{Who: p.bob}); b.UsedToday != want || b.TokensPerDay != 1000 {
				t.Errorf("%s: %+v, want %d used", when, b, want)
			}
			p.Restart()
		}
	}
	begin := func(tokens int64) int64 {
		t.Helper()
		return ask[*ubl.CallTicket](p, p.model(p.bob, tokens)).N
	}
	end := func(n int64, u *ubl.Usage) {
		t.Helper()
		ask[*ubl.Call](p, ubl.EndCall{Request: p.Request(p.bob), N: n, Usage: u})
	}
	ask[*ubl.Budget](p, ubl.SetBudget{Request: p.Request(p.ana), Owner: true, TokensPerDay: 1000})
	used("at first", 0)
	first, second := begin(600), begin(400)
	used("reserved", 1000)
	p.refuse(ubl.CodeRateLimited, p.model(p.bob, 1))
	end(first, &ubl.Usage{PromptTokens: 100, CompletionTokens: 50})
	used("the first has ended", 550)
	end(second, &ubl.Usage{PromptTokens: 400, CompletionTokens: 100}) // more than it said
	used("both have ended", 650)
	end(begin(350), &ubl.Usage{PromptTokens: 300, Cached: true})
	used("an answer from the cache", 650)
	end(begin(350), nil)
	used("an end that used nothing", 650)
	ask[*ubl.CallTicket](p, p.model(p.bob, 100))
	ask[int](p, ubl.CloseCalls{Request: p.Request(ubl.Platform()), All: true})
	used("an orphan", 750) // nobody knows what it used
	p.Clock.Add(11*time.Hour + 25*time.Minute)
	over := begin(200) // a moment before midnight
	p.Clock.Add(30 * time.Second)
	used("the next day, with a call of the day before", 200)
	end(over, &ubl.Usage{CompletionTokens: 30})
	used("the call of the day before has ended", 30)
	begin(970)
	p.refuse(ubl.CodeRateLimited, p.model(p.bob, 1))
	p.Clock.Add(-30 * time.Second)
	p.refuse(ubl.CodeRateLimited, p.model(p.bob, 1)) // a clock that goes back opens no new day
	p.VerifyLedger(p.ana.TenantID)
}

// TestBudgetSetting: owners set it, and it counts from the next call on.
func TestBudgetSetting(t *testing.T) {
	p := openPortal(t)
	ask[*ubl.CallTicket](p, p.model(p.bob, 1<<30)) // no bound
	for _, bad := range []ubl.SetBudget{{TokensPerDay: -1}, {TokensPerDay: 1 << 60}, {RequestsPerMinute: -1}, {RequestsPerMinute: ubl.MaxPerMinute + 1}} {
		bad.Request, bad.Owner = p.Request(p.ana), true
		p.refuse(ubl.CodeValidation, bad)
	}
	set := ubl.SetBudget{Request: p.Request(p.ana), Owner: true, TokensPerDay: 5, RequestsPerMinute: 3}
	want := ubl.Budget{TokensPerDay: 5, RequestsPerMinute: 3, UsedToday: 1 << 30}
	for _, when := range []string{"set", "retried", "retried after a restart"} {
		if b := ask[*ubl.Budget](p, set); *b != want {
			t.Errorf("%s: %+v", when, b)
		}
		p.Restart()
	}
	p.refuse(ubl.CodeRateLimited, p.model(p.bob, 1))
	set.TokensPerDay++
	p.refuse(ubl.CodeIdempotencyConflict, set)
}

// TestRequestsPerMinute: models are asked so often and no oftener; a retry of a
// call that has begun counts once.
func TestRequestsPerMinute(t *testing.T) {
	p := openFiles(t)
	ask[*ubl.Budget](p, ubl.SetBudget{Request: p.Request(p.ana), Owner: true, RequestsPerMinute: 3})
	begun := p.model(p.bob, 10)
	for range 5 {
		ask[*ubl.CallTicket](p, begun)
	}
	for range 2 {
		ask[*ubl.CallTicket](p, p.model(p.ana, 10))
	}
	p.refuse(ubl.CodeRateLimited, p.model(p.bob, 10))
	ask[*ubl.CallTicket](p, p.call(p.bob)) // tools have limits of their own
	p.Clock.Add(20 * time.Second)
	ask[*ubl.CallTicket](p, p.model(p.bob, 10))
	p.refuse(ubl.CodeRateLimited, p.model(p.bob, 10))
	p.Clock.Add(time.Hour)
	for range 3 {
		ask[*ubl.CallTicket](p, p.model(p.bob, 10))
	}
	p.refuse(ubl.CodeRateLimited, p.model(p.bob, 10))
}
