package auth

import (
	"testing"

	"go.uber.org/goleak"
)

// Closing an Authenticator leaves nothing running.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
