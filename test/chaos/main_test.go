//go:build linux

package chaos

import (
	"cmp"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"ubl/test/counter/wired"
	"ubl/test/soak"
)

var durationFlag = flag.Duration("duration", 0, "how long faults last; 0 takes CHAOS_DURATION")

// program is the program under test, built once for all tests.
var program = sync.OnceValues(func() (string, error) {
	if path := os.Getenv("UBL_CHAOS_BIN"); path != "" {
		return filepath.Abs(path)
	}
	dir, err := os.MkdirTemp("", prefix()+"bin-")
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "ubl")
	return path, wired.Build(path, "-tags", "chaos")
})

func TestMain(m *testing.M) {
	flag.Parse()
	if err := sweepLeftovers(); err != nil {
		fmt.Fprintln(os.Stderr, "couldn't clean up after an earlier run:", err)
	}
	code := m.Run()
	removeOwn()
	os.Exit(code)
}

// usual is the seed of a test that is not in fixed.
const usual = 20260731

// fixed are seeds that once found something, by test.
var fixed = map[string]uint64{
	"TestOneNode": 1795379557479832140, // begins with a stop on a full disk
}

// seedOf is the run's seed: what CHAOS_SEED says, a random one in `make soak`, else
// always the same.
func seedOf(t *testing.T) uint64 {
	return soak.Seed(t, "CHAOS_SEED", cmp.Or(fixed[t.Name()], usual))
}

// durationOf is how long faults last, where somebody said so.
func durationOf(t *testing.T) time.Duration {
	if *durationFlag != 0 {
		return *durationFlag
	}
	text := os.Getenv("CHAOS_DURATION")
	if text == "" {
		return 0
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		t.Fatalf("CHAOS_DURATION: %v", err)
	}
	return d
}

// draws are one party's random numbers: the run's seed and who draws.
func draws(seed uint64, who ...any) *rand.Rand {
	h := uint64(14695981039346656037)
	for _, b := range []byte(fmt.Sprint(who...)) {
		h = (h ^ uint64(b)) * 1099511628211
	}
	return rand.New(rand.NewPCG(seed, h))
}

// between draws a duration.
func between(r *rand.Rand, least, most time.Duration) time.Duration {
	return least + time.Duration(r.Int64N(int64(most-least)+1))
}
