package ubl

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Bounds of a search for messages.
const (
	MaxQueryClauses = 32 // words, phrases and filters of one query
	MaxFound        = 50 // messages on a page
	usualFound      = 20
)

// Sort is the order in which a search answers.
type Sort string

// The orders. The zero Sort is by relevance.
const (
	ByRelevance Sort = "relevance"
	ByNewest    Sort = "newest"
	ByOldest    Sort = "oldest"
)

// What a message may have, as has: asks for it.
const (
	HasFile     = "file"
	HasLink     = "link"
	HasReaction = "reaction"
)

// SearchMessages finds messages by what they say, of the rooms that the caller is in. The
// Tenant answers it, under a receipt that has a commitment to the query. Members of the
// tenant. Answers *MessageHits.
type SearchMessages struct {
	Request
	// Query is text of the language that [ParseQuery] reads.
	Query string
	// In and From narrow it further, as in: and from: do.
	In    []string
	From  []string
	Sort  Sort
	After string // the Next of the page before
	Limit int    // 20 unless it says; at most [MaxFound]
}

// Cost is one act.
func (SearchMessages) Cost() int { return writeCost }

// Page is how many messages are asked for.
func (c SearchMessages) Page() int {
	if c.Limit < 1 {
		return usualFound
	}
	return min(c.Limit, MaxFound)
}

// MessageHits is a page of what a search found. It doesn't say how many there are: who
// counts hits could learn of rooms by it.
type MessageHits struct {
	Hits []*MessageHit `json:"hits"`
	// Next continues with the next page; "" at the end.
	Next string `json:"-"`
	// Indexing is there while the index has messages to take in.
	Indexing *Indexing `json:"indexing,omitempty"`
	Receipt  Receipt   `json:"receipt"`
	// Salt is what the commitment to the query was made with. It is stored nowhere else.
	Salt Salt `json:"salt,omitzero"`
}

// MessageHit is a message that a search found, as it reads now.
type MessageHit struct {
	AuthorID UserID    `json:"author_id"`
	Edited   bool      `json:"edited,omitempty"`
	EntryID  MessageID `json:"entry_id"`
	// Highlights are where words of the query stand in the snippet.
	Highlights []Highlight `json:"highlights"`
	Place      Place       `json:"place"`
	RoomName   string      `json:"room_name"`
	// Score orders hits by relevance, in thousandths; it means nothing by itself, and is 0
	// in another order.
	Score  int64 `json:"score,omitempty"`
	SentAt Time  `json:"sent_at"`
	// Snippet is the part of the text around the first match: plain text, never markup.
	Snippet string `json:"snippet"`
}

// Highlight is a part of a snippet, from its character Start to before End. A character is
// a code point.
type Highlight struct {
	End   int `json:"end"`
	Start int `json:"start"`
}

// Place is where to jump to: the message, and which entries around it are worth showing.
type Place struct {
	// From and To are the room_seq of the first and last of those entries.
	From    int64     `json:"from_seq"`
	RoomID  RoomID    `json:"room_id"`
	RoomSeq int64     `json:"room_seq"`
	Thread  MessageID `json:"thread,omitempty"`
	To      int64     `json:"to_seq"`
}

// MessageSearcher is the part of a [Searcher] that indexes the messages of all rooms of a
// group. Nothing is indexed while a search waits; a search that meets an index which is
// damaged, of another form or not there says that it isn't whole.
type MessageSearcher interface {
	// FindMessages looks a query up among the messages of some rooms, and of no others. What
	// it finds may have changed since it was indexed: see MatchMessage.
	FindMessages(ctx context.Context, of Group, q *MessageQuery, in []RoomID, sort Sort, after string, limit int) (*MessagesFound, error)
	// MatchMessage reports whether a text is found by the words of a query, and where.
	MatchMessage(q *MessageQuery, text string) (snippet string, at []Highlight, ok bool)
	// IndexMessages takes in what has changed in a room. It is kept once Keep is called, or
	// a batch is full. A history that the index doesn't know has the index thrown away.
	IndexMessages(ctx context.Context, of Group, room RoomID, changes MessageChanges) error
	// Whole reports whether Refill was through since the index was made.
	Whole(ctx context.Context, of Group) (bool, error)
	// Refill has fill index each room once, in the background, unless that is being done, and
	// tell which part of the ledger the index has then. One that fails is done again when
	// Refill is called again.
	Refill(of Group, fill func(context.Context) (upTo int64, err error))
	// MessageCursor and KeepMessages are like Cursor and Keep of a [Searcher].
	MessageCursor(ctx context.Context, of Group) (int64, error)
	KeepMessages(ctx context.Context, of Group, seq int64) error
	// Rebuild throws the index of a group away.
	Rebuild(ctx context.Context, of Group) error
}

