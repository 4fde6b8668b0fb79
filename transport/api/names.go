package api

import (
	"net/http"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"ubl/transport/envelope"
)

// prefixes are those of ids in a path that may be left out.
var prefixes = map[string]string{"roomId": "r:", "workspaceId": "w:"}

// complete gives the ids in a path the prefixes that were left out.
func complete(r *http.Request, names []string) {
	for _, name := range names {
		r.SetPathValue(name, envelope.Prefixed(prefixes[name], r.PathValue(name)))
	}
}

// prefixed names the parameters of an operation's path whose prefix may be left out.
func prefixed(op *huma.Operation) (names []string) {
	for _, p := range op.Parameters {
		if p.In == "path" && prefixes[p.Name] != "" {
			names = append(names, p.Name)
		}
	}
	return names
}

// bodyMembers are the names that a body takes, and those in its objects, by their place:
// body, body.physics.
func bodyMembers(r huma.Registry, op *huma.Operation) map[string][]string {
	if op.RequestBody == nil || op.RequestBody.Content[jsonType[0]] == nil {
		return nil
	}
	out := map[string][]string{}
	membersIn(r, op.RequestBody.Content[jsonType[0]].Schema, "body", out)
	return out
}

// deepest bounds how far down the names of members are looked up: schemas may go round.
const deepest = 4

func membersIn(r huma.Registry, s *huma.Schema, place string, out map[string][]string) {
	if s != nil && s.Ref != "" {
		s = r.SchemaFromRef(s.Ref)
	}
	if s == nil || strings.Count(place, ".") > deepest {
		return
	}
	for name, member := range s.Properties {
		out[place] = append(out[place], name)
		membersIn(r, member, place+"."+name, out)
	}
	slices.Sort(out[place])
}

// unexpected says of a member that a body doesn't take which ones it takes at that place.
func unexpected(location string, takes map[string][]string) string {
	place, name := "body", ""
	if i := strings.LastIndexByte(location, '.'); i > 0 {
		place, name = location[:i], location[i+1:]
	}
	known := takes[place]
	if len(known) == 0 {
		return "an unexpected member"
	}
	return "an unexpected member" + meantOr(name, known, "the object")
}

// meantOr ends a reason: with the name that was probably meant, else with all that who takes.
func meantOr(name string, known []string, who string) string {
	if near := envelope.Meant(name, known); near != "" {
		return near
	}
	if len(known) == 0 {
		return ": " + who + " takes none"
	}
	return ": " + who + " takes " + strings.Join(known, ", ")
}
