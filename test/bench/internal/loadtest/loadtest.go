// Package loadtest runs loads in tests. How much is done in a time is the machine's, so that
// tests say how much has to be done.
package loadtest

import (
	"time"

	"ubl/test/bench/internal/load"
)

// Enough runs a load, each time for longer than before, until it has so many replies,
// refusals included, or fails. It gives up on a load of more than a minute.
func Enough(replies int, run func(load.Plan) (load.Result, error)) (load.Result, error) {
	for length := 100 * time.Millisecond; ; length *= 4 {
		r, err := run(load.Plan{Length: length})
		if err != nil || r.Sends+r.Refused >= replies || length > time.Minute {
			return r, err
		}
	}
}
