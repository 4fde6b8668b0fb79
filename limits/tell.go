package limits

import (
	"math"
	"net/http"
	"strconv"
	"time"

	"ubl"
)

// Tell says in headers what the caller may still do, by the rates that the request was counted
// for: RateLimit-Policy and RateLimit, as in draft-ietf-httpapi-ratelimit-headers-10. The rates
// are the caller's own: those of the tenant would tell its members how busy the others are.
func (c *Caller) Tell(h http.Header) {
	if c.who.IsPlatform() {
		return
	}
	names := []Name{RequestsIdentity}
	switch rate, _ := c.acted.Load().(ubl.Rate); rate {
	case ubl.Sends:
		names = append(names, SendsIdentity)
	case ubl.Creations:
		names = append(names, CreationsIdentity)
	}
	var policy, now []byte
	for _, name := range names {
		b := c.by.rates[name]
		if b == nil {
			continue
		}
		left, full := b.left(identity(c.who), c.by.now())
		policy = item(policy, name, 'q', int64(b.burst), 'w', int64(math.Ceil(float64(b.burst)/float64(b.rate))))
		now = item(now, name, 'r', left, 't', int64(math.Ceil(full.Seconds())))
	}
	if len(now) > 0 {
		h["Ratelimit-Policy"], h["Ratelimit"] = []string{string(policy)}, []string{string(now)}
	}
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
