package auth

import (
	"encoding/hex"
	"net/http"
	"sync"
	"time"

	"ubl"
	"ubl/transport/envelope"
)

// linkConfirm is confirming a session by a link that the server prints where its
// operator sees it, as it prints the first one. The link works in the browser that
// asked for it alone: what it confirms is sealed in a cookie there.
const linkConfirm ceremony = "confirmlink"

const (
	// confirmPath is where those links lead; their code follows.
	confirmPath = "/auth/confirm/link/"
	// confirmLinkTime is how long a link holds.
	confirmLinkTime = 10 * time.Minute
	// confirmLinkEvery is how often a person may have one printed.
	confirmLinkEvery = 30 * time.Second
)

// printed remembers for whom a link was printed within confirmLinkEvery.
type printed struct {
	mu sync.Mutex
	at map[string]time.Time
}

// may reports whether a link may be printed for somebody now, and how long to wait.
func (p *printed) may(whom string, now time.Time) (wait time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for other, at := range p.at {
		if now.Sub(at) >= confirmLinkEvery {
			delete(p.at, other)
		}
	}
	if at, ok := p.at[whom]; ok {
		return confirmLinkEvery - now.Sub(at)
	}
	if p.at == nil {
		p.at = map[string]time.Time{}
	}
	p.at[whom] = now
	return 0
}

// offerConfirmLink prints a link for the person of the session, who has no other way.
func (a *Authenticator) offerConfirmLink(w http.ResponseWriter, r *http.Request) error {
	e, err := a.shownSession(r)
	if err != nil {
		return err
	}
	s := e.session
	ways, err := a.waysOf(r, s)
	if err != nil {
		return err
	}
	if !ways.Link {
		return ubl.Errorf(ubl.CodeForbidden, "confirm with your passkey or at your provider: this server prints no link for you")
	}
	if wait := a.printed.may(string(s.TenantID)+"|"+string(s.UserID), a.now()); wait > 0 {
		return ubl.Errorf(ubl.CodeRateLimited, "a link was printed a moment ago: look for it, or wait a little").Later(wait)
	}
	code, err := a.draw(linkBytes)
	if err != nil {
		return err
	}
	secret := hex.EncodeToString(code)
	if err := a.beginCeremony(w, r, linkConfirm, confirmLinkTime, secret, confirmingOf(s)); err != nil {
		return err
	}
	a.printLink(s.Email, confirmPath+secret)
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// noConfirm says why a link doesn't confirm.
func noConfirm(w http.ResponseWriter, _ *http.Request, err error) {
	e := ubl.AsError(err)
	envelope.SetHints(w.Header(), e.Code.Status(), e.RetryAfter())
	envelope.WritePage(w, e.Code.Status(), confirmTemplate, confirmPage{Problem: e.Message})
}

// showConfirm is the page of a link. A look changes nothing.
func (a *Authenticator) showConfirm(w http.ResponseWriter, r *http.Request) error {
	var began confirming
	if err := a.lookAt(r, linkConfirm, r.PathValue("code"), &began); err != nil {
		return err
	}
	envelope.WritePage(w, http.StatusOK, confirmTemplate, confirmPage{Email: began.Email})
	return nil
}

// takeConfirm confirms the session that asked for the link.
func (a *Authenticator) takeConfirm(w http.ResponseWriter, r *http.Request) error {
	e, err := a.shownSession(r)
	if err != nil {
		return err
	}
	s := e.session
	var began confirming
	if err := a.endCeremony(w, r, linkConfirm, r.PathValue("code"), &began); err != nil {
		return err
	}
	if !began.is(s) {
		return errCeremony()
	}
	return a.confirmSession(w, r, s, ubl.SignInLink, func() {
		envelope.WritePage(w, http.StatusOK, confirmTemplate, confirmPage{Done: true})
	})
}

// confirmPage is what the page shows.
type confirmPage struct {
	Email, Problem string
	Done           bool
}

var confirmTemplate = envelope.NewPage("Confirm it’s you", `<h1>Confirm it’s you</h1>
{{if .Done}}<p>Thank you. Go back to the tab that asked: it continues there.</p>
{{else if .Problem}}<p>That didn't work: {{.Problem}}.</p>
<a class="button" href="/ui/">To UBL</a>
{{else}}<p><b>{{.Email}}</b> is signed in to this browser and wants to do something that needs a recent sign-in. Is that you?</p>
<form method="post"><button>Yes, it’s me</button></form>
{{end}}`)
