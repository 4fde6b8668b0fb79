package public

import (
	"net/url"
	"strconv"
	"strings"

	"ubl"
)

// kind is what of a container is asked for.
type kind byte

const (
	config kind = iota
	list
	document
	files   // a list of files
	file    // what is known of one
	content // its bytes
	search
	// Of a knowledge commons, by the names that its clients know:
	entries
	entry // one
	entrySearch
	description // of these, as OpenAPI
	overview    // what there is in it
	agents      // what they ask by MCP, which is no copy's
)

// ofKnowledge reports whether copies outside last as long as readers of a commons expect.
func (k kind) ofKnowledge() bool { return k >= entries }

// place is what a path and its query name. It is the key of a copy: its parts are checked,
// and never joined, so that two requests have the same place only where they mean the same.
type place struct {
	tenant    ubl.TenantID
	container ubl.ContainerID
	kind      kind
	document  ubl.DocumentID // or behind which a list begins
	version   int64          // 0 for the newest
	file      ubl.FileID     // or behind which a list begins
	query     string         // what a list or a search is for, as the query of a URL in one spelling
	key       ubl.DocumentKey
}

func (p place) name() ubl.Name { return ubl.ContainerName(p.tenant, p.container) }

var (
	errNothing = ubl.Errorf(ubl.CodeNotFound, "there is nothing here that is public")
	errQuery   = ubl.Errorf(ubl.CodeValidation, "the query is not one that this path knows: a list takes cursor, the id of a document or file, a document takes version, a number from 1, "+
		"and a search takes q, 1 to %d characters without blanks around them, match=all or any, where=name:value up to %d times, and from and to, days such as 2026-01-31", ubl.MaxQueryChars, ubl.MaxConditions)
)

// parse reads a path without its beginning: /{tenant}/{container}, and what is behind it. A
// malformed name is not found like every other that leads nowhere. One place has one
// spelling: a query that isn't needed would make copies of one answer without end.
func parse(path, query string) (p place, err error) {
	part := strings.SplitN(path, "/", 9)
	if len(part) < 3 || part[0] != "" {
		return p, errNothing
	}
	p.tenant, p.container = ubl.TenantID(part[1]), ubl.ContainerID(part[2])
	if !p.tenant.Valid() || !p.container.Valid() || !p.inside(part[3:]) {
		return p, errNothing
	}
	return p, p.ask(query)
}

// inside takes in what of the container a path names, and reports whether that is something.
func (p *place) inside(part []string) bool {
	if len(part) == 0 {
		return true
	}
	switch collection, id := part[0], part[1:]; {
	case collection == "documents" && len(id) == 0:
		p.kind = list
	case collection == "documents" && len(id) == 1:
		p.kind, p.document = document, ubl.DocumentID(id[0])
		return p.document.Valid()
	case collection == "files" && len(id) == 0:
		p.kind = files
	case collection == "files" && (len(id) == 1 || len(id) == 2 && id[1] == "content"):
		p.kind, p.file = file, ubl.FileID(id[0])
		if len(id) == 2 {
			p.kind = content
		}
		return p.file.Valid()
	case collection == "search" && len(id) == 0:
		p.kind = search
	case collection == "mcp" && len(id) == 0:
		p.kind = agents
	case collection == "api" && len(id) > 1 && id[0] == "v1":
		return p.insideKnowledge(id[1:])
	default:
		return false
	}
	return true
}

// ask takes the query in.
func (p *place) ask(query string) error {
	if p.kind == entries || p.kind == entrySearch {
		return p.askKnowledge(query)
	}
	if query == "" {
		if p.kind == search {
			return errQuery
		}
		return nil
	}
	values, err := url.ParseQuery(query)
	if err == nil && p.kind == search {
		p.query = values.Encode()
		return seekable(values)
	}
	if err != nil || len(values) != 1 {
		return errQuery
	}
	for name, given := range values {
		switch {
		case len(given) != 1:
			return errQuery
		case name == "cursor" && p.kind == list && ubl.DocumentID(given[0]).Valid():
			p.document = ubl.DocumentID(given[0])
		case name == "cursor" && p.kind == files && ubl.FileID(given[0]).Valid():
			p.file = ubl.FileID(given[0])
		case name == "version" && p.kind == document:
			p.version, err = strconv.ParseInt(given[0], 10, 64)
			if err != nil || p.version < 1 || strconv.FormatInt(p.version, 10) != given[0] {
				return errQuery
			}
		default:
			return errQuery
		}
	}
	return nil
}

// seekable refuses what can't be searched for.
func seekable(values url.Values) error {
	for name, given := range values {
		switch name {
		case "q", "match", "from", "to":
			if len(given) != 1 || given[0] == "" {
				return errQuery
			}
		case "where":
			for _, condition := range given {
				if _, err := ubl.ReadCondition(condition); err != nil {
					return errQuery
				}
			}
		default:
			return errQuery
		}
	}
	if match := values.Get("match"); match != "" && match != "all" && match != "any" {
		return errQuery
	}
	q := sought(values.Encode())
	if given := q.Query; q.Check() != nil || q.Query != given {
		return errQuery
	}
	return nil
}

// sought is what a query asks for that seekable has let through.
func sought(query string) ubl.DocumentQuery {
	values, _ := url.ParseQuery(query)
	q := ubl.DocumentQuery{Query: values.Get("q"), Any: values.Get("match") == "any", From: values.Get("from"), To: values.Get("to")}
	for _, condition := range values["where"] {
		c, _ := ubl.ReadCondition(condition)
		q.Where = append(q.Where, c)
	}
	return q
}
