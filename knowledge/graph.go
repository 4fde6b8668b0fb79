package knowledge

import (
	"cmp"
	"encoding/json"
	"slices"

	"ubl"
)

// Graph is which documents of a commons lead to which others. It has no texts, and doesn't change
// once it is made: several goroutines may use it.
type Graph struct {
	entries map[ubl.DocumentKey]*Entry
	back    map[*Entry][]*Entry
}

// Node is a document of a graph before it is linked: what it was published as, and its links.
func Node(as *ubl.PublishedAs, title, body string) *Entry {
	e := &Entry{Path: as.Path, ID: as.ID, Type: as.Type, Title: title, Metadata: as.Metadata, Body: body}
	o := DefaultOntology()
	if _, ok := o.Type(e.Type); !ok { // it is of an ontology of the source's: of which fields are links nothing is known
		e.Type = o.usual
	}
	var fields map[string]any
	_ = json.Unmarshal(e.Metadata, &fields) // it was checked when it came
	e.takeLinks(o, fields, &tree{})
	e.Type, e.Body, e.Problems = as.Type, "", nil
	return e
}

// NewGraph links nodes, which it sorts.
func NewGraph(nodes []*Entry) *Graph {
	slices.SortFunc(nodes, func(a, b *Entry) int { return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Type, b.Type)) })
	g := &Graph{map[ubl.DocumentKey]*Entry{}, map[*Entry][]*Entry{}}
	x := newIndex(nodes)
	for _, e := range nodes {
		g.entries[e.Key()] = e
		e.resolve(x)
		for _, l := range e.Links {
			if from := g.back[l.to]; l.to != nil && l.to != e && (len(from) == 0 || from[len(from)-1] != e) {
				g.back[l.to] = append(from, e)
			}
		}
	}
	return g
}

// Links are where a document leads within the commons, as its links are written, each once, and which
// documents lead to it, by path.
func (g *Graph) Links(of ubl.DocumentKey) (links, back []ubl.KnowledgeLink) {
	e := g.entries[of]
	if e == nil {
		return nil, nil
	}
	for _, l := range e.Links {
		if l.to == nil {
			continue
		}
		link := ubl.KnowledgeLink{Target: l.Target, Wiki: l.Wiki, Field: l.Field, ContentType: l.to.Type, ID: l.to.ID, Title: l.to.Title}
		if !slices.Contains(links, link) {
			links = append(links, link)
		}
	}
	for _, from := range g.back[e] {
		back = append(back, ubl.KnowledgeLink{ContentType: from.Type, ID: from.ID, Title: from.Title})
	}
	return links, back
}
