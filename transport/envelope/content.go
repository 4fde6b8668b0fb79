package envelope

import (
	"mime"
	"net/http"
	"slices"
	"time"

	"ubl"
)

// TellContent sets the headers of a content that somebody else wrote: a browser saves it under its
// name, and runs nothing of it. The ETag is its hash.
func TellContent(h http.Header, id ubl.BlobID, kind, name string) {
	h.Set("ETag", `"`+string(id)+`"`)
	h.Set("Content-Type", plainType(kind))
	h.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": name}))
}

// shown are the types that a browser may show in its place: it runs nothing in them. SVG runs scripts,
// and is none.
var shown = []string{
	"application/pdf",
	"image/avif", "image/bmp", "image/gif", "image/jpeg", "image/png", "image/webp",
	"audio/aac", "audio/flac", "audio/mp4", "audio/mpeg", "audio/ogg", "audio/wav", "audio/webm",
	"video/mp4", "video/ogg", "video/quicktime", "video/webm",
}

// TellShown is TellContent for what the server has looked into itself: a browser shows images, sounds,
// films and PDF in a sandbox, and saves the rest.
func TellShown(h http.Header, id ubl.BlobID, kind, name string) {
	TellContent(h, id, kind, name)
	how := "attachment"
	if slices.Contains(shown, kind) {
		how = "inline"
	}
	h.Set("Content-Disposition", mime.FormatMediaType(how, map[string]string{"filename": name}))
	if kind == "text/plain" {
		h.Set("Content-Type", "text/plain; charset=utf-8")
	}
	h.Set("Content-Security-Policy", "default-src 'none'; img-src 'self'; media-src 'self'; style-src 'unsafe-inline'; frame-ancestors 'self'; sandbox")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "SAMEORIGIN")
}

// harmless are the types that are sent as they are kept: no browser runs anything in them.
var harmless = []string{
	"application/gzip", "application/json", "application/pdf", "application/zip", "text/csv", "text/plain",
	"image/avif", "image/bmp", "image/gif", "image/jpeg", "image/png", "image/tiff", "image/webp",
	"audio/aac", "audio/flac", "audio/mp4", "audio/mpeg", "audio/ogg", "audio/wav", "audio/webm",
	"video/mp4", "video/mpeg", "video/ogg", "video/quicktime", "video/webm",
}

// plainType is a type to send: any other than the harmless ones is bytes.
func plainType(kept string) string {
	kind, _, err := mime.ParseMediaType(kept)
	if err != nil || !slices.Contains(harmless, kind) {
		return ubl.UnknownType
	}
	return kept
}

// writePatience is how long a client may take for one piece of a slow answer.
const writePatience = time.Minute

// Unhurried is a writer of an answer that waits for somebody else: a model, another server, a
// client's line. The server's time for an answer counts from the request on; here each write has
// a deadline of its own.
func Unhurried(w http.ResponseWriter, now func() time.Time) http.ResponseWriter {
	control := http.NewResponseController(w)
	// Writers without deadlines are those of tests and of acts.
	_ = control.SetWriteDeadline(time.Time{})
	return &slowAnswer{w, control, now}
}

// slowAnswer gives each write a deadline of its own.
type slowAnswer struct {
	http.ResponseWriter
	control *http.ResponseController
	now     func() time.Time
}

func (s *slowAnswer) Write(p []byte) (int, error) {
	_ = s.control.SetWriteDeadline(s.now().Add(writePatience))
	return s.ResponseWriter.Write(p)
}

// Unwrap lets an http.ResponseController reach flushing.
func (s *slowAnswer) Unwrap() http.ResponseWriter { return s.ResponseWriter }
