package envelope_test

import (
	"testing"

	"ubl/transport/envelope"
)

// TestSameOrigin: an origin is one however it is spelled, and so is this machine.
func TestSameOrigin(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"https://UBL.example/ui/", "https://ubl.example:443", true},
		{"http://localhost:8080", "http://127.0.0.1:8080/", true},
		{"http://[::1]:8080", "http://localhost:8080", true},
		{"http://localhost", "http://127.0.0.1:80", true},
		{"http://localhost:8080", "http://127.0.0.1:8081", false},
		{"http://localhost:8080", "https://localhost:8080", false},
		{"http://localhost.evil.example:8080", "http://localhost:8080", false},
		{"https://a.example", "http://a.example", false},
		{"https://a.example@b.example", "https://b.example", false},
		{"", "", false},
	} {
		if got := envelope.SameOrigin(c.a, c.b); got != c.want {
			t.Errorf("%q and %q: %v", c.a, c.b, got)
		}
	}
}
