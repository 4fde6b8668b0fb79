package actors_test

import (
	"testing"

	"ubl"
	"ubl/test/harness"
	"ubl/test/soak"
)

// TestBootstrapAgainAndAgain: what was answered is visible to whoever asks next,
// also to an actor that is loaded for the first time right after the commit.
func TestBootstrapAgainAndAgain(t *testing.T) {
	for range soak.Of(5, 30) {
		h := harness.Open(t, harness.Options{})
		h.Enter(ubl.Platform())
		h.Close()
	}
}
