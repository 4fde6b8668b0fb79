//go:build linux

package chaos

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
)

// shelf is what is stored of a workspace when everybody has finished.
type shelf struct {
	listed   []version            // by id
	versions map[string][]version // by document; none of what was deleted
	newest   map[string]*version  // what get answers, nil where it is none
}

// final reads the workspace through every node; they must agree.
func (w *workspace) final(ctx context.Context, v *verdicts) (*shelf, error) {
	s := &shelf{versions: make(map[string][]version), newest: make(map[string]*version)}
	by := make(map[string]string)
	for _, n := range w.owner.world.members() {
		var err error
		if s.listed, err = w.list(ctx, n); err != nil {
			return nil, err
		}
		by[n.id] = hashOf(s.listed)
	}
	v.add("nodes agree", w.where, checkEqual("the list of documents", by))
	ids := maps.Clone(w.byID)
	for _, d := range s.listed {
		ids[d.DocumentID] = nil
	}
	for _, id := range slices.Sorted(maps.Keys(ids)) {
		var one struct {
			Document *version `json:"document"`
		}
		var err error
		if s.versions[id], err = w.versions(ctx, id); err != nil && !missing(err) {
			return nil, err
		}
		if err := w.owner.ask(ctx, "GET", documents+"/"+id, "", nil, &one); err != nil && !missing(err) {
			return nil, err
		}
		s.newest[id] = one.Document
	}
	return s, nil
}

// missing tells whether the server says that there is no such document.
func missing(err error) bool {
	s, refused := errors.AsType[*statusError](err)
	return refused && s.status == http.StatusNotFound
}

// versions reads all pages of a document's versions.
func (w *workspace) versions(ctx context.Context, id string) (all []version, err error) {
	for cursor := ""; ; {
		var page struct {
			Versions   []version `json:"versions"`
			NextCursor *int64    `json:"next_cursor"`
		}
		if err := w.owner.ask(ctx, "GET", documents+"/"+id+"/versions?limit=100"+cursor, "", nil, &page); err != nil {
			return nil, err
		}
		all = append(all, page.Versions...)
		if page.NextCursor == nil {
			return all, nil
		}
		cursor = "&cursor=" + strconv.FormatInt(*page.NextCursor, 10)
	}
}

// list reads all pages of the workspace's documents through one node.
func (w *workspace) list(ctx context.Context, n *node) (all []version, err error) {
	for cursor := ""; ; {
		var page struct {
			Documents  []version `json:"documents"`
			NextCursor *string   `json:"next_cursor"`
		}
		path := documents + "?limit=100" + cursor
		if err := w.owner.insist(ctx, n, path, &page); err != nil {
			return nil, err
		}
		all = append(all, page.Documents...)
		if page.NextCursor == nil {
			return all, nil
		}
		cursor = "&cursor=" + *page.NextCursor
	}
}

// verify checks what the clients of the workspace know against what is stored.
func (w *workspace) verify(ctx context.Context, v *verdicts) {
	w.mu.Lock()
	defer w.mu.Unlock()
	v.add("clients", w.where, w.testimony())
	s, err := w.final(ctx, v)
	v.fail("documents", w.where, err)
	if err != nil {
		return
	}
	w.recognize(s)
	v.add("documents", w.where, checkVersions(w.tried, s))
	v.add("documents", w.where, checkBooks(w.byID, s))
	for _, n := range w.owner.world.members() {
		wrong, err := w.searches(ctx, n, s)
		v.fail("search", w.where, err)
		v.add("search", w.where+" through "+n.id, wrong)
	}
}

// searches looks for all documents through one node, for those of a title at a
// time, and for some by a word of their newest text, and of the one before.
func (w *workspace) searches(ctx context.Context, n *node, s *shelf) (wrong []string, err error) {
	want := make(map[string][]version)
	for i, d := range s.listed {
		want[d.Title] = append(want[d.Title], d)
		if i%10 > 0 {
			continue
		}
		for _, v := range s.versions[d.DocumentID] {
			if words := w.tried[v.ContentHash]; words != nil && v.Version >= d.Version-1 {
				want[words.word] = nil
			}
		}
		if words := w.tried[d.ContentHash]; words != nil {
			want[words.word] = []version{d}
		}
	}
	for _, word := range slices.Sorted(maps.Keys(want)) {
		var found hits
		if err := w.owner.insist(ctx, n, searchFor(word), &found); err != nil {
			return nil, fmt.Errorf("a search for %s failed: %w", word, err)
		}
		w.owner.tally.searches.Add(1)
		wrong = append(wrong, checkFound(word, found.Documents, want[word])...)
	}
	return first(wrong), nil
}
