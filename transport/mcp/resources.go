package mcp

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"ubl"
	"ubl/transport/envelope"
)

// The acts that reading a resource stands for: who may not use the tool can't
// go round it.
const (
	toolHistory   = envelope.ToolHistory
	toolListRooms = "messenger.list_rooms"
	toolDocument  = string(ubl.DidDocumentGet)
	toolDocuments = string(ubl.DidDocumentList)
	toolReceipt   = "receipt.get"
	toolFile      = string(ubl.DidFileGet)
	toolFiles     = string(ubl.DidFileList)
	// toolWorkspaces finds what has documents.
	toolWorkspaces = string(ubl.DidWorkspaceList)
)

const (
	mimeJSON = "application/json"
	// recent is how many messages a room has as a resource.
	recent = 50
)

// templates are in order of their URIs, as lists have them.
var templates = []*sdk.ResourceTemplate{
	{URITemplate: documentURI + "{workspace_id}/{document_id}", Name: "document", Title: "Document", MIMEType: mimeJSON,
		Description: "The newest version of a document. Subscribe to be told of changes."},
	{URITemplate: fileURI + "{workspace_id}/{file_id}", Name: "file", Title: "File",
		Description: "A file's content, of its own type, up to 4 MiB. It never changes."},
	{URITemplate: receiptURI + "{seq}", Name: "receipt", Title: "Receipt", MIMEType: mimeJSON,
		Description: "The action and the effect that the ledger has at a sequence number."},
	{URITemplate: roomURI + "{room_id}", Name: "room", Title: "Room", MIMEType: mimeJSON,
		Description: "The newest messages of a room, oldest first. Subscribe to be told of new ones."},
}

func (s *Server) listTemplates(ctx context.Context, v *visit, next sdk.MethodHandler, name string, req *sdk.ListResourceTemplatesRequest) (sdk.Result, error) {
	others, err := s.otherTemplates(ctx, v)
	if err != nil {
		return nil, err
	}
	out := &sdk.ListResourceTemplatesResult{Cacheable: private}
	if s.opts.Extra != nil {
		more, err := next(ctx, name, req)
		if err != nil {
			return nil, err
		}
		out.ResourceTemplates = more.(*sdk.ListResourceTemplatesResult).ResourceTemplates
	}
	out.ResourceTemplates, out.NextCursor, err = paged(slices.Concat(out.ResourceTemplates, templates, others), v.cursor,
		func(t *sdk.ResourceTemplate) string { return t.URITemplate })
	return out, err
}

// readResource reads one by the act that it stands for, so that it has the same
// rights, receipt and errors.
func (s *Server) readResource(ctx context.Context, v *visit, next sdk.MethodHandler, name string, req *sdk.ReadResourceRequest) (sdk.Result, error) {
	if tool, own, ok := cutOffer(req.Params.URI); ok && v.portal && s.opts.Portal != nil {
		return s.readOther(ctx, v, req.Params.URI, tool, own)
	}
	if page, ok := s.view(req.Params.URI); ok {
		out := completed(v, new(sdk.ReadResourceResult))
		out.Contents, out.Cacheable = []*sdk.ResourceContents{page}, private
		return out, nil
	}
	r, ok := parseURI(req.Params.URI)
	if !ok && s.opts.Extra != nil {
		return next(ctx, name, req)
	}
	if !ok {
		return nil, noResource(req.Params.URI, nil)
	}
	text, err := s.read(ctx, r)
	if err != nil {
		return nil, err
	}
	out := completed(v, new(sdk.ReadResourceResult))
	out.Contents = []*sdk.ResourceContents{{URI: r.uri, MIMEType: mimeJSON, Text: string(text)}}
	if r.file != "" && s.opts.Blobs != nil {
		if out.Contents[0], err = s.fileContent(ctx, v, r, text); err != nil {
			return nil, err
		}
	}
	out.Cacheable = private
	return out, nil
}

