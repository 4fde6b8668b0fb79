package oauth

import (
	"errors"
	"html/template"
	"net/http"
	"net/url"
	"strings"

	"ubl"
	"ubl/transport/envelope"
)

// page writes one of the pages below.
func (s *Server) page(w http.ResponseWriter, status int, page *template.Template, data any) {
	envelope.WritePage(w, status, page, data)
}

// fail says on a page what went wrong. Nobody is sent anywhere.
func (s *Server) fail(w http.ResponseWriter, r *http.Request, err error) {
	status, says, later := http.StatusBadRequest, "", 0
	if p, ok := errors.AsType[*problem](err); ok {
		says = p.Says
		if p.status >= http.StatusInternalServerError {
			status = p.status
		}
	} else {
		e := ubl.AsError(err)
		status, says, later = e.Code.Status(), e.Message, e.RetryAfter()
	}
	if status >= http.StatusInternalServerError {
		s.Log.WarnContext(r.Context(), "couldn't answer an authorization", "request_id", envelope.RequestOf(r.Context()).ID, "error", err)
	}
	w.Header().Del("WWW-Authenticate")
	if status == http.StatusUnauthorized { // a page has no challenge
		status = http.StatusForbidden
	}
	envelope.SetHints(w.Header(), status, later)
	s.page(w, status, failedTemplate, says)
}

// shown is what to call a client: what it calls itself, else where its document is.
func shown(name, host string) string {
	switch {
	case name != "":
		return name
	case host != "":
		return host
	}
	return "A program without a name"
}

func (c *client) shown() string { return shown(c.Name, c.Host) }

// leadsTo says to people where a redirect URI leads.
func leadsTo(redirect string) string {
	u, err := url.Parse(redirect)
	switch {
	case err != nil:
		return ""
	case local(redirect):
		return "a program on this computer"
	case u.Scheme == "https":
		return u.Host
	}
	return "the program that opens " + u.Scheme + ": links"
}

// sourceOf is a redirect URI's place as a Content-Security-Policy names it, "" for a program
// with a scheme of its own: browsers hold a form's answer against that, wherever it leads.
func sourceOf(redirect string) string {
	u, err := url.Parse(redirect)
	switch {
	case err != nil, u.Scheme != "http" && u.Scheme != "https":
		return ""
	case strings.Contains(u.Host, "["): // an address of IPv6 has no form there
		return u.Scheme + ":"
	}
	return u.Scheme + "://" + u.Host
}

// asURL is an address that was checked, for a template that would doubt its scheme.
func asURL(address string) template.URL { return template.URL(address) }

func shortTenant(t ubl.TenantID) string { return strings.TrimPrefix(string(t), "t:") }

// doorPage is for whom another site's link has brought here.
type doorPage struct {
	Client, Leads string
	Here          template.URL
}

var doorTemplate = envelope.NewPage("Connect to UBL", `<h1>Connect to UBL</h1>
<p><b>{{.Client}}</b> wants to connect to UBL and act for you. Your answer goes to <b>{{.Leads}}</b>.</p>
<p>Nothing is allowed yet. On the next page you choose what it may do.</p>
<a class="button" href="{{.Here}}">Continue</a>
<small>If you didn't begin this, close this page.</small>
`)

// consentPage is what a person decides by.
type consentPage struct {
	Form, Problem string
	Email, Tenant string // who is signed in
	Client, Host  string // Host is "" where nobody knows who the client is
	Leads         string
	Local         bool // Leads is a program on this computer
	Stale         bool // they have to confirm that it is them
	Sets, Places  []option
	Confirms      []option
	Chosen        *choices
}

