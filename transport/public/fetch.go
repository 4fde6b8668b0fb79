package public

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"ubl"
)

const (
	// askTimeout bounds a question to a container.
	askTimeout = 5 * time.Second
	// maxAsking bounds the questions of a node that are under way, maxSeeking the searches among them and tenantSeeking
	// those of one tenant: they take longest, up to askTimeout where an index is behind.
	maxAsking, maxSeeking, tenantSeeking = 32, 16, 8
	// absentAfter is how long it takes at least to be told that nothing is there. A private
	// container may be in memory and one that never was isn't: who measures mustn't learn which.
	absentAfter = 20 * time.Millisecond
)

// outcome is how a read ended, for those who count.
type outcome int

const (
	cached  outcome = iota // by a copy that is known to be right
	checked                // by a copy, after a look at its container's number of events
	fetched                // by the container
	missing                // there is nothing that is public
	asked                  // what may be asked (OPTIONS)
	refused                // a limit, a method or a query
	failed                 // the container can't be asked
	outcomes
)

var outcomeNames = [outcomes]string{"cached", "checked", "fetched", "missing", "options", "refused", "failed"}

// look finds the answer for a place. may says whether the container may be asked for more
// than whether a copy is right.
func (h *Handler) look(ctx context.Context, p place, may func() error) (*answer, outcome, error) {
	now := h.Now()
	a, ok := h.copies.answers.GetIfPresent(p)
	if ok && a.right(now) {
		return a, cached, nil
	}
	if no, ok := h.copies.absent.GetIfPresent(p); ok && no.holds(now) {
		return nil, missing, errNothing
	}
	sh := h.shelves.of(p)
	if ok && a.shelf == sh {
		if err := h.check(ctx, p, sh); err != nil {
			return nil, outcomeOf(err), err
		}
		if a.right(h.Now()) {
			return a, checked, nil
		}
	}
	if err := may(); err != nil {
		return nil, refused, err
	}
	a, err := h.fetch(ctx, p, sh)
	if err == nil {
		return a, fetched, nil
	}
	if how := outcomeOf(err); how != missing {
		return nil, how, err
	}
	select {
	case <-time.After(absentAfter - h.Now().Sub(now)):
	case <-ctx.Done():
	}
	return nil, missing, err
}

// right reports whether the container is known to have as many events as it had when the
// copy was made.
func (a *answer) right(now time.Time) bool {
	n, ok := a.shelf.events(now)
	return ok && n == a.events
}

func outcomeOf(err error) outcome {
	if ubl.CodeOf(err) == ubl.CodeNotFound {
		return missing
	}
	return failed
}

// check asks the container how many events it has, where the shelf doesn't know.
func (h *Handler) check(ctx context.Context, p place, sh *shelf) error {
	if _, ok := sh.events(h.Now()); ok {
		return nil
	}
	heard := sh.heard.Load()
	container := place{tenant: p.tenant, container: p.container}
	_, err := h.once(ctx, container, "check "+key(container, heard), func(ctx context.Context) (*answer, error) {
		asked := h.Now()
		c, err := ubl.Ask[*ubl.PublicContainer](ctx, h.Asker, sh.name, ubl.LookPublic{})
		if ubl.CodeOf(err) == ubl.CodeNotFound {
			sh.learn(gone, heard, asked)
			return nil, nil // a place in it is looked for once more, and is absent
		}
		if err == nil {
			sh.learn(c.Events, heard, asked)
		}
		return nil, err
	})
	return err
}

// fetch asks the container, and keeps a copy of what it says.
func (h *Handler) fetch(ctx context.Context, p place, sh *shelf) (*answer, error) {
	heard := int64(unheard)
	if sh != nil {
		heard = sh.heard.Load()
	}
	return h.once(ctx, p, "fetch "+key(p, heard), func(ctx context.Context) (*answer, error) {
		asked := h.Now()
		body, events, keep, err := h.read(ctx, p)
		switch {
		case ubl.CodeOf(err) == ubl.CodeNotFound:
			h.copies.absent.Set(p, &absence{shelf: sh, heard: heard, until: asked.Add(lease)})
			return nil, errNothing
		case err != nil:
			return nil, err
		}
		if sh == nil { // from here on it is listened to; what came before nobody has heard
			h.shelves.put(p)
			return newAnswer(p.kind, nil, events, body), nil
		}
		sh.learn(events, heard, asked)
		a := newAnswer(p.kind, sh, events, body)
		if keep {
			h.copies.answers.Set(p, a)
		}
		return a, nil
	})
}

