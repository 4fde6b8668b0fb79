package api

import (
	"context"
	"encoding/base64"
	"io"
	"net/http"
	"strings"
	"time"

	"ubl"
	"ubl/transport/envelope"
)

// Blobs are the contents of files.
type Blobs interface {
	// Open reads one of a tenant's; not_found where it isn't there.
	Open(context.Context, ubl.TenantID, ubl.BlobID) (io.ReadSeekCloser, error)
	// Keep renews one that is there, whose path is "": see [ubl.Blobs].
	Keep(ctx context.Context, t ubl.TenantID, id ubl.BlobID, path string) error
}

// FilePath names a file in a path.
type FilePath struct {
	WorkspacePath
	FileID ubl.FileID `path:"fileId" pattern:"^f:[A-Za-z0-9._-]{1,128}$" doc:"The file, by its id." example:"f:0199a1b2"`
}

// maxInline bounds a content that comes within a body: what is longer comes by an upload.
const maxInline = 4 << 20

type putFileInput struct {
	WorkspacePath
	Body struct {
		Keyed
		Imported
		UploadID   ubl.UploadID   `json:"upload_id,omitempty" pattern:"^up:[0-9a-f]{40}$" doc:"An upload that is whole, of the caller. It says everything else." example:"up:0123456789abcdef0123456789abcdef01234567"`
		Name       string         `json:"name,omitempty" minLength:"1" maxLength:"255" doc:"Without an upload: the file's name." example:"budget.csv"`
		Type       string         `json:"content_type,omitempty" maxLength:"127" doc:"Without an upload: its media type." example:"text/csv"`
		DocumentID ubl.DocumentID `json:"document_id,omitempty" pattern:"^d:[A-Za-z0-9._-]{1,128}$" doc:"Without an upload: the document that is to hold it." example:"d:0199a1b2"`
		Text       *string        `json:"text,omitempty" maxLength:"4194304" doc:"Without an upload: a short content, as text." example:"month,amount\njanuary,120\n"`
		Base64     *string        `json:"base64,omitempty" maxLength:"5592408" doc:"Without an upload: a short content, in base64." example:"aGVsbG8="`
	}
}

func (a *API) putFile(ctx context.Context, in *putFileInput) (any, error) {
	up, err := a.content(ctx, in)
	if err != nil {
		return nil, err
	}
	if up.WorkspaceID != in.WorkspaceID {
		return nil, ubl.Errorf(ubl.CodeConflict, "the upload is for another workspace")
	}
	return ubl.Ask[*ubl.FileResult](ctx, a.Asker, container(ctx, in.WorkspaceID), ubl.PutFile{
		Request: envelope.Command(ctx, in.Body.Key), Name: up.Name, Type: up.Type, DocumentID: up.DocumentID, Blob: up.SHA256, Bytes: up.Bytes, ImportedFrom: in.Body.origin(),
	})
}

// content is what the file is to be, kept as a blob.
func (a *API) content(ctx context.Context, in *putFileInput) (*ubl.Upload, error) {
	b := &in.Body
	if b.UploadID != "" {
		if b.Name != "" || b.Type != "" || b.DocumentID != "" || b.Text != nil || b.Base64 != nil {
			return nil, invalid("body", "the upload says everything else")
		}
		if _, err := envelope.CallerOf(ctx).Enter(ctx); err != nil {
			return nil, err
		}
		return a.Uploads.Finish(ctx, caller(ctx), b.UploadID)
	}
	content, err := inline(b.Text, b.Base64)
	if err != nil {
		return nil, err
	}
	up := ubl.Upload{WorkspaceID: in.WorkspaceID, DocumentID: b.DocumentID, Name: b.Name, Type: b.Type, Bytes: int64(len(content))}
	if up, err = a.prepare(ctx, up, a.Uploads.Staged(caller(ctx))); err != nil {
		return nil, err
	}
	up.SHA256, err = a.Uploads.Put(ctx, caller(ctx), content)
	return &up, err
}

// inline is a content that came within the body.
func inline(text, coded *string) ([]byte, error) {
	switch {
	case (text == nil) == (coded == nil):
		return nil, invalid("body", "give one of upload_id, text and base64")
	case text != nil && len(*text) > maxInline:
		return nil, tooLarge(maxInline)
	case text != nil:
		return []byte(*text), nil
	}
	content, err := base64.StdEncoding.DecodeString(*coded)
	if err != nil {
		return nil, invalid("body.base64", "not valid base64")
	}
	if len(content) > maxInline {
		return nil, tooLarge(maxInline)
	}
	return content, nil
}

