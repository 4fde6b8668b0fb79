package auth

import (
	"context"
	"net/http"

	"ubl"
	"ubl/transport/envelope"
)

// route is one way in for a browser.
type route struct {
	pattern string
	// counts is by which rate of the person a request is counted (see charge), beside its
	// address; every route that puts something on record says so. What a fresh cookie
	// leaves at its first use isn't the route's: it may be any.
	counts ubl.Rate
	answer handler
	// fail answers for an error of answer; nil does so in the envelope.
	fail func(http.ResponseWriter, *http.Request, error)
}

type handler func(http.ResponseWriter, *http.Request) error

// routes are all of them.
func (a *Authenticator) routes() []route {
	return []route{
		{pattern: "GET /auth/ways", answer: a.ways},
		{pattern: "POST /auth/signout", counts: ubl.Sends, answer: a.signOut},

		{pattern: "GET " + signInPath + "{code}", answer: a.byLink(a.showLink), fail: a.noLink},
		{pattern: "POST " + signInPath + "{code}", counts: ubl.Creations, answer: a.byLink(a.takeLink), fail: a.noLink},

		{pattern: "POST " + CLIBeginPath, answer: a.beginCLI},
		{pattern: "POST " + CLITokenPath, counts: ubl.Creations, answer: a.tokenForCLI},
		{pattern: "GET " + cliPath, answer: a.showCLI, fail: a.noCLI},
		{pattern: "POST " + cliPath, counts: ubl.Creations, answer: a.agreeCLI, fail: a.noCLI},

		{pattern: "GET " + invitePath + "{link}", answer: invited(a.showInvitation), fail: a.noInvitation},
		{pattern: "POST " + invitePath + "{link}", counts: ubl.Creations, answer: invited(a.acceptInvitation), fail: a.noInvitation},

		{pattern: "POST /auth/passkeys/login/begin", answer: a.withPasskeys(a.beginPasskeyLogin)},
		{pattern: "POST /auth/passkeys/login/finish", counts: ubl.Creations, answer: a.withPasskeys(a.finishPasskeyLogin)},
		{pattern: "POST /auth/passkeys/register/begin", answer: a.withPasskeys(a.beginPasskey)},
		{pattern: "POST /auth/passkeys/register/finish", counts: ubl.Creations, answer: a.withPasskeys(a.finishPasskey)},

		{pattern: "GET /auth/confirm", answer: a.confirmWays},
		{pattern: "POST /auth/confirm/passkey/begin", answer: a.beginConfirm},
		{pattern: "POST /auth/confirm/passkey/finish", counts: ubl.Creations, answer: a.finishConfirm},
		{pattern: "POST /auth/confirm/link", answer: a.offerConfirmLink},
		{pattern: "GET " + confirmPath + "{code}", answer: a.showConfirm, fail: noConfirm},
		{pattern: "POST " + confirmPath + "{code}", counts: ubl.Creations, answer: a.takeConfirm, fail: noConfirm},

		{pattern: "POST " + ProofPath, answer: a.proveServer},
		{pattern: "GET " + HomePath, answer: a.homeOfVouched},
		{pattern: "POST " + LinkPath, counts: ubl.Creations, answer: a.linkForVouched},

		{pattern: "GET /auth/oidc/{id}/start", answer: a.startOIDC, fail: a.noOIDC},
		{pattern: "GET " + oidcBack, counts: ubl.Creations, answer: a.finishOIDC, fail: a.noOIDC},
		{pattern: "POST " + movePath, counts: ubl.Creations, answer: a.takeMove, fail: a.noOIDC},
	}
}

// Browsers serves what a browser needs to sign in and out: what is under /auth/,
// and links that somebody was given. Requests that another site's page made a
// browser send are refused, whether they carry a cookie or not: such a page could
// sign its visitor in as somebody else. None of the answers may be kept.
func (a *Authenticator) Browsers() http.Handler {
	mux := http.NewServeMux()
	for _, rt := range a.routes() {
		if rt.fail == nil {
			rt.fail = a.refuse
		}
		mux.HandleFunc(rt.pattern, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Cache-Control", "no-store")
			r = r.WithContext(context.WithValue(r.Context(), tollKey{}, &toll{rate: rt.counts}))
			if err := rt.answer(w, r); err != nil {
				rt.fail(w, r, err)
			}
		})
	}
	mux.Handle("/", a.strayed(mux))
	return a.ownPages(mux)
}

// strayed answers what no route of mux takes: a method that its path hasn't, or a path that there
// isn't.
func (a *Authenticator) strayed(mux *http.ServeMux) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-store")
		has := func(method string) bool {
			_, pattern := mux.Handler(&http.Request{Method: method, URL: r.URL, Host: r.Host})
			return pattern != "/"
		}
		if has(http.MethodGet) || has(http.MethodPost) {
			envelope.RefuseMethod(w, r, has)
			return
		}
		a.refuse(w, r, ubl.Errorf(ubl.CodeNotFound, "there is nothing here"))
	})
}

// toll is what a request owes: to be counted once.
type toll struct {
	rate ubl.Rate
	paid bool
}

type tollKey struct{}

// charge counts the request as a write of somebody, by the rate of its route, or refuses
// it where there were too many. Whoever learns who the person is calls it before anything
// is put on record; letIn does so.
func (a *Authenticator) charge(r *http.Request, who ubl.Identity) error {
	t, ok := r.Context().Value(tollKey{}).(*toll)
	if !ok || t.paid || t.rate == "" {
		return nil
	}
	t.paid = true
	return a.count(who, t.rate)
}
