package api

import (
	"context"
	"encoding/json"

	"ubl"
	"ubl/transport/envelope"
)

// Acts on documents are receipted, looking included: every answer here has the
// receipt of its own act beside that of the version.

type listDocumentsInput struct {
	WorkspacePath
	Cursor ubl.DocumentID `query:"cursor" pattern:"^d:[A-Za-z0-9._-]{1,128}$" doc:"The next_cursor of the page before." example:"d:0199a1b2"`
	Limit  int            `query:"limit" minimum:"1" maximum:"100" default:"50" doc:"At most so many on a page."`
	AsOfQuery
}

type documentsAnswer struct {
	Documents  []*ubl.Document `json:"documents"`
	NextCursor *ubl.DocumentID `json:"next_cursor"`
	Receipt    ubl.Receipt     `json:"receipt"`
	AsOf       *ubl.Receipt    `json:"as_of,omitempty"`
}

func (a *API) listDocuments(ctx context.Context, in *listDocumentsInput) (any, error) {
	at, err := in.moment(ctx)
	if err != nil {
		return nil, err
	}
	l, err := ubl.Ask[*ubl.DocumentList](ctx, a.Asker, container(ctx, in.WorkspaceID),
		ubl.ListDocuments{Request: envelope.Command(ctx, ""), After: in.Cursor, Limit: in.Limit, AsOf: at})
	if err == nil {
		err = past(at, l.AsOf)
	}
	if err != nil {
		return nil, err
	}
	out := documentsAnswer{Documents: list(l.Documents), Receipt: l.Receipt, AsOf: l.AsOf}
	if l.Next != "" {
		out.NextCursor = &l.Next
	}
	return out, nil
}

type createDocumentInput struct {
	WorkspacePath
	Body struct {
		Keyed
		Imported
		Title   string `json:"title" minLength:"1" maxLength:"256" doc:"What the document is called." example:"Price list"`
		Content string `json:"content" maxLength:"1000000" doc:"The whole text, plain or Markdown: at most 1,000,000 characters." example:"# Prices"`
	}
}

func (a *API) createDocument(ctx context.Context, in *createDocumentInput) (any, error) {
	return ubl.Ask[*ubl.DocumentResult](ctx, a.Asker, container(ctx, in.WorkspaceID),
		ubl.CreateDocument{Request: envelope.Command(ctx, in.Body.Key), Title: in.Body.Title, Content: in.Body.Content, ImportedFrom: in.Body.origin()})
}

type getDocumentInput struct {
	DocumentPath
	Version int64 `query:"version" minimum:"1" maximum:"9007199254740991" doc:"A version other than the newest." example:"2"`
}

func (a *API) getDocument(ctx context.Context, in *getDocumentInput) (any, error) {
	got, err := ubl.Ask[*ubl.DocumentResult](ctx, a.Asker, container(ctx, in.WorkspaceID),
		ubl.GetDocument{Request: envelope.Command(ctx, ""), DocumentID: in.DocumentID, Version: in.Version})
	if err == nil && got.Document == nil && asTool(ctx) { // a model takes an answer for a success
		return nil, ubl.Errorf(ubl.CodeNotFound, "there is no such document, or not in this version: office.document.list and office.document.versions tell which there are")
	}
	return got, err
}

type updateDocumentInput struct {
	DocumentPath
	Body struct {
		Keyed
		Imported
		Title     *string `json:"title,omitempty" minLength:"1" maxLength:"256" doc:"Its new title; it stays as it is without one." example:"Price list 2027"`
		Content   *string `json:"content,omitempty" maxLength:"1000000" doc:"The whole new text; it stays as it is without one." example:"# Prices of 2027"`
		IfVersion int64   `json:"if_version,omitempty" minimum:"1" maximum:"9007199254740991" doc:"The version that the caller knows: if another is the newest, the answer is a conflict." example:"3"`
	}
}

func (a *API) updateDocument(ctx context.Context, in *updateDocumentInput) (any, error) {
	if in.Body.Title == nil && in.Body.Content == nil {
		return nil, invalid("body", "changes nothing")
	}
	return ubl.Ask[*ubl.DocumentResult](ctx, a.Asker, container(ctx, in.WorkspaceID),
		ubl.UpdateDocument{Request: envelope.Command(ctx, in.Body.Key), Expects: expects(ctx), DocumentID: in.DocumentID,
			Title: in.Body.Title, Content: in.Body.Content, IfVersion: in.Body.IfVersion, ImportedFrom: in.Body.origin()})
}

func (a *API) deleteDocument(ctx context.Context, in *DocumentPath) (any, error) {
	return ubl.Ask[*ubl.DocumentResult](ctx, a.Asker, container(ctx, in.WorkspaceID),
		ubl.DeleteDocument{Request: envelope.Command(ctx, ""), Expects: expects(ctx), DocumentID: in.DocumentID})
}

type publishDocumentsInput struct {
	WorkspacePath
	Body struct {
		Keyed
		Commit    string         `json:"commit,omitempty" pattern:"^([0-9a-f]{40}|[0-9a-f]{64})$" doc:"The source's commit that has them so." example:"4b825dc642cb6eb9a060e54bf8d69288fbee4904"`
		Documents []documentBody `json:"documents,omitempty" maxItems:"100" doc:"What the source has now."`
		Remove    []PublishedKey `json:"remove,omitempty" maxItems:"100" doc:"What it has no more."`
		Most      bool           `json:"remove_most,omitempty" doc:"Remove them even if they are more than half of what is published."`
	}
}

// PublishedKey is exported for the decoder, which sees no other embedded ones.
type PublishedKey struct {
	Type string `json:"type" pattern:"^[a-z][a-z0-9_-]{0,63}$" doc:"What it is." example:"pattern"`
	ID   string `json:"id" minLength:"1" maxLength:"64" doc:"Which one of its type: mostly the name of its file." example:"cell-governance"`
}

