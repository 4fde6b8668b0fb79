package room

import (
	"context"
	"slices"
	"time"

	"ubl"
	"ubl/actors"
)

// A search asks the index for messages of the rooms that the caller is in, and then each of
// these rooms for what it found: the room alone knows who may read it now, and how a message
// reads now. So what the index hasn't taken in yet is never shown as it was.

// Bounds of one search.
const (
	searchTimeout = 10 * time.Second
	// searchRounds is how often the index is asked for one page, where what it finds has
	// changed since or says less than its terms.
	searchRounds = 8
	// around is how many entries before and after a message are worth showing with it.
	around = 10
)

// Searching finds messages for the Tenant, with a query that it has put on record, in rooms
// that the caller is in.
func Searching(read ubl.Reader, search ubl.MessageSearcher) func(context.Context, ubl.Asker, ubl.Group, ubl.SearchMessages, *ubl.MessageQuery, []ubl.RoomEntry) (*ubl.MessageHits, error) {
	f := finder{read, search, following(search)}
	return f.find
}

type finder struct {
	read   ubl.Reader
	search ubl.MessageSearcher
	follow *actors.Follow
}

func (f finder) find(ctx context.Context, ask ubl.Asker, of ubl.Group, c ubl.SearchMessages, q *ubl.MessageQuery, rooms []ubl.RoomEntry) (*ubl.MessageHits, error) {
	ctx, cancel := context.WithTimeout(ctx, searchTimeout)
	defer cancel()
	names := make(map[ubl.RoomID]string, len(rooms))
	in := make([]ubl.RoomID, len(rooms))
	for i, r := range rooms {
		in[i], names[r.RoomID] = r.RoomID, r.Name
	}
	hits := &ubl.MessageHits{Hits: []*ubl.MessageHit{}}
	limit, after := c.Page(), c.After
	for range searchRounds {
		found, err := f.search.FindMessages(ctx, of, q, in, c.Sort, after, limit-len(hits.Hits))
		if err != nil {
			return nil, err
		}
		list, err := f.lookUp(ctx, ask, of, c.Who, q, found.Matches)
		if err != nil {
			return nil, err
		}
		for _, h := range list {
			h.RoomName = names[h.Place.RoomID]
			hits.Hits = append(hits.Hits, h)
		}
		if hits.Next = ""; !found.More {
			break
		}
		after = found.Matches[len(found.Matches)-1].After
		if hits.Next = after; len(hits.Hits) >= limit {
			break
		}
	}
	var err error
	hits.Indexing, err = f.indexing(ctx, ask, of)
	return hits, err
}

// indexing says how far the index is, nil where it has everything. One that isn't whole is
// being filled.
func (f finder) indexing(ctx context.Context, ask ubl.Asker, of ubl.Group) (*ubl.Indexing, error) {
	whole, err := f.search.Whole(ctx, of)
	if err != nil {
		return nil, err
	}
	if !whole {
		return &ubl.Indexing{}, refill(ctx, f.read, ask, of, f.search)
	}
	at, behind, err := f.follow.Behind(ctx, f.read, of)
	if err != nil || !behind {
		return nil, err
	}
	return &ubl.Indexing{CompleteUpTo: at}, nil
}

// lookUp asks the rooms for matches, in the order of these. What a room doesn't show, and what
// no longer says what was asked for, is left out.
func (f finder) lookUp(ctx context.Context, ask ubl.Asker, of ubl.Group, who ubl.Identity, q *ubl.MessageQuery, matches []ubl.MessageMatch) ([]*ubl.MessageHit, error) {
	asked := map[ubl.RoomID][]int64{}
	var order []ubl.RoomID
	for _, m := range matches {
		if asked[m.RoomID] == nil {
			order = append(order, m.RoomID)
		}
		asked[m.RoomID] = append(asked[m.RoomID], m.Seq)
	}
	type key struct {
		room ubl.RoomID
		seq  int64
	}
	shown := map[key]*ubl.MessageHit{}
	for _, id := range order {
		list, err := ubl.Ask[[]*hit](ctx, ask, ubl.RoomName(of.Tenant, id), lookUp{Who: who, Seqs: asked[id]})
		switch ubl.CodeOf(err) {
		case "":
		case ubl.CodeNotAMember, ubl.CodeForbidden, ubl.CodeNotFound:
			continue // it was so when the index of members was read
		default:
			return nil, err
		}
		for _, m := range list {
			if h := f.hit(q, m); h != nil {
				shown[key{id, m.place.RoomSeq}] = h
			}
		}
	}
	hits := make([]*ubl.MessageHit, 0, len(shown))
	for _, m := range matches {
		if h := shown[key{m.RoomID, m.Seq}]; h != nil {
			h.Score = m.Score
			hits = append(hits, h)
		}
	}
	return hits, nil
}

// hit is a message that is still one, nil for any other.
func (f finder) hit(q *ubl.MessageQuery, m *hit) *ubl.MessageHit {
	snippet, marks, ok := f.search.MatchMessage(q, m.text)
	switch {
	case !ok, slices.Contains(q.Has, ubl.HasLink) && !ubl.HasLinks(m.text), slices.Contains(q.Has, ubl.HasFile) && !m.files:
		return nil
	}
	return &ubl.MessageHit{
		AuthorID: m.entry.AuthorID, Edited: m.edited, EntryID: m.entry.ID, Highlights: marks,
		Place: m.place, SentAt: m.entry.SentAt, Snippet: snippet,
	}
}

// lookUp asks a room for messages as they read now. Who may read its history. Only a search
// on this node asks it. Answers []*hit.
type lookUp struct {
	Who  ubl.Identity
	Seqs []int64
}

// Cost is 0: it reads.
func (lookUp) Cost() int { return 0 }

// hit is a message, and where it is.
type hit struct {
	current
	place ubl.Place
}

func (r *Room) lookUp(t *actors.Turn, c lookUp) {
	head := r.State.head()
	t.Read(r.State.shows("messenger.history", c.Who), func(ctx context.Context) (any, error) {
		var list []*hit
		err := r.Read.View(ctx, r.group, func(snap ubl.Snapshot) error {
			list = list[:0]
			for _, seq := range c.Seqs {
				m, err := r.reads(snap, head, seq)
				if err != nil {
					return err
				}
				if m == nil {
					continue
				}
				place := ubl.Place{RoomID: r.id, RoomSeq: seq, From: max(seq-around, head.AvailableFrom), To: min(seq+around, head.LastSeq)}
				if m.entry.Thread != nil {
					place.Thread = *m.entry.Thread
				}
				list = append(list, &hit{*m, place})
			}
			return nil
		})
		return list, err
	})
}
