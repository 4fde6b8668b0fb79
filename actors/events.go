package actors

import (
	"encoding/json"
	"errors"
	"fmt"

	"ubl"
)

// Versioned is a stored event (JSON), which says the version of its form.
type Versioned interface{ FormatVersion() int }

// EachEvent calls fn with the events stored from one key up to another, in
// order. One of a newer version than the newest known is an error: guessing at
// its meaning would derive a wrong state.
func EachEvent[E Versioned](snap ubl.Snapshot, from, to []byte, newest int, fn func(E)) error {
	var bad error
	err := snap.Ascend(from, to, func(_, v []byte) bool {
		var e E
		if err := json.Unmarshal(v, &e); err != nil {
			bad = fmt.Errorf("couldn't read an event: %w", err)
		} else if e.FormatVersion() > newest {
			bad = fmt.Errorf("an event is of version %d, this program knows %d", e.FormatVersion(), newest)
		} else {
			fn(e)
		}
		return bad == nil
	})
	return errors.Join(err, bad)
}
