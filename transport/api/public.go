package api

import (
	"net/http"
	"strconv"

	"github.com/danielgtaylor/huma/v2"

	"ubl"
)

// public is where package public serves what needs no identity.
const public = "/public/"

const (
	documentForm = `^d:[A-Za-z0-9._-]{1,128}$`
	typeForm     = `^[a-z][a-z0-9_-]{0,63}$`
	fileForm     = `^f:[A-Za-z0-9._-]{1,128}$`
)

// aboutPublic is what is true of all of it.
const aboutPublic = "Open to everyone, from any web page, without an identity: credentials and cookies mean nothing here. It leaves no receipt. " +
	"What isn't shown to anyone is 404, as if it never was. Answers may be kept as Cache-Control says; ETag and If-None-Match tell whether one is still right. " +
	"HEAD answers the same without the body. Where the operator has set a host name for it (--public-host), the same is there without /public. " +
	"Reads are limited by address; answers have no RateLimit headers, and a 429 says in Retry-After when to come back."

// describePublic documents it. It is no operation of the API, and no tool: there is nobody
// whose tool it could be, and members have the same by their own.
func (a *API) describePublic() {
	const at = public + "{tenantId}/{containerId}"
	cursor := func(form string) *huma.Param {
		return &huma.Param{Name: "cursor", In: "query", Description: "The next_cursor of the page before.", Schema: pattern(form)}
	}
	version := &huma.Param{Name: "version", In: "query", Description: "A version other than the newest.", Schema: &huma.Schema{Type: huma.TypeInteger, Minimum: new(1.0)}}
	query := &huma.Param{Name: "q", In: "query", Required: true, Description: "Words, without blanks around them.",
		Schema: &huma.Schema{Type: huma.TypeString, MinLength: new(1), MaxLength: new(ubl.MaxQueryChars)}}
	match := &huma.Param{Name: "match", In: "query", Description: "all: every word must be there. any: for questions; any word, in any form, best first.",
		Schema: &huma.Schema{Type: huma.TypeString, Enum: []any{"all", "any"}, Default: "all"}}
	where := &huma.Param{Name: "where", In: "query", Description: "name:value of what documents say of themselves, such as tags:finance; all must hold. Also type, id and path.", Style: "form", Explode: new(true),
		Schema: &huma.Schema{Type: huma.TypeArray, MaxItems: new(ubl.MaxConditions), Items: &huma.Schema{Type: huma.TypeString}}}
	day := func(name, about string) *huma.Param {
		return &huma.Param{Name: name, In: "query", Description: about, Schema: &huma.Schema{Type: huma.TypeString, Format: "date"}}
	}
	file := pathParam("fileId", fileForm)
	a.describeLook(at, "look-public", "A public container", "", "ubl.public.container.v1", publicContainer)
	a.describeLook(at+"/documents", "list-public-documents", "Its documents, 100 a page", "", "ubl.public.documents.v1",
		ubl.PublicDocuments{Documents: []ubl.PublicDocument{listedDocument()}}, cursor(documentForm))
	a.describeLook(at+"/documents/{documentId}", "read-public-document", "A document of it", "", "ubl.public.document.v1", publicDocument, pathParam("documentId", documentForm), version)
	a.describeLook(at+"/files", "list-public-files", "Its files, 100 a page", filesShown, "ubl.public.files.v1", ubl.PublicFiles{Files: []ubl.PublicFile{publicFile}}, cursor(fileForm))
	a.describeLook(at+"/files/{fileId}", "get-public-file", "What is known of a file of it", filesShown, "ubl.public.file.v1", publicFile, file)
	a.describeLook(at+"/files/{fileId}/content", "read-public-file", "A file's content",
		filesShown+" Takes Range with one range, and If-Range. A browser saves it, and types that it could run come as application/octet-stream. "+
			"Eight are sent to an address at a time.", "", nil, file)
	a.describeLook(at+"/search", "search-public-documents", "Find documents of it", "Twenty at most, best first. Each search counts as one that no copy answers.", "ubl.public.hits.v1",
		ubl.PublicHits{Documents: []ubl.PublicHit{{PublicDocument: listedDocument(), Score: 1250, Excerpt: ubl.Excerpt{Snippet: "Be kind.", Highlights: []ubl.Highlight{{Start: 3, End: 7}}}}}}, query, match, where, day("from", "The first day of the documents' dates."), day("to", "The last one."))
	a.describeKnowledge(at + "/api/v1")
}