// MessagesFound is what an index has for a query, in order. More says that there is more.
type MessagesFound struct {
	Matches []MessageMatch
	More    bool
}

// MessageMatch is a message found. After continues the search behind it.
type MessageMatch struct {
	RoomID RoomID
	Seq    int64
	Score  int64
	After  string
}

// RoomMark is how far a room's entries are in an index: those before From are no longer
// there, and Mark is the last one that was taken in.
type RoomMark struct {
	Mark
	From int64
}

// MessageChanges calls fn with what has changed in a room since a mark, in order, until fn
// fails. Where the room's history doesn't lead through the mark it calls nothing, and known
// is false.
type MessageChanges func(ctx context.Context, after RoomMark, fn func(MessageChange) error) (known bool, err error)

// MessageChange is an entry of a room, with the message that it is or changes as it reads
// now. Seq 0 is an entry that changes none.
type MessageChange struct {
	RoomMark       // behind the change
	Seq      int64 // of the message
	Gone     bool  // it isn't found any more
	AuthorID UserID
	SentAt   Time
	// Order is the place of its act in the ledger, which orders messages of all rooms.
	Order int64
	Text  string
	Files bool
	// Reaction is the room_seq of a reaction to it that came, or with ReactionGone went; 0
	// for none.
	Reaction     int64
	ReactionGone bool
}

// MessageQuery is a query as it was understood. Everything in it must hold.
type MessageQuery struct {
	Clauses []Clause
	From    []string // who wrote it: one of them
	In      []string // the room: one of them
	Has     []string // each of them
	// Since is the first moment that counts, and Until the first that no longer does; 0 for
	// no bound. Both are beginnings of a day, UTC.
	Since, Until Time
}

// Clause is words that must, or must not, occur: one, or several that follow each other.
type Clause struct {
	Text   string
	Not    bool
	Phrase bool // was in quotes, so it means these words and no others of their stems
	Prefix bool // the last word may be just the beginning of one
	Typed  bool // and that is because it may not be typed to its end yet
}

// ParseQuery reads the language of searches for messages:
//
//	word          must occur, in any form of it
//	"some words"  must follow each other, as they are
//	-word         must not occur; so with -"some words"
//	begin*        the beginning of a word
//	from:WHO      a user id, an address, or me
//	in:ROOM       a room's id or name; names with blanks in quotes
//	before:DAY after:DAY on:DAY    days are 2026-01-31, UTC
//	has:file has:link has:reaction
//
// The last word, where nothing stands behind it, may be the beginning of one.
func ParseQuery(text string) (*MessageQuery, error) {
	switch {
	case !utf8.ValidString(text):
		return nil, queryErrorf("the query is not valid UTF-8")
	case utf8.RuneCountInString(text) > MaxQueryChars:
		return nil, Errorf(CodeTooLarge, "the query is longer than %d characters", MaxQueryChars)
	}
	q := &MessageQuery{}
	for n, rest := 1, strings.TrimLeftFunc(text, unicode.IsSpace); rest != ""; n++ {
		if n > MaxQueryClauses {
			return nil, queryErrorf("the query has more than %d words, phrases and filters", MaxQueryClauses)
		}
		part, behind, err := nextPart(rest)
		if err == nil {
			err = q.take(part, behind == "")
		}
		if err != nil {
			return nil, err
		}
		rest = strings.TrimLeftFunc(behind, unicode.IsSpace)
	}
	return q, nil
}

// queryErrorf refuses a query. What is wrong is never repeated.
func queryErrorf(format string, args ...any) error {
	e := Errorf(CodeValidation, format, args...)
	e.Details = map[string]string{"query": e.Message}
	return e
}

