package api

import (
	"bytes"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"ubl"
	"ubl/transport/envelope"
)

// callbackPath is where OAuth providers send users back to. The page is open to everyone:
// a browser that comes from another site brings no session. The consent on it needs the
// session, or token, of who began.
const callbackPath = "/portal/callback"

// Limits of what a provider sends along, in bytes: each part, and all of them.
const (
	maxPart     = 8 << 10
	maxCallback = 64 << 10
)

// consent asks before anything is given away: the link may have been another's.
var consent = envelope.NewPage("Connect {{.ServerID}} to UBL", `<h1>Connect {{.ServerID}}?</h1>
<p><b>{{or .Email .UserID}}</b>{{if .Unproven}} (unproven: nobody has verified the address){{end}} of the tenant <b>{{.Tenant}}</b> asked UBL to use
<b>{{.ServerID}}</b> at {{.ServerHost}} with the account that you have just signed in to. The code for it goes to {{.TokenHost}}.</p>
<p>Continue only if {{if .IsService}}that is an agent of your tenant{{else}}that is you{{end}}, and you know both hosts. In this browser you must be signed in to UBL{{if not .IsService}} as that person{{end}}.</p>
<form method="post">
<input type="hidden" name="state" value="{{.State}}"><input type="hidden" name="code" value="{{.Code}}"><input type="hidden" name="iss" value="{{.Issuer}}">
<button>Connect</button>
</form>
`)

var connected = envelope.NewPage("Connected to UBL", `<h1>You are connected</h1>
<p>This window can be closed.</p>
`)

// comeBack is what a provider sends a user back with.
type comeBack struct{ State, Code, Issuer string }

// showConsent takes a user back whom [API.connectServer] sent to a provider, and
// asks whether it was them who began.
func (a *API) showConsent(w http.ResponseWriter, r *http.Request) {
	envelope.SecurePage(w.Header())
	back, err := readCallback(r.URL.RawQuery)
	if err != nil {
		envelope.WriteError(w, r, err)
		return
	}
	who, err := a.Portal.Pending(back.State)
	if err != nil {
		envelope.WriteError(w, r, err)
		return
	}
	envelope.WritePage(w, http.StatusOK, consent, struct {
		*ubl.SigningIn
		comeBack
		Tenant string
	}{who, back, strings.TrimPrefix(string(who.TenantID), "t:")})
}

// connect is the user's consent. They must be who began: else a link would be enough to
// have somebody give another person their account.
func (a *API) connect(w http.ResponseWriter, r *http.Request) {
	envelope.SecurePage(w.Header())
	var form bytes.Buffer
	if _, err := form.ReadFrom(http.MaxBytesReader(w, r.Body, maxCallback)); err != nil {
		envelope.WriteError(w, r, tooLarge(maxCallback))
		return
	}
	back, err := readCallback(form.String())
	if err == nil {
		err = enter(r.Context())
	}
	if err == nil {
		_, err = a.Portal.Callback(r.Context(), caller(r.Context()), back.State, back.Code, back.Issuer)
	}
	if err != nil {
		envelope.WriteError(w, r, err)
		return
	}
	envelope.WritePage(w, http.StatusOK, connected, nil)
}

// readCallback reads a query or a form. Providers add parameters of their own,
// which mean nothing here.
func readCallback(encoded string) (comeBack, error) {
	q, err := url.ParseQuery(encoded)
	switch {
	case err != nil:
		return comeBack{}, invalid("query", "not well formed")
	case q.Has("error"):
		return comeBack{}, ubl.Errorf(ubl.CodeForbidden, "the provider did not let the user in")
	}
	for _, name := range []string{"state", "code"} {
		if !q.Has(name) {
			return comeBack{}, invalid("query."+name, "missing")
		}
	}
	for _, name := range []string{"state", "code", "iss"} {
		if len(q[name]) > 1 || len(q.Get(name)) > maxPart {
			return comeBack{}, invalid("query."+name, "too long, or given more than once")
		}
	}
	return comeBack{q.Get("state"), q.Get("code"), q.Get("iss")}, nil
}

// describeCallback documents both steps.
func (a *API) describeCallback() {
	a.describeCallbackStep(operation{method: http.MethodGet, path: callbackPath, id: "show-consent", tag: "portal",
		summary: "Where a provider sends a user back to",
		more:    "Open to everyone: the state, which the server has sealed, names the user and the server of tools. Answers a page that asks for consent."})
	a.describeCallbackStep(operation{method: http.MethodPost, path: callbackPath, id: "connect", tag: "portal",
		summary: "The user's consent", more: "The form of the page before, sent by who began (for a service by a person of its tenant). Keeps the user's credentials for the server of tools, sealed."})
}

func (a *API) describeCallbackStep(o operation) {
	d := o.describe(http.StatusOK, "text/html")
	page := &huma.Schema{Type: huma.TypeString}
	d.Responses[strconv.Itoa(http.StatusOK)].Content["text/html"].Schema = page
	if o.method == http.MethodGet {
		d.Security = []map[string][]string{}
	}
	d.Parameters = nil
	form := &huma.Schema{Type: huma.TypeObject, Properties: map[string]*huma.Schema{}, Required: []string{"state", "code"}}
	for _, name := range []string{"state", "code", "iss"} {
		text := &huma.Schema{Type: huma.TypeString}
		form.Properties[name] = text
		if o.method == http.MethodGet {
			d.Parameters = append(d.Parameters, &huma.Param{Name: name, In: "query", Required: name != "iss", Schema: text})
		}
	}
	if o.method == http.MethodPost {
		d.RequestBody = &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{"application/x-www-form-urlencoded": {Schema: form}}}
	}
	a.huma.OpenAPI().AddOperation(&d)
}
