package ubl

import (
	"fmt"
	"strconv"
	"time"
)

// Time is a moment in milliseconds since 1970 (UTC). On every wire and in
// every hash it is written as 2006-01-02T15:04:05.000Z; being a number inside
// keeps replayed state comparable.
type Time int64

const timeLayout = "2006-01-02T15:04:05.000Z"

// TimeOf cuts t to milliseconds.
func TimeOf(t time.Time) Time { return Time(t.UnixMilli()) }

// Std is the same moment as a time.Time in UTC.
func (t Time) Std() time.Time { return time.UnixMilli(int64(t)).UTC() }

// Add moves t by d, cut to milliseconds.
func (t Time) Add(d time.Duration) Time { return t + Time(d.Milliseconds()) }

func (t Time) String() string { return string(t.append(make([]byte, 0, len(timeLayout)))) }

// append writes the layout by hand: every atom and message has a time or three.
func (t Time) append(dst []byte) []byte {
	std := t.Std()
	year, month, day := std.Date()
	hour, minute, second := std.Clock()
	if year < 0 || year > 9999 {
		return std.AppendFormat(dst, timeLayout)
	}
	dst = append(dst, byte('0'+year/1000), byte('0'+year/100%10))
	dst = appendTwo(dst, year%100)
	dst = appendTwo(append(dst, '-'), int(month))
	dst = appendTwo(append(dst, '-'), day)
	dst = appendTwo(append(dst, 'T'), hour)
	dst = appendTwo(append(dst, ':'), minute)
	dst = appendTwo(append(dst, ':'), second)
	ms := std.Nanosecond() / int(time.Millisecond)
	dst = append(dst, '.', byte('0'+ms/100))
	return append(appendTwo(dst, ms%100), 'Z')
}

func appendTwo(dst []byte, n int) []byte { return append(dst, byte('0'+n/10), byte('0'+n%10)) }

// MarshalText writes the ISO form.
func (t Time) MarshalText() ([]byte, error) {
	return t.append(make([]byte, 0, len(timeLayout))), nil
}

// UnmarshalText reads the ISO form, and only it.
func (t *Time) UnmarshalText(text []byte) error {
	std, err := time.Parse(timeLayout, string(text))
	// Parse alone would take a comma for the point and an hour of one digit.
	if err != nil || std.Format(timeLayout) != string(text) {
		return fmt.Errorf("not a time of the form %s", timeLayout)
	}
	*t = TimeOf(std)
	return nil
}

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