// describeKnowledge documents what a knowledge commons shows, by the names of the source.
func (a *API) describeKnowledge(at string) {
	const long = "Copies may be kept for five minutes, and for an hour more while they are asked for again. "
	filter := func(name, form, about string) *huma.Param {
		s := &huma.Schema{Type: huma.TypeString, MinLength: new(1), MaxLength: new(ubl.MaxFilterChars)}
		if form != "" {
			s = pattern(form)
		}
		return &huma.Param{Name: name, In: "query", Description: about, Schema: s}
	}
	number := func(name, about string, least, most, usual int) *huma.Param {
		s := &huma.Schema{Type: huma.TypeInteger, Minimum: new(float64(least)), Default: usual}
		if most > 0 {
			s.Maximum = new(float64(most))
		}
		return &huma.Param{Name: name, In: "query", Description: about, Schema: s}
	}
	question := &huma.Param{Name: "q", In: "query", Required: true, Description: "A question, or words: any of them may match, in any form.",
		Schema: &huma.Schema{Type: huma.TypeString, MinLength: new(1), MaxLength: new(ubl.MaxQueryChars)}}
	tags := &huma.Param{Name: "tags", In: "query", Description: "Only those with all these tags.", Style: "form", Explode: new(true),
		Schema: &huma.Schema{Type: huma.TypeArray, MaxItems: new(4), Items: &huma.Schema{Type: huma.TypeString}}}
	of, group, release := filter("contentType", typeForm, "Only those of this type, such as pattern."), filter("group", "", "Only those of this group."), filter("release", "", "Only those of this release.")
	a.describeLook(at+"/entries", "list-knowledge", "The published documents of a knowledge commons, by type and id", long+"Contents are null where there are more than 4 MiB of them.", "ubl.public.knowledge_list.v1",
		ubl.KnowledgeList{Data: []ubl.Knowledge{publicKnowledge}, Total: 1, Limit: 20}, of, group, release, number("limit", "How many.", 1, ubl.MaxKnowledge, 20), number("offset", "How many to leave out.", 0, 0, 0))
	a.describeLook(at+"/entries/{contentType}/{id}", "read-knowledge", "One of them, by its type and the name of its file", long, "ubl.public.knowledge_found.v1",
		ubl.KnowledgeFound{Data: publicKnowledge}, pathParam("contentType", typeForm), pathParam("id", `^[^/\\]{1,64}$`))
	a.describeLook(at+"/search", "search-knowledge", "Find some of them by a question", long+"The best first.", "ubl.public.knowledge_hits.v1",
		ubl.KnowledgeHits{Results: []ubl.KnowledgeHit{{ID: "rules", ContentType: "article", Title: "Rules", Score: 1250, Excerpt: ubl.Excerpt{Snippet: "Be kind.", Highlights: []ubl.Highlight{{Start: 3, End: 7}}}}}},
		question, of, group, release, filter("status", "", "Only those of this status."), tags, number("limit", "How many.", 1, ubl.MaxKnowledgeHits, 5))
}

// filesShown says when there are any.
const filesShown = "There where the container's terms permit office.file.list and office.file.get to anyone; the usual ones don't."

