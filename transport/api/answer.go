package api

import (
	"bytes"
	"cmp"
	"encoding/json"
	"net/http"
	"strconv"
	"sync"

	"ubl/transport/envelope"
)

// answer writes v, which must marshal to an object, and adds what every answer
// has. Raw JSON inside v (messages, atoms) stays byte for byte as it is.
func answer(w http.ResponseWriter, r *http.Request, status int, v any) {
	operation{}.answer(w, r, status, v)
}

// answer does so, and says where what was made is, and which version this shows. Who has
// that version already gets 304.
func (o operation) answer(w http.ResponseWriter, r *http.Request, status int, v any) {
	buf := takeBuffer()
	defer giveBuffer(buf)
	enc := json.NewEncoder(buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		envelope.WriteError(w, r, err)
		return
	}
	if at := cmp.Or(o.location, locations[o.id]); at != "" && status == http.StatusCreated {
		w.Header().Set("Location", locate(at, r, buf.Bytes()))
	}
	b := bytes.TrimSuffix(buf.Bytes(), []byte("}\n"))
	if tag := versions[o.id].tag(v, b); tag != "" {
		w.Header().Set("ETag", tag)
		reads := r.Method == http.MethodGet || r.Method == http.MethodHead
		if reads && envelope.HasTag(r.Header["If-None-Match"], tag) {
			w.WriteHeader(http.StatusNotModified)
			return
		}
	}
	finish(w, r, status, b)
}

// finish writes an object that lacks its end: it adds request_id and
// server_time, in one write.
func finish(w http.ResponseWriter, r *http.Request, status int, b []byte) {
	req := envelope.RequestOf(r.Context())
	if b[len(b)-1] != '{' {
		b = append(b, ',')
	}
	b = append(b, `"request_id":"`...)
	b = append(b, req.ID...) // has a pattern that needs no escaping
	b = append(b, `","server_time":"`...)
	b = append(b, req.At.String()...)
	b = append(b, `"}`...)

	h := w.Header()
	h["Content-Type"] = jsonType
	h["Content-Length"] = []string{strconv.Itoa(len(b))}
	w.WriteHeader(status)
	// A client that has gone is no error of ours.
	_, _ = w.Write(b)
}

// maxPooled bounds what a buffer may hold and still be kept.
const maxPooled = 64 << 10

var buffers = sync.Pool{New: func() any { return bytes.NewBuffer(make([]byte, 0, 4096)) }}

func takeBuffer() *bytes.Buffer { return buffers.Get().(*bytes.Buffer) }

func giveBuffer(b *bytes.Buffer) {
	if b.Cap() <= maxPooled {
		b.Reset()
		buffers.Put(b)
	}
}
