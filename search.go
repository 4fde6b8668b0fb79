package ubl

import "context"

// Searcher keeps full-text indexes of containers. An index is derived: it can be
// thrown away at any time and is made again from the documents. Safe for
// concurrent use.
type Searcher interface {
	// Search finds documents of a container, best first. The index is first brought
	// up to a mark with what changes tells; where the index has seen another history
	// (the server was restored, the replica was made anew) it is rebuilt. The zero
	// mark takes in whatever there is. After many changes that takes longer than a
	// search waits: then it finds what has been taken in, says so, and the rest is taken
	// in behind it. So changes may still be called when Search has returned.
	Search(ctx context.Context, of Name, upTo Mark, changes DocumentChanges, query string, limit int) (DocumentsFound, error)

	// CatchUp brings the index up to whatever there is ahead of a search, and waits
	// for that until ctx ends. While no search waits for the index, it leaves most of the
	// processor's time to others.
	CatchUp(ctx context.Context, of Name, changes DocumentChanges) error

	// Cursor is how far Keep has noted that a group's ledger is in the indexes: up to an
	// atom, 0 for none. It is of this node, as the indexes are.
	Cursor(context.Context, Group) (int64, error)
	Keep(context.Context, Group, int64) error
}

// DocumentsFound is what a search found.
type DocumentsFound struct {
	Matches []DocumentMatch
	// Behind says that the index has changes to take in: it has seen those up to
	// Reached, the zero Mark for none, and may not have seen later ones.
	Behind  bool
	Reached Mark
}

// Mark is a point in a container's history: the number of an event and the cid
// of its act. The zero Mark is the beginning.
type Mark struct {
	N   int64
	CID string
}

// DocumentChanges calls fn with the container's changes of documents after a mark,
// in order, until fn fails. Where history, as it is now, doesn't lead through the
// mark it calls nothing, and known is false.
type DocumentChanges func(ctx context.Context, after Mark, fn func(DocumentChange) error) (known bool, err error)

// DocumentChange is a document as an event left it.
type DocumentChange struct {
	Mark
	DocumentID     DocumentID
	Title, Content string
	Deleted        bool
}

// DocumentMatch is a document found.
type DocumentMatch struct {
	DocumentID DocumentID
	Score      int64 // in thousandths; it orders matches and means nothing by itself
	Snippet    string
}
