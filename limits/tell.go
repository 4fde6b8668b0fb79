package limits

import (
	"math"
	"net/http"
	"strconv"
	"time"

	"ubl"
)

// told are the rates of one person or agent of which they are told, by what a request was
// counted for besides being one.
var told = map[ubl.Rate][]Name{
	"":            {RequestsIdentity},
	ubl.Sends:     {RequestsIdentity, SendsIdentity},
	ubl.Creations: {RequestsIdentity, CreationsIdentity},
}

// Tell says in headers what the caller may still do, by the rates that the request was counted
// for: RateLimit-Policy and RateLimit, as in draft-ietf-httpapi-ratelimit-headers-10. The rates
// are the caller's own: those of the tenant would tell its members how busy the others are.
func (c *Caller) Tell(h http.Header) {
	rate, _ := c.acted.Load().(ubl.Rate)
	policy := c.by.policies[rate]
	if c.who.IsPlatform() || policy == nil {
		return
	}
	left, who, now := make([]byte, 0, 96), identity(c.who), c.by.now()
	for _, name := range told[rate] {
		if b := c.by.rates[name]; b != nil {
			n, full := b.left(who, now)
			left = item(left, name, 'r', n, 't', int64(math.Ceil(full.Seconds())))
		}
	}
	h["Ratelimit-Policy"], h["Ratelimit"] = policy, []string{string(left)}
}

// policy is the header that describes some rates; nil where none of them limits.
func (l *Limiter) policy(names []Name) []string {
	var all []byte
	for _, name := range names {
		if b := l.rates[name]; b != nil {
			all = item(all, name, 'q', int64(b.burst), 'w', int64(math.Ceil(float64(b.burst)/float64(b.rate))))
		}
	}
	if all == nil {
		return nil
	}
	return []string{string(all)}
}

// item appends one of a list: its name, and two parameters.
func item(to []byte, name Name, k1 byte, v1 int64, k2 byte, v2 int64) []byte {
	if len(to) > 0 {
		to = append(to, ", "...)
	}
	to = append(append(append(to, '"'), name...), `";`...)
	to = strconv.AppendInt(append(to, k1, '='), v1, 10)
	return strconv.AppendInt(append(to, ';', k2, '='), v2, 10)
}

// left is how many tokens somebody has, and how long it takes until they have all of them.
func (b *buckets) left(who string, now time.Time) (n int64, full time.Duration) {
	tokens := b.of(who).TokensAt(now)
	missing := max(0, float64(b.burst)-tokens)
	return int64(max(0, tokens)), time.Duration(missing / float64(b.rate) * float64(time.Second))
}
