package search

import (
	"cmp"
	"context"
	"encoding/binary"
	"maps"
	"math"
	"slices"

	"github.com/blevesearch/bleve/v2"
	"github.com/blevesearch/bleve/v2/search"
	"github.com/blevesearch/bleve/v2/search/query"
	index "github.com/blevesearch/bleve_index_api"

	"ubl"
)

// A question is ranked in two steps. First each document that has any of its words gets their BM25. Then
// the best ones say which other words belong to the question (pseudo-relevance feedback), and the
// best are put into order by these, too. Figures are those that did best on the even queries
// of the Cranfield collection: see docs/knowledge.md.
const (
	// Of BM25: how soon more of a word counts no more, and how much the length of a document does.
	frequent, lengthy = 1.2, .75
	// candidates are how many of the first step the second one orders.
	candidates = 200
	// Of the best feedbackDocuments those feedbackTerms that are most theirs count, all
	// together feedbackShare of the score.
	feedbackDocuments = 5
	feedbackTerms     = 30
	feedbackShare     = .5
	// feedbackChoice is how many terms feedbackTerms are chosen from: each is looked up.
	feedbackChoice = 100
	// fewDocuments are so few that a word in more than half of them may still be what is asked for.
	fewDocuments = 50
	// maxPostings bounds the work of one question: how many places its words are looked up in,
	// rare words first, the rarest in any case. Where there are more the ranking is a little worse.
	maxPostings = 2 << 20
	// lookUp is after how many of them it is asked whether somebody still waits.
	lookUp = 1 << 14
)

// ranking is one question under way.
type ranking struct {
	ctx     context.Context
	reader  index.IndexReader
	count   float64 // documents
	words   float64 // that they have on average
	left    int     // postings that may be read
	allowed []bool  // by number, nil for all
	scores  []float64
	best    []float64 // of a word, while its forms are read
}

// scored is a document by its number in the index, as long as that isn't written to.
type scored struct {
	number uint64
	score  float64
}

// rank finds documents with any of the words that are asked for, best first.
func rank(ctx context.Context, ix bleve.Index, q *question, words float64, limit int) ([]ubl.DocumentMatch, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	advanced, err := ix.Advanced()
	if err != nil {
		return nil, err
	}
	reader, err := advanced.Reader()
	if err != nil {
		return nil, err
	}
	defer reader.Close()
	count, err := reader.DocCount()
	if err != nil {
		return nil, err
	}
	r := &ranking{ctx: ctx, reader: reader, count: float64(count), words: max(words, 1), left: maxPostings}
	if err := r.allow(ix, q.must); err != nil {
		return nil, err
	}
	if err := r.first(q.asked); err != nil {
		return nil, err
	}
	top := r.top(max(limit, ubl.MaxHits+1)) // as many for each page, so that equal ones are in one order
	if err := r.second(top[:min(len(top), candidates)], len(q.asked)); err != nil {
		return nil, err
	}
	return r.matches(top, limit)
}

// matches names the best by their ids. Equal ones are in the order of these.
func (r *ranking) matches(top []scored, limit int) ([]ubl.DocumentMatch, error) {
	out := make([]ubl.DocumentMatch, len(top))
	for i, d := range top {
		id, err := r.reader.ExternalID(idOf(d.number))
		if err != nil {
			return nil, err
		}
		out[i] = ubl.DocumentMatch{DocumentID: ubl.DocumentID(id), Score: thousandths(d.score)}
	}
	slices.SortStableFunc(out, func(a, b ubl.DocumentMatch) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.DocumentID, b.DocumentID))
	})
	return out[:min(len(out), limit)], nil
}

func thousandths(score float64) int64 { return int64(math.Round(1000 * score)) }

func idOf(number uint64) index.IndexInternalID {
	return binary.BigEndian.AppendUint64(nil, number)
}

// numberOf is a document's number: those of an index begin at 0, without many gaps.
func numberOf(id index.IndexInternalID) uint64 { return binary.BigEndian.Uint64(id) }