func (s *Server) read(ctx context.Context, r resource) (json.RawMessage, error) {
	tool, args := r.act()
	act := s.tools.find(tool)
	if act == nil {
		return nil, noResource(r.uri, nil)
	}
	if err := visitOf(ctx).mayOwn(tool, true); err != nil {
		return nil, err
	}
	data, err := json.Marshal(args)
	if err != nil {
		return nil, err
	}
	text, err := act.Do(ctx, data)
	if ubl.CodeOf(err) == ubl.CodeNotFound {
		return nil, noResource(r.uri, err)
	}
	return text, err
}

// act is the act that reading the resource stands for.
func (r resource) act() (tool string, args map[string]any) {
	switch {
	case r.room != "":
		return toolHistory, map[string]any{"room_id": r.room, "limit": recent}
	case r.document != "":
		return toolDocument, map[string]any{"workspace_id": r.workspace, "document_id": r.document}
	case r.file != "":
		return toolFile, map[string]any{"workspace_id": r.workspace, "file_id": r.file}
	}
	return toolReceipt, map[string]any{"seq": r.seq}
}

// noResource is what the protocol wants said of a URI that leads nowhere: it is
// the one value that an error repeats.
func noResource(uri string, cause error) error {
	e := ubl.Errorf(ubl.CodeNotFound, "there is no such resource").Because(cause)
	return &rpcError{cause: e, code: codeInvalidParams, uri: uri}
}

// listResources lists the caller's rooms, then the documents and the files of one workspace
// after the other, without those that take a tool which the caller is not shown, then what
// other servers list, one after the other.
// Only a client that turns the page leaves receipts of looks into workspaces.
func (s *Server) listResources(ctx context.Context, v *visit, next sdk.MethodHandler, name string, req *sdk.ListResourcesRequest) (sdk.Result, error) {
	at, err := parsePlace(v.cursor)
	if err != nil {
		return nil, err
	}
	visible, err := s.readable(ctx, v)
	if err != nil {
		return nil, err
	}
	out := &sdk.ListResourcesResult{Resources: []*sdk.Resource{}, Cacheable: private}
	if at.server != "" {
		if out.Resources, err = s.otherResources(ctx, v, at.server); err != nil {
			return nil, err
		}
		at.server, err = s.nextServer(ctx, v, at.server)
		out.NextCursor = at.String()
		return out, err
	}
	if at.workspace == "" {
		if s.opts.Extra != nil && v.cursor == "" {
			more, err := next(ctx, name, &sdk.ListResourcesRequest{Session: req.Session})
			if err != nil {
				return nil, err
			}
			out.Resources = more.(*sdk.ListResourcesResult).Resources
		}
		if visible(toolListRooms) {
			rooms, err := s.rooms(ctx, v.who())
			if err != nil {
				return nil, err
			}
			for _, room := range rooms {
				out.Resources = append(out.Resources, roomResource(room))
			}
		}
	} else if out.Resources, at, err = s.inside(ctx, v.who(), at, visible(toolFiles)); err != nil {
		return nil, err
	}
	if done := at.workspace; done == "" || at.document == "" && at.file == "" {
		at = place{}
		if visible(toolWorkspaces) && visible(toolDocuments) {
			at, err = s.nextWorkspace(ctx, v.who(), done)
		}
		if err == nil && at.workspace == "" {
			at.server, err = s.nextServer(ctx, v, "")
		}
	}
	out.NextCursor = at.String()
	return out, err
}

// rooms are those of which the caller is a member.
func (s *Server) rooms(ctx context.Context, who ubl.Identity) ([]ubl.RoomEntry, error) {
	list, err := ubl.Ask[[]ubl.RoomEntry](reading(ctx, toolListRooms), s.opts.Asker, ubl.TenantName(who.TenantID), ubl.ListRooms{Who: who})
	if err != nil {
		return nil, err
	}
	mine := make([]ubl.RoomEntry, 0, len(list))
	for _, e := range list {
		if e.Member {
			mine = append(mine, e)
		}
	}
	return mine, nil
}

