package commons

import (
	"cmp"
	"context"
	stdjson "encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"ubl"
)

// Arguments of the tools. Their schemas are in schemas.go.
type (
	nothing struct{}
	filters struct {
		ContentType string   `json:"contentType"`
		Group       string   `json:"group"`
		Release     string   `json:"release"`
		Status      string   `json:"status"`
		Tags        []string `json:"tags"`
		Limit       *int     `json:"limit"`
	}
	searchArgs struct {
		Query   string  `json:"query"`
		Filters filters `json:"filters"`
	}
	termArgs struct {
		Term string `json:"term"`
	}
	keywordArgs struct {
		Keyword string `json:"keyword"`
	}
	documentArgs struct {
		ContentType string `json:"contentType"`
		ID          string `json:"id"`
	}
)

// answer is what a tool answers; text is for models, "" for the answer as JSON.
type answer struct {
	what any
	text string
}

func addTools(server *sdk.Server, c commons) {
	in := "the knowledge commons " + strconv.Quote(c.name)
	add(server, "search_knowledge", "Search", "Find documents of "+in+" by a question in plain words: any word in any form may match, and the best come first, with the part that shows most of what was asked for.",
		inSearch, outResults, func(ctx context.Context, v *Visit, args searchArgs) (any, error) { return search(ctx, v, args) })
	add(server, "define_term", "Define a term", "Say what a term means in "+in+". Use it when somebody asks what something is.",
		inTerm, outTerm, defineTerm)
	add(server, "search_lexicon", "Search the lexicon", "Find terms that "+in+" defines, by a keyword.",
		inKeyword, outTerms, searchLexicon)
	add(server, "list_groups", "List groups", "List the groups that documents of "+in+" belong to.", inNothing, outGroups, listGroups)
	add(server, "list_releases", "List releases", "List the releases that documents of "+in+" belong to.", inNothing, outReleases, listReleases)
	add(server, "get_document", "Read a document", "Read one document of "+in+" whole, by its contentType and id, as a search names it.",
		inDocument, outDocument, func(ctx context.Context, v *Visit, args documentArgs) (any, error) { return getDocument(ctx, v, args) })
	add(server, "search_with_documents", "Search and read", "As search_knowledge, with the whole documents.",
		inSearch, outDocuments, searchWithDocuments)
}

// add adds a tool that reads. What its function fails with becomes a result that says so.
func add[In any](server *sdk.Server, name, title, about string, in, out stdjson.RawMessage, run func(context.Context, *Visit, In) (any, error)) {
	no := false
	tool := &sdk.Tool{Name: name, Title: title, Description: about, InputSchema: in, OutputSchema: out,
		Annotations: &sdk.ToolAnnotations{ReadOnlyHint: true, IdempotentHint: true, DestructiveHint: &no, OpenWorldHint: &no}}
	server.AddTool(tool, func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		var args In
		given := req.Params.Arguments
		if len(given) == 0 {
			given = []byte("{}")
		}
		if err := json.Unmarshal(given, &args, json.RejectUnknownMembers(true)); err != nil {
			return failed(ubl.Errorf(ubl.CodeValidation, "the arguments aren't of the tool's form: its input schema says what it takes")), nil
		}
		what, err := run(ctx, visitOf(ctx), args)
		if err != nil {
			return failed(err), nil
		}
		return resultOf(what)
	})
}

func resultOf(what any) (*sdk.CallToolResult, error) {
	said, ok := what.(answer)
	if !ok {
		said.what = what
	}
	data, err := stdjson.Marshal(said.what)
	if err != nil {
		return nil, err
	}
	return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: cmp.Or(said.text, string(data))}}, StructuredContent: stdjson.RawMessage(data)}, nil
}

// problem is what a call failed with.
type problem struct {
	Code    ubl.Code `json:"code"`
	Message string   `json:"message"`
	// Of a refusal: who may, and what the caller is.
	RequiredTier ubl.Tier `json:"requiredTier,omitempty"`
	CurrentTier  ubl.Tier `json:"currentTier,omitempty"`
	RetryAfter   int      `json:"retryAfter,omitempty"` // seconds
}

