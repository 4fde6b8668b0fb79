package public

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"
	"golang.org/x/sync/singleflight"

	"ubl"
	"ubl/panics"
	"ubl/transport/envelope"
	"ubl/transport/public/commons"
	"ubl/turns"
)

// Prefix is the path below which everything public is.
const Prefix = "/public"

// Options are what a [Handler] needs. Asker and Feed are required.
type Options struct {
	Asker ubl.Asker
	Feed  ubl.Feed
	// Host is the name under which the same is served without [Prefix], "" for none.
	Host string
	// Count counts a read of the address that a request came from, and may refuse it. What it
	// returns counts, and may refuse, that a container has to be asked for it. nil counts nothing.
	Count func(*http.Request) (ask func() error, err error)
	// Now is the clock; nil for the machine's.
	Now func() time.Time
	// Panics catches what panics while others wait for it.
	Panics *panics.Catcher
	// Blobs are the contents of files; nil for none.
	Blobs interface {
		Open(context.Context, ubl.TenantID, ubl.BlobID) (io.ReadSeekCloser, error)
	}
	// Client is the address that a request came from, of which so many downloads are at a time;
	// nil has one count for all.
	Client func(*http.Request) netip.Addr
	// Version is the program's, as agents are told it.
	Version string
}

// Handler serves what is public. Close it.
type Handler struct {
	Options
	copies  copies
	shelves shelves
	flights singleflight.Group
	places  *semaphore.Weighted
	seeking *turns.Turns
	ended   [outcomes]atomic.Int64
	sending sending
	agents  *commons.Server
}

// New makes a handler.
func New(o Options) *Handler {
	if o.Count == nil {
		o.Count = func(*http.Request) (func() error, error) { return func() error { return nil }, nil }
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Handler{
		Options: o, copies: newCopies(), places: semaphore.NewWeighted(maxAsking), seeking: turns.New(maxSeeking, tenantSeeking),
		shelves: shelves{feed: o.Feed, now: o.Now, tenants: map[ubl.TenantID]*tenant{}},
		agents:  commons.New(commons.Options{Version: o.Version, Panics: o.Panics}),
	}
}

// Close ends the subscriptions.
func (h *Handler) Close() { h.shelves.close() }

// Ended is how many reads ended in which way.
func (h *Handler) Ended() map[string]int64 {
	out := make(map[string]int64, outcomes)
	for o, name := range outcomeNames {
		out[name] = h.ended[o].Load()
	}
	return out
}

// Bytes is about how much the copies take.
func (h *Handler) Bytes() int64 { return int64(h.copies.answers.WeightedSize()) }

// Values of headers, shared by all answers and never changed. Copies outside last as doc.go
// says. CORS lets every page read along, and since neither cookies nor the origin matter,
// there is nothing that answers vary by. Headers of good answers are few: a map takes memory for
// each, and collecting that is most of what others feel of reads.
var (
	anyone    = []string{"*"}
	exposed   = []string{"Accept-Ranges, Content-Disposition, Content-Range, Date, ETag, Retry-After, X-Request-Id"}
	sandbox   = []string{"default-src 'none'; sandbox"}
	noSniff   = []string{"nosniff"}
	jsonType  = []string{"application/json"}
	kept      = []string{"public, max-age=30, stale-while-revalidate=30"}
	keptLong  = []string{"public, max-age=300, stale-while-revalidate=3600"} // of a commons, as its clients expect
	keptShort = []string{"public, max-age=5"}
	notKept   = []string{"no-store"}
)

const methods = "GET, HEAD, OPTIONS"

// ServeHTTP implements [http.Handler].
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	head := w.Header()
	head["Access-Control-Allow-Origin"] = anyone
	head["Access-Control-Expose-Headers"] = exposed
	head["Content-Security-Policy"] = sandbox
	head["X-Content-Type-Options"] = noSniff
	a, how, err := h.serve(w, r)
	h.ended[how].Add(1)
	switch {
	case err != nil:
		fail(w, r, err)
	case a != nil:
		a.write(w, r)
	}
}

