package mcp

import (
	"net/url"
	"strconv"
	"strings"

	"ubl"
)

// Resources are named by these URIs; ids may be percent-encoded, as filling in a
// template does.
const (
	roomURI     = "ubl://rooms/"     // room id
	documentURI = "ubl://documents/" // workspace id, document id
	fileURI     = "ubl://files/"     // workspace id, file id
	receiptURI  = "ubl://receipts/"  // seq
)

// resource is what a URI names: a room, a document or a file of a workspace, or a receipt.
type resource struct {
	uri       string
	room      ubl.RoomID
	workspace ubl.ContainerID
	document  ubl.DocumentID
	file      ubl.FileID
	seq       int64
}

// parseURI reads a URI; false for one that can't name anything here.
func parseURI(uri string) (resource, bool) {
	r := resource{uri: uri}
	if rest, ok := strings.CutPrefix(uri, roomURI); ok {
		r.room = ubl.RoomID(unescape(rest))
		return r, r.room.Valid()
	}
	if rest, ok := strings.CutPrefix(uri, documentURI); ok {
		workspace, document, _ := strings.Cut(rest, "/")
		r.workspace, r.document = ubl.ContainerID(unescape(workspace)), ubl.DocumentID(unescape(document))
		return r, r.workspace.Valid() && r.document.Valid()
	}
	if rest, ok := strings.CutPrefix(uri, fileURI); ok {
		workspace, file, _ := strings.Cut(rest, "/")
		r.workspace, r.file = ubl.ContainerID(unescape(workspace)), ubl.FileID(unescape(file))
		return r, r.workspace.Valid() && r.file.Valid()
	}
	if rest, ok := strings.CutPrefix(uri, receiptURI); ok {
		seq, err := strconv.ParseInt(rest, 10, 64)
		r.seq = seq
		return r, err == nil && seq > 0
	}
	return r, false
}

func unescape(s string) string {
	if plain, err := url.PathUnescape(s); err == nil {
		return plain
	}
	return s
}

// key is the same for every spelling of a URI.
func (r resource) key() string {
	switch {
	case r.room != "":
		return roomURI + string(r.room)
	case r.document != "":
		return documentURI + string(r.workspace) + "/" + string(r.document)
	case r.file != "":
		return fileURI + string(r.workspace) + "/" + string(r.file)
	}
	return receiptURI + strconv.FormatInt(r.seq, 10)
}
