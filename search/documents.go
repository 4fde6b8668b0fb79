package search

import (
	"encoding/json"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/blevesearch/bleve/v2/analysis"
	"github.com/blevesearch/bleve/v2/document"
	"github.com/blevesearch/bleve/v2/mapping"
	index "github.com/blevesearch/bleve_index_api"

	"ubl"
)

// Fields of an indexed document beside those of the mapping.
const (
	// fieldStems has the stems of all that it says, those of the title titleTimes.
	fieldStems = "stems"
	// fieldSays has what it says of itself, as terms that [says] makes.
	fieldSays = "says"
	// fieldDay has its date, as terms of the times that it is in: see [parts].
	fieldDay = "day"
	// fieldDigest is stored: the stems that it has most often, each followed by how often.
	fieldDigest = "digest"
)

const (
	// titleTimes is how often a question counts the words of titles.
	titleTimes = 2
	// digestStems is how many stems a digest has.
	digestStems = 128
)

// documentOf is a change as it is indexed, and how many stems it has.
func documentOf(m mapping.IndexMapping, c ubl.DocumentChange) (doc *document.Document, stems int, err error) {
	doc = document.NewDocument(string(c.DocumentID))
	about := read(c)
	names := strings.Join(about.names, "\n")
	if err := m.MapDocument(doc, map[string]any{fieldTitle: fold(c.Title), fieldContent: fold(c.Content), fieldNames: fold(names)}); err != nil {
		return nil, 0, err
	}
	title, rest := wordsOf(c.Title), append(wordsOf(c.Content), wordsOf(names)...)
	l := languageOf(rest)
	all := make(analysis.TokenStream, 0, titleTimes*len(title)+len(rest))
	often := map[string]int{}
	put := func(words []word, times int) {
		for _, w := range words {
			for _, stem := range l.stemsOf(w.text) {
				one := token(stem, 1) // where it stands isn't kept
				for range times {
					all = append(all, one)
				}
				if !l.isCommon(w.text) {
					often[stem] += times
				}
			}
		}
	}
	put(title, titleTimes)
	put(rest, 1)
	add := func(name, text string, as index.FieldIndexingOptions, tokens func(string) analysis.TokenStream) {
		doc.AddField(document.NewTextFieldCustom(name, nil, []byte(text), as, analyzed(tokens)))
	}
	add(fieldStems, "", ranked, func(string) analysis.TokenStream { return all })
	add(fieldSays, "", found, func(string) analysis.TokenStream { return asTerms(about.says) })
	add(fieldDay, "", found, func(string) analysis.TokenStream { return asTerms(parts(about.day)) })
	add(fieldDigest, digest(often), keptOnly, fields)
	return doc, len(all), nil
}

// asTerms are texts as they are, each a term.
func asTerms(texts []string) (out analysis.TokenStream) {
	for i, text := range texts {
		out = append(out, token(text, i+1))
	}
	return out
}

// digest writes down the stems that are there most often.
func digest(often map[string]int) string {
	stems := slices.SortedFunc(maps.Keys(often), func(a, b string) int {
		if often[a] != often[b] {
			return often[b] - often[a]
		}
		return strings.Compare(a, b)
	})
	var out strings.Builder
	for _, stem := range stems[:min(len(stems), digestStems)] {
		out.WriteString(stem + " " + strconv.Itoa(often[stem]) + " ")
	}
	return out.String()
}

// readDigest calls fn with each stem and how often it is there.
func readDigest(digest string, fn func(stem string, times int)) {
	all := strings.Fields(digest)
	for i := 1; i < len(all); i += 2 {
		if n, err := strconv.Atoi(all[i]); err == nil {
			fn(all[i-1], n)
		}
	}
}

// about is what a document says of itself.
type about struct {
	names []string // by which people know it
	says  []string
	day   string
}

const (
	// maxSaid bounds what is said by one document.
	maxSaid = 1000
	// maxDepth is how deep the objects are that conditions name.
	maxDepth = 4
)

// read reads what a document says of itself.
func read(c ubl.DocumentChange) about {
	a := about{day: c.UpdatedAt.Std().UTC().Format(dayForm)}
	as := c.Published
	if as == nil {
		return a
	}
	bare := strings.TrimSuffix(as.Path, path.Ext(as.Path))
	a.names = []string{as.ID, as.Path, bare}
	a.says = []string{says("type", as.Type), says("id", as.ID), says("path", as.Path)}
	var metadata map[string]any
	if json.Unmarshal(as.Metadata, &metadata) != nil {
		return a
	}
	if day, ok := metadata["date"].(string); ok && len(day) >= len(dayForm) && isDay(day[:len(dayForm)]) {
		a.day = day[:len(dayForm)]
	}
	for _, name := range []string{"aliases", "permalink"} {
		a.names = append(a.names, textsIn(metadata[name])...)
	}
	a.say("", metadata, maxDepth)
	return a
}

// textsIn are the texts of a value: itself, or those of a list.
func textsIn(v any) (out []string) {
	switch v := v.(type) {
	case string:
		out = append(out, v)
	case []any:
		for _, item := range v {
			if text, ok := item.(string); ok {
				out = append(out, text)
			}
		}
	}
	return out
}

// say takes in what a value says under a name.
func (a *about) say(name string, value any, depth int) {
	if depth < 0 || len(a.says) >= maxSaid {
		return
	}
	switch v := value.(type) {
	case map[string]any:
		for _, member := range slices.Sorted(maps.Keys(v)) {
			a.say(strings.TrimPrefix(name+"."+member, "."), v[member], depth-1)
		}
	case []any:
		for _, item := range v {
			a.say(name, item, depth-1)
		}
	case string:
		a.says = append(a.says, says(name, v))
	case float64:
		a.says = append(a.says, says(name, strconv.FormatFloat(v, 'f', -1, 64)))
	case bool:
		a.says = append(a.says, says(name, strconv.FormatBool(v)))
	}
}

// says is the term of a name with a value, of which case and accents make no difference. What is
// longer than a condition may be can't be asked for.
func says(name, value string) string {
	return fold(strings.TrimSpace(name)) + "\x00" + fold(strings.TrimSpace(value))
}
