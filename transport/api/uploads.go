package api

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"time"

	"ubl"
	"ubl/transport/envelope"
)

// Uploads takes contents in; see [ubl.Upload]. In a cluster any node takes what another one has
// begun.
type Uploads interface {
	// Staged is how many bytes count here where somebody begins another upload: of what they
	// have begun, and of what has come in for others of their tenant.
	Staged(ubl.Identity) int64
	// Put keeps a content that came as a whole.
	Put(context.Context, ubl.Identity, []byte) (ubl.BlobID, error)
	// Begin makes an upload of what it says.
	Begin(context.Context, ubl.Identity, ubl.Upload) (*ubl.Upload, error)
	// Look tells how far one is, and interrupts who still brings bytes for it.
	Look(context.Context, ubl.Identity, ubl.UploadID) (*ubl.Upload, error)
	// Append adds bytes at an offset, and tells how far the upload is then, where it knows; also
	// with an error. Where the upload is somewhere else that is a conflict.
	Append(ctx context.Context, who ubl.Identity, id ubl.UploadID, offset int64, from ubl.Source) (*ubl.Upload, error)
	// Finish keeps a whole upload as a blob; each later time it answers the same.
	Finish(context.Context, ubl.Identity, ubl.UploadID) (*ubl.Upload, error)
	// End ends one that is under way.
	End(context.Context, ubl.Identity, ubl.UploadID) error
}

const (
	// partialType is the media type of a part of an upload, and the headers tell where it
	// belongs, as draft-ietf-httpbis-resumable-upload has them.
	partialType    = "application/partial-upload"
	offsetHeader   = "Upload-Offset"
	lengthHeader   = "Upload-Length"
	completeHeader = "Upload-Complete"
	uploadsPath    = "/uploads/"
	// uploadPatience is how long a client may take for the next bytes.
	uploadPatience = 30 * time.Second
)

// Uploading reports whether a request brings bytes of a file, of any length.
func Uploading(r *http.Request) bool {
	return r.Method == http.MethodPatch && len(r.URL.Path) > len("/api"+uploadsPath) && r.URL.Path[:len("/api"+uploadsPath)] == "/api"+uploadsPath
}

// UploadPath names an upload in a path.
type UploadPath struct {
	UploadID ubl.UploadID `path:"uploadId" pattern:"^up:[0-9a-f]{40}$" doc:"The upload, by its id." example:"up:0123456789abcdef0123456789abcdef01234567"`
}

type beginUploadInput struct {
	WorkspacePath
	Body struct {
		Keyed
		Name       string         `json:"name" minLength:"1" maxLength:"255" doc:"The file's name." example:"talk.mp4"`
		Type       string         `json:"content_type,omitempty" maxLength:"127" doc:"The media type; application/octet-stream where it isn't known." example:"application/pdf"`
		Bytes      int64          `json:"bytes" minimum:"0" maximum:"1099511627776" doc:"How long the whole content is." example:"1048576"`
		SHA256     ubl.BlobID     `json:"sha256,omitempty" pattern:"^[0-9a-f]{64}$" doc:"Its SHA-256, to be checked at the end." example:"2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"`
		DocumentID ubl.DocumentID `json:"document_id,omitempty" pattern:"^d:[A-Za-z0-9._-]{1,128}$" doc:"The document that is to hold the file." example:"d:0199a1b2"`
	}
}

// uploadAnswer is an upload as it is answered.
type uploadAnswer struct {
	Upload *ubl.Upload `json:"upload"`
}

func (a *API) beginUpload(w http.ResponseWriter, r *http.Request, in *beginUploadInput) {
	up := ubl.Upload{WorkspaceID: in.WorkspaceID, DocumentID: in.Body.DocumentID, Name: in.Body.Name,
		Type: in.Body.Type, Bytes: in.Body.Bytes, SHA256: in.Body.SHA256}
	begun, err := a.begin(r.Context(), up)
	if err != nil {
		envelope.WriteError(w, r, err)
		return
	}
	w.Header().Set("Location", "/api"+uploadsPath+string(begun.UploadID))
	tellUpload(w.Header(), begun)
	answer(w, r, http.StatusCreated, uploadAnswer{begun})
}

// begin asks the container whether the file may be put, and then makes the upload. It asks again
// where others were begun meanwhile: many at once must not pass by the same room.
func (a *API) begin(ctx context.Context, up ubl.Upload) (*ubl.Upload, error) {
	who := caller(ctx)
	staged := a.Uploads.Staged(who)
	up, err := a.prepare(ctx, up, staged)
	if err != nil {
		return nil, err
	}
	begun, err := a.Uploads.Begin(ctx, who, up)
	if err != nil {
		return nil, err
	}
	if others := a.Uploads.Staged(who) - up.Bytes; others > staged {
		if _, err := a.prepare(ctx, up, others); err != nil {
			return nil, errors.Join(err, a.Uploads.End(ctx, who, begun.UploadID))
		}
	}
	return begun, nil
}

