package knowledge

import (
	"reflect"
	"testing"

	"ubl"
)

// TestGraph: links lead to what is published, both ways, as they do in a vault; what a type that nobody
// knows says in its fields leads nowhere.
func TestGraph(t *testing.T) {
	node := func(kind, path, says, body string) *Entry {
		return Node(&ubl.PublishedAs{DocumentKey: ubl.DocumentKey{Type: kind, ID: stem(path)}, Path: path, Metadata: []byte(says)}, "T "+stem(path), body)
	}
	g := NewGraph([]*Entry{
		node("pattern", "patterns/cells.md", `{"relatedPatterns":["[[rings]]","nothing"]}`, "See [a circle](/tags/circle.md#why), [[circle|it]], [[circle]], `[[rings]]`, [out](https://example.com) and [x](x.png)."),
		node("pattern", "patterns/rings.md", `{}`, "[self](rings.md)"),
		node("tag", "tags/circle.md", `{"aliases":["Kreis"],"relatedTerms":["cells"]}`, ""),
		node("dish", "tags/soup.md", `{"relatedTerms":["circle"]}`, "[[Kreis]]"),
	})
	to := func(target string, wiki bool, field, kind, id string) ubl.KnowledgeLink {
		return ubl.KnowledgeLink{Target: target, Wiki: wiki, Field: field, ContentType: kind, ID: id, Title: "T " + id}
	}
	from := func(kind, id string) ubl.KnowledgeLink {
		return ubl.KnowledgeLink{ContentType: kind, ID: id, Title: "T " + id}
	}
	for key, want := range map[ubl.DocumentKey]struct{ links, back []ubl.KnowledgeLink }{
		{Type: "pattern", ID: "cells"}: {[]ubl.KnowledgeLink{to("rings", true, "relatedPatterns", "pattern", "rings"), to("/tags/circle.md", false, "", "tag", "circle"), to("circle", true, "", "tag", "circle")},
			[]ubl.KnowledgeLink{from("tag", "circle")}},
		{Type: "pattern", ID: "rings"}: {[]ubl.KnowledgeLink{to("rings.md", false, "", "pattern", "rings")}, []ubl.KnowledgeLink{from("pattern", "cells")}},
		{Type: "tag", ID: "circle"}:    {[]ubl.KnowledgeLink{to("cells", true, "relatedTerms", "pattern", "cells")}, []ubl.KnowledgeLink{from("pattern", "cells"), from("dish", "soup")}},
		{Type: "dish", ID: "soup"}:     {[]ubl.KnowledgeLink{to("Kreis", true, "", "tag", "circle")}, nil},
		{Type: "tag", ID: "none"}:      {},
	} {
		if links, back := g.Links(key); !reflect.DeepEqual(links, want.links) || !reflect.DeepEqual(back, want.back) {
			t.Errorf("%s leads to %+v, and there lead to it %+v; want %+v", key, links, back, want)
		}
	}
}