// allow looks up which documents fulfil the conditions.
func (r *ranking) allow(ix bleve.Index, must []query.Query) error {
	if len(must) == 0 {
		return nil
	}
	s, err := query.NewConjunctionQuery(must).Searcher(r.ctx, r.reader, ix.Mapping(), search.SearcherOptions{Score: "none"})
	if err != nil {
		return err
	}
	defer s.Close()
	r.allowed = []bool{}
	pool := &search.SearchContext{DocumentMatchPool: search.NewDocumentMatchPool(s.DocumentMatchPoolSize()+1, 0)}
	for {
		match, err := s.Next(pool)
		if match == nil || err != nil {
			return err
		}
		n := numberOf(match.IndexInternalID)
		r.allowed = grown(r.allowed, n)
		r.allowed[n] = true
		pool.DocumentMatchPool.Put(match)
		if err := r.wait(); err != nil {
			return err
		}
	}
}

// wait counts a posting, and asks now and then whether somebody still waits.
func (r *ranking) wait() error {
	if r.left--; r.left%lookUp == 0 {
		return r.ctx.Err()
	}
	return nil
}

func grown[T any](s []T, n uint64) []T {
	if n < uint64(len(s)) {
		return s
	}
	return append(s, make([]T, n+1-uint64(len(s)))...)
}

// group is a word of the question as the index has it.
type group struct {
	readers []index.TermFieldReader
	most    uint64 // documents with its most frequent form
}

// first scores all documents by the words that are asked for.
func (r *ranking) first(words []asked) error {
	groups := make([]group, 0, len(words))
	defer func() {
		for _, g := range groups {
			for _, reader := range g.readers {
				reader.Close()
			}
		}
	}()
	for _, w := range words {
		groups = append(groups, group{})
		g := &groups[len(groups)-1]
		for _, form := range w.forms {
			reader, err := r.reader.TermFieldReader(r.ctx, []byte(form), fieldStems, true, true, false)
			if err != nil {
				return err
			}
			g.readers = append(g.readers, reader)
			g.most = max(g.most, reader.Count())
		}
	}
	slices.SortStableFunc(groups, func(a, b group) int { return cmp.Compare(a.most, b.most) })
	used := false
	for _, g := range groups {
		if g.most == 0 || used && (r.tells(g.most) || r.left <= 0) {
			continue
		}
		used = true
		if err := r.add(g.readers); err != nil {
			return err
		}
	}
	return nil
}

// tells reports whether a word in so many documents tells nothing about one of them.
func (r *ranking) tells(count uint64) bool {
	return r.count > fewDocuments && float64(count) > r.count/2
}

// add adds the BM25 of a word: in each document the form counts that is there most often.
func (r *ranking) add(forms []index.TermFieldReader) error {
	var touched []uint64
	var d index.TermFieldDoc
	for _, form := range forms {
		for {
			next, err := form.Next(d.Reset())
			if err != nil {
				return err
			}
			if next == nil {
				break
			}
			if err := r.wait(); err != nil {
				return err
			}
			n := numberOf(next.ID)
			if r.best = grown(r.best, n); r.best[n] == 0 {
				touched = append(touched, n)
			}
			r.best[n] = max(r.best[n], r.saturated(next))
		}
	}
	idf := r.idf(len(touched))
	for _, n := range touched {
		if r.allowed == nil || n < uint64(len(r.allowed)) && r.allowed[n] {
			r.scores = grown(r.scores, n)
			r.scores[n] += idf * r.best[n]
		}
		r.best[n] = 0
	}
	return nil
}

// saturated is the part of BM25 that goes by how often a document has a word.
func (r *ranking) saturated(d *index.TermFieldDoc) float64 {
	times, length := float64(d.Freq), 1/(d.Norm*d.Norm)
	return times * (frequent + 1) / (times + frequent*(1-lengthy+lengthy*length/r.words))
}

func (r *ranking) idf(documents int) float64 {
	return math.Log(1 + (max(r.count-float64(documents), 0)+.5)/(float64(documents)+.5))
}

