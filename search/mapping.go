package search

import (
	"github.com/blevesearch/bleve/v2"
	"github.com/blevesearch/bleve/v2/analysis/analyzer/custom"
	"github.com/blevesearch/bleve/v2/analysis/tokenizer/unicode"
	"github.com/blevesearch/bleve/v2/mapping"
)

// formVersion is that of the mapping and of what is indexed; an index of another
// version is made anew.
const formVersion = "1"

// Fields of an indexed document. title and content are folded; text is what
// snippets are cut from.
const (
	fieldTitle   = "title"
	fieldContent = "content"
	fieldText    = "text"
)

// words is the analyzer of both searched fields: their text is folded already.
const words = "words"

func newMapping() (mapping.IndexMapping, error) {
	m := bleve.NewIndexMapping()
	m.ScoringModel = "bm25"
	err := m.AddCustomAnalyzer(words, map[string]any{"type": custom.Name, "tokenizer": unicode.Name})
	if err != nil {
		return nil, err
	}
	m.DefaultAnalyzer = words
	doc := bleve.NewDocumentStaticMapping()
	doc.AddFieldMappingsAt(fieldTitle, searched())
	doc.AddFieldMappingsAt(fieldContent, searched())
	text := bleve.NewTextFieldMapping()
	text.Index, text.IncludeInAll, text.DocValues = false, false, false
	doc.AddFieldMappingsAt(fieldText, text)
	m.DefaultMapping = doc
	return m, nil
}

// searched is a field that is found by its words; phrases need their places.
func searched() *mapping.FieldMapping {
	f := bleve.NewTextFieldMapping()
	f.Analyzer = words
	f.Store, f.IncludeInAll, f.DocValues = false, false, false
	f.IncludeTermVectors = true
	return f
}