// prepare asks the container, or the room, whether a file may be put beside so many bytes of other uploads, and
// answers name and type as they are kept.
func (a *API) prepare(ctx context.Context, up ubl.Upload, staged int64) (ubl.Upload, error) {
	if up.RoomID != "" {
		name, err := ubl.CheckFileName(up.Name)
		if err == nil {
			up.Name, up.Type = name, ubl.UnknownType // what it is, its content says
			_, err = a.Asker.Ask(ctx, ubl.RoomName(caller(ctx).TenantID, up.RoomID), ubl.PrepareAttachment{
				Request: envelope.Command(ctx, ""), Name: name, Bytes: up.Bytes, Staged: staged})
		}
		return up, err
	}
	kind, err := ubl.CheckFileType(up.Type)
	if err == nil {
		up.Type = kind
		up.Name, err = ubl.CheckFileName(up.Name)
	}
	if err == nil {
		_, err = a.Asker.Ask(ctx, container(ctx, up.WorkspaceID), ubl.PrepareFile{Request: envelope.Command(ctx, ""),
			Name: up.Name, Type: up.Type, DocumentID: up.DocumentID, Bytes: up.Bytes, Staged: staged})
	}
	return up, err
}

// tellUpload says in headers how far an upload is.
func tellUpload(h http.Header, up *ubl.Upload) {
	h.Set(offsetHeader, strconv.FormatInt(up.Offset, 10))
	h.Set(lengthHeader, strconv.FormatInt(up.Bytes, 10))
	h.Set(completeHeader, "?0")
	if up.Offset == up.Bytes {
		h.Set(completeHeader, "?1")
	}
}

func (a *API) getUpload(w http.ResponseWriter, r *http.Request, in *UploadPath) {
	up, err := a.entered(r, func(ctx context.Context) (*ubl.Upload, error) { return a.Uploads.Look(ctx, caller(ctx), in.UploadID) })
	if err != nil {
		envelope.WriteError(w, r, err)
		return
	}
	tellUpload(w.Header(), up)
	answer(w, r, http.StatusOK, uploadAnswer{up})
}

// entered does something for a caller whom the tenant lets in, and who asks no actor.
func (a *API) entered(r *http.Request, do func(context.Context) (*ubl.Upload, error)) (*ubl.Upload, error) {
	if _, err := envelope.CallerOf(r.Context()).Enter(r.Context()); err != nil {
		return nil, err
	}
	return do(r.Context())
}

func (a *API) endUpload(w http.ResponseWriter, r *http.Request, in *UploadPath) {
	up, err := a.entered(r, func(ctx context.Context) (*ubl.Upload, error) {
		up, err := a.Uploads.Look(ctx, caller(ctx), in.UploadID)
		if err != nil {
			return nil, err
		}
		return up, a.Uploads.End(ctx, caller(ctx), in.UploadID)
	})
	if err != nil {
		envelope.WriteError(w, r, err)
		return
	}
	answer(w, r, http.StatusOK, uploadAnswer{up})
}

// appendInput describes a part of an upload.
type appendInput struct {
	UploadPath
	Offset int64 `header:"Upload-Offset" required:"true" minimum:"0" doc:"Where the bytes belong: what Upload-Offset said last."`
}

// appendUpload takes bytes in for as long as they come.
func (a *API) appendUpload(w http.ResponseWriter, r *http.Request) {
	id, offset, err := appending(r)
	var up *ubl.Upload
	if err == nil {
		up, err = a.entered(r, func(ctx context.Context) (*ubl.Upload, error) {
			release, err := envelope.CallerOf(ctx).Stream()
			if err != nil {
				return nil, err
			}
			defer release()
			return a.Uploads.Append(ctx, caller(ctx), id, offset, a.source(w, r))
		})
	}
	if up != nil {
		tellUpload(w.Header(), up)
	}
	if err != nil {
		envelope.WriteError(w, r, err)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

// appending reads which upload a request is for, and where its bytes belong.
func appending(r *http.Request) (id ubl.UploadID, offset int64, err error) {
	id = ubl.UploadID(pathValue(r, "uploadId"))
	if !id.Valid() {
		return "", 0, invalid("path.uploadId", "not the id of an upload")
	}
	given := r.Header[offsetHeader]
	if len(given) != 1 {
		return "", 0, invalid("header."+offsetHeader, "is missing, or given more than once")
	}
	offset, err = strconv.ParseInt(given[0], 10, 64)
	if err != nil || offset < 0 {
		return "", 0, invalid("header."+offsetHeader, "expected an integer from 0")
	}
	return id, offset, nil
}

// source is a request's body, which may last as long as bytes come.
func (a *API) source(w http.ResponseWriter, r *http.Request) ubl.Source {
	control := http.NewResponseController(w)
	in := &incoming{from: r.Body, control: control, caller: envelope.CallerOf(r.Context()), now: a.Now}
	// A writer without deadlines is a test's.
	return ubl.Source{Reader: in, Interrupt: func() { _ = control.SetReadDeadline(time.Unix(1, 0)) }}
}

// incoming gives each read of a request's body a deadline, and ends with the caller's credential.
type incoming struct {
	from    io.Reader
	control *http.ResponseController
	caller  *envelope.Caller
	now     func() time.Time
}

// Read implements [io.Reader].
func (b *incoming) Read(p []byte) (int, error) {
	now := b.now()
	if b.caller.Over(ubl.TimeOf(now)) {
		return 0, ubl.Errorf(ubl.CodeUnauthorized, "the credential has ended")
	}
	_ = b.control.SetReadDeadline(now.Add(uploadPatience))
	return b.from.Read(p)
}