// key tells questions apart. One that is asked after something was heard is another: its
// answer must have what was heard of.
func key(p place, heard int64) string {
	return fmt.Sprint(p.name(), "|", p.kind, "|", p.document, "|", p.version, "|", p.file, "|", strconv.Quote(p.query), "|", p.key, "#", strconv.FormatInt(heard, 10))
}

// once asks once for all who want to know the same now. The question goes on if the one who
// began it leaves.
func (h *Handler) once(ctx context.Context, p place, key string, ask func(context.Context) (*answer, error)) (*answer, error) {
	flight := h.flights.DoChan(key, func() (any, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), askTimeout)
		defer cancel()
		give, err := h.take(ctx, p)
		if err != nil {
			return (*answer)(nil), err
		}
		defer give()
		var a *answer
		err = h.Panics.Try("a look at what is public", func() (err error) {
			a, err = ask(ctx)
			return err
		})
		return a, err
	})
	select {
	case got := <-flight:
		return got.Val.(*answer), got.Err
	case <-ctx.Done():
		return nil, ubl.AsError(ctx.Err())
	}
}

// take waits for a place among the questions, a search first for one among the searches.
func (h *Handler) take(ctx context.Context, p place) (give func(), err error) {
	seeks := p.kind == search || p.kind == entrySearch
	if seeks && h.seeking.Take(ctx, p.tenant) != nil {
		return nil, errOverloaded()
	}
	rest := func() {
		if seeks {
			h.seeking.Give(p.tenant)
		}
	}
	if h.places.Acquire(ctx, 1) != nil {
		rest()
		return nil, errOverloaded()
	}
	return func() {
		h.places.Release(1)
		rest()
	}, nil
}

func errOverloaded() error {
	return ubl.Errorf(ubl.CodeOverloaded, "too much that is public is read at the moment").Later(time.Second)
}

// read is what the container says of a place, as bytes, and how many events it has. A page
// that doesn't begin behind a document isn't kept: there are as many as one can think of.
func (h *Handler) read(ctx context.Context, p place) (body []byte, events int64, keep bool, err error) {
	if p.kind.ofKnowledge() {
		return h.readKnowledge(ctx, p)
	}
	var said any
	switch p.kind {
	case config:
		c, failed := ubl.Ask[*ubl.PublicContainer](ctx, h.Asker, p.name(), ubl.LookPublic{})
		if err = failed; err == nil {
			said, events, keep = c, c.Events, true
		}
	case list:
		l, failed := ubl.Ask[*ubl.PublicDocuments](ctx, h.Asker, p.name(), ubl.ListPublic{After: p.document})
		if err = failed; err == nil {
			said, events, keep = l, l.Events, l.Listed
		}
	case document:
		d, failed := ubl.Ask[*ubl.PublicDocument](ctx, h.Asker, p.name(), ubl.ReadPublic{DocumentID: p.document, Version: p.version})
		if err = failed; err == nil {
			said, events, keep = d, d.Events, true
		}
	case files:
		l, failed := ubl.Ask[*ubl.PublicFiles](ctx, h.Asker, p.name(), ubl.ListPublicFiles{After: p.file})
		if err = failed; err == nil {
			said, events, keep = l, l.Events, l.Listed
		}
	case file:
		f, failed := ubl.Ask[*ubl.PublicFile](ctx, h.Asker, p.name(), ubl.ReadPublicFile{FileID: p.file})
		if err = failed; err == nil {
			said, events, keep = f, f.Events, true
		}
	case search: // never kept: there are as many as one can think of
		found, failed := ubl.Ask[*ubl.PublicHits](ctx, h.Asker, p.name(), ubl.SearchPublic{DocumentQuery: sought(p.query)})
		if err = failed; err == nil {
			said, events = found, found.Events
		}
	}
	if err != nil {
		return nil, 0, false, err
	}
	body, err = json.Marshal(said)
	return body, events, keep, err
}
