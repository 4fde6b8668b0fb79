package room

import (
	"encoding/json"
	"slices"

	"ubl"
)

// What stays in memory of a room's timeline: the newest messages, as many as both bounds
// let. A tenant may have hundreds of rooms looked at by one request.
const (
	recentMessages = 500
	recentBytes    = 256 << 10
)

// recent are the newest messages of a room, oldest first, without holes.
type recent struct {
	posts []*post
	bytes int
}

// post is a message in memory. json is set by the ledger when it seals the
// message, so it may be read only behind the gate.
type post struct {
	seq   int64
	id    ubl.MessageID
	bytes int // see postBytes
	json  json.RawMessage
}

func (p *post) sent() *ubl.Sent { return &ubl.Sent{Message: p.json, RoomSeq: p.seq} }

// envelopeBytes is about how much of a message isn't its body.
const envelopeBytes = 640

// postBytes is about how long a message is, known before it is sealed.
func postBytes(body []byte) int { return envelopeBytes + len(body) }

func (r *recent) fits(p *post) bool {
	return len(r.posts) < recentMessages && r.bytes+p.bytes <= recentBytes
}

// add puts a message at the end, in the place of as many as no longer stay.
func (r *recent) add(p *post) {
	for len(r.posts) > 0 && !r.fits(p) {
		r.drop()
	}
	r.posts, r.bytes = append(r.posts, p), r.bytes+p.bytes
}

// older adds the message before those that are there, in a list whose newest is the first,
// while it fits.
func (r *recent) older(p *post) bool {
	fits := len(r.posts) == 0 || r.fits(p)
	if fits {
		r.posts, r.bytes = append(r.posts, p), r.bytes+p.bytes
	}
	return fits
}

// drop forgets the oldest message.
func (r *recent) drop() {
	r.bytes -= r.posts[0].bytes
	r.posts[0] = nil
	r.posts = r.posts[1:]
}

// before forgets the messages before one.
func (r *recent) before(seq int64) {
	for len(r.posts) > 0 && r.posts[0].seq < seq {
		r.drop()
	}
}

// pick copies the posts of the range if memory holds all of them.
func (r *recent) pick(first, last int64) ([]*post, bool) {
	if last < first {
		return nil, true
	}
	if len(r.posts) == 0 || first < r.posts[0].seq {
		return nil, false
	}
	from := first - r.posts[0].seq
	return slices.Clone(r.posts[from : from+last-first+1]), true
}
