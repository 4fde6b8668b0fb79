package public

import (
	"context"
	_ "embed" // the description
	"encoding/json"
	"net/url"
	"slices"
	"strconv"

	"ubl"
)

// What a knowledge commons shows to anyone: the documents that were published in it, by the names of
// the source.
//
//	/public/{tenant}/{container}/api/v1/entries               ?contentType= &group= &release= &limit= &offset=
//	/public/{tenant}/{container}/api/v1/entries/{type}/{id}   one
//	/public/{tenant}/{container}/api/v1/search                ?q= and filters, 20 at most
//	/public/{tenant}/{container}/api/v1/overview              which types, groups, releases and tags there are
//	/public/{tenant}/{container}/api/v1/openapi.json          these, described

//go:embed openapi.json
var openAPI []byte

var errKnowledge = ubl.Errorf(ubl.CodeValidation, "the query is not one that this path knows: entries take contentType, group, release, limit (1 to %d) and offset (from 0), "+
	"and a search takes q (1 to %d characters without blanks around them), contentType, group, release, status, tags up to %d times, and limit (1 to %d)", ubl.MaxKnowledge, ubl.MaxQueryChars, ubl.MaxConditions-4, ubl.MaxKnowledgeHits)

// usual are how many a list and a search have that don't say.
const (
	usualList   = 20
	usualSearch = 5
)

// insideKnowledge takes in what a path names behind api/v1, and reports whether that is something.
func (p *place) insideKnowledge(part []string) bool {
	switch {
	case len(part) == 1 && part[0] == "entries":
		p.kind = entries
	case len(part) == 3 && part[0] == "entries":
		p.kind, p.key = entry, ubl.DocumentKey{Type: part[1], ID: part[2]}
		return p.key.Check() == nil
	case len(part) == 1 && part[0] == "search":
		p.kind = entrySearch
	case len(part) == 1 && part[0] == "overview":
		p.kind = overview
	case len(part) == 1 && part[0] == "openapi.json":
		p.kind = description
	default:
		return false
	}
	return true
}

// askKnowledge takes the query of a list or a search in.
func (p *place) askKnowledge(query string) error {
	values, err := url.ParseQuery(query)
	if err != nil {
		return errKnowledge
	}
	known := []string{"contentType", "group", "release", "limit", "offset"}
	if p.kind == entrySearch {
		known = []string{"q", "contentType", "group", "release", "status", "tags", "limit"}
	}
	for name, given := range values {
		if !slices.Contains(known, name) || name != "tags" && len(given) != 1 || slices.Contains(given, "") {
			return errKnowledge
		}
	}
	p.query = values.Encode()
	if p.kind == entrySearch {
		c, ok := knowledgeSought(p.query)
		if given := c.Query; !ok || c.Check() != nil || c.Query != given {
			return errKnowledge
		}
	} else if c, ok := knowledgeListed(p.query); !ok || c.Check() != nil {
		return errKnowledge
	}
	return nil
}

// number is a parameter within bounds, usual where it isn't given.
func number(values url.Values, name string, usual, least, most int) (int, bool) {
	text := values.Get(name)
	if text == "" {
		return usual, true
	}
	n, err := strconv.Atoi(text)
	return n, err == nil && n >= least && n <= most && strconv.Itoa(n) == text
}

// maxOffset is behind everything.
const maxOffset = 1 << 30

// knowledgeListed is the list that a query asks for.
func knowledgeListed(query string) (c ubl.ListKnowledge, ok bool) {
	values, _ := url.ParseQuery(query)
	c.Type, c.Group, c.Release = values.Get("contentType"), values.Get("group"), values.Get("release")
	limited, offset := false, false
	c.Limit, limited = number(values, "limit", usualList, 1, ubl.MaxKnowledge)
	c.Offset, offset = number(values, "offset", 0, 0, maxOffset)
	return c, limited && offset
}

// knowledgeSought is the search that a query asks for: a question, of which any word may match.
func knowledgeSought(query string) (c ubl.SearchKnowledge, ok bool) {
	values, _ := url.ParseQuery(query)
	c.Query, c.Any = values.Get("q"), true
	if of := values.Get("contentType"); of != "" {
		c.Where = append(c.Where, ubl.Condition{Name: "type", Value: of})
	}
	for _, name := range []string{"group", "release", "status", "tags"} {
		for _, value := range values[name] {
			c.Where = append(c.Where, ubl.Condition{Name: name, Value: value})
		}
	}
	c.Limit, ok = number(values, "limit", usualSearch, 1, ubl.MaxKnowledgeHits)
	return c, ok
}

// readKnowledge is what the container says of a place of the commons. Of lists only the usual pages
// are kept, and of searches none: there are as many as one can think of.
func (h *Handler) readKnowledge(ctx context.Context, p place) (body []byte, events int64, keep bool, err error) {
	var said any
	switch p.kind {
	case entries:
		c, _ := knowledgeListed(p.query)
		l, failed := ubl.Ask[*ubl.KnowledgeList](ctx, h.Asker, p.name(), c)
		if err = failed; err == nil {
			usual := ubl.ListKnowledge{Offset: c.Offset, Limit: usualList}
			said, events, keep = l, l.Events, c == usual && c.Offset%usualList == 0 && c.Offset <= l.Total
		}
	case entry:
		k, failed := ubl.Ask[*ubl.KnowledgeFound](ctx, h.Asker, p.name(), ubl.ReadKnowledge{DocumentKey: p.key})
		if err = failed; err == nil {
			said, events, keep = k, k.Events, true
		}
	case entrySearch:
		c, _ := knowledgeSought(p.query)
		found, failed := ubl.Ask[*ubl.KnowledgeHits](ctx, h.Asker, p.name(), c)
		if err = failed; err == nil {
			said, events = found, found.Events
		}
	case overview:
		all, failed := ubl.Ask[*ubl.KnowledgeOverview](ctx, h.Asker, p.name(), ubl.OverviewKnowledge{})
		if err = failed; err == nil {
			said, events, keep = all, all.Events, true
		}
	case description:
		c, failed := ubl.Ask[*ubl.PublicContainer](ctx, h.Asker, p.name(), ubl.LookPublic{})
		if failed != nil {
			return nil, 0, false, failed
		}
		return openAPI, c.Events, true, nil
	}
	if err != nil {
		return nil, 0, false, err
	}
	body, err = json.Marshal(said)
	return body, events, keep, err
}