// serve finds the answer; without one and without an error it has answered.
func (h *Handler) serve(w http.ResponseWriter, r *http.Request) (*answer, outcome, error) {
	ask, err := h.Count(r)
	if err != nil {
		return nil, refused, err
	}
	if path := h.path(r); forAgents(path) {
		if p, err := parse(path, r.URL.RawQuery); err == nil && p.kind == agents {
			how, err := h.serveAgents(w, r, p, ask)
			return nil, how, err
		}
	}
	switch r.Method {
	case http.MethodGet, http.MethodHead:
	case http.MethodOptions:
		preflight(w.Header())
		w.WriteHeader(http.StatusNoContent)
		return nil, asked, nil
	default:
		w.Header().Set("Allow", methods)
		return nil, refused, ubl.Errorf(ubl.CodeMethodNotAllowed, "what is public can be read, and nothing else")
	}
	p, err := parse(h.path(r), r.URL.RawQuery)
	if err != nil {
		if ubl.CodeOf(err) == ubl.CodeValidation {
			return nil, refused, err
		}
		return nil, missing, err
	}
	if p.kind != content {
		a, how, err := h.look(r.Context(), p, ask)
		if err == nil && (p.kind == config || p.kind == overview) {
			w.Header()["Link"] = []string{h.links(r, p)}
		}
		return a, how, err
	}
	p.kind = file
	a, how, err := h.look(r.Context(), p, ask)
	if err != nil {
		return nil, how, err
	}
	if how != fetched { // what is asked for a copy of the record counts already
		if err := ask(); err != nil {
			return nil, refused, err
		}
	}
	if err := h.send(w, r, p.tenant, a); err != nil {
		return nil, failed, err
	}
	return nil, how, nil
}

// At reports whether a request is for the operator's host name for what is public.
func (h *Handler) At(r *http.Request) bool {
	if h.Host == "" {
		return false
	}
	host, _, _ := strings.Cut(r.Host, ":")
	return strings.EqualFold(host, h.Host)
}

// path is that of a place, without what stands before it; "" where that doesn't.
func (h *Handler) path(r *http.Request) string {
	if h.At(r) {
		return r.URL.Path
	}
	path, ok := strings.CutPrefix(r.URL.Path, Prefix)
	if !ok {
		return ""
	}
	return path
}

// preflight lets pages ask whether a copy of theirs is still right.
func preflight(head http.Header) {
	head.Set("Allow", methods)
	head.Set("Access-Control-Allow-Methods", methods)
	head.Set("Access-Control-Allow-Headers", "If-None-Match, If-Range, Range, X-Request-Id")
	head.Set("Access-Control-Max-Age", "86400")
}

// write answers with a copy or, where the client has the same, says so.
func (a *answer) write(w http.ResponseWriter, r *http.Request) {
	head := w.Header()
	head["Cache-Control"] = a.kept
	head["Etag"] = a.etag
	if envelope.HasTag(r.Header["If-None-Match"], a.etag[0]) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	head["Content-Type"] = jsonType
	head["Content-Length"] = a.length
	w.WriteHeader(http.StatusOK)
	if r.Method != http.MethodHead {
		_, _ = w.Write(a.body) // a client that has gone is no error of ours
	}
}

// refusal is the body of an error: what other errors have, but for the id and the time of
// the request, which are in the headers.
type refusal struct {
	Error struct {
		Code    ubl.Code          `json:"code"`
		Message string            `json:"message"`
		Details map[string]string `json:"details,omitempty"`
	} `json:"error"`
}

// fail answers with an error. That nothing is there may be kept for a moment, no other error.
func fail(w http.ResponseWriter, r *http.Request, err error) {
	e := ubl.AsError(err)
	if e.Code == ubl.CodeRateLimited || e.Code == ubl.CodeOverloaded {
		envelope.Hold(r.Context())
	}
	var out refusal
	out.Error.Code, out.Error.Message, out.Error.Details = e.Code, e.Message, e.Details
	body, failed := json.Marshal(out)
	if failed != nil {
		panic(failed) // strings alone
	}
	head, status := w.Header(), e.Code.Status()
	head["Cache-Control"] = notKept
	if e.Code == ubl.CodeNotFound {
		head["Cache-Control"] = keptShort
	}
	envelope.SetHints(head, status, e.RetryAfter())
	head["Content-Type"] = jsonType
	head.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	if r.Method != http.MethodHead {
		_, _ = w.Write(body)
	}
}
