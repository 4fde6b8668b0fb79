// Package find ranks tools for a query in plain words: "delete a file" finds
// office.file.remove.
//
// An [Index] is made once for a catalogue and never changes. A tool is five fields:
// its name, title, description, the names of its parameters, and what these say. Each word
// of a field is cut to its stem. A query's words are, too; each stands besides for the words
// in its group of words like it (see words.go), at a part of its weight.
//
// The rank is BM25 over the weighted fields, as BM25F has it: a word counts more the
// fewer tools have it, less in a long field, and little more where it is repeated. No word of
// a query has to be there, but a tool that answers little of it isn't found: nothing is better than
// five tools for something else. Equal scores are in the order of the catalogue, so one query
// has one answer.
package find

import (
	"math"
	"slices"
	"strings"
)

// Tool is what is known of one. Input is its schema, a JSON Schema of an object.
type Tool struct {
	Name, Title, Description string
	Input                    []byte
}

// Hit is a tool that was found, by its place in the catalogue. Scores compare hits of
// one search with one another, and nothing else.
type Hit struct {
	Tool  int
	Score float64
	// Fit is how much of what was asked the tool answers: 0 for nothing, 1 for each word, or for a
	// few of a long query.
	Fit float64
}

// Index finds tools of one catalogue. It is safe for concurrent use.
type Index struct {
	tools    int
	byName   map[string]int // by the name's spelling
	verbs    [][]string     // the stems of what the names end with
	postings map[string][]posting
	words    []string // the keys of postings, sorted
}

// posting says how much of a word a tool has.
type posting struct {
	tool   int32
	weight float32
}

// Parameters of BM25. A query's group of words like one another counts less than the word itself.
const (
	saturation = 2.5
	likeness   = 0.6
	beginning  = 0.5 // of a word that is only begun
	minBegun   = 3   // letters
	nameBonus  = 1000
	otherVerb  = 0.85 // of a tool whose name ends with words that nobody asked for
)

// What a search answers at all. A tool that fits less than floor, and lacks most of what was asked
// (covers), has a word in common with the query and is about something else. One far below the best
// is no choice beside it. Of a query's words, manyWords seldom ones are as much as a tool needs to have:
// long queries name people, places and days besides.
const (
	floor     = 0.13
	covers    = 0.5
	farBelow  = 0.3
	manyWords = 2
)

// New makes the index of a catalogue.
func New(tools []Tool) *Index {
	x := &Index{tools: len(tools), byName: make(map[string]int, len(tools)), verbs: make([][]string, len(tools)), postings: map[string][]posting{}}
	all := make([][]field, len(tools))
	var total [fieldCount]int
	for i, t := range tools {
		all[i] = fieldsOf(t)
		for f := range all[i] {
			total[f] += len(all[i][f].words)
		}
		x.verbs[i] = verb(t.Name)
		if key := spelled(t.Name); key != "" {
			if _, taken := x.byName[key]; !taken {
				x.byName[key] = i
			}
		}
	}
	for i := range all {
		for word, weight := range weigh(all[i], total, len(tools)) {
			x.postings[word] = append(x.postings[word], posting{int32(i), float32(weight)})
		}
	}
	x.words = make([]string, 0, len(x.postings))
	for word := range x.postings {
		x.words = append(x.words, word)
	}
	slices.Sort(x.words)
	return x
}

