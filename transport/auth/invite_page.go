package auth

import (
	"time"

	"ubl"
	"ubl/transport/envelope"
)

// invitePage is what the page of an invitation shows: nothing of it where it
// can't be accepted.
type invitePage struct {
	Email, Tenant string
	Role          ubl.Role
	Until         time.Time
	Key           string // of the form
	Provable      string // where the address can be proven, "" for nowhere
	Ends, EndsIn  string // whose session accepting ends in this browser, and of which tenant
	Taken         bool   // the address is a member's already, or Member is signed in
	Member        string // the address of who is signed in here, where they are a member
	Problem       string // it may be tried again
}

var inviteTemplate = envelope.NewPage("An invitation to UBL", `<h1>An invitation to UBL</h1>
{{if .Key}}<p>{{.Email}} is invited into <b>{{.Tenant}}</b>{{if eq .Role "owner"}}, as an owner{{end}}.</p>
<p>The link proves no address: others see you as unproven{{if .Provable}} until you sign in at {{.Provable}} with this address (More, Settings){{end}}.</p>
<p>Tenants that you belong to already stay yours: accepting moves you nowhere{{if .Provable}}, and before proving the address does, you are asked{{end}}.</p>
{{if .Ends}}<p>You are signed in here as {{.Ends}} in <b>{{.EndsIn}}</b>. Accepting ends that session in this browser; sign in again to be back there.</p>
{{end}}<form method="post"><input type="hidden" name="key" value="{{.Key}}"><button>Accept and sign in</button></form>
<small>The invitation works once, until {{.Until.Format "2 January 2006, 15:04 MST"}}. If it isn't meant for you, close this page.</small>
{{else if .Member}}<p>You are signed in here as {{.Member}}, and a member already. This invitation is for {{.Email}}.</p>
<p>If that is somebody else, send them the link. To accept it in this browser, sign out first (More, Settings).</p>
<a class="button" href="/ui/">To UBL</a>
{{else if .Taken}}<p>Whom this invitation is for is a member already. Sign in as you do otherwise. If you can't, ask an owner to remove you and invite you again: you get a new id.</p>
<a class="button" href="/ui/">To UBL</a>
{{else if .Problem}}<p>That didn't work: {{.Problem}}. Reload this page to try again.</p>
{{else}}<p>This invitation is not valid: it was used already, was taken back, or is too old.</p>
<p>If it was you who used it, open UBL. Otherwise ask the person who sent it for a new one.</p>
<a class="button" href="/ui/">To UBL</a>
{{end}}`)
