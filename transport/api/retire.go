package api

import (
	"net/http"
	"strconv"
	"time"
)

// retirement says of an operation that there is a better one, and that it will go. DESIGN.md has
// the rules: at least a year lies between the two.
type retirement struct {
	since, until time.Time
}

// tell says so in the headers of each answer: Deprecation as in RFC 9745, Sunset as in RFC 8594.
func (t *retirement) tell(h http.Header) {
	if t == nil {
		return
	}
	h.Set("Deprecation", "@"+strconv.FormatInt(t.since.Unix(), 10))
	h.Set("Sunset", t.until.UTC().Format(http.TimeFormat))
}