// Search finds at most limit tools, best first, among those that keep lets through,
// which is asked by places in the catalogue; nil lets all. more says that there are others.
func (x *Index) Search(query string, limit int, keep func(tool int) bool) (hits []Hit, more bool) {
	scores := make([]float64, x.tools)
	most := make([]float64, x.tools) // of the word in hand
	had := make([]float64, x.tools)  // how rare the words are that a tool has, or is like
	var touched []int32
	wanted := map[string]bool{} // with words like those of the query
	all := 0.0                  // how rare all words are
	for _, word := range asked(query) {
		touched = touched[:0]
		rare := rarity(x.tools, len(x.postings[word]))
		all += rare
		like := 0.0
		for _, v := range x.variants(word) {
			like = max(like, v.weight)
			rarity := x.rarity(v)
			wanted[v.word] = true
			for _, p := range x.postings[v.word] {
				w := float64(p.weight)
				score := v.weight * rarity * w * (saturation + 1) / (w + saturation)
				if most[p.tool] == 0 {
					touched = append(touched, p.tool)
				}
				most[p.tool] = max(most[p.tool], score)
			}
		}
		for _, tool := range touched {
			scores[tool] += most[tool]
			had[tool] += like * rare
			most[tool] = 0
		}
	}
	if tool, ok := x.byName[spelled(query)]; ok {
		scores[tool] += nameBonus
	}
	enough := (saturation + 1) * min(all, manyWords*rarity(x.tools, 0))
	best := top{limit: limit}
	for tool, score := range scores {
		if score == 0 {
			continue
		}
		if !slices.ContainsFunc(x.verbs[tool], func(w string) bool { return wanted[w] }) {
			score *= otherVerb
		}
		hit := Hit{tool, score, min(score/enough, 1)}
		if (hit.Fit >= floor || had[tool] >= covers*all) && !best.isOut(hit) && (keep == nil || keep(tool)) {
			best.add(hit)
		}
	}
	return best.cut()
}

// top is the best hits so far, best first; more says that there were others.
type top struct {
	limit int
	hits  []Hit
	more  bool
}

// isOut reports whether adding a hit would change nothing.
func (t *top) isOut(h Hit) bool {
	return t.more && len(t.hits) == t.limit && (t.limit == 0 || h.Score <= t.hits[t.limit-1].Score)
}

// cut leaves out what is far below the best.
func (t *top) cut() (hits []Hit, more bool) {
	for i, h := range t.hits {
		if h.Score < farBelow*t.hits[0].Score {
			return t.hits[:i], false
		}
	}
	return t.hits, t.more
}

// add puts a hit behind those that are as good.
func (t *top) add(h Hit) {
	at, _ := slices.BinarySearchFunc(t.hits, h, func(a, b Hit) int {
		if a.Score >= b.Score {
			return -1
		}
		return 1
	})
	t.hits = slices.Insert(t.hits, at, h)
	if len(t.hits) > t.limit {
		t.hits, t.more = t.hits[:t.limit], true
	}
}

// variant is a word that one of a query's stands for. rare is the word whose rarity
// bounds its own, "" for none: a word must not count more for being put otherwise.
type variant struct {
	word   string
	weight float64
	rare   string
}

// variants are the words of the catalogue that a query's word stands for.
func (x *Index) variants(word string) []variant {
	var out []variant
	rare := ""
	if len(x.postings[word]) > 0 {
		out, rare = append(out, variant{word, 1, ""}), word
	}
	for _, like := range alike[word] {
		if len(x.postings[like]) > 0 {
			out = append(out, variant{like, likeness, rare})
		}
	}
	if len(out) > 0 || len(word) < minBegun {
		return out
	}
	from, _ := slices.BinarySearch(x.words, word)
	for _, w := range x.words[from:] {
		if !strings.HasPrefix(w, word) {
			break
		}
		out = append(out, variant{w, beginning, ""})
	}
	return out
}

// rarity is BM25's inverse document frequency.
func (x *Index) rarity(v variant) float64 {
	r := rarity(x.tools, len(x.postings[v.word]))
	if v.rare != "" {
		r = min(r, rarity(x.tools, len(x.postings[v.rare])))
	}
	return r
}

func rarity(tools, having int) float64 {
	n := float64(having)
	return math.Log(1 + (float64(tools)-n+0.5)/(n+0.5))
}

// verb is the stems of what a name ends with: what the tool does, as list_rooms of
// messenger.list_rooms.
func verb(name string) []string { return stems(name[strings.LastIndexByte(name, '.')+1:]) }

// spelled is a name without what its spellings differ in.
func spelled(name string) string {
	return strings.ToLower(strings.NewReplacer(".", "_", "-", "_").Replace(strings.TrimSpace(name)))
}
