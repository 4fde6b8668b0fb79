package api

import (
	"bytes"
	"context"
	"encoding/base64"
	"io"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"ubl"
	"ubl/media"
	"ubl/transport/envelope"
)

// Files in rooms. Their contents come by uploads into the room, or at once where they are short. A
// message names the uploads; here each is kept as a blob, looked into, and handed to the room as
// an attachment. Reading one asks the room first, and leaves no receipt, as its history.

// RoomFilePath names a file of a room in a path.
type RoomFilePath struct {
	RoomPath
	FileID ubl.FileID `path:"fileId" pattern:"^f:[A-Za-z0-9._-]{1,128}$" doc:"The file, by its id." example:"f:0199a1b2"`
}

type roomUploadInput struct {
	RoomPath
	Body struct {
		Keyed
		Name   string     `json:"name" minLength:"1" maxLength:"255" doc:"The file's name." example:"sea.jpg"`
		Bytes  *int64     `json:"bytes,omitempty" minimum:"0" maximum:"1099511627776" doc:"How long the whole content is, where it comes later." example:"1048576"`
		SHA256 ubl.BlobID `json:"sha256,omitempty" pattern:"^[0-9a-f]{64}$" doc:"Its SHA-256, to be checked at the end." example:"2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"`
		Text   *string    `json:"text,omitempty" maxLength:"4194304" doc:"A short content at once, as text." example:"month,amount"`
		Base64 *string    `json:"base64,omitempty" maxLength:"5592408" doc:"A short content at once, in base64." example:"aGVsbG8="`
	}
}

// beginRoomUpload begins an upload, and brings its content where that came along.
func (a *API) beginRoomUpload(w http.ResponseWriter, r *http.Request, in *roomUploadInput) {
	up, err := a.roomUpload(r.Context(), in)
	if err != nil {
		envelope.WriteError(w, r, err)
		return
	}
	w.Header().Set("Location", "/api"+uploadsPath+string(up.UploadID))
	tellUpload(w.Header(), up)
	answer(w, r, http.StatusCreated, uploadAnswer{up})
}

func (a *API) roomUpload(ctx context.Context, in *roomUploadInput) (*ubl.Upload, error) {
	b := &in.Body
	up := ubl.Upload{RoomID: in.RoomID, Name: b.Name, SHA256: b.SHA256}
	var content []byte
	if later := b.Text == nil && b.Base64 == nil; later != (b.Bytes != nil) {
		return nil, invalid("body", "give one of bytes, text and base64")
	} else if later {
		up.Bytes = *b.Bytes
	} else {
		var err error
		if content, err = inline(b.Text, b.Base64); err != nil {
			return nil, err
		}
		up.Bytes = int64(len(content))
	}
	begun, err := a.begin(ctx, up)
	if err != nil || len(content) == 0 {
		return begun, err
	}
	return a.Uploads.Append(ctx, caller(ctx), begun.UploadID, 0, ubl.Source{Reader: bytes.NewReader(content)})
}

// attachments are the files that a message is to carry: uploads, or files of a room that are sent on.
func (a *API) attachments(ctx context.Context, room ubl.RoomID, named []string) ([]ubl.Attachment, error) {
	if len(named) == 0 {
		return nil, nil
	}
	if len(named) > ubl.MaxAttachments {
		return nil, invalid("body.attachments", "expected at most 10")
	}
	if _, err := envelope.CallerOf(ctx).Enter(ctx); err != nil {
		return nil, err
	}
	files := make([]ubl.Attachment, len(named))
	for i, name := range named {
		var err error
		if id := ubl.UploadID(name); id.Valid() {
			files[i], err = a.uploaded(ctx, room, id)
		} else {
			files[i], err = a.sentOn(ctx, name)
		}
		if err != nil {
			return nil, err
		}
	}
	return files, nil
}

// uploaded is a whole upload into the room, kept and looked into.
func (a *API) uploaded(ctx context.Context, room ubl.RoomID, id ubl.UploadID) (f ubl.Attachment, err error) {
	up, err := a.Uploads.Finish(ctx, caller(ctx), id)
	if err != nil {
		return f, err
	}
	if up.RoomID != room {
		return f, ubl.Errorf(ubl.CodeConflict, "the upload is for another place: begin it in this room")
	}
	content, err := a.Blobs.Open(ctx, caller(ctx).TenantID, up.SHA256)
	if err != nil {
		return f, err
	}
	defer content.Close()
	seen, err := media.Look(content)
	return ubl.Attachment{
		Bytes: up.Bytes, Type: seen.Type, Height: seen.Height, Width: seen.Width, Thumbnail: seen.Thumbnail, Name: up.Name, SHA256: up.SHA256,
	}, err
}

// sentOn is a file of a room that the caller may read. Its content is renewed, so that no collection
// takes it before the new message refers to it.
func (a *API) sentOn(ctx context.Context, name string) (f ubl.Attachment, err error) {
	from, id, _ := strings.Cut(name, "/")
	if !ubl.RoomID(from).Valid() || !ubl.FileID(id).Valid() {
		return f, invalid("body.attachments", "expected upload_ids, or files as r:ROOM/f:ID")
	}
	found, err := a.roomFile(ctx, ubl.RoomID(from), ubl.FileID(id))
	if err == nil {
		err = a.Blobs.Keep(ctx, caller(ctx).TenantID, found.SHA256, "")
	}
	if err != nil {
		return f, err
	}
	f = found.Attachment
	f.FileID = ""
	return f, nil
}

