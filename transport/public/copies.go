package public

import (
	"crypto/sha256"
	"encoding/base64"
	"strconv"
	"time"

	"github.com/maypok86/otter/v2"
)

const (
	// maxBytes bounds the copies of a node.
	maxBytes = 64 << 20
	// maxAbsent bounds the names that are known to lead nowhere.
	maxAbsent = 10_000
	// overhead is about what a copy takes besides its body.
	overhead = 512
)

// answer is a ready one, as bytes. It is never changed: many requests write it at a time.
type answer struct {
	shelf  *shelf
	events int64 // that the container had
	body   []byte
	// These are values of headers, so that to write them costs no allocation. kept says for how long
	// copies of it may be kept outside.
	etag, length, kept []string
}

func newAnswer(of kind, sh *shelf, events int64, body []byte) *answer {
	hash := sha256.Sum256(body)
	lasts := kept
	if of.ofKnowledge() {
		lasts = keptLong
	}
	return &answer{
		shelf: sh, events: events, body: body, kept: lasts,
		etag:   []string{`"` + base64.RawURLEncoding.EncodeToString(hash[:18]) + `"`},
		length: []string{strconv.Itoa(len(body))},
	}
}

// absence is that a place leads nowhere: until a time, and while nothing was heard of its
// container, where that is known.
type absence struct {
	shelf *shelf // nil for a container that isn't
	heard int64
	until time.Time
}

func (a *absence) holds(now time.Time) bool {
	return now.Before(a.until) && (a.shelf == nil || a.shelf.heard.Load() == a.heard)
}

// copies are the answers of a node. Absences are kept apart: strangers make as many as they
// like. Which answers go, where there are too many, W-TinyLFU says: those that are asked for
// often stay, whatever is asked for once.
type copies struct {
	answers *otter.Cache[place, *answer]
	absent  *otter.Cache[place, *absence]
}

func newCopies() copies {
	here := func(fn func()) { fn() } // no goroutine: what there is to do is short
	return copies{
		answers: otter.Must(&otter.Options[place, *answer]{
			MaximumWeight: maxBytes, Executor: here,
			Weigher: func(_ place, a *answer) uint32 { return uint32(len(a.body)) + overhead },
		}),
		absent: otter.Must(&otter.Options[place, *absence]{MaximumSize: maxAbsent, Executor: here}),
	}
}
