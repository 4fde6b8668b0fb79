package api

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"ubl"
	"ubl/transport/envelope"
)

const (
	exportType = "application/x-ndjson"
	// exportPage is how many atoms one question asks for: a page is read in one
	// short transaction, however slowly the client takes it.
	exportPage = 500
	// exportPatience is how long a client may take for a page.
	exportPatience = 30 * time.Second
)

// export streams the ledger up to the head at the start. The first page is
// read before the status is sent, so that common refusals are in the envelope.
func (a *API) export(w http.ResponseWriter, r *http.Request) {
	ctx := r.Context()
	head, err := ubl.Ask[ubl.LedgerHead](ctx, a.Asker, ledger(ctx), ubl.GetLedgerHead{})
	if err != nil {
		envelope.WriteError(w, r, err)
		return
	}
	first, err := a.atomsUpTo(ctx, 1, head.Seq)
	if err != nil {
		envelope.WriteError(w, r, err)
		return
	}
	w.Header().Set("Content-Type", exportType)
	w.WriteHeader(http.StatusOK)
	if r.Method == http.MethodHead {
		return
	}
	if err := a.stream(ctx, w, head, first); err != nil {
		panic(http.ErrAbortHandler) // an export must not look whole
	}
}

// stream writes the header, the first page and the pages after it.
func (a *API) stream(ctx context.Context, w http.ResponseWriter, head ubl.LedgerHead, page *ubl.AtomPage) error {
	deadline := http.NewResponseController(w)
	buf := bufio.NewWriterSize(w, 64<<10)
	e, err := ubl.NewExporter(buf, caller(ctx).TenantID, head)
	for err == nil && e.Next() <= head.Seq {
		if envelope.CallerOf(ctx).Over(ubl.TimeOf(a.Now())) {
			return ubl.Errorf(ubl.CodeUnauthorized, "the credential has ended")
		}
		if e.Next() > 1 {
			if page, err = a.atomsUpTo(ctx, e.Next(), head.Seq); ubl.CodeOf(err) == ubl.CodeInternal {
				return a.endAtDamage(ctx, e, buf, head, err)
			} else if err != nil {
				return err
			}
		}
		// Only the writers of tests have no deadlines.
		_ = deadline.SetWriteDeadline(a.Now().Add(exportPatience))
		for _, atom := range page.Atoms {
			if err := e.Append(atom); err != nil {
				return err
			}
		}
		err = buf.Flush()
	}
	if err != nil {
		return err
	}
	if err := e.Close(); err != nil {
		return err
	}
	return buf.Flush()
}

// endAtDamage writes the atoms of a page one by one up to the one that can't be read,
// and says that it can't.
func (a *API) endAtDamage(ctx context.Context, e *ubl.Exporter, buf *bufio.Writer, head ubl.LedgerHead, cause error) error {
	for e.Next() <= head.Seq {
		page, err := a.atomsUpTo(ctx, e.Next(), e.Next())
		if ubl.CodeOf(err) == ubl.CodeInternal {
			return errors.Join(e.Break(err), buf.Flush())
		}
		if err != nil {
			return err
		}
		if err := e.Append(page.Atoms[0]); err != nil {
			return err
		}
	}
	return cause // it could be read after all
}

// atomsUpTo reads a page from a seq on that does not pass last.
func (a *API) atomsUpTo(ctx context.Context, from, last int64) (*ubl.AtomPage, error) {
	limit := min(exportPage, last-from+1)
	if limit == 0 {
		return &ubl.AtomPage{}, nil
	}
	p, err := ubl.Ask[*ubl.AtomPage](ctx, a.Asker, ledger(ctx), ubl.ReadAtoms{From: from, Limit: int(limit)})
	if err == nil && (len(p.Atoms) == 0 || int64(len(p.Atoms)) > limit) {
		return nil, fmt.Errorf("couldn't export: the ledger answered %d atoms for %d", len(p.Atoms), limit)
	}
	return p, err
}
