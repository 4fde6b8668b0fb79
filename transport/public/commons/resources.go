package commons

import (
	"context"
	"encoding/json"
	"net/url"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"ubl"
	"ubl/knowledge"
)

const (
	mimeText = "text/plain"
	mimeJSON = "application/json"
)

func addResources(server *sdk.Server, c commons) {
	for _, r := range []struct {
		name, title, about, mime string
		read                     func(context.Context, *Visit) (any, error)
	}{
		{"prompts/knowledge-search", "How to search", "A system prompt for searching this commons.", mimeText,
			func(context.Context, *Visit) (any, error) { return c.searching(), nil }},
		{"data/ontology", "Types", "The types of documents that there are, what stands above each, its fields, and how many documents are of it.", mimeJSON,
			func(_ context.Context, v *Visit) (any, error) { return ontologyOf(v.Overview), nil }},
		{"data/groups", "Groups", "The groups that documents belong to.", mimeJSON,
			func(ctx context.Context, v *Visit) (any, error) { return listGroups(ctx, v, nothing{}) }},
		{"data/releases", "Releases", "The releases that documents belong to.", mimeJSON,
			func(ctx context.Context, v *Visit) (any, error) { return listReleases(ctx, v, nothing{}) }},
	} {
		server.AddResource(&sdk.Resource{URI: c.uri(r.name), Name: r.name, Title: r.title, Description: r.about, MIMEType: r.mime},
			func(ctx context.Context, req *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
				what, err := r.read(ctx, visitOf(ctx))
				return contents(req.Params.URI, r.mime, what, err)
			})
	}
	server.AddResourceTemplate(&sdk.ResourceTemplate{
		URITemplate: c.uri("entries/{contentType}/{id}"), Name: "entries", Title: "A document", MIMEType: mimeJSON,
		Description: "One published document by its type and id: what get_document answers.",
	}, func(ctx context.Context, req *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
		of, err := documentAt(strings.TrimPrefix(req.Params.URI, c.uri("entries/")))
		if err != nil {
			return nil, sdk.ResourceNotFoundError(req.Params.URI)
		}
		what, err := getDocument(ctx, visitOf(ctx), of)
		if ubl.CodeOf(err) == ubl.CodeNotFound {
			return nil, sdk.ResourceNotFoundError(req.Params.URI)
		}
		return contents(req.Params.URI, mimeJSON, what, err)
	})
}

// documentAt is what the end of a URI names.
func documentAt(path string) (of documentArgs, err error) {
	kind, id, _ := strings.Cut(path, "/")
	if of.ContentType, err = url.PathUnescape(kind); err == nil {
		of.ID, err = url.PathUnescape(id)
	}
	return of, err
}

// contents answers a read of a resource: a text as it is, all else as JSON.
func contents(uri, mime string, what any, err error) (*sdk.ReadResourceResult, error) {
	if err != nil {
		return nil, wire(err)
	}
	text, plain := what.(string)
	if !plain {
		data, err := json.Marshal(what)
		if err != nil {
			return nil, err
		}
		text = string(data)
	}
	return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{URI: uri, MIMEType: mime, Text: text}}}, nil
}

// kind is a type of documents as data/ontology tells of it.
type kind struct {
	Name        string                     `json:"name"`
	Description string                     `json:"description,omitempty"`
	Parent      string                     `json:"parent,omitempty"`
	Abstract    bool                       `json:"abstract,omitempty"`
	Required    []string                   `json:"required,omitempty"`
	Fields      map[string]json.RawMessage `json:"fields,omitempty"`
	Documents   int                        `json:"documents"`
}

// ontologyOf tells of the types. A commons may have been checked by an ontology of its own, which
// stays with its source. So the usual one is told of where each type that is used is in it, and
// else only which types are used.
func ontologyOf(all *ubl.KnowledgeOverview) any {
	out := struct {
		Ontology string `json:"ontology,omitempty"`
		Types    []kind `json:"types"`
	}{Types: []kind{}}
	used := map[string]int{}
	usual := knowledge.DefaultOntology()
	ours := true
	for _, t := range all.Types {
		used[t.Name] = t.Count
		if _, ok := usual.Type(t.Name); !ok {
			ours = false
		}
	}
	if !ours {
		for _, t := range all.Types {
			out.Types = append(out.Types, kind{Name: t.Name, Documents: t.Count})
		}
		return out
	}
	out.Ontology = usual.Name
	for _, t := range usual.Types {
		out.Types = append(out.Types, kind{t.Name, t.About, t.Parent, t.Abstract, slices.Clone(t.Required), t.Fields, used[t.Name]})
	}
	return out
}
