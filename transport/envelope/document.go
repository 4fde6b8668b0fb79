package envelope

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"
	"sync"
	"time"
)

// How long browsers keep a [Document]: for good, where its name changes with it, else until they
// have asked whether it did.
const (
	KeepForever = "public, max-age=31536000, immutable"
	KeepAsking  = "no-cache"
)

// Document is bytes that never change while the program runs, sent to everyone alike: compressed
// to those who take that, and not again to those who have them.
type Document struct {
	kind, keep string
	forms      func() forms
}

// forms are a document's bytes, compressed besides where that saves much, and what tells them from
// any other version.
type forms struct {
	tag, plain, packed string
}

// NewDocument is a document of a media type that is made when it is first asked for. keep is
// [KeepForever] or [KeepAsking].
func NewDocument(kind, keep string, data func() []byte) *Document {
	return &Document{kind, keep, sync.OnceValue(func() forms {
		plain := data()
		sum := sha256.Sum256(plain)
		return forms{hex.EncodeToString(sum[:16]), string(plain), pack(plain)}
	})}
}

// pack compresses as well as gzip can: it is done once. Writing to memory can't fail.
func pack(plain []byte) string {
	var out bytes.Buffer
	w, _ := gzip.NewWriterLevel(&out, gzip.BestCompression)
	_, _ = w.Write(plain)
	_ = w.Close()
	if out.Len() >= len(plain)*9/10 {
		return ""
	}
	return out.String()
}

// ServeHTTP answers GET and HEAD with the document, or with 304 where the client has it. Each form
// has a tag of its own.
func (d *Document) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h, f := w.Header(), d.forms()
	body, tag := f.plain, f.tag
	if f.packed != "" {
		h.Add("Vary", "Accept-Encoding")
		if TakesGzip(r.Header) {
			h.Set("Content-Encoding", "gzip")
			body, tag = f.packed, f.tag+"-gzip"
			r.Header.Del("Range") // of which bytes would be open to doubt
		}
	}
	h.Set("Content-Type", d.kind)
	h.Set("Cache-Control", d.keep)
	h.Set("ETag", `"`+tag+`"`)
	http.ServeContent(w, r, "", time.Time{}, strings.NewReader(body))
}
