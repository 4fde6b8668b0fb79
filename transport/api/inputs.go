package api

import (
	"cmp"
	"context"

	"ubl"
	"ubl/transport/envelope"
)

// Parts that requests share. Their tags are what huma checks and the OpenAPI
// document says. They are exported because huma passes over embedded types
// that are not.
type (
	// RoomPath names a room in a path.
	RoomPath struct {
		RoomID ubl.RoomID `path:"roomId" pattern:"^r:[A-Za-z0-9._-]{1,128}$" example:"r:general" doc:"The room, by its id."`
	}
	// UserPath names a user in a path.
	UserPath struct {
		UserID ubl.UserID `path:"userId" pattern:"^u:[A-Za-z0-9._-]{1,256}$" doc:"The person or service, by user id." example:"u:ana"`
	}
	// AgreementPath names an Agreement in a path.
	AgreementPath struct {
		ID ubl.AgreementID `path:"agreementId" pattern:"^a:[A-Za-z0-9._:-]{1,256}$" example:"a:room:r:general" doc:"The Agreement, by its id: a:room: and the room's id, a:tool: and the tool's name, or as agreement.list has it."`
	}
	// WorkspacePath names a workspace in a path, or another container of objects.
	WorkspacePath struct {
		WorkspaceID ubl.ContainerID `path:"workspaceId" pattern:"^[wk]:[A-Za-z0-9._-]{1,128}$" example:"w:general" doc:"A workspace, or another container of objects."`
	}
	// DocumentPath names a document in a path.
	DocumentPath struct {
		WorkspacePath
		DocumentID ubl.DocumentID `path:"documentId" pattern:"^d:[A-Za-z0-9._-]{1,128}$" doc:"The document, by its id." example:"d:0199a1b2"`
	}
	// ContainerPath names a container in a path.
	ContainerPath struct {
		ContainerID ubl.ContainerID `path:"containerId" pattern:"^[wk]:[A-Za-z0-9._-]{1,128}$" example:"k:petty-cash" doc:"The container, by its id: w: is a workspace, k: any other."`
	}
	// PlacePath names what answers as a container in a path: one, a room, or the tenant.
	PlacePath struct {
		ContainerID ubl.ContainerID `path:"containerId" pattern:"^[wkrt]:[A-Za-z0-9._-]{1,128}$" example:"r:general" doc:"A container, a room, or the caller's tenant."`
	}
	// SourcePath names where a transfer begins: a container, or the caller.
	SourcePath struct {
		Source string `path:"containerId" pattern:"^([wk]:[A-Za-z0-9._-]{1,128}|u:[A-Za-z0-9._-]{1,256}|t:ubl_core)$" example:"k:petty-cash" doc:"A container; the caller by their user id; or t:ubl_core, from where memberships come."`
	}
	// KindPath names a kind of containers in a path.
	KindPath struct {
		Kind string `path:"kind" pattern:"^[a-z0-9_]{1,64}$" example:"case" doc:"The kind, by its name."`
	}
	// ServerPath names an external server in a path.
	ServerPath struct {
		ServerID string `path:"serverId" pattern:"^[a-z0-9][a-z0-9-]{0,31}$" example:"weather" doc:"The tool server, by its id."`
	}
	// ToolPath names a tool in a path, in its dotted form.
	ToolPath struct {
		Tool string `path:"tool" pattern:"^[A-Za-z0-9_.-]{1,128}$" example:"weather.forecast" doc:"The tool, by its name: our own, or SERVER.TOOL."`
	}
	// AsOfQuery asks for the past.
	AsOfQuery struct {
		AsOf string `query:"as_of" maxLength:"64" doc:"How it was: after the atom of a seq of the tenant's ledger, or at a time (RFC 3339). Without it, how it is." example:"2026-01-31T12:00:00Z"`
	}
	// Keyed is the idempotency key that a body may hold.
	Keyed struct {
		Key string `json:"client_request_id,omitempty" nullable:"true" minLength:"1" maxLength:"128" pattern:"^[^\\x00-\\x1f\\x7f-\\x9f]*$" doc:"A key of your own: what is repeated under it is done once." example:"order-7-note"`
	}
	// Imported says of what an owner does that it was done elsewhere first. Tools don't take it:
	// an import is no work for a model.
	Imported struct {
		ImportedFrom *ImportedFrom `json:"imported_from,omitempty" doc:"For an import by an owner: where this was done first. The server takes the importer's word for it."`
	}
	// ImportedFrom is a [ubl.ImportedFrom] as a request has it.
	ImportedFrom struct {
		AuthorID   ubl.UserID      `json:"author_id" pattern:"^u:[A-Za-z0-9._-]{1,256}$" doc:"Who did it there." example:"u:ana"`
		AuthorName string          `json:"author_name,omitempty" maxLength:"64" doc:"What they were called there." example:"Ana"`
		At         ubl.Time        `json:"at" doc:"When; not in the future." example:"2026-01-31T12:00:00.000Z"`
		CID        string          `json:"cid,omitempty" pattern:"^c:[0-9a-f]{64}$" doc:"The cid of the act's atom there; none for what another product's export has, which source names." example:"c:0000000000000000000000000000000000000000000000000000000000000000"`
		Seq        int64           `json:"seq,omitempty" minimum:"1" maximum:"9007199254740991" doc:"The seq of that atom." example:"42"`
		Source     *ImportedSource `json:"source,omitempty" doc:"What it was in another product's export."`
		TenantID   ubl.TenantID    `json:"tenant_id" pattern:"^t:[A-Za-z0-9._-]{1,128}$" doc:"The tenant in whose ledger it is; without one, the product and its workspace, like t:slack.T024BE7LD." example:"t:example.com"`
	}
	// ImportedSource is a [ubl.ImportedSource] as a request has it.
	ImportedSource struct {
		EditedAt ubl.Time    `json:"edited_at,omitempty" doc:"When its author last changed it there." example:"2026-01-31T12:30:00.000Z"`
		ID       string      `json:"id" minLength:"1" maxLength:"512" pattern:"^[^\\x00-\\x1f\\x7f-\\x9f]*$" doc:"What tells it from everything else of the product." example:"T024BE7LD/C012AB3CD/1769860800.000100"`
		MemberID ubl.UserID  `json:"member_id,omitempty" pattern:"^u:[A-Za-z0-9._-]{1,256}$" doc:"Who its author is here, as the importer has it." example:"u:ana"`
		Product  ubl.Product `json:"product" enum:"slack,mattermost,matrix" doc:"Whose export it is from."`
	}
	// KeyInput is a body that may be absent and can hold nothing but a key.
	KeyInput struct {
		Body *KeyBody
	}
	// KeyBody is the body of an act that needs no more than its path.
	KeyBody struct{ Keyed }
)

