package ubl

import (
	"context"
	"strings"
	"time"
	"unicode/utf8"
)

// Limits of searches for documents.
const (
	MaxQueryChars     = 500
	MaxHits           = 400 // that a search leads to, page by page
	MaxConditions     = 8
	MaxConditionChars = 256 // of its value
	maxConditionName  = 64
)

// DocumentQuery is what a search for documents asks for.
type DocumentQuery struct {
	// Query has words, "phrases" and begin*s that must all be there. With Any it is a question: any
	// of its words may match, in any of their forms, and the best documents come first.
	Query string
	Any   bool `json:",omitempty"`
	// Where are conditions on what documents say of themselves. All must hold.
	Where []Condition `json:",omitempty"`
	// From and To are the first and the last day of the documents' dates, such as 2026-01-31; ""
	// for no bound. A document's date is the one that its metadata says, else the day in UTC on which its
	// newest version was made.
	From string `json:",omitempty"`
	To   string `json:",omitempty"`
}

// Condition is a name with a value among a document's metadata, in a list too, whatever the case. A name with
// dots, such as place.region, is of an object in it. The names type, id and path are what it was published as.
type Condition struct {
	Name, Value string
}

// ReadCondition reads name:value.
func ReadCondition(s string) (Condition, error) {
	name, value, ok := strings.Cut(s, ":")
	c := Condition{strings.TrimSpace(name), strings.TrimSpace(value)}
	if !ok {
		return c, errCondition()
	}
	return c, c.check()
}

func (c Condition) check() error {
	if c.Name == "" || c.Value == "" || len(c.Name) > maxConditionName || strings.Contains(c.Name, ":") ||
		!utf8.ValidString(c.Name+c.Value) || utf8.RuneCountInString(c.Value) > MaxConditionChars {
		return errCondition()
	}
	return nil
}

func errCondition() error {
	e := Errorf(CodeValidation, "a condition is name:value, the name of at most %d bytes and the value of at most %d characters", maxConditionName, MaxConditionChars)
	e.Details = map[string]string{"where": e.Message}
	return e
}

// Check refuses what can't be searched for, and takes blanks around the words away.
func (q *DocumentQuery) Check() error {
	q.Query = strings.TrimSpace(q.Query)
	switch {
	case !utf8.ValidString(q.Query):
		return Errorf(CodeValidation, "the query is not valid UTF-8")
	case q.Query == "":
		return Errorf(CodeValidation, "the query is empty")
	case utf8.RuneCountInString(q.Query) > MaxQueryChars:
		return Errorf(CodeTooLarge, "the query is longer than %d characters", MaxQueryChars)
	case len(q.Where) > MaxConditions:
		return Errorf(CodeTooLarge, "there are more than %d conditions", MaxConditions)
	case !isDay(q.From), !isDay(q.To):
		return Errorf(CodeValidation, "from and to are days, such as 2026-01-31")
	case q.From > q.To && q.To != "":
		return Errorf(CodeValidation, "from is later than to")
	}
	for _, c := range q.Where {
		if err := c.check(); err != nil {
			return err
		}
	}
	return nil
}

// isDay reports whether a text is a day, or "" for none.
func isDay(s string) bool {
	_, err := time.Parse(time.DateOnly, s)
	return s == "" || err == nil
}

// Excerpt is a part of a document around what was found in it, or its beginning where that is
// elsewhere, such as in the title.
type Excerpt struct {
	// Snippet is plain text, with single blanks between words. Where a search finds many long documents
	// it is empty for some of them.
	Snippet string `json:"snippet"`
	// Highlights are what was found, as characters of the snippet.
	Highlights []Highlight `json:"highlights,omitempty"`
	// Offset is where in the content the snippet begins, in characters.
	Offset int `json:"offset,omitempty"`
	// Under is the heading that it stands under, "" for none.
	Under string `json:"under,omitempty"`
}

// DocumentHit is a document that a search found.
type DocumentHit struct {
	Document
	// Score orders hits, best first, in thousandths; it means nothing by itself.
	Score int64 `json:"score"`
	Excerpt
}

// DocumentHits is the answer to a search.
type DocumentHits struct {
	Documents []*DocumentHit `json:"documents"`
	// Next is how many of the best are before the next page; 0 at the end. A change of documents in
	// between moves hits: one may come twice, or on no page.
	Next int `json:"next_cursor,omitempty"`
	// Indexing is there while the index has changes to take in.
	Indexing *Indexing `json:"indexing,omitempty"`
	Receipt  Receipt   `json:"receipt"`
	// Salt is what the commitment to the query was made with. It is stored nowhere else.
	Salt Salt `json:"salt,omitzero"`
}

// Indexing says how far an index is that has many changes to take in.
type Indexing struct {
	// CompleteUpTo is when the last change was made that it has taken in; documents
	// changed later may be missing. Nil where that may be so for all of them.
	CompleteUpTo *Time `json:"complete_up_to"`
}

// PublicHitsPage is how many documents a search finds for anyone.
const PublicHitsPage = 20

// PublicHits are documents that a search found, best first and without their contents.
type PublicHits struct {
	Documents []PublicHit `json:"documents"`
	// Indexing is there where the index is behind, as of [DocumentHits].
	Indexing *Indexing `json:"indexing,omitempty"`
	Events   int64     `json:"-"`
}

// PublicHit is a document that was found, as of [DocumentHit].
type PublicHit struct {
	PublicDocument
	Score int64 `json:"score"`
	Excerpt
}

// Searcher keeps full-text indexes of containers. An index is derived: it can be
// thrown away at any time and is made again from the documents. Safe for
// concurrent use.
type Searcher interface {
	MessageSearcher

	// Search finds documents of a container, best first. The index is first brought
	// up to a mark with what changes tells; where the index has seen another history
	// (the server was restored, the replica was made anew) it is rebuilt. The zero
	// mark takes in whatever there is. After many changes that takes longer than a
	// search waits: then it finds what has been taken in, says so, and the rest is taken
	// in behind it. So changes may still be called when Search has returned.
	Search(ctx context.Context, of Name, upTo Mark, changes DocumentChanges, q DocumentQuery, limit int) (DocumentsFound, error)

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
	// Excerpt cuts an excerpt of the content of one that was found. It looks through a few
	// megabytes, and only at the beginnings of what comes then. For one caller at a time.
	Excerpt func(content string) Excerpt
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
	// Mark is how far the history has been told with this change. An event that changed several
	// documents is told with the last of them.
	Mark
	DocumentID     DocumentID
	Title, Content string
	UpdatedAt      Time
	Published      *PublishedAs // nil where it was written here
	Deleted        bool
}

// DocumentMatch is a document found.
type DocumentMatch struct {
	DocumentID DocumentID
	Score      int64 // in thousandths; it orders matches and means nothing by itself
}
