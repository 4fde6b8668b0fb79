package envelope_test

import (
	"net/http"
	"testing"

	"ubl/transport/envelope"
)

func TestHasTag(t *testing.T) {
	for _, tt := range []struct {
		given []string
		has   bool
	}{
		{nil, false}, {[]string{""}, false}, {[]string{`"b"`}, false}, {[]string{`"a`}, false}, {[]string{`a`}, false},
		{[]string{`"a"`}, true}, {[]string{`W/"a"`}, true}, {[]string{`"b" , "a"`}, true}, {[]string{`"b"`, `"a"`}, true}, {[]string{"*"}, true},
	} {
		if got := envelope.HasTag(tt.given, `"a"`); got != tt.has {
			t.Errorf("%q has it: %t", tt.given, got)
		}
	}
}

// TestTakesGzip also where proxies have made several headers of one.
func TestTakesGzip(t *testing.T) {
	for _, tt := range []struct {
		given []string
		takes bool
	}{
		{nil, false}, {[]string{""}, false}, {[]string{"br", "gzip"}, true}, {[]string{"*", "gzip;q=0"}, false}, {[]string{"GZIP; q=0.5"}, true}, {[]string{"gzip;q=high"}, false},
	} {
		if got := envelope.TakesGzip(http.Header{"Accept-Encoding": tt.given}); got != tt.takes {
			t.Errorf("%q takes it: %t", tt.given, got)
		}
	}
}