// queryPart is one part of a query: -name:"value".
type queryPart struct {
	not, quoted bool
	name, value string
}

// filters are the names that mean something before a colon.
var filters = []string{"from", "in", "before", "after", "on", "has"}

func nextPart(s string) (p queryPart, rest string, err error) {
	if len(s) > 1 && s[0] == '-' && !unicode.IsSpace(rune(s[1])) {
		p.not, s = true, s[1:]
	}
	if name, value, ok := strings.Cut(s, ":"); ok && slices.Contains(filters, strings.ToLower(name)) {
		p.name, s = strings.ToLower(name), value
	}
	if strings.HasPrefix(s, `"`) {
		value, behind, closed := strings.Cut(s[1:], `"`)
		if !closed {
			return p, "", queryErrorf("a quote is opened and not closed")
		}
		p.quoted, p.value = true, value
		return p, behind, nil
	}
	end := strings.IndexFunc(s, func(r rune) bool { return unicode.IsSpace(r) || r == '"' })
	if end < 0 {
		end = len(s)
	}
	p.value = s[:end]
	return p, s[end:], nil
}

// take adds a part to the query. The last one is what is being typed.
func (q *MessageQuery) take(p queryPart, last bool) error {
	value := strings.TrimSpace(p.value)
	if p.name == "" {
		if value == "" {
			return nil
		}
		bare := strings.TrimRight(value, "*")
		prefix := bare != value && !p.quoted
		if p.quoted {
			bare = value
		}
		typed := last && !p.quoted && !p.not && !prefix
		q.Clauses = append(q.Clauses, Clause{Text: bare, Not: p.not, Phrase: p.quoted, Prefix: prefix || typed, Typed: typed})
		return nil
	}
	switch {
	case p.not:
		return queryErrorf("only words and phrases can be left out: -%s: is none", p.name)
	case value == "":
		return queryErrorf("%s: has nothing behind it", p.name)
	}
	switch p.name {
	case "from":
		q.From = append(q.From, value)
	case "in":
		q.In = append(q.In, value)
	case "has":
		value = strings.ToLower(value)
		if !slices.Contains([]string{HasFile, HasLink, HasReaction}, value) {
			return queryErrorf("has: is none of file, link and reaction")
		}
		q.Has = append(q.Has, value)
	default:
		return q.takeDay(p.name, value)
	}
	return nil
}

// takeDay narrows the time.
func (q *MessageQuery) takeDay(name, value string) error {
	day, err := time.Parse(time.DateOnly, value)
	if err != nil || day.Year() < 1971 {
		return queryErrorf("%s: is not followed by a day such as 2026-01-31", name)
	}
	begins, ends := TimeOf(day), TimeOf(day.AddDate(0, 0, 1))
	if name == "after" || name == "on" {
		from := begins
		if name == "after" {
			from = ends
		}
		q.Since = max(q.Since, from)
	}
	if name == "before" || name == "on" {
		to := ends
		if name == "before" {
			to = begins
		}
		if q.Until == 0 || to < q.Until {
			q.Until = to
		}
	}
	return nil
}

// Within reports whether a moment is one that the query asks for.
func (q *MessageQuery) Within(t Time) bool {
	return t >= q.Since && (q.Until == 0 || t < q.Until)
}

// Empty reports whether the query asks for nothing in particular, or only leaves things out.
func (q *MessageQuery) Empty() bool {
	words := slices.ContainsFunc(q.Clauses, func(c Clause) bool { return !c.Not })
	return !words && len(q.From)+len(q.In)+len(q.Has) == 0 && q.Since == 0 && q.Until == 0
}

// linkStarts begin what has:link finds.
var linkStarts = []string{"http://", "https://"}

// HasLinks reports whether a text has the address of a page.
func HasLinks(text string) bool {
	lower := strings.ToLower(text)
	return slices.ContainsFunc(linkStarts, func(s string) bool { return strings.Contains(lower, s) })
}

// HasAttachments reports whether a message or an entry, as it is stored, carries files.
func HasAttachments(stored json.RawMessage) bool {
	var m struct {
		Attachments []json.RawMessage `json:"attachments"`
	}
	return json.Unmarshal(stored, &m) == nil && len(m.Attachments) > 0
}