type listFilesInput struct {
	WorkspacePath
	DocumentID ubl.DocumentID `query:"document_id" pattern:"^d:[A-Za-z0-9._-]{1,128}$" doc:"Only those that this document holds." example:"d:0199a1b2"`
	Cursor     ubl.FileID     `query:"cursor" pattern:"^f:[A-Za-z0-9._-]{1,128}$" doc:"The next_cursor of the page before." example:"f:0199a1b2"`
	Limit      int            `query:"limit" minimum:"1" maximum:"100" default:"50" doc:"At most so many on a page."`
}

type filesAnswer struct {
	Files      []*ubl.File `json:"files"`
	NextCursor *ubl.FileID `json:"next_cursor"`
	Receipt    ubl.Receipt `json:"receipt"`
}

func (a *API) listFiles(ctx context.Context, in *listFilesInput) (any, error) {
	l, err := ubl.Ask[*ubl.FileList](ctx, a.Asker, container(ctx, in.WorkspaceID),
		ubl.ListFiles{Request: envelope.Command(ctx, ""), DocumentID: in.DocumentID, After: in.Cursor, Limit: in.Limit})
	if err != nil {
		return nil, err
	}
	out := filesAnswer{Files: list(l.Files), Receipt: l.Receipt}
	if l.Next != "" {
		out.NextCursor = &l.Next
	}
	return out, nil
}

func (a *API) getFile(ctx context.Context, in *FilePath) (any, error) {
	return a.file(ctx, in.WorkspaceID, in.FileID)
}

func (a *API) file(ctx context.Context, workspace ubl.ContainerID, id ubl.FileID) (*ubl.FileResult, error) {
	return ubl.Ask[*ubl.FileResult](ctx, a.Asker, container(ctx, workspace), ubl.GetFile{Request: envelope.Command(ctx, ""), FileID: id})
}

func (a *API) removeFile(ctx context.Context, in *FilePath) (any, error) {
	return ubl.Ask[*ubl.FileResult](ctx, a.Asker, container(ctx, in.WorkspaceID),
		ubl.RemoveFile{Request: envelope.Command(ctx, ""), FileID: in.FileID})
}

// readFile sends a file's content, or parts of it, after putting on record that somebody reads it.
func (a *API) readFile(w http.ResponseWriter, r *http.Request) {
	content, f, err := a.openFile(r)
	a.sendContent(w, r, content, err, func(h http.Header) { tellContent(h, f) })
}

// sendContent sends a content that was opened, or a part of it, behind headers that tell what it is.
func (a *API) sendContent(w http.ResponseWriter, r *http.Request, content io.ReadSeekCloser, err error, tell func(http.Header)) {
	if err != nil {
		envelope.WriteError(w, r, err)
		return
	}
	defer content.Close()
	release, err := envelope.CallerOf(r.Context()).Stream()
	if err != nil {
		envelope.WriteError(w, r, err)
		return
	}
	defer release()
	tell(w.Header())
	if strings.Contains(r.Header.Get("Range"), ",") {
		r.Header.Del("Range") // many parts of one file are for nobody but who wants to make work
	}
	http.ServeContent(w, r, "", time.Time{}, &outgoing{content, envelope.CallerOf(r.Context()), a.Now})
}

// outgoing ends with the caller's credential: who is removed gets no more, and an answer that is cut
// short.
type outgoing struct {
	io.ReadSeeker
	caller *envelope.Caller
	now    func() time.Time
}

// Read implements [io.Reader].
func (o *outgoing) Read(p []byte) (int, error) {
	if o.caller.Over(ubl.TimeOf(o.now())) {
		return 0, ubl.Errorf(ubl.CodeUnauthorized, "the credential has ended")
	}
	return o.ReadSeeker.Read(p)
}

// openFile opens the content of the file that a request names.
func (a *API) openFile(r *http.Request) (io.ReadSeekCloser, *ubl.File, error) {
	workspace, id := ubl.ContainerID(pathValue(r, "workspaceId")), ubl.FileID(pathValue(r, "fileId"))
	switch {
	case !workspace.Valid():
		return nil, nil, invalid("path.workspaceId", "not the id of a container")
	case !id.Valid():
		return nil, nil, invalid("path.fileId", "not the id of a file")
	}
	found, err := a.file(r.Context(), workspace, id)
	if err != nil {
		return nil, nil, err
	}
	content, err := a.Blobs.Open(r.Context(), caller(r.Context()).TenantID, found.File.SHA256)
	if ubl.CodeOf(err) == ubl.CodeNotFound {
		err = ubl.Damaged("the content of a file is missing")
	}
	return content, found.File, err
}

// tellContent sets the headers of a content that somebody else wrote: no page shows anything of it
// as ours.
func tellContent(h http.Header, f *ubl.File) {
	envelope.TellContent(h, f.SHA256, f.Type, f.Name)
	h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'; sandbox")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("X-Frame-Options", "DENY")
}
