package ubl

import (
	"strconv"
	"time"
)

// AsOf names a moment of a tenant's past: after an atom of its ledger, or at a time. The
// zero value is now.
type AsOf struct {
	Seq  int64 // of an atom; 0 for none
	Time Time  // 0 for none
}

// ParseAsOf reads the seq of an atom, as "4711", or a time (RFC 3339), as
// "2026-01-31T12:00:00Z". "" is now.
func ParseAsOf(s string) (AsOf, error) {
	if s == "" {
		return AsOf{}, nil
	}
	if seq, err := strconv.ParseInt(s, 10, 64); err == nil && seq > 0 {
		return AsOf{Seq: seq}, nil
	}
	if at, err := time.Parse(time.RFC3339, s); err == nil && at.UnixMilli() > 0 {
		return AsOf{Time: TimeOf(at)}, nil
	}
	return AsOf{}, Errorf(CodeValidation, "as_of is neither the seq of an atom, as 4711, nor a time, as 2026-01-31T12:00:00Z")
}

// IsNow reports whether no moment of the past is named.
func (a AsOf) IsNow() bool { return a == AsOf{} }

// Has reports whether what a receipt is about had happened by then.
func (a AsOf) Has(r Receipt) bool {
	if a.Seq > 0 {
		return r.Seq <= a.Seq
	}
	return a.IsNow() || r.Time <= a.Time
}