func roomResource(e ubl.RoomEntry) *sdk.Resource {
	return &sdk.Resource{URI: roomURI + string(e.RoomID), Name: string(e.RoomID), Title: e.Name, MIMEType: mimeJSON,
		Description: "The newest messages of the room."}
}

// place is where a list of resources goes on: after a document or a file of a workspace,
// or at its beginning, or at another server's. The zero place is behind the last.
type place struct {
	server    string
	workspace ubl.ContainerID
	document  ubl.DocumentID
	file      ubl.FileID
}

// String is the place as a cursor.
func (p place) String() string {
	if p.server != "" {
		return base64.RawURLEncoding.EncodeToString([]byte("/" + p.server))
	}
	if p.workspace == "" {
		return ""
	}
	return base64.RawURLEncoding.EncodeToString([]byte(string(p.workspace) + "/" + string(p.document) + string(p.file)))
}

func parsePlace(cursor string) (place, error) {
	wrong := invalid("params.cursor", "not one that the server gave out")
	text, err := base64.RawURLEncoding.DecodeString(cursor)
	if err != nil {
		return place{}, wrong
	}
	workspace, inside, _ := strings.Cut(string(text), "/")
	if workspace == "" && ubl.ValidServerID(inside) {
		return place{server: inside}, nil
	}
	p := place{workspace: ubl.ContainerID(workspace)}
	if file := ubl.FileID(inside); file.Valid() {
		p.file = file
	} else {
		p.document = ubl.DocumentID(inside)
	}
	if cursor != "" && !p.workspace.Valid() || p.document != "" && !p.document.Valid() {
		return place{}, wrong
	}
	return p, nil
}

// inside reads a page of a workspace: its documents and, behind those, its files.
func (s *Server) inside(ctx context.Context, who ubl.Identity, at place, files bool) ([]*sdk.Resource, place, error) {
	if at.file != "" {
		return s.files(ctx, who, at)
	}
	out, at, err := s.documents(ctx, who, at)
	if err == nil && at.document == "" && files && s.tools.find(toolFile) != nil {
		at.file = beforeFiles
	}
	return out, at, err
}

// documents reads a page of a workspace. What comes back is the page's end, with
// no document where the workspace is done.
func (s *Server) documents(ctx context.Context, who ubl.Identity, at place) ([]*sdk.Resource, place, error) {
	ctx = reading(ctx, toolDocuments)
	cmd := ubl.ListDocuments{Request: envelope.Command(ctx, ""), After: at.document, Limit: documentPage}
	list, err := ubl.Ask[*ubl.DocumentList](ctx, s.opts.Asker, ubl.ContainerName(who.TenantID, at.workspace), cmd)
	if ubl.CodeOf(err) == ubl.CodeNotFound { // the caller lost sight of it since
		return []*sdk.Resource{}, place{workspace: at.workspace}, nil
	}
	if err != nil {
		return nil, place{}, err
	}
	out := make([]*sdk.Resource, 0, len(list.Documents))
	for _, d := range list.Documents {
		out = append(out, &sdk.Resource{
			URI:  documentURI + string(at.workspace) + "/" + string(d.DocumentID),
			Name: string(d.DocumentID), Title: d.Title, MIMEType: mimeJSON,
			Description: "Version " + strconv.FormatInt(d.Version, 10) + " of a document in " + string(at.workspace) + ".",
		})
	}
	return out, place{workspace: at.workspace, document: list.Next}, nil
}

// documentPage is how many documents a page has.
const documentPage = 100

// nextWorkspace is the beginning of the workspace after one, by id.
func (s *Server) nextWorkspace(ctx context.Context, who ubl.Identity, after ubl.ContainerID) (place, error) {
	if s.tools.find(toolDocument) == nil {
		return place{}, nil
	}
	list, err := s.workspaces(ctx, who)
	if err != nil {
		return place{}, err
	}
	for _, c := range list {
		if c.ContainerID > after {
			return place{workspace: c.ContainerID}, nil
		}
	}
	return place{}, nil
}
