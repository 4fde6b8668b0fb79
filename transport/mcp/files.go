package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"ubl"
	"ubl/transport/envelope"
)

// Blobs are the contents of files.
type Blobs interface {
	// Open reads one of a tenant's.
	Open(context.Context, ubl.TenantID, ubl.BlobID) (io.ReadSeekCloser, error)
}

const (
	// maxFile bounds a content that is read as a resource: larger ones are for REST.
	maxFile = 4 << 20
	// filePage is how many files a page has, and beforeFiles comes before the first.
	filePage               = 100
	beforeFiles ubl.FileID = "f:-"
)

// fileContent is the content of the file of which the act office.file.get has told.
func (s *Server) fileContent(ctx context.Context, v *visit, r resource, told json.RawMessage) (*sdk.ResourceContents, error) {
	var answer struct{ File ubl.File }
	if err := json.Unmarshal(told, &answer); err != nil {
		return nil, fmt.Errorf("couldn't read a file: %w", err)
	}
	f := answer.File
	if f.Bytes > maxFile {
		return nil, ubl.Errorf(ubl.CodeTooLarge, "the file is larger than %d bytes: get it over REST", maxFile)
	}
	content, err := s.openBlob(ctx, v.who().TenantID, &f)
	if err != nil {
		return nil, err
	}
	defer content.Close()
	data, err := io.ReadAll(io.LimitReader(content, maxFile+1))
	if err != nil {
		return nil, fmt.Errorf("couldn't read a file: %w", err)
	}
	out := &sdk.ResourceContents{URI: r.uri, MIMEType: f.Type}
	if strings.HasPrefix(f.Type, "text/") && utf8.Valid(data) {
		out.Text = string(data)
	} else {
		out.Blob = data
	}
	return out, nil
}

// openBlob opens the content of a file.
func (s *Server) openBlob(ctx context.Context, tenant ubl.TenantID, f *ubl.File) (io.ReadSeekCloser, error) {
	content, err := s.opts.Blobs.Open(ctx, tenant, f.SHA256)
	if ubl.CodeOf(err) == ubl.CodeNotFound {
		err = ubl.Damaged("the content of a file is missing")
	}
	return content, err
}

// files reads a page of a workspace's files. What comes back is the page's end, with no file
// where the workspace is done.
func (s *Server) files(ctx context.Context, who ubl.Identity, at place) ([]*sdk.Resource, place, error) {
	ctx = reading(ctx, toolFiles)
	cmd := ubl.ListFiles{Request: envelope.Command(ctx, ""), After: at.file, Limit: filePage}
	list, err := ubl.Ask[*ubl.FileList](ctx, s.opts.Asker, ubl.ContainerName(who.TenantID, at.workspace), cmd)
	if ubl.CodeOf(err) == ubl.CodeNotFound { // the caller lost sight of it since
		return []*sdk.Resource{}, place{workspace: at.workspace}, nil
	}
	if err != nil {
		return nil, place{}, err
	}
	out := make([]*sdk.Resource, 0, len(list.Files))
	for _, f := range list.Files {
		out = append(out, &sdk.Resource{
			URI:  fileURI + string(at.workspace) + "/" + string(f.FileID),
			Name: string(f.FileID), Title: f.Name, MIMEType: f.Type, Size: f.Bytes,
			Description: "A file of " + strconv.FormatInt(f.Bytes, 10) + " bytes in " + string(at.workspace) + ".",
		})
	}
	return out, place{workspace: at.workspace, file: list.Next}, nil
}
