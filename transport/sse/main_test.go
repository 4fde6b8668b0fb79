package sse_test

import (
	"testing"

	"ubl/test/leaks"
)

// No test may leave a goroutine behind.
func TestMain(m *testing.M) { leaks.Main(m) }