// top are the best so far, best first.
func (r *ranking) top(limit int) []scored {
	var all []scored
	least := 0.0 // that is worth keeping
	order := func(a, b scored) int { return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.number, b.number)) }
	for n, score := range r.scores {
		if score <= least {
			continue
		}
		if all = append(all, scored{uint64(n), score}); len(all) >= 2*limit {
			slices.SortFunc(all, order)
			all = all[:limit]
			least = all[limit-1].score
		}
	}
	slices.SortFunc(all, order)
	return all[:min(len(all), limit)]
}

// second puts the best into order by the words that the very best have. Their scores rise by these, and all
// others are behind them already.
func (r *ranking) second(best []scored, words int) error {
	if len(best) < 2*feedbackDocuments {
		return nil
	}
	weights, err := r.feedback(best[:feedbackDocuments])
	if err != nil || len(weights) == 0 {
		return err
	}
	slices.SortFunc(best, func(a, b scored) int { return cmp.Compare(a.number, b.number) })
	for _, term := range slices.Sorted(maps.Keys(weights)) {
		if err := r.raise(best, term, weights[term]*float64(words)); err != nil {
			return err
		}
	}
	slices.SortFunc(best, func(a, b scored) int { return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.number, b.number)) })
	return nil
}

// raise adds a term's BM25 to some documents, which are in the order of their numbers.
func (r *ranking) raise(documents []scored, term string, weight float64) error {
	reader, err := r.reader.TermFieldReader(r.ctx, []byte(term), fieldStems, true, true, false)
	if err != nil {
		return err
	}
	defer reader.Close()
	idf := r.idf(int(reader.Count()))
	var at *index.TermFieldDoc
	var d index.TermFieldDoc
	for i := range documents {
		if n := documents[i].number; at == nil || numberOf(at.ID) < n {
			if at, err = reader.Advance(idOf(n), &d); at == nil || err != nil {
				return err
			}
		}
		if numberOf(at.ID) == documents[i].number {
			documents[i].score += weight * idf * r.saturated(at)
		}
	}
	return r.ctx.Err()
}

// feedback are the terms that tell the best documents from others, with their weights for a question of
// one word.
func (r *ranking) feedback(best []scored) (map[string]float64, error) {
	total := 0.0
	for _, d := range best {
		total += d.score
	}
	said := map[string]float64{} // how much of the best is said by a term
	for _, d := range best {
		text, err := r.digest(d.number)
		if err != nil {
			return nil, err
		}
		length := 0
		readDigest(text, func(_ string, times int) { length += times })
		readDigest(text, func(stem string, times int) { // the root keeps one word from being all that counts
			said[stem] += d.score / total * math.Sqrt(float64(times)/float64(length))
		})
	}
	return r.choose(said)
}

// choose keeps the best terms. Their weights sum up to the share of feedback.
func (r *ranking) choose(said map[string]float64) (map[string]float64, error) {
	order := slices.SortedFunc(maps.Keys(said), func(a, b string) int { return cmp.Or(cmp.Compare(said[b], said[a]), cmp.Compare(a, b)) })
	chosen, sum := map[string]float64{}, 0.0
	for _, term := range order[:min(len(order), feedbackChoice)] {
		reader, err := r.reader.TermFieldReader(r.ctx, []byte(term), fieldStems, false, false, false)
		if err != nil {
			return nil, err
		}
		count := reader.Count()
		reader.Close()
		if r.tells(count) {
			continue
		}
		chosen[term] = said[term]
		if sum += said[term]; len(chosen) == feedbackTerms {
			break
		}
	}
	for term := range chosen {
		chosen[term] *= feedbackShare / (1 - feedbackShare) / sum
	}
	return chosen, nil
}

// digest is that of a document.
func (r *ranking) digest(number uint64) (string, error) {
	id, err := r.reader.ExternalID(idOf(number))
	if err != nil {
		return "", err
	}
	doc, err := r.reader.Document(id)
	if doc == nil || err != nil {
		return "", err
	}
	return string(storedIn(doc, fieldDigest)), nil
}