// What is shown as examples.
var (
	publicContainer = ubl.PublicContainer{ContainerID: "k:handbook", TenantID: "t:acme.com", Kind: "container", Name: "Handbook", Documents: 1, CreatedAt: publicTime}
	publicDocument  = ubl.PublicDocument{
		DocumentID: "d:019a5e1c-8a00-7000-8000-000000000001", ContainerID: publicContainer.ContainerID, TenantID: publicContainer.TenantID, Title: "Rules", Content: "Be kind.",
		ContentHash: publicSalt.CommitText("content", "Be kind."), Salt: publicSalt, Bytes: 8, Version: 1, CreatedAt: publicTime, UpdatedAt: publicTime,
	}
	publicKnowledge = ubl.Knowledge{
		ID: "rules", ContentType: "article", Path: "articles/rules.md", Title: "Rules", Metadata: []byte(`{"publish":true,"title":"Rules","type":"article"}`), Content: new("Be kind."),
		SyncedAt: publicTime, DocumentID: publicDocument.DocumentID, Version: 1, ContentHash: publicDocument.ContentHash, Salt: publicSalt,
	}
	publicFile = ubl.PublicFile{
		FileID: "f:019a5e1c-8a00-7000-8000-000000000002", ContainerID: publicContainer.ContainerID, TenantID: publicContainer.TenantID, Name: "rules.pdf", Type: "application/pdf",
		Bytes: 0, SHA256: nothingSum, Salt: publicSalt, ContentHash: publicSalt.Commit(nothingSum.Sum()), NameHash: publicSalt.CommitText("name", "rules.pdf"), CreatedAt: publicTime,
	}
	publicSalt = ubl.Salt{15: 7}
)

const (
	publicTime ubl.Time = 1_795_000_000_000
	// nothingSum names a content without a byte.
	nothingSum ubl.BlobID = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
)

func listedDocument() ubl.PublicDocument {
	d := publicDocument
	d.Content = ""
	return d
}

// describeLook documents one. Without the name of a schema it answers bytes.
func (a *API) describeLook(path, id, summary, more, answers string, example any, params ...*huma.Param) {
	text := &huma.Schema{Type: huma.TypeString}
	good := func(status int) *huma.Response {
		r := &huma.Response{Description: http.StatusText(status), Headers: map[string]*huma.Param{"ETag": {Schema: text}, "Cache-Control": {Schema: text}}}
		if answers == "" {
			r.Headers["Content-Disposition"] = &huma.Param{Schema: text}
			r.Content = map[string]*huma.MediaType{ubl.UnknownType: {Schema: anyBytes()}}
		} else {
			r.Content = map[string]*huma.MediaType{jsonType[0]: {Schema: refTo(answers), Example: example}}
		}
		return r
	}
	about := aboutPublic
	if more != "" {
		about = more + " " + about
	}
	d := huma.Operation{
		Method: http.MethodGet, Path: path, OperationID: id, Summary: summary, Tags: []string{"public"}, Description: about,
		Security:   []map[string][]string{},
		Parameters: append([]*huma.Param{pathParam("tenantId", `^t:[A-Za-z0-9._-]{1,128}$`), pathParam("containerId", `^[wk]:[A-Za-z0-9._-]{1,128}$`)}, params...),
		Responses: map[string]*huma.Response{
			strconv.Itoa(http.StatusOK):          good(http.StatusOK),
			strconv.Itoa(http.StatusNotModified): {Description: http.StatusText(http.StatusNotModified)},
		},
	}
	if answers == "" {
		d.Responses[strconv.Itoa(http.StatusPartialContent)] = good(http.StatusPartialContent)
		unsatisfiable := http.StatusRequestedRangeNotSatisfiable
		d.Responses[strconv.Itoa(unsatisfiable)] = &huma.Response{Description: http.StatusText(unsatisfiable)}
	}
	for _, code := range []ubl.Code{ubl.CodeValidation, ubl.CodeNotFound, ubl.CodeMethodNotAllowed, ubl.CodeRateLimited, ubl.CodeInternal, ubl.CodeOverloaded, ubl.CodeUnavailable} {
		addError(d.Responses, code)
		d.Responses[strconv.Itoa(code.Status())].Content[jsonType[0]].Schema = refTo("ubl.public.error.v1")
	}
	a.huma.OpenAPI().AddOperation(&d)
}

func pathParam(name, form string) *huma.Param {
	return &huma.Param{Name: name, In: "path", Required: true, Schema: pattern(form)}
}

func pattern(form string) *huma.Schema { return &huma.Schema{Type: huma.TypeString, Pattern: form} }
