package auth

import (
	"testing"

	"go.uber.org/goleak"

	"ubl/test/leaks"
)

// Closing an Authenticator leaves nothing running. What runs before the first test
// is a library's, which some tests bring with the house they are over.
func TestMain(m *testing.M) { leaks.Main(m, goleak.IgnoreCurrent()) }
