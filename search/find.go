package search

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/blevesearch/bleve/v2"
	"github.com/blevesearch/bleve/v2/mapping"
	"github.com/blevesearch/bleve/v2/search"
	"github.com/blevesearch/bleve/v2/search/query"
	"github.com/blevesearch/bleve/v2/search/searcher"
	index "github.com/blevesearch/bleve_index_api"

	"ubl"
)

// FindMessages implements [ubl.MessageSearcher].
func (x *Index) FindMessages(ctx context.Context, g ubl.Group, q *ubl.MessageQuery, in []ubl.RoomID, sort ubl.Sort, after string, limit int) (*ubl.MessagesFound, error) {
	behind, err := readAfter(sort, after)
	if err != nil || len(in) == 0 {
		return &ubl.MessagesFound{}, err
	}
	b, err := x.take(messagesName(g))
	if err != nil {
		return nil, err
	}
	defer x.give(b)
	b.searched.Store(time.Now().UnixNano())
	if b.current() == nil {
		if err := x.writing(ctx, g, func(*book) error { return nil }); err != nil {
			return nil, err
		}
	}
	if err := b.finds.Take(ctx, g.Tenant); err != nil {
		return nil, ubl.AsError(err)
	}
	defer b.finds.Give(g.Tenant)
	out, met, err := b.findMessages(ctx, q, in, sort, behind, limit)
	if err = final(ctx, err); err == nil || isFinal(err) {
		return out, err
	}
	// Somebody else may have put another index in its place.
	return &ubl.MessagesFound{}, x.writing(context.WithoutCancel(ctx), g, func(b *book) error {
		if b.index == met {
			x.throwAway(b, err)
		}
		return nil
	})
}

func (b *book) findMessages(ctx context.Context, q *ubl.MessageQuery, in []ubl.RoomID, sort ubl.Sort, after []string, limit int) (out *ubl.MessagesFound, met bleve.Index, err error) {
	b.mu.RLock()
	defer b.mu.RUnlock()
	out = &ubl.MessagesFound{}
	if met = b.index; met == nil { // being made again
		return out, nil, nil
	}
	err = guarded(func() error {
		asked, err := buildMessages(ctx, met, q, in)
		if err != nil || asked == nil {
			return err
		}
		req := bleve.NewSearchRequestOptions(asked, limit+1, 0, false)
		switch sort {
		case ubl.ByNewest:
			req.SortBy([]string{"-" + inOrder})
			req.Score = "none"
		case ubl.ByOldest:
			req.SortBy([]string{inOrder})
			req.Score = "none"
		default:
			req.SortBy([]string{"-_score", "-" + inOrder})
		}
		if after != nil {
			req.SetSearchAfter(after)
		}
		res, err := met.SearchInContext(ctx, req)
		if err != nil {
			return err
		}
		out, err = matches(res.Hits, sort, limit)
		return err
	})
	return out, met, err
}

func matches(hits search.DocumentMatchCollection, sort ubl.Sort, limit int) (*ubl.MessagesFound, error) {
	out := &ubl.MessagesFound{More: len(hits) > limit}
	for _, hit := range hits[:min(len(hits), limit)] {
		room, seq, ok := readMessageID(hit.ID)
		if !ok {
			return nil, errOtherHistory
		}
		m := ubl.MessageMatch{RoomID: room, Seq: seq, Score: int64(math.Round(1000 * hit.Score))}
		keys := slices.Clone(hit.Sort)
		if sort != ubl.ByNewest && sort != ubl.ByOldest {
			keys[0] = scoreText(hit.Score)
		}
		m.After = writeAfter(sort, keys)
		out.Matches = append(out.Matches, m)
	}
	return out, nil
}

// none finds nothing, as where a word is asked for that no message has.
var none = query.NewMatchNoneQuery()

// buildMessages is a query for the index. Who may see what is a part of it, so that neither
// what it finds nor how long that takes tells of other rooms.
func buildMessages(ctx context.Context, ix bleve.Index, q *ubl.MessageQuery, in []ubl.RoomID) (query.Query, error) {
	must := []query.Query{&anyOf{inRoom, texts(in)}}
	var not []query.Query
	for _, w := range wantedBy(q) {
		asked, err := w.build(ctx, ix)
		switch {
		case err != nil:
			return nil, err
		case !w.not:
			must = append(must, asked...)
		case !w.exact || len(w.words) == 2 && !w.prefix:
			not = append(not, query.NewConjunctionQuery(asked))
		} // of other phrases the index knows too little to leave messages out: the texts are looked at
	}
	if len(q.From) > 0 {
		must = append(must, &anyOf{inAuthor, q.From})
	}
	for _, has := range q.Has {
		must = append(must, &anyOf{inHas, []string{has}})
	}
	if q.Since > 0 || q.Until > 0 {
		must = append(must, &anyOf{inDay, days(q.Since, q.Until, time.Now())})
	}
	all := query.NewConjunctionQuery(must)
	if len(not) == 0 {
		return all, nil
	}
	return query.NewBooleanQuery([]query.Query{all}, nil, not), nil
}

func texts(in []ubl.RoomID) []string {
	out := make([]string, len(in))
	for i, r := range in {
		out[i] = string(r)
	}
	return out
}

