// Package unsubscribe is where the links of mails lead by which they end: a page with a button, and
// what the button and the mail programs of RFC 8058 post. Whoever has a link ends the mails of one
// person, and can do nothing else. Looking at the page changes nothing.
package unsubscribe

import (
	"io"
	"net/http"

	"github.com/go-chi/chi/v5"

	"ubl"
	"ubl/transport/envelope"
)

// Options are what a Handler is made of. All are needed.
type Options struct {
	Asker ubl.Asker
	// Read is whose mails a token is about, and whether it is one of this server's.
	Read   func(token string) (ubl.Name, bool)
	Random io.Reader
}

// Handler serves the links. Its route has the token as {token}.
type Handler struct{ o Options }

// New makes one.
func New(o Options) *Handler { return &Handler{o} }

// ServeHTTP implements [http.Handler].
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	said := speaking(r.URL.Query().Get("lang"))
	p := page{said.language, said.dir, said.title, said.question, said.button}
	status := http.StatusOK
	of, ok := h.o.Read(chi.URLParam(r, "token"))
	switch {
	case !ok:
		p.Text, p.Button, status = said.invalid, "", http.StatusNotFound
	case r.Method == http.MethodPost:
		p.Text, p.Button = said.stopped, ""
		if err := h.stop(r, of); err != nil {
			e := ubl.AsError(err)
			p.Text, p.Button, status = said.again, said.button, e.Code.Status()
			envelope.SetHints(w.Header(), status, e.RetryAfter())
		}
	case !looks(r.Method):
		envelope.RefuseMethod(w, r, func(method string) bool { return looks(method) || method == http.MethodPost })
		return
	}
	envelope.WritePage(w, status, template, p)
}

func looks(method string) bool { return method == http.MethodGet || method == http.MethodHead }

func (h *Handler) stop(r *http.Request, of ubl.Name) error {
	id, err := ubl.NewRequestID(h.o.Random)
	if err != nil {
		return err
	}
	_, err = h.o.Asker.Ask(r.Context(), of, ubl.StopMail{Request: ubl.Request{Who: ubl.Platform(), ID: id, Key: id}})
	return err
}
