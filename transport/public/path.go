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
)

// place is what a path and its query name. It is the key of a copy: its parts are checked,
// and never joined, so that two requests have the same place only where they mean the same.
type place struct {
	tenant    ubl.TenantID
	container ubl.ContainerID
	kind      kind
	document  ubl.DocumentID // or behind which a list begins
	version   int64          // 0 for the newest
}

func (p place) name() ubl.Name { return ubl.ContainerName(p.tenant, p.container) }

var (
	errNothing = ubl.Errorf(ubl.CodeNotFound, "there is nothing here that is public")
	errQuery   = ubl.Errorf(ubl.CodeValidation, "the query is not one that this path knows: a list takes cursor, the id of a document, and a document takes version, a number from 1")
)

// parse reads a path without its beginning: /{tenant}/{container}, and what is behind it. A
// malformed name is not found like every other that leads nowhere. One place has one
// spelling: a query that isn't needed would make copies of one answer without end.
func parse(path, query string) (p place, err error) {
	part := strings.SplitN(path, "/", 6)
	if len(part) < 3 || len(part) > 5 || part[0] != "" {
		return p, errNothing
	}
	p.tenant, p.container = ubl.TenantID(part[1]), ubl.ContainerID(part[2])
	if len(part) > 3 {
		p.kind = list
	}
	if len(part) > 4 {
		p.kind, p.document = document, ubl.DocumentID(part[4])
	}
	named := p.tenant.Valid() && p.container.Valid() && (p.kind == config || part[3] == "documents") && (p.kind != document || p.document.Valid())
	if !named {
		return p, errNothing
	}
	return p, p.ask(query)
}

// ask takes the query in.
func (p *place) ask(query string) error {
	if query == "" {
		return nil
	}
	values, err := url.ParseQuery(query)
	if err != nil || len(values) != 1 {
		return errQuery
	}
	for name, given := range values {
		switch {
		case len(given) != 1:
			return errQuery
		case name == "cursor" && p.kind == list && ubl.DocumentID(given[0]).Valid():
			p.document = ubl.DocumentID(given[0])
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