// build is a clause: what must be there of it, which may be more than the clause means.
func (w *wanted) build(ctx context.Context, ix bleve.Index) ([]query.Query, error) {
	last := len(w.words) - 1
	var all []query.Query
	for i := 1; i <= last; i++ {
		p := pair(w.words[i-1], w.words[i])
		if i == last && w.prefix {
			begun, err := w.beginnings(ctx, ix, inPairs, p)
			if err != nil {
				return nil, err
			}
			all = append(all, &anyOf{inPairs, append(begun, p)})
			continue
		}
		all = append(all, exactly(inPairs, p))
	}
	if last > 0 {
		return all, nil
	}
	word := w.words[0]
	terms := []string{word}
	if !w.exact {
		terms = formsOf(word)
	}
	one := make([]query.Query, 0, len(terms)+1)
	for _, t := range terms {
		one = append(one, exactly(inForms, t))
	}
	if w.prefix {
		begun, err := w.beginnings(ctx, ix, inForms, word)
		if err != nil {
			return nil, err
		}
		if begun = slices.DeleteFunc(begun, func(t string) bool { return slices.Contains(terms, t) }); len(begun) > 0 {
			one = append(one, &anyOf{inForms, begun})
		}
	}
	if len(one) == 1 {
		return one, nil
	}
	return []query.Query{query.NewDisjunctionQuery(one)}, nil
}

// maxBegun is how many words a beginning stands for at most.
const maxBegun = 1000

// beginnings are the terms that begin so. A word that may not be typed to its end yet is taken
// as it is where that are too many.
func (w *wanted) beginnings(ctx context.Context, ix bleve.Index, field, begin string) ([]string, error) {
	dict, err := ix.FieldDictPrefix(field, []byte(begin))
	if err != nil {
		return nil, err
	}
	defer dict.Close()
	var out []string
	for {
		entry, err := dict.Next()
		if entry == nil || err != nil {
			return out, err
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if len(out) == maxBegun {
			if w.typed {
				return nil, nil
			}
			return nil, ubl.Errorf(ubl.CodeValidation, "the beginning of a word stands for more than %d words: give more of it", maxBegun)
		}
		out = append(out, entry.Term)
	}
}

// days are the terms of a time: whole years and months where it has them.
func days(since, until ubl.Time, now time.Time) (terms []string) {
	from := max(since, ubl.TimeOf(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC))).Std()
	to := now.AddDate(2, 0, 0).UTC() // a clock may be ahead
	if until > 0 && until.Std().Before(to) {
		to = until.Std()
	}
	for from.Before(to) {
		switch year, month := from.AddDate(1, 0, 0), from.AddDate(0, 1, 0); {
		case from.YearDay() == 1 && !year.After(to):
			terms, from = append(terms, from.Format("2006")), year
		case from.Day() == 1 && !month.After(to):
			terms, from = append(terms, from.Format("200601")), month
		default:
			terms, from = append(terms, from.Format("20060102")), from.AddDate(0, 0, 1)
		}
	}
	return terms
}

// anyOf finds what has one of some terms, and gives it no score. The index joins the terms'
// bitmaps, so that thousands of rooms are one.
type anyOf struct {
	field string
	terms []string
}

// Searcher implements [query.Query].
func (a *anyOf) Searcher(ctx context.Context, r index.IndexReader, m mapping.IndexMapping, o search.SearcherOptions) (search.Searcher, error) {
	if len(a.terms) == 0 {
		return none.Searcher(ctx, r, m, o)
	}
	o.Explain, o.IncludeTermVectors, o.Score = false, false, "none"
	return searcher.NewMultiTermSearcher(ctx, r, a.terms, a.field, 1, o, false)
}

// Cursors are the sort keys of a hit, which say nothing that its order doesn't.

// maxAfter bounds one, in bytes.
const maxAfter = 200

func writeAfter(sort ubl.Sort, keys []string) string {
	data, err := json.Marshal(append([]string{string(sort)}, keys...))
	if err != nil {
		panic(err) // strings
	}
	return base64.RawURLEncoding.EncodeToString(data)
}

func scoreText(score float64) string { return strconv.FormatFloat(score, 'g', -1, 64) }

func isScore(s string) bool {
	f, err := strconv.ParseFloat(s, 64)
	return err == nil && !math.IsNaN(f) && !math.IsInf(f, 0)
}

func readAfter(sort ubl.Sort, after string) ([]string, error) {
	if after == "" {
		return nil, nil
	}
	bad := ubl.Errorf(ubl.CodeValidation, "the cursor is not one of this search")
	bad.Details = map[string]string{"cursor": bad.Message}
	if len(after) > maxAfter {
		return nil, bad
	}
	data, err := base64.RawURLEncoding.DecodeString(after)
	var keys []string
	if err != nil || json.Unmarshal(data, &keys) != nil || len(keys) < 2 || keys[0] != string(sort) {
		return nil, bad
	}
	keys = keys[1:]
	byScore := sort != ubl.ByNewest && sort != ubl.ByOldest
	if byScore != (len(keys) == 2) || byScore && !isScore(keys[0]) {
		return nil, bad
	}
	return keys, nil
}