func (a *API) roomFile(ctx context.Context, room ubl.RoomID, id ubl.FileID) (*ubl.RoomFile, error) {
	who := caller(ctx)
	return ubl.Ask[*ubl.RoomFile](ctx, a.Asker, ubl.RoomName(who.TenantID, room), ubl.GetRoomFile{Who: who, FileID: id})
}

type roomFilesInput struct {
	RoomPath
	Kind   ubl.FileKind `query:"kind" enum:"image,audio,video,other" doc:"Only those of this kind."`
	Cursor ubl.FileID   `query:"cursor" pattern:"^f:[A-Za-z0-9._-]{1,128}$" doc:"The next_cursor of the page before." example:"f:0199a1b2"`
	Limit  int          `query:"limit" minimum:"1" maximum:"100" default:"50" doc:"At most so many on a page."`
}

type roomFilesAnswer struct {
	Files      []ubl.RoomFile `json:"files"`
	NextCursor *ubl.FileID    `json:"next_cursor"`
}

func (a *API) listRoomFiles(ctx context.Context, in *roomFilesInput) (any, error) {
	who := caller(ctx)
	l, err := ubl.Ask[*ubl.RoomFileList](ctx, a.Asker, ubl.RoomName(who.TenantID, in.RoomID),
		ubl.ListRoomFiles{Who: who, Kind: in.Kind, After: in.Cursor, Limit: in.Limit})
	if err != nil {
		return nil, err
	}
	out := roomFilesAnswer{Files: list(l.Files)}
	if l.Next != "" {
		out.NextCursor = &l.Next
	}
	return out, nil
}

type getRoomFileInput struct {
	RoomFilePath
	Content bool `query:"content" doc:"Adds a content of at most 1 MiB, as text or base64."`
}

type roomFileAnswer struct {
	File       *ubl.RoomFile `json:"file"`
	ContentURL string        `json:"content_url"`
	Text       *string       `json:"text,omitempty"`
	Base64     *string       `json:"base64,omitempty"`
}

// maxShown is the longest content that comes within an answer.
const maxShown = 1 << 20

func (a *API) getRoomFile(ctx context.Context, in *getRoomFileInput) (any, error) {
	f, err := a.roomFile(ctx, in.RoomID, in.FileID)
	if err != nil {
		return nil, err
	}
	out := roomFileAnswer{File: f, ContentURL: "/api/rooms/" + string(in.RoomID) + "/files/" + string(in.FileID) + "/content"}
	if !in.Content || f.Bytes > maxShown {
		return out, nil
	}
	content, err := a.openRoomBlob(ctx, f)
	if err != nil {
		return nil, err
	}
	defer content.Close()
	data, err := io.ReadAll(content)
	if err != nil {
		return nil, err
	}
	if text := string(data); strings.HasPrefix(f.Type, "text/") && utf8.Valid(data) {
		out.Text = &text
	} else {
		coded := base64.StdEncoding.EncodeToString(data)
		out.Base64 = &coded
	}
	return out, nil
}

func (a *API) openRoomBlob(ctx context.Context, f *ubl.RoomFile) (io.ReadSeekCloser, error) {
	content, err := a.Blobs.Open(ctx, f.TenantID, f.SHA256)
	if ubl.CodeOf(err) == ubl.CodeNotFound {
		err = ubl.Damaged("the content of a file is missing")
	}
	return content, err
}

// namedRoomFile is the file that a request names.
func (a *API) namedRoomFile(r *http.Request) (*ubl.RoomFile, error) {
	room, err := roomOf(r)
	if err != nil {
		return nil, err
	}
	id := ubl.FileID(pathValue(r, "fileId"))
	if !id.Valid() {
		return nil, invalid("path.fileId", "not the id of a file")
	}
	return a.roomFile(r.Context(), room, id)
}

// readRoomFile sends a file's content, or a part of it.
func (a *API) readRoomFile(w http.ResponseWriter, r *http.Request) {
	f, err := a.namedRoomFile(r)
	var content io.ReadSeekCloser
	if err == nil {
		content, err = a.openRoomBlob(r.Context(), f)
	}
	a.sendContent(w, r, content, err, func(h http.Header) { envelope.TellShown(h, f.SHA256, f.Type, f.Name) })
}

type thumbnailInput struct {
	RoomFilePath
	Size media.Size `query:"size" enum:"small,large" default:"small" doc:"The longer side is 360 pixels at most, or 1440."`
}

// thumbnail sends a small picture of an image. It may be kept by the caller's browser, which asks
// again each time whether it may be shown.
func (a *API) thumbnail(w http.ResponseWriter, r *http.Request) {
	size := media.Size(r.URL.Query().Get("size"))
	if size == "" {
		size = media.Small
	}
	if !size.Valid() {
		envelope.WriteError(w, r, invalid("query.size", "expected small or large"))
		return
	}
	f, err := a.namedRoomFile(r)
	if err == nil && !f.Thumbnail {
		err = ubl.Errorf(ubl.CodeNotFound, "there is no thumbnail of this file")
	}
	var made *media.Thumbnail
	if err == nil {
		made, err = a.thumbnails.Get(r.Context(), f.TenantID, f.SHA256, size, func(ctx context.Context) (io.ReadSeekCloser, error) { return a.openRoomBlob(ctx, f) })
	}
	if err != nil {
		envelope.WriteError(w, r, err)
		return
	}
	h := w.Header()
	envelope.TellShown(h, f.SHA256, made.Type, "thumbnail")
	h.Set("ETag", `"`+string(f.SHA256)+"-"+string(size)+`"`)
	h.Set("Cache-Control", "private, no-cache")
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(made.Data))
}
