//go:build linux

package chaos

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"

	"ubl"
)

// workspace is w:general of a tenant under load, and all that its clients
// learned.
type workspace struct {
	owner *client
	where string
	witness

	mu    sync.Mutex
	tried map[string]*wording // by content hash, once it is known
	open  map[string]*wording // by content, before that
	books []*book             // in the order in which clients learned of them
	byID  map[string]*book
}

// wording is a text that somebody tried to store.
type wording struct {
	word    string // is in no other
	refused bool   // and so must not be there
}

// book is what clients know of a document.
type book struct {
	id      string
	acked   map[int64]version
	seen    map[int64]string // the content hash that reads saw of a version
	newest  int64            // of those acknowledged
	doomed  int              // so many have tried to delete it
	deleted bool             // and that was acknowledged
}

// version is what the checks look at in a document.
type version struct {
	DocumentID  string   `json:"document_id"`
	Title       string   `json:"title"`
	Content     string   `json:"content"`
	ContentHash string   `json:"content_hash"`
	Salt        ubl.Salt `json:"salt"`
	Version     int64    `json:"version"`
	Receipt     struct {
		Seq int64  `json:"seq"`
		CID string `json:"cid"`
	} `json:"receipt"`
}

const documents = "/api/workspaces/w:general/documents"

func newWorkspace(t *tenant) *workspace {
	return &workspace{witness: witness{world: t.owner.world}, owner: t.owner, where: t.id + " w:general", tried: make(map[string]*wording), open: make(map[string]*wording), byID: make(map[string]*book)}
}

// writer writes, changes, reads and deletes documents until told to stop.
// Several do so with the same ones.
func (w *workspace) writer(ctx context.Context, who int, draw *rand.Rand, pace time.Duration) {
	again := w.world.backoff()
	for i := 0; ctx.Err() == nil; i++ {
		b := w.pick(draw)
		switch what := draw.IntN(20); {
		case b == nil || what < 4:
			w.create(who, i, draw)
		case what < 5:
			w.remove(b, fmt.Sprintf("remove-%d-%d", who, i), draw)
		case what < 10:
			if !w.read(b, draw) {
				again.wait(ctx)
				continue
			}
			again.worked()
		default:
			w.update(b, who, i, draw)
		}
		pause(ctx, between(draw, pace/2, pace))
	}
}

// pick draws one of the newest documents, seldom a deleted one; nil where there
// is none.
func (w *workspace) pick(draw *rand.Rand) *book {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.books) == 0 {
		return nil
	}
	b := w.books[len(w.books)-1-draw.IntN(min(len(w.books), 8))]
	if b.doomed > 0 && draw.IntN(4) > 0 {
		return nil
	}
	return b
}

// text makes one that is unlike any other.
func (w *workspace) text(who, i int) (content string, words *wording) {
	words = &wording{word: fmt.Sprintf("w%dn%d", who, i)}
	content = "what a document says: " + words.word
	w.mu.Lock()
	defer w.mu.Unlock()
	w.open[content] = words
	return content, words
}

// group is the title of some documents, so that one search finds them all.
func group(who, i int) string { return fmt.Sprintf("g%dn%d", who, i/50) }

// act does something until it is done, refused or patience ends; only the last
// leaves it open. A body bears the key itself.
func (w *workspace) act(method, path, key string, patience time.Duration, body map[string]any) (*version, error) {
	ctx, cancel := context.WithTimeout(w.owner.world.life, patience)
	defer cancel()
	in := any(nil)
	if body != nil {
		body["client_request_id"], in, key = key, body, ""
	}
	var out struct {
		Document version `json:"document"`
	}
	err := w.owner.ask(ctx, method, path, key, in, &out)
	if err != nil && passing(err) && patience == deadline {
		w.blame("%s %v wasn't done within %s (%s): %v", path, body, patience, w.owner.world.trouble(), err)
	}
	return &out.Document, err
}

// create writes a new document. Nobody else knows of it before its text was
// looked for.
func (w *workspace) create(who, i int, draw *rand.Rand) {
	content, words := w.text(who, i)
	v, err := w.act("POST", documents, "create-"+words.word, patience(draw), map[string]any{"title": group(who, i), "content": content})
	switch {
	case err == nil:
		w.took(v, content, v.Version == 1)
		if draw.IntN(3) == 0 {
			w.find(v, words.word)
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		w.know(v, content)
		b := &book{id: v.DocumentID, acked: map[int64]version{1: *v}, seen: make(map[int64]string), newest: 1}
		w.books, w.byID[b.id] = append(w.books, b), b
	case !passing(err):
		w.blame("%q was refused: %v", content, err)
	}
}

// took counts a version, and wants its acknowledgement to tell of it.
func (w *workspace) took(v *version, content string, fits bool) {
	w.owner.tally.versions.Add(1)
	if !fits || !v.has(content) || v.Content != content {
		w.blame("%q was acknowledged as %+v", content, *v)
	}
}

// has tells whether the version's hash is a commitment to a content.
func (v *version) has(content string) bool {
	return v.ContentHash == v.Salt.CommitText("content", content)
}

// know keeps by its hash what is known to be stored.
func (w *workspace) know(v *version, content string) {
	w.tried[v.ContentHash] = w.open[content]
	delete(w.open, content)
}

// recognize finds out which of the texts that were tried the stored versions have: a hash
// is known by its salt alone.
func (w *workspace) recognize(s *shelf) {
	for _, versions := range s.versions {
		for _, v := range versions {
			if w.tried[v.ContentHash] != nil {
				continue
			}
			for content := range w.open {
				if v.has(content) {
					w.know(&v, content)
					break
				}
			}
		}
	}
}

// update writes a document's next version, sometimes on condition that nobody
// else has. Another version, or none any more, refuses it for good.
func (w *workspace) update(b *book, who, i int, draw *rand.Rand) {
	content, words := w.text(who, i)
	body := map[string]any{"content": content}
	before := w.known(b).newest
	follows := draw.IntN(3) == 0
	if follows {
		body["if_version"] = before
	}
	v, err := w.act("PATCH", documents+"/"+b.id, "update-"+words.word, patience(draw), body)
	w.mu.Lock()
	defer w.mu.Unlock()
	s, refused := errors.AsType[*statusError](err)
	switch {
	case err == nil:
		w.took(v, content, v.Version == before+1 || v.Version > before && !follows)
		w.know(v, content)
		b.acked[v.Version] = *v
		b.newest = max(b.newest, v.Version)
	case passing(err):
	case refused && (s.status == http.StatusConflict && follows || s.status == http.StatusNotFound && b.doomed > 0):
		words.refused = true
	case refused && s.status == http.StatusConflict && b.doomed > 0: // it was written, and is gone with the document
	default:
		w.blame("%q was refused: %v", content, err)
	}
}