// moment is the one that is asked for. To show the past all of a history is read, so it is
// counted as what is made.
func (q AsOfQuery) moment(ctx context.Context) (ubl.AsOf, error) {
	at, err := ubl.ParseAsOf(q.AsOf)
	if err == nil && !at.IsNow() {
		err = envelope.CallerOf(ctx).Count(ubl.Creations)
	}
	return at, err
}

// origin is what the command has of it.
func (in Imported) origin() *ubl.ImportedFrom {
	f := in.ImportedFrom
	if f == nil {
		return nil
	}
	return &ubl.ImportedFrom{
		AuthorID: f.AuthorID, AuthorName: f.AuthorName, At: f.At, CID: f.CID, Seq: f.Seq, Source: (*ubl.ImportedSource)(f.Source), TenantID: f.TenantID,
	}
}

// key is the body's, "" where there is none.
func (in KeyInput) key() string {
	if in.Body == nil {
		return ""
	}
	return in.Body.Key
}

// page cuts the part that comes after the cursor out of a list in the order of
// key, at most limit of it, and says whether more follows.
func page[T any, K cmp.Ordered](sorted []T, key func(T) K, after K, limit int) (part []T, more bool) {
	for len(sorted) > 0 && key(sorted[0]) <= after {
		sorted = sorted[1:]
	}
	if len(sorted) <= limit {
		return sorted, false
	}
	return sorted[:limit], true
}

// asOfMore tells what operations with an [AsOfQuery] answer.
const asOfMore = "With as_of, how it was, from its history; as_of in the answer is then the receipt of the newest act that it shows. What was before a sealing stays closed."
