//go:build linux

package chaos

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
)

// known is what is known of a document now.
func (w *workspace) known(b *book) book {
	w.mu.Lock()
	defer w.mu.Unlock()
	return *b
}

// remove deletes a document. Somebody else may have.
func (w *workspace) remove(b *book, key string, draw *rand.Rand) {
	w.mu.Lock()
	b.doomed++
	w.mu.Unlock()
	_, err := w.act("DELETE", documents+"/"+b.id, key, patience(draw), nil)
	w.mu.Lock()
	defer w.mu.Unlock()
	s, refused := errors.AsType[*statusError](err)
	switch {
	case err == nil:
		b.deleted = true
		w.owner.tally.deletions.Add(1)
	case passing(err), refused && s.status == http.StatusNotFound && b.doomed > 1: // the other one, who may have come later, was first
	default:
		w.blame("the deletion of %s was refused: %v", b.id, err)
	}
}

// read looks at a document through one node. It sees what was acknowledged
// before, or something newer. A read that fails says nothing, and gives false.
func (w *workspace) read(b *book, draw *rand.Rand) bool {
	members := w.owner.world.members()
	n := members[draw.IntN(len(members))]
	before := w.known(b)
	var out struct {
		Document *version `json:"document"`
	}
	err := w.owner.try(w.owner.world.life, n, "GET", documents+"/"+b.id, "", nil, &out)
	w.mu.Lock()
	defer w.mu.Unlock()
	switch v := out.Document; {
	case err != nil:
		if !passing(err) {
			w.blame("a read of %s through %s was refused: %v", b.id, n, err)
		}
		return false
	case v == nil && b.doomed > 0:
	case v == nil || before.deleted || v.Version < before.newest || !v.has(v.Content):
		w.blame("a read through %s saw %+v, known before was %+v", n, v, before)
	default:
		if was, again := b.seen[v.Version]; again && was != v.ContentHash {
			w.blame("reads of version %d of %s saw both %s and %s", v.Version, b.id, was, v.ContentHash)
		}
		b.seen[v.Version] = v.ContentHash
	}
	w.owner.tally.reads.Add(1)
	return true
}

// find wants a search to find the document by a word in it, and no other.
func (w *workspace) find(v *version, word string) {
	ctx, cancel := context.WithTimeout(w.owner.world.life, deadline)
	defer cancel()
	var out hits
	if err := w.owner.ask(ctx, "GET", searchFor(word), "", nil, &out); err != nil {
		w.blame("a search for %s failed: %v", word, err)
	} else if len(out.Documents) != 1 || out.Documents[0].DocumentID != v.DocumentID {
		w.blame("a search for %s, acknowledged as %s, found %+v", word, v.DocumentID, out.Documents)
	}
	w.owner.tally.searches.Add(1)
}

type hits struct {
	Documents []version `json:"documents"`
}

func searchFor(word string) string {
	return "/api/workspaces/w:general/search?limit=100&query=" + word
}
