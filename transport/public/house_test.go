package public

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"sync"
	"testing"

	"ubl"
)

// house stands for the containers of all tenants: what they show to anyone, and what is told
// of them. It counts what it is asked.
type house struct {
	mu     sync.Mutex
	shown  map[ubl.Name]*shown
	failed error         // what every question ends with; nil for an answer
	held   chan struct{} // what questions wait for, once they know their answer; nil for nothing
	asked  []string
	sinks  map[ubl.Name]map[int]func(ubl.Publication)
	serial int
	seq    map[ubl.Name]int64 // of each ledger
	access ubl.KnowledgeAccess
}

// shown is a container that shows documents to anyone: each is its versions.
type shown struct {
	events int64
	docs   map[ubl.DocumentID][]string
	files  map[ubl.FileID]ubl.PublicFile
}

// handbook is a public container of the house, with a document of two versions.
const handbook, rules = "/public/t:acme/k:handbook", "d:rules"

// plan is a file of the handbook: a page, if a browser would believe its author.
const plan, planContent = "f:plan", "<script>alert(1)</script>"

func newHouse() *house {
	h := &house{shown: map[ubl.Name]*shown{}, sinks: map[ubl.Name]map[int]func(ubl.Publication){}, seq: map[ubl.Name]int64{}, access: ubl.KnowledgeAccess{Search: ubl.TierOpen, Entries: ubl.TierOpen}}
	h.shown["t:acme|k:handbook"] = &shown{events: 7, docs: map[ubl.DocumentID][]string{rules: {"Be kind.", "Be <b>kinder</b>."}},
		files: map[ubl.FileID]ubl.PublicFile{plan: {FileID: plan, Name: "plan <1>.html", Type: "text/html", Bytes: int64(len(planContent)), SHA256: ubl.BlobIDOf(sha256.Sum256([]byte(planContent)))}}}
	return h
}

