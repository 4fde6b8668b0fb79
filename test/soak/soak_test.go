package soak_test

import (
	"testing"

	"ubl/test/soak"
)

// skipped runs Only as a test would.
func skipped(t *testing.T) bool {
	left := true
	t.Run("only", func(t *testing.T) {
		t.Cleanup(func() { left = t.Skipped() })
		soak.Only(t, "a minute of faults")
	})
	return left
}

func TestWithoutTheVariableTheLongPartsAreLeftOut(t *testing.T) {
	t.Setenv("UBL_SOAK", "")
	t.Setenv("SOAK_TEST_SEED", "")
	if !skipped(t) || soak.Of(5, 50) != 5 || soak.Seed(t, "SOAK_TEST_SEED", 7) != 7 {
		t.Error("make test would run what make soak is for")
	}
}

func TestWithTheVariableEverythingRuns(t *testing.T) {
	t.Setenv("UBL_SOAK", "1")
	t.Setenv("SOAK_TEST_SEED", "")
	if skipped(t) || soak.Of(5, 50) != 50 {
		t.Error("make soak leaves something out")
	}
	if first, second := soak.Seed(t, "SOAK_TEST_SEED", 7), soak.Seed(t, "SOAK_TEST_SEED", 7); first == second {
		t.Errorf("two runs have the seed %d", first)
	}
}

func TestASeedOfTheEnvironmentRepeatsARun(t *testing.T) {
	t.Setenv("SOAK_TEST_SEED", "11")
	for _, value := range []string{"", "1"} {
		t.Setenv("UBL_SOAK", value)
		if got := soak.Seed(t, "SOAK_TEST_SEED", 7); got != 11 {
			t.Errorf("with UBL_SOAK=%q the seed is %d, want the environment's 11", value, got)
		}
	}
}
