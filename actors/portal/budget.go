package portal

import (
	"math"
	"time"

	"ubl"
	"ubl/actors"
)

// maxTokensPerDay keeps sums exact in JSON.
const maxTokensPerDay = 1 << 50

// spends refuses a model that would go beyond the budget. What open calls may yet
// use counts as used.
func (x *Portal) spends(now ubl.Time, tokens int64) error {
	b := x.state.Budget
	if b.TokensPerDay > 0 && x.state.used(now)+tokens > b.TokensPerDay {
		return ubl.Errorf(ubl.CodeRateLimited, "the tenant's tokens for today (UTC) don't suffice for this call").Later(restOfDay(now))
	}
	if b.RequestsPerMinute == 0 {
		return nil
	}
	if wait := x.requests.take(now, b.RequestsPerMinute); wait > 0 {
		return ubl.Errorf(ubl.CodeRateLimited, "too many calls of models within a minute").Later(wait)
	}
	return nil
}

func restOfDay(now ubl.Time) time.Duration {
	const day = 24 * time.Hour
	return day - now.Std().Sub(now.Std().Truncate(day))
}

// spend counts tokens for the day in which a call ended.
func (x *Portal) spend(a *actors.Append, now ubl.Time, tokens int64) {
	x.state.use(now, tokens)
	a.Records = append(a.Records, actors.Record{Key: usageKey(), Value: encode(x.state.Usage)})
}

func (x *Portal) getBudget(t *actors.Turn, who ubl.Identity) {
	if err := x.member(who); err != nil {
		t.Fail(err)
		return
	}
	t.Reply(x.budget(t.Now(), x.state.Budget))
}

func (x *Portal) budget(now ubl.Time, l limits) *ubl.Budget {
	return &ubl.Budget{
		TokensPerDay: l.TokensPerDay, RequestsPerMinute: l.RequestsPerMinute, UsedToday: x.state.used(now),
	}
}

func (x *Portal) decideBudget(c ubl.SetBudget) func(ubl.Time) (*plan, error) {
	return func(now ubl.Time) (*plan, error) {
		if err := x.owner(c.Who, c.Owner); err != nil {
			return nil, err
		}
		switch {
		case c.TokensPerDay < 0 || c.TokensPerDay > maxTokensPerDay:
			return nil, bad("tokens_per_day", "it must be 0 for no bound, or positive and not beyond any sense")
		case c.RequestsPerMinute < 0 || c.RequestsPerMinute > ubl.MaxPerMinute:
			return nil, bad("requests_per_minute", "it must be 0 for no bound, or at most 100000")
		}
		about := func() ubl.Fields {
			return ubl.Fields{
				ubl.Int("requests_per_minute", int64(c.RequestsPerMinute)), ubl.Int("tokens_per_day", c.TokensPerDay),
			}
		}
		return &plan{
			event: event{Budget: x.budget(now, limits{c.TokensPerDay, c.RequestsPerMinute})},
			this:  about(), effect: about(),
		}, nil
	}
}

// bucket holds as many tokens as may be taken at once, and fills up within a
// minute. The zero value is full.
type bucket struct {
	taken float64
	at    ubl.Time
}

// take takes one if there is one, and else says how long until there will be.
func (b *bucket) take(now ubl.Time, perMinute int) (wait time.Duration) {
	const minute = 60_000 // milliseconds
	if now > b.at {
		b.taken = max(0, b.taken-float64(now-b.at)/minute*float64(perMinute))
		b.at = now
	}
	if over := b.taken + 1 - float64(perMinute); over > 0 {
		return time.Duration(max(1, math.Round(over/float64(perMinute)*minute))) * time.Millisecond
	}
	b.taken++
	return 0
}