// refusal is an error of a caller whose tier isn't enough.
type refusal struct{ needed ubl.Tier }

func (r refusal) Error() string {
	return "Requires " + string(r.needed) + " access. Current: " + string(ubl.TierOpen) + "."
}

// needs refuses what isn't open: nobody here has another tier.
func needs(t ubl.Tier) error {
	if t == ubl.TierOpen {
		return nil
	}
	return refusal{t}
}

func problemOf(err error) problem {
	if r, ok := err.(refusal); ok {
		return problem{Code: ubl.CodeForbidden, Message: r.Error(), RequiredTier: r.needed, CurrentTier: ubl.TierOpen}
	}
	e := ubl.AsError(err)
	return problem{Code: e.Code, Message: e.Message, RetryAfter: e.RetryAfter()}
}

func failed(err error) *sdk.CallToolResult {
	p := problemOf(err)
	return &sdk.CallToolResult{IsError: true, Content: []sdk.Content{&sdk.TextContent{Text: p.Message}}, StructuredContent: map[string]any{"error": p}}
}

// wire is an error where there is no result that says so.
func wire(err error) error {
	p := problemOf(err)
	data, failed := stdjson.Marshal(p)
	if failed != nil {
		return failed
	}
	return &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: p.Message, Data: data}
}

// query is the query of a search by REST, or says what is wrong with the arguments.
func (a searchArgs) query() (url.Values, error) {
	limit := 5
	if a.Filters.Limit != nil {
		limit = *a.Filters.Limit
	}
	if limit < 1 || limit > ubl.MaxKnowledgeHits {
		return nil, ubl.Errorf(ubl.CodeValidation, "limit is 1 to %d", ubl.MaxKnowledgeHits)
	}
	q := ubl.DocumentQuery{Query: a.Query}
	if err := q.Check(); err != nil {
		return nil, err
	}
	out := url.Values{"q": {q.Query}, "limit": {strconv.Itoa(limit)}}
	if kind := a.Filters.ContentType; kind != "" {
		if err := (ubl.DocumentKey{Type: kind, ID: "-"}).Check(); err != nil {
			return nil, err
		}
		out.Set("contentType", kind)
	}
	for name, value := range map[string]string{"group": a.Filters.Group, "release": a.Filters.Release, "status": a.Filters.Status} {
		if value != "" {
			out.Set(name, value)
		}
	}
	if tags := slices.DeleteFunc(slices.Clone(a.Filters.Tags), func(tag string) bool { return tag == "" }); len(tags) > 0 {
		out["tags"] = tags
	}
	return out, nil
}

func search(ctx context.Context, v *Visit, args searchArgs) (*ubl.KnowledgeHits, error) {
	if err := needs(v.Overview.Access.Search); err != nil {
		return nil, err
	}
	query, err := args.query()
	if err != nil {
		return nil, err
	}
	found := &ubl.KnowledgeHits{}
	return found, v.Reader.Read(ctx, "/search", query, found)
}

func getDocument(ctx context.Context, v *Visit, args documentArgs) (*ubl.Knowledge, error) {
	if err := needs(v.Overview.Access.Entries); err != nil {
		return nil, err
	}
	if err := (ubl.DocumentKey{Type: args.ContentType, ID: args.ID}).Check(); err != nil {
		return nil, err
	}
	var found ubl.KnowledgeFound
	err := v.Reader.Read(ctx, "/entries/"+args.ContentType+"/"+args.ID, nil, &found)
	if ubl.CodeOf(err) == ubl.CodeNotFound {
		err = ubl.Errorf(ubl.CodeNotFound, "there is no document of this type and id: search_knowledge finds those that there are")
	}
	return &found.Data, err
}

