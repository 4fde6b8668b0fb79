package api

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strconv"
	"sync"

	"ubl/transport/envelope"
)

// static is a document that never changes while the program runs.
type static struct {
	kind string
	made func() forms
}

// forms are a document's bytes, compressed too where that is shorter, and what tells them
// from any other version.
type forms struct {
	etag       string
	data, gzip []byte
}

// newStatic is a document that is made when it is first asked for.
func newStatic(kind string, data func() []byte) *static {
	return &static{kind, sync.OnceValue(func() forms { return formsOf(data()) })}
}

func formsOf(data []byte) forms {
	sum := sha256.Sum256(data)
	f := forms{etag: hex.EncodeToString(sum[:8]), data: data}
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	_, _ = w.Write(data) // a buffer takes everything
	_ = w.Close()
	if out.Len() < len(data) {
		f.gzip = out.Bytes()
	}
	return f
}

// serve answers with the document, or with 304 where the client has it. Each form has a tag of
// its own.
func (s *static) serve(w http.ResponseWriter, r *http.Request) {
	h, doc := w.Header(), s.made()
	data, etag := doc.data, `"`+doc.etag+`"`
	if doc.gzip != nil {
		h.Add("Vary", "Accept-Encoding")
		if envelope.TakesGzip(r.Header) {
			data, etag = doc.gzip, `"`+doc.etag+`-gzip"`
			h.Set("Content-Encoding", "gzip")
		}
	}
	h.Set("Cache-Control", "no-cache") // to be kept, and asked about
	h.Set("ETag", etag)
	if envelope.HasTag(r.Header["If-None-Match"], etag) {
		h.Del("Content-Encoding")
		w.WriteHeader(http.StatusNotModified)
		return
	}
	h.Set("Content-Type", s.kind)
	h.Set("Content-Length", strconv.Itoa(len(data)))
	w.WriteHeader(http.StatusOK)
	// A client that has gone is no error of ours.
	_, _ = w.Write(data)
}
