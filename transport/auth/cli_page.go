package auth

import "ubl/transport/envelope"

// cliPage is what the page shows: nothing of the request where it doesn't hold.
type cliPage struct {
	Name, At               string // who asks, and the address that it asked
	Code, Request          string
	Email, Tenant          string // of who is signed in, "" for nobody
	Days                   int
	Fresh                  bool
	Passkey                bool
	Provider, ProviderPath string
	Done, Gone, Elsewhere  bool
	Problem                string
}

var cliTemplate = envelope.NewPage("Sign a command line in", `<h1>Sign a command line in</h1>
{{if .Done}}<p><b>{{.Name}}</b> is signed in. Go back to the terminal; you may close this page.</p>
<small>More, Settings lists its token and ends it.</small>
{{else if .Gone}}<p>This request is not valid, or too old. Run <code>ubl login</code> again.</p>
{{else if .Elsewhere}}<p>This page isn't opened from another site. If you have just run <code>ubl login</code> yourself, copy the link from your terminal into the address bar. If somebody sent it to you, close this page.</p>
{{else if .Problem}}<p>That didn't work: {{.Problem}}. Run <code>ubl login</code> again.</p>
{{else}}<p><b>{{.Name}}</b> asks to be signed in, for the program that asked <b>{{.At}}</b>. Its terminal shows this code:</p>
<p><b>{{.Code}}</b></p>
{{if not .Email}}<p>Sign in to UBL in this browser first, then reload this page.</p>
<a class="button" href="/ui/">To UBL</a>
{{else if .Fresh}}<p>It may then do all that you may, as {{.Email}} in <b>{{.Tenant}}</b>, for {{.Days}} days.</p>
<form method="post" action="/signin/cli"><input type="hidden" name="request" value="{{.Request}}"><button>The code is the same: sign it in</button></form>
<small>If you haven't just run <code>ubl login</code> yourself, or the code or that address is another one, close this page: somebody else would get in as you.</small>
{{else}}<p>You are {{.Email}}. This needs a sign-in of the last five minutes.</p>
{{if .ProviderPath}}<p>Confirm that it is you at {{.Provider}}, then come back to this page and reload it.</p>
<a class="button" href="{{.ProviderPath}}">Confirm at {{.Provider}}</a>
{{else}}<p>Sign out in UBL (More, Settings){{if .Passkey}} and in again with your passkey{{else}}, open a fresh sign-in link (<code>ubl open</code> on the server's machine){{end}}, then reload this page.</p>
<a class="button" href="/ui/">To UBL</a>
{{end}}{{end}}{{end}}`)
