package search

import (
	"context"
	"time"

	"github.com/blevesearch/bleve/v2"
	"github.com/blevesearch/bleve/v2/search/query"

	"ubl"
)

const dayForm = time.DateOnly

func isDay(s string) bool {
	_, err := time.Parse(dayForm, s)
	return err == nil
}

// question is what documents are asked for.
type question struct {
	terms []term  // that must all be there
	asked []asked // any of them, where it is a question; nil else
	must  []query.Query
}

// asked is a word of a question, with all of its forms.
type asked struct {
	word  string
	forms []string
}

// questionOf reads what is asked. Every text is a query; it may have no words.
func questionOf(q ubl.DocumentQuery) question {
	out := question{must: conditions(q)}
	if !q.Any {
		out.terms = parse(q.Query)
		return out
	}
	words := wordsOf(q.Query)
	l := languageOf(words)
	seen, common := map[string]bool{}, []asked(nil)
	for _, w := range words {
		switch {
		case seen[w.text] || len(out.asked) == maxTerms:
			continue
		case l.isCommon(w.text):
			common = append(common, asked{w.text, formsOf(w.text)})
		default:
			out.asked = append(out.asked, asked{w.text, formsOf(w.text)})
		}
		seen[w.text] = true
	}
	if len(out.asked) == 0 { // it is about those
		out.asked = common[:min(len(common), maxTerms)]
	}
	return out
}

func (q *question) empty() bool { return len(q.terms) == 0 && len(q.asked) == 0 }

// conditions are what must hold besides. They give no score.
func conditions(q ubl.DocumentQuery) (must []query.Query) {
	for _, c := range q.Where {
		must = append(must, &anyOf{fieldSays, []string{says(c.Name, c.Value)}})
	}
	if q.From != "" || q.To != "" {
		must = append(must, &anyOf{fieldDay, between(q.From, q.To)})
	}
	return must
}

// spans are how many characters of a day name the thousand, hundred and ten years that it is in, its year, its
// month, and itself, and how long each takes.
var spans = []struct{ chars, years, months, days int }{{1, 1000, 0, 0}, {2, 100, 0, 0}, {3, 10, 0, 0}, {4, 1, 0, 0}, {7, 0, 1, 0}, {10, 0, 0, 1}}

// parts are the terms of a day.
func parts(day string) (terms []string) {
	for _, s := range spans {
		terms = append(terms, day[:s.chars])
	}
	return terms
}

// firstDay ends, behind a span's characters, as every day does on which such a span begins.
const firstDay = "0000-01-01"

// between are the terms of a time, "" for no bound: the longest spans that it has. Each is looked up, so
// they must be few.
func between(first, last string) (terms []string) {
	from, to := time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(10_000, 1, 1, 0, 0, 0, 0, time.UTC)
	if at, err := time.Parse(dayForm, first); err == nil {
		from = at
	}
	if at, err := time.Parse(dayForm, last); err == nil {
		to = at.AddDate(0, 0, 1)
	}
	for from.Before(to) {
		day := from.Format(dayForm)
		for _, s := range spans {
			next := from.AddDate(s.years, s.months, s.days)
			if day[s.chars:] == firstDay[s.chars:] && !next.After(to) {
				terms, from = append(terms, day[:s.chars]), next
				break
			}
		}
	}
	return terms
}

// find looks a question up in an index. words is how many stems the index's documents have on average.
func find(ctx context.Context, index bleve.Index, q *question, words float64, limit int) ([]ubl.DocumentMatch, error) {
	switch {
	case q.empty() || limit < 1:
		return []ubl.DocumentMatch{}, nil
	case q.asked != nil:
		return rank(ctx, index, q, words, limit)
	}
	if err := bounded(ctx, index, q.terms); err != nil {
		return nil, err
	}
	all := build(q.terms)
	if len(q.must) > 0 {
		all = bleve.NewConjunctionQuery(append(q.must, all)...)
	}
	req := bleve.NewSearchRequestOptions(all, limit, 0, false)
	req.SortBy([]string{"-_score", "_id"}) // one order, however many are asked for: of equal ones, too
	res, err := index.SearchInContext(ctx, req)
	if err != nil {
		return nil, err
	}
	out := make([]ubl.DocumentMatch, len(res.Hits))
	for i, hit := range res.Hits {
		out[i] = ubl.DocumentMatch{DocumentID: ubl.DocumentID(hit.ID), Score: thousandths(hit.Score)}
	}
	return out, nil
}
