package search

import (
	"strings"

	"github.com/blevesearch/bleve/v2"
	"github.com/blevesearch/bleve/v2/analysis/analyzer/custom"
	"github.com/blevesearch/bleve/v2/analysis/token/shingle"
	"github.com/blevesearch/bleve/v2/analysis/tokenizer/unicode"
	"github.com/blevesearch/bleve/v2/mapping"
)

// Versions of the mapping and of what is indexed; an index of another version is made again.
// What is indexed of messages has a version of its own besides, [messageForm].
const (
	formOfDocuments = "5"
	formOfMessages  = "3"
)

// form is the version that a book is of.
func (b *book) form() string {
	if strings.Contains(string(b.of), inMessages) {
		return formOfMessages
	}
	return formOfDocuments
}

// Fields of an indexed document. title, content and names are folded; pairs has every two
// words of the content that follow each other, as one term; names are those of its file, and others
// that it has. There are more, see [documentOf].
const (
	fieldTitle   = "title"
	fieldContent = "content"
	fieldPairs   = "pairs"
	fieldNames   = "names"
)

// Analyzers of the searched fields, whose text is folded already.
const (
	words = "words"
	pairs = "pairs"
)

func newMapping() (mapping.IndexMapping, error) {
	m := bleve.NewIndexMapping()
	m.ScoringModel = "bm25"
	err := m.AddCustomAnalyzer(words, map[string]any{"type": custom.Name, "tokenizer": unicode.Name})
	if err != nil {
		return nil, err
	}
	if err := addPairs(m); err != nil {
		return nil, err
	}
	m.DefaultAnalyzer = words
	doc := bleve.NewDocumentStaticMapping()
	doc.AddFieldMappingsAt(fieldTitle, searched())
	doc.AddFieldMappingsAt(fieldContent, searched(), paired())
	doc.AddFieldMappingsAt(fieldNames, searched())
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

// addPairs adds the analyzer of pairs. Without them a phrase of common words has
// the places of both looked up in nearly every document.
func addPairs(m *mapping.IndexMappingImpl) error {
	err := m.AddCustomTokenFilter(pairs, map[string]any{
		"type": shingle.Name, "min": 2.0, "max": 2.0, "output_original": false, "separator": " ", "filler": "",
	})
	if err != nil {
		return err
	}
	return m.AddCustomAnalyzer(pairs, map[string]any{"type": custom.Name, "tokenizer": unicode.Name, "token_filters": []string{pairs}})
}

// paired is the field of pairs, filled from the content.
func paired() *mapping.FieldMapping {
	f := bleve.NewTextFieldMapping()
	f.Name, f.Analyzer = fieldPairs, pairs
	f.Store, f.IncludeInAll, f.DocValues, f.IncludeTermVectors = false, false, false, false
	return f
}
