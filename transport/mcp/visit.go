package mcp

import (
	"context"
	"net/http"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"ubl"
	"ubl/transport/envelope"
)

// visit is a request with what the door found out about it. It belongs to the
// request's goroutine until it is in the context of a call; from then on nobody
// changes it.
type visit struct {
	portal  bool // came in at /portal/mcp
	modern  bool // is of 2026-07-28 or later
	version string
	caller  *envelope.Caller
	// session is empty for modern clients, and for older ones without an id.
	session session
	// client is the name that the client program gave itself, "" where it didn't.
	client string
	// can is what the client has said that it can.
	can abilities
	// http ends with the HTTP request, or when the client cancels it.
	http context.Context
	// progress is the token of a caller who wants to see it, nil for others.
	progress jsontext.Value
	// choice is which tools the request wants to see.
	choice choice
	// cursor is where a list goes on, "" for its beginning.
	cursor string
}

type visitKey struct{}

// visitOf is the visit in the context of a call; nil only where the SDK answers
// something that nobody asked for.
func visitOf(ctx context.Context) *visit {
	v, _ := ctx.Value(visitKey{}).(*visit)
	return v
}

func (v *visit) who() ubl.Identity { return v.caller.Identity }

// names is how the client spells tools.
func (v *visit) names() *dialect { return dialectOf(v.client) }

// reading is ctx for looks of our own: the tenant lets the caller in for the
// tool that the look stands for, not for an act.
func reading(ctx context.Context, tool string) context.Context {
	return envelope.WithCaller(ctx, envelope.CallerOf(ctx).Anew(false, tool))
}

// readingOther is reading for a tool of another server.
func readingOther(ctx context.Context, tool string) context.Context {
	return envelope.WithCaller(ctx, envelope.CallerOf(ctx).Anew(false, tool).External())
}

// serve is the door: it knows who is there before it answers. Which methods it takes is no secret.
func (s *Server) serve(w http.ResponseWriter, r *http.Request, portal bool) {
	if r.Method == http.MethodOptions {
		envelope.RefuseMethod(w, r, takes(isModern(r.Header.Get(headerProtocol))))
		return
	}
	v, err := s.greet(w, r, portal)
	if err != nil {
		s.refuse(w, r, nil, err)
		return
	}
	switch {
	case r.Method == http.MethodPost:
		s.post(w, r, v)
	case !takes(v.modern)(r.Method):
		w.Header().Set("Allow", envelope.Allow(takes(v.modern)))
		s.refuse(w, r, nil, ubl.Errorf(ubl.CodeMethodNotAllowed, "the path knows other methods only; see Allow"))
	case r.Method == http.MethodGet:
		s.openChannel(w, r, v)
	default:
		s.endSession(w, r, v)
	}
}

// takes says which methods there are in an era of the protocol.
func takes(modern bool) func(method string) bool {
	return func(method string) bool {
		return method == http.MethodPost || !modern && (method == http.MethodGet || method == http.MethodDelete)
	}
}

// greet refuses pages of others and callers nobody knows, and finds out the era
// and the session.
func (s *Server) greet(w http.ResponseWriter, r *http.Request, portal bool) (*visit, error) {
	if s.foreign(r) {
		return nil, ubl.Errorf(ubl.CodeOriginNotAllowed, "pages of this origin may not use the server; see --allow-origin")
	}
	caller := envelope.CallerOf(r.Context())
	if caller == nil {
		return nil, ubl.Errorf(ubl.CodeUnauthorized, "nobody is signed in")
	}
	if err := envelope.CheckKey(r.Header); err != nil {
		return nil, err
	}
	mount := ownPath
	if portal {
		mount = portalPath
	}
	chosen, err := choiceOf(r, mount)
	if err != nil {
		return nil, err
	}
	v := &visit{portal: portal, caller: caller, version: r.Header.Get(headerProtocol), choice: chosen, http: r.Context()}
	v.modern = isModern(v.version)
	if v.modern {
		return v, nil
	}
	if v.version != "" && !supported(v.version) {
		return nil, unsupported(v.version)
	}
	if id := r.Header.Get(headerSession); id != "" {
		known, ok := s.sessions.open(id, caller.Identity, s.opts.Now())
		if !ok || s.hub.over(id) {
			return nil, ubl.Errorf(ubl.CodeNotFound, "the session is unknown; begin a new one with initialize")
		}
		v.session, v.client, v.can = known, known.client, known.can
	}
	return v, nil
}

func (s *Server) foreign(r *http.Request) bool {
	if s.opts.Foreign != nil {
		return s.opts.Foreign(r)
	}
	return r.Header.Get("Origin") != ""
}

func unsupported(version string) *rpcError {
	e := rpcErrorf(codeUnsupported, "the protocol version is not one that the server speaks")
	e.status, e.supported = http.StatusBadRequest, versions()
	if utf8.ValidString(version) && len(version) <= maxVersion {
		e.requested = version
	}
	return e
}

// maxVersion is longer than any version.
const maxVersion = 32

// endSession answers DELETE.
func (s *Server) endSession(w http.ResponseWriter, r *http.Request, v *visit) {
	if v.session.id == "" {
		s.refuse(w, r, nil, noSession())
		return
	}
	s.hub.forget(v.session.id, v.who())
	w.WriteHeader(http.StatusNoContent)
}

func noSession() error { return invalid("header Mcp-Session-Id", "is missing") }
