package api

import (
	"context"
	"net/http"

	"ubl"
	"ubl/archive"
	"ubl/transport/envelope"
)

// ownType is the media type of what somebody takes home.
const ownType = "application/zip"

// exportOwn streams the caller's own data as a zip file. The act comes first, so that refusals are
// in the envelope and nothing is read without a receipt.
func (a *API) exportOwn(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), archive.Patience)
	defer cancel()
	who := caller(ctx)
	end, err := a.archives.Begin(who)
	if err != nil {
		envelope.WriteError(w, r, err)
		return
	}
	defer end()
	if r.Method == http.MethodHead { // a browser's question, before it follows a link
		w.Header().Set("Content-Type", ownType)
		return
	}
	req := envelope.Command(ctx, "")
	begun, err := ubl.Ask[*ubl.OwnExport](ctx, a.Asker, ubl.PersonName(who.TenantID, who.UserID), ubl.ExportOwn{Request: req})
	if err != nil {
		envelope.WriteError(w, r, err)
		return
	}
	w.Header().Set("Content-Type", ownType)
	w.Header().Set("Content-Disposition", `attachment; filename="ubl-my-data.zip"`)
	w.WriteHeader(http.StatusOK)
	if err := a.archives.Write(ctx, &guarded{a, ctx, w}, req, begun.Receipt); err != nil {
		panic(http.ErrAbortHandler) // it must not look whole
	}
}

// guarded is a long answer that ends with the caller's credential, and whose client may not stall.
type guarded struct {
	a   *API
	ctx context.Context
	w   http.ResponseWriter
}

// Write implements [io.Writer].
func (g *guarded) Write(p []byte) (int, error) {
	if err := g.ctx.Err(); err != nil {
		return 0, err
	}
	if envelope.CallerOf(g.ctx).Over(ubl.TimeOf(g.a.Now())) {
		return 0, ubl.Errorf(ubl.CodeUnauthorized, "the credential has ended")
	}
	// Only the writers of tests have no deadlines.
	_ = http.NewResponseController(g.w).SetWriteDeadline(g.a.Now().Add(exportPatience))
	return g.w.Write(p)
}