func (h *house) Ask(ctx context.Context, to ubl.Name, cmd ubl.Command) (any, error) {
	answer, held, err := h.decide(to, cmd)
	if held != nil {
		select {
		case <-held:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return answer, err
}

func (h *house) decide(to ubl.Name, cmd ubl.Command) (any, chan struct{}, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.asked = append(h.asked, strings.TrimPrefix(fmt.Sprintf("%T", cmd), "ubl."))
	s := h.shown[to]
	if h.failed != nil {
		return nil, h.held, h.failed
	}
	if s == nil {
		return nil, h.held, ubl.Errorf(ubl.CodeNotFound, "there is no such container")
	}
	tenant, container := to.Group().Tenant, ubl.ContainerID(to.Local())
	switch cmd := cmd.(type) {
	case ubl.LookPublic:
		return &ubl.PublicContainer{ContainerID: container, TenantID: tenant, Kind: "container", Name: "Handbook", Documents: int64(len(s.docs)), Events: s.events}, h.held, nil
	case ubl.ListPublic:
		l := &ubl.PublicDocuments{Documents: []ubl.PublicDocument{}, Events: s.events, Listed: cmd.After == "" || s.docs[cmd.After] != nil}
		for id := range s.docs {
			l.Documents = append(l.Documents, ubl.PublicDocument{DocumentID: id, ContainerID: container, TenantID: tenant})
		}
		return l, h.held, nil
	case ubl.ReadPublic:
		versions := s.docs[cmd.DocumentID]
		n := cmd.Version
		if n == 0 {
			n = int64(len(versions))
		}
		if n < 1 || n > int64(len(versions)) {
			return nil, h.held, ubl.Errorf(ubl.CodeNotFound, "there is no such document")
		}
		return &ubl.PublicDocument{DocumentID: cmd.DocumentID, ContainerID: container, TenantID: tenant, Content: versions[n-1], Version: n, Events: s.events}, h.held, nil
	}
	switch cmd := cmd.(type) {
	case ubl.ListPublicFiles:
		l := &ubl.PublicFiles{Files: []ubl.PublicFile{}, Events: s.events, Listed: cmd.After == "" || s.files[cmd.After].FileID != ""}
		for _, f := range s.files {
			l.Files = append(l.Files, f)
		}
		return l, h.held, nil
	case ubl.ReadPublicFile:
		f, ok := s.files[cmd.FileID]
		if f.Events = s.events; !ok {
			return nil, h.held, ubl.Errorf(ubl.CodeNotFound, "there is no such file")
		}
		return &f, h.held, nil
	case ubl.SearchPublic:
		found := &ubl.PublicHits{Documents: []ubl.PublicHit{}, Events: s.events}
		for id, versions := range s.docs {
			if strings.Contains(versions[len(versions)-1], cmd.Query) {
				found.Documents = append(found.Documents, ubl.PublicHit{PublicDocument: ubl.PublicDocument{DocumentID: id}, Excerpt: ubl.Excerpt{Snippet: cmd.Query, Under: conditions(cmd.DocumentQuery)}})
			}
		}
		return found, h.held, nil
	}
	switch cmd := cmd.(type) {
	case ubl.ListKnowledge:
		l := &ubl.KnowledgeList{Data: []ubl.Knowledge{}, Total: 1, Offset: cmd.Offset, Limit: cmd.Limit, Events: s.events}
		if cmd.Type != "story" && cmd.Offset == 0 {
			l.Data = append(l.Data, cells)
		}
		return l, h.held, nil
	case ubl.ReadKnowledge:
		if cmd.DocumentKey != (ubl.DocumentKey{Type: cells.ContentType, ID: cells.ID}) {
			return nil, h.held, ubl.Errorf(ubl.CodeNotFound, "there is no such document")
		}
		return &ubl.KnowledgeFound{Data: cells, Events: s.events}, h.held, nil
	case ubl.OverviewKnowledge:
		return &ubl.KnowledgeOverview{Name: "Handbook", Total: 1, Types: []ubl.KnowledgeCount{{Name: "pattern", Count: 1}}, Groups: []ubl.KnowledgeCount{{Name: "governance", Count: 1}},
			Releases: []ubl.KnowledgeCount{}, Tags: []ubl.KnowledgeCount{}, Access: h.access, Events: s.events}, h.held, nil
	case ubl.SearchKnowledge:
		return &ubl.KnowledgeHits{Results: []ubl.KnowledgeHit{{ID: "cells", ContentType: "pattern", Title: "Cells", Excerpt: ubl.Excerpt{
			Snippet: fmt.Sprint(cmd.Any, " ", cmd.Query, " ", conditions(cmd.DocumentQuery), cmd.Limit)}}}, Events: s.events}, h.held, nil
	}
	panic(fmt.Sprintf("asked %T", cmd))
}

// cells is a published document of the handbook.
var cells = ubl.Knowledge{ID: "cell governance", ContentType: "pattern", Path: "patterns/cell governance.md", Title: "Cells", Metadata: []byte(`{"group":"governance"}`),
	Content: new("Be small."), DocumentID: "d:cells", Version: 1, ContentHash: "b:1"}

// Subscribe implements [ubl.Feed].
func (h *house) Subscribe(to ubl.Name, sink func(ubl.Publication), _ ...string) (cancel func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.serial++
	n := h.serial
	if h.sinks[to] == nil {
		h.sinks[to] = map[int]func(ubl.Publication){}
	}
	h.sinks[to][n] = sink
	return func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		delete(h.sinks[to], n)
	}
}

func (h *house) listeners() (n int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, sinks := range h.sinks {
		n += len(sinks)
	}
	return n
}

// change is an act in a container, which is told of where told says so.
func (h *house) change(of ubl.Name, told bool, change func(*shown)) {
	h.mu.Lock()
	if s := h.shown[of]; s != nil {
		s.events++
		change(s)
	}
	h.mu.Unlock()
	if told {
		h.commit(of, ubl.Event{Kind: ubl.EventContainerChanged, Payload: ubl.ContainerPayload(ubl.ContainerID(of.Local()))})
	}
}

// commit is one in the ledger of whose the actor is.
func (h *house) commit(of ubl.Name, events ...ubl.Event) {
	ledger := of.Group().Ledger()
	h.mu.Lock()
	h.seq[ledger] += 2
	seq := h.seq[ledger]
	var sinks []func(ubl.Publication)
	for _, sink := range h.sinks[ledger] {
		sinks = append(sinks, sink)
	}
	h.mu.Unlock()
	for _, sink := range sinks {
		sink(ubl.Publication{First: seq - 1, Last: seq, Events: events})
	}
}

// wasAsked checks what the containers were asked since it was last called.
func (h *house) wasAsked(t *testing.T, when string, want ...string) {
	t.Helper()
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(want)+len(h.asked) > 0 && !reflect.DeepEqual(h.asked, want) {
		t.Errorf("%s: the containers were asked %q, want %q", when, h.asked, want)
	}
	h.asked = nil
}

// get reads a path, with headers as name and value in turn.
func get(h http.Handler, path string, header ...string) *httptest.ResponseRecorder {
	return do(h, http.MethodGet, path, header...)
}

func do(h http.Handler, method, path string, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, path, nil)
	for i := 0; i < len(header); i += 2 {
		if header[i] == "Host" {
			r.Host = header[i+1]
			continue
		}
		r.Header.Add(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// serve is a handler over a house, whose copies of the handbook and of its document are there.
func serve(t *testing.T, house *house) *Handler {
	h := New(Options{Asker: house, Feed: house})
	t.Cleanup(h.Close)
	for range 2 { // the first has the house listened to
		for _, path := range []string{handbook, handbook + "/documents", handbook + "/documents/" + rules} {
			if w := get(h, path); w.Code != http.StatusOK {
				t.Fatalf("%s: %d %s", path, w.Code, w.Body)
			}
		}
	}
	house.mu.Lock()
	house.asked = nil
	house.mu.Unlock()
	return h
}

// Open implements what a [Handler] reads contents from.
func (h *house) Open(_ context.Context, t ubl.TenantID, id ubl.BlobID) (io.ReadSeekCloser, error) {
	if t != "t:acme" || id != ubl.BlobIDOf(sha256.Sum256([]byte(planContent))) {
		return nil, ubl.ErrNoBlob()
	}
	return struct {
		io.ReadSeeker
		io.Closer
	}{bytes.NewReader([]byte(planContent)), io.NopCloser(nil)}, nil
}

// conditions are those of a query, "" for none.
func conditions(q ubl.DocumentQuery) string {
	if !q.Any {
		return ""
	}
	var where []string
	for _, c := range q.Where {
		where = append(where, c.Name+"="+c.Value)
	}
	return strings.Join(append(where, q.From, q.To), " ")
}