func (k PublishedKey) key() ubl.DocumentKey { return ubl.DocumentKey{Type: k.Type, ID: k.ID} }

type documentBody struct {
	PublishedKey
	Path     string         `json:"path" minLength:"1" maxLength:"1024" doc:"Its file in the source." example:"patterns/cell-governance.md"`
	Title    string         `json:"title" minLength:"1" maxLength:"256" doc:"What the document is called." example:"Cell governance"`
	Content  string         `json:"content" maxLength:"1000000" doc:"The whole text." example:"# Cells"`
	Metadata map[string]any `json:"metadata,omitempty" doc:"What the file says of itself: at most 8,192 bytes." example:"{\"tags\":[\"governance\"]}"`
}

func (a *API) publishDocuments(ctx context.Context, in *publishDocumentsInput) (any, error) {
	cmd := ubl.PublishDocuments{Request: envelope.Command(ctx, in.Body.Key), Commit: in.Body.Commit, RemoveMost: in.Body.Most}
	for _, d := range in.Body.Documents {
		metadata := json.RawMessage("{}")
		if d.Metadata != nil { // else it would be null
			var err error
			if metadata, err = json.Marshal(d.Metadata); err != nil {
				return nil, invalid("body.documents.metadata", "no JSON")
			}
		}
		cmd.Put = append(cmd.Put, ubl.DocumentToPublish{DocumentKey: d.key(), Path: d.Path, Title: d.Title, Content: d.Content, Metadata: metadata})
	}
	if len(in.Body.Remove) > 0 {
		if err := confirmed(ctx); err != nil {
			return nil, err
		}
	}
	for _, k := range in.Body.Remove {
		cmd.Remove = append(cmd.Remove, k.key())
	}
	return ubl.Ask[*ubl.DocumentsPublished](ctx, a.Asker, container(ctx, in.WorkspaceID), cmd)
}

type listVersionsInput struct {
	DocumentPath
	Cursor int64 `query:"cursor" minimum:"1" maximum:"9007199254740991" doc:"The next_cursor of the page before."`
	Limit  int   `query:"limit" minimum:"1" maximum:"100" default:"50" doc:"At most so many on a page."`
}

type versionsAnswer struct {
	Versions   []*ubl.Document `json:"versions"`
	NextCursor *int64          `json:"next_cursor"`
	Receipt    ubl.Receipt     `json:"receipt"`
}

func (a *API) listVersions(ctx context.Context, in *listVersionsInput) (any, error) {
	l, err := ubl.Ask[*ubl.DocumentList](ctx, a.Asker, container(ctx, in.WorkspaceID),
		ubl.ListVersions{Request: envelope.Command(ctx, ""), DocumentID: in.DocumentID, After: in.Cursor, Limit: in.Limit})
	if err != nil {
		return nil, err
	}
	out := versionsAnswer{Versions: list(l.Documents), Receipt: l.Receipt}
	if l.NextVersion != 0 {
		out.NextCursor = &l.NextVersion
	}
	return out, nil
}

type searchInput struct {
	WorkspacePath
	Query  string   `query:"query" required:"true" minLength:"1" maxLength:"500" doc:"Words; with match all a \"phrase\" in quotes, a begin* of a word." example:"budget \"next year\" plan*"`
	Match  string   `query:"match" enum:"all,any" default:"all" doc:"all: every word must be there. any: for questions; any word, in any form, best first."`
	Where  []string `query:"where,explode" maxItems:"8" doc:"name:value of metadata, such as tags:finance; all must hold. Also type, id and path." example:"[\"tags:finance\"]"`
	From   string   `query:"from" format:"date" doc:"The first day of the documents' dates." example:"2026-01-01"`
	To     string   `query:"to" format:"date" doc:"The last one." example:"2026-12-31"`
	Limit  int      `query:"limit" minimum:"1" maximum:"100" default:"20" doc:"At most so many on a page."`
	Cursor int      `query:"cursor" minimum:"1" maximum:"400" doc:"The next_cursor before."`
}

// asked is what the input asks for.
func (in *searchInput) asked() (ubl.DocumentQuery, error) {
	q := ubl.DocumentQuery{Query: in.Query, Any: in.Match == "any", From: in.From, To: in.To}
	for _, text := range in.Where {
		c, err := ubl.ReadCondition(text)
		if err != nil {
			return q, invalid("query.where", ubl.AsError(err).Message)
		}
		q.Where = append(q.Where, c)
	}
	return q, nil
}

type hitsAnswer struct {
	Documents  []*ubl.DocumentHit `json:"documents"`
	NextCursor *int               `json:"next_cursor"`
	Indexing   *ubl.Indexing      `json:"indexing,omitempty"`
	Receipt    ubl.Receipt        `json:"receipt"`
	Salt       ubl.Salt           `json:"salt,omitzero"`
}

func (a *API) search(ctx context.Context, in *searchInput) (any, error) {
	q, err := in.asked()
	if err != nil {
		return nil, err
	}
	hits, err := ubl.Ask[*ubl.DocumentHits](ctx, a.Asker, container(ctx, in.WorkspaceID),
		ubl.SearchDocuments{Request: envelope.Command(ctx, ""), DocumentQuery: q, After: in.Cursor, Limit: in.Limit})
	if err != nil {
		return nil, err
	}
	out := hitsAnswer{Documents: list(hits.Documents), Indexing: hits.Indexing, Receipt: hits.Receipt, Salt: hits.Salt}
	if hits.Next > 0 {
		out.NextCursor = &hits.Next
	}
	return out, nil
}
