package portal

import (
	"math"
	"slices"
	"time"

	"ubl"
	"ubl/actors"
)

// maxTokensPerDay keeps sums exact in JSON.
const maxTokensPerDay = 1 << 50

// spends refuses a model that would go beyond the budget. What open calls may yet
// use counts as used.
func (s *State) spends(now ubl.Time, tokens int64) error {
	b := s.Budget
	if b.TokensPerDay > 0 && s.used(now)+tokens > b.TokensPerDay {
		return ubl.Errorf(ubl.CodeRateLimited, "the tenant's tokens for today (UTC) don't suffice for this call").Later(restOfDay(now))
	}
	if b.RequestsPerMinute == 0 {
		return nil
	}
	if wait := s.requests.wait(now, b.RequestsPerMinute); wait > 0 {
		return ubl.Errorf(ubl.CodeRateLimited, "too many calls of models within a minute").Later(wait)
	}
	return nil
}

func restOfDay(now ubl.Time) time.Duration {
	const day = 24 * time.Hour
	return day - now.Std().Sub(now.Std().Truncate(day))
}

func (s *State) budget(now ubl.Time, l limits) *ubl.Budget {
	return &ubl.Budget{
		TokensPerDay: l.TokensPerDay, RequestsPerMinute: l.RequestsPerMinute, UsedToday: s.used(now),
	}
}

func limitsOf(c ubl.SetBudget) limits { return limits{c.TokensPerDay, c.RequestsPerMinute} }

func (s *State) decideBudget(c ubl.SetBudget, at actors.Moment) (*plan, error) {
	if err := s.owner(c.Who, c.Owner); err != nil {
		return nil, err
	}
	switch {
	case c.TokensPerDay < 0 || c.TokensPerDay > maxTokensPerDay:
		return nil, bad("tokens_per_day", "it must be 0 for no bound, or positive and not beyond any sense")
	case c.RequestsPerMinute < 0 || c.RequestsPerMinute > ubl.MaxPerMinute:
		return nil, bad("requests_per_minute", "it must be 0 for no bound, or at most 100000")
	}
	about := ubl.Fields{
		ubl.Int("requests_per_minute", int64(c.RequestsPerMinute)), ubl.Int("tokens_per_day", c.TokensPerDay),
	}
	return &plan{
		Act:   executed(ubl.DidBudgetUpdate, about, slices.Clone(about)),
		Event: event{Budget: s.budget(at.Now, limitsOf(c))},
	}, nil
}

// bucket holds as many tokens as may be taken at once, and fills up within a
// minute. The zero value is full.
type bucket struct {
	taken float64
	at    ubl.Time
}

const minute = 60_000 // milliseconds

func (b *bucket) fill(now ubl.Time, perMinute int) {
	if now > b.at {
		b.taken = max(0, b.taken-float64(now-b.at)/minute*float64(perMinute))
		b.at = now
	}
}

// wait is how long until there is one to take, 0 where there is.
func (b bucket) wait(now ubl.Time, perMinute int) time.Duration {
	b.fill(now, perMinute)
	if over := b.taken + 1 - float64(perMinute); over > 0 {
		return time.Duration(max(1, math.Round(over/float64(perMinute)*minute))) * time.Millisecond
	}
	return 0
}

func (b *bucket) take(now ubl.Time, perMinute int) {
	b.fill(now, perMinute)
	b.taken++
}