// maxWithDocuments bounds the contents of what one search answers: models read them all.
const maxWithDocuments = 512 << 10

// hit is one with its document.
type hit struct {
	ubl.KnowledgeHit
	Document *ubl.Knowledge `json:"document,omitempty"`
}

func searchWithDocuments(ctx context.Context, v *Visit, args searchArgs) (any, error) {
	if err := needs(v.Overview.Access.Entries); err != nil {
		return nil, err
	}
	found, err := search(ctx, v, args)
	if err != nil {
		return nil, err
	}
	out := struct {
		Results  []hit         `json:"results"`
		Indexing *ubl.Indexing `json:"indexing,omitempty"`
	}{[]hit{}, found.Indexing}
	left := maxWithDocuments
	for _, one := range found.Results {
		k, err := documentOf(ctx, v, one)
		if err != nil {
			return nil, err
		}
		if k == nil {
			continue
		}
		if size := len(*k.Content); size > left {
			k.Content = nil
		} else {
			left -= size
		}
		out.Results = append(out.Results, hit{one, k})
	}
	return out, nil
}

// documentOf is the document of a hit, nil where it went meanwhile.
func documentOf(ctx context.Context, v *Visit, of ubl.KnowledgeHit) (*ubl.Knowledge, error) {
	k, err := getDocument(ctx, v, documentArgs{of.ContentType, of.ID})
	if ubl.CodeOf(err) == ubl.CodeNotFound {
		return nil, nil
	}
	return k, err
}

// group is one that documents belong to.
type group struct {
	Name      string `json:"name"`
	Documents int    `json:"documents"`
	// Of the document that describes it, where there is one.
	ID          string             `json:"id,omitempty"`
	Title       string             `json:"title,omitempty"`
	Description string             `json:"description,omitempty"`
	Metadata    stdjson.RawMessage `json:"metadata,omitempty"`
}

// ofGroups is the type of documents that describe groups.
const ofGroups = "group"

// listGroups lists those that documents name, with what is published of them, and those that are
// published alone.
func listGroups(ctx context.Context, v *Visit, _ nothing) (any, error) {
	out := struct {
		Groups []group `json:"groups"`
	}{[]group{}}
	for _, g := range v.Overview.Groups {
		out.Groups = append(out.Groups, group{Name: g.Name, Documents: g.Count})
	}
	if v.Overview.Access.Entries != ubl.TierOpen {
		return out, nil
	}
	for offset := 0; offset < ubl.MaxKnowledgeNames; offset += ubl.MaxKnowledge {
		var page ubl.KnowledgeList
		query := url.Values{"contentType": {ofGroups}, "limit": {strconv.Itoa(ubl.MaxKnowledge)}, "offset": {strconv.Itoa(offset)}}
		if err := v.Reader.Read(ctx, "/entries", query, &page); err != nil {
			return nil, err
		}
		for _, k := range page.Data {
			i := slices.IndexFunc(out.Groups, func(g group) bool { return named(&k, g.Name) })
			if i < 0 {
				i = len(out.Groups)
				out.Groups = append(out.Groups, group{Name: k.ID})
			}
			g := &out.Groups[i]
			g.ID, g.Title, g.Description, g.Metadata = k.ID, k.Title, says(&k, "description"), k.Metadata
		}
		if offset+len(page.Data) >= page.Total || len(page.Data) == 0 {
			break
		}
	}
	return out, nil
}

func listReleases(_ context.Context, v *Visit, _ nothing) (any, error) {
	type release struct {
		Name      string `json:"name"`
		Documents int    `json:"documents"`
	}
	out := struct {
		Releases []release `json:"releases"`
	}{[]release{}}
	for _, r := range v.Overview.Releases {
		out.Releases = append(out.Releases, release{r.Name, r.Count})
	}
	return out, nil
}

// slug is the id that a term has by the usual way of naming files.
func slug(term string) string { return strings.Join(strings.Fields(strings.ToLower(term)), "-") }
