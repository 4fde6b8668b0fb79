package envelope

import (
	"net/http"
	"strconv"
	"strings"
)

// HasTag reports whether the values of If-None-Match say that the client has what an ETag stands
// for (RFC 9110, 13.1.2). Weak and strong are compared alike there, and no tag of ours has a comma.
func HasTag(given []string, tag string) bool {
	for _, list := range given {
		for one := range strings.SplitSeq(list, ",") {
			if one = strings.TrimPrefix(strings.TrimSpace(one), "W/"); one == tag || one == "*" {
				return true
			}
		}
	}
	return false
}

// TakesGzip reports whether a client takes gzip: its Accept-Encoding names it, or everything, and
// not with a weight of 0.
func TakesGzip(h http.Header) bool {
	takes := false
	for part := range strings.SplitSeq(strings.ToLower(strings.Join(h.Values("Accept-Encoding"), ",")), ",") {
		coding, weight, weighed := strings.Cut(part, ";")
		name := strings.TrimSpace(coding)
		if name != "gzip" && name != "*" {
			continue
		}
		q, err := strconv.ParseFloat(strings.TrimPrefix(strings.TrimSpace(weight), "q="), 64)
		wanted := !weighed || err == nil && q > 0
		if name == "gzip" {
			return wanted
		}
		takes = wanted
	}
	return takes
}