var consentTemplate = envelope.NewPage("Connect {{.Client}} to UBL", `<h1>Connect {{.Client}} to UBL</h1>
{{with .Problem}}<p class="problem" role="alert">{{.}}.</p>
{{end}}<p><b>{{.Client}}</b>{{with .Host}} (from <b>{{.}}</b>){{end}} wants to act for you as an agent of its own in <b>{{.Tenant}}</b>. You are {{.Email}}.</p>
{{if not .Host}}<p class="warning">Anybody can use this name: the program has registered itself, and nobody has checked who made it. Your answer goes to <b>{{.Leads}}</b>.{{if .Local}} Continue only if you have just started this from a program on this computer.{{end}}</p>
{{else if .Local}}<p class="warning">Your answer goes to <b>{{.Leads}}</b>, and any program here could have asked in the name of {{.Host}}. Continue only if you have just started this yourself.</p>
{{else}}<p>Your answer goes to <b>{{.Leads}}</b>.</p>
{{end}}{{if .Stale}}<p class="warning">This needs a recent sign-in. <a href="/ui/confirm" target="_blank" rel="noopener">Confirm that it’s you</a> in another tab, then come back here and allow it.</p>
{{end}}<form method="post" action="/oauth/consent" class="choices">
<input type="hidden" name="form" value="{{.Form}}">
<label>Its name here <input name="name" value="{{.Chosen.Name}}" maxlength="128" required autocomplete="off"></label>
<fieldset><legend>It can</legend>
{{range .Sets}}<label class="choice"><input type="checkbox" name="set" value="{{.ID}}"{{if .Chosen}} checked{{end}}> {{.Says}}</label>
{{end}}<label class="choice"><input type="checkbox" name="read_only" value="yes"{{if .Chosen.ReadOnly}} checked{{end}}> Only read: it changes nothing and sends nothing</label>
</fieldset>
<fieldset><legend>Where</legend>
{{range .Places}}<label class="choice"><input type="checkbox" name="place" value="{{.ID}}"{{if .Chosen}} checked{{end}}> {{.Says}} <small>{{.Kind}}</small></label>
{{else}}<p><small>You are in no room and no workspace.</small></p>
{{end}}<label class="choice"><input type="radio" name="where" value="chosen"{{if not .Chosen.Everywhere}} checked{{end}}> Nowhere else: it sees nothing more of {{.Tenant}}</label>
<label class="choice"><input type="radio" name="where" value="everywhere"{{if .Chosen.Everywhere}} checked{{end}}> It also sees what any member sees: open rooms and workspaces, and the ledger of {{.Tenant}}</label>
</fieldset>
<fieldset><legend>Ask me first, in the program</legend>
{{range .Confirms}}<label class="choice"><input type="radio" name="confirm" value="{{.ID}}"{{if .Chosen}} checked{{end}}> {{.Says}}</label>
{{end}}</fieldset>
<label>Calls a minute, at most <input name="per_minute" type="number" inputmode="numeric" min="1" max="10000" value="{{.Chosen.PerMinute}}" required></label>
<label>For how many days <input name="days" type="number" inputmode="numeric" min="1" max="366" value="{{.Chosen.Days}}" required></label>
<p><small>What it does has its name on it and a receipt in the ledger, and you answer for it. You add it to the places that you choose. You can end it at any time; it ends by itself after those days, and when you leave {{.Tenant}}.</small></p>
<button name="answer" value="allow">Allow</button>
<button name="answer" value="deny" class="plain" formnovalidate>Deny</button>
</form>
`)

// notAdded is a place that the person couldn't add the agent to.
type notAdded struct{ Place, Why string }

// donePage leads back to the client.
type donePage struct {
	Client, Leads string
	Agent         string // that is connected, "" for none
	Refused       string // why nothing could be asked, "" where it could
	Missing       []notAdded
	To            template.URL
}

var doneTemplate = envelope.NewPage("{{.Client}} and UBL", `<h1>{{if .Agent}}{{.Agent}} is connected{{else}}{{.Client}} is not connected{{end}}</h1>
{{if .Refused}}<p>{{.Client}} asked in a way that UBL doesn't understand: {{.Refused}}.</p>
<p>Nothing was allowed. You can tell the program, which is at <b>{{.Leads}}</b>, or close this page.</p>
{{end}}{{if .Missing}}<p>You couldn't add it everywhere. Ask an owner of the place to add it:</p>
{{range .Missing}}<p><b>{{.Place}}</b>: {{.Why}}.</p>
{{end}}{{end}}<a class="button" href="{{.To}}">Back to {{.Leads}}</a>
{{if .Agent}}<small>Go back within a minute: what the program is handed holds no longer.</small>
{{end}}`)

var failedTemplate = envelope.NewPage("Connect to UBL", `<h1>Nothing is connected</h1>
<p>That didn't work: {{.}}.</p>
<a class="button plain" href="/ui/">To UBL</a>
`)
