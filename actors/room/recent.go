package room

import (
	"slices"

	"ubl"
)

// What stays in memory of a room's timeline: the newest entries, as many as both bounds
// let. A tenant may have hundreds of rooms looked at by one request.
const (
	recentEntries = 500
	recentBytes   = 256 << 10
)

// recent are the newest entries of a room, oldest first, without holes.
type recent struct {
	posts []*post
	bytes int
}

// post is an entry in memory. stored is set by the ledger when it seals the
// entry, so it may be read only behind the gate.
type post struct {
	seq    int64
	id     ubl.MessageID
	author ubl.UserID
	thread ubl.MessageID // that it is in, "" for none
	said   bool          // whether it is a message that people or programs sent
	bytes  int           // see postBytes
	stored stored
}

// of says whose entry it is, whether a message of theirs, and in which thread.
func (p *post) of(author ubl.UserID, said bool, thread ubl.MessageID) {
	p.author, p.said, p.thread = author, said, thread
}

// answer is what its sender is answered, as of [actors.Plan].
func (p *post) answer(ubl.Receipt) any { return p.stored.answer(p.seq) }

// envelopeBytes is about how much of an entry isn't its body.
const envelopeBytes = 660

// postBytes is about how long an entry is, known before it is sealed.
func postBytes(body []byte) int { return envelopeBytes + len(body) }

func (r *recent) fits(p *post) bool {
	return len(r.posts) < recentEntries && r.bytes+p.bytes <= recentBytes
}

// add puts an entry at the end, in the place of as many as no longer stay.
func (r *recent) add(p *post) {
	for len(r.posts) > 0 && !r.fits(p) {
		r.drop()
	}
	r.posts, r.bytes = append(r.posts, p), r.bytes+p.bytes
}

// older adds the entry before those that are there, in a list whose newest is the first,
// while it fits.
func (r *recent) older(p *post) bool {
	fits := len(r.posts) == 0 || r.fits(p)
	if fits {
		r.posts, r.bytes = append(r.posts, p), r.bytes+p.bytes
	}
	return fits
}

// drop forgets the oldest entry.
func (r *recent) drop() {
	r.bytes -= r.posts[0].bytes
	r.posts[0] = nil
	r.posts = r.posts[1:]
}

// before forgets the entries before one.
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

// replace puts another form of an entry in its place, for those who pick from now on.
func (r *recent) replace(seq int64, v stored) {
	if len(r.posts) == 0 || seq < r.posts[0].seq {
		return
	}
	i := seq - r.posts[0].seq
	p := *r.posts[i]
	p.stored = v
	r.posts[i] = &p
}
