package actors_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"ubl"
	"ubl/test/harness"
)

// portals is a house with a tenant of an owner, Ana, and a member, Bob.
type portals struct {
	*harness.House
	*valve
	t        *testing.T
	ana, bob ubl.Identity
	name     ubl.Name
}

func openPortal(t *testing.T) *portals {
	p := &portals{valve: &valve{}, t: t, ana: harness.User("ana@example.com"), bob: harness.User("bob@example.com")}
	p.House = harness.Open(t, harness.Options{Wrap: p.wrap})
	p.Enter(p.ana)
	p.Enter(p.bob)
	p.name = ubl.PortalName(p.ana.TenantID)
	return p
}

func (p *portals) now() ubl.Time { return ubl.TimeOf(p.Clock.Now()) }

// ask asks the portal and fails the test on an error.
func ask[R any](p *portals, cmd ubl.Command) R {
	p.t.Helper()
	return harness.Must[R](p.House, p.name, cmd)
}

// refuse asks the portal and wants the error code.
func (p *portals) refuse(want ubl.Code, cmd ubl.Command) {
	p.t.Helper()
	p.Refused(want, p.name, cmd)
}

// nothing asks what is answered with nil.
func (p *portals) nothing(cmd ubl.Command) {
	p.t.Helper()
	if answer, err := p.Ask(context.Background(), p.name, cmd); err != nil || answer != nil {
		p.t.Fatalf("%T: %v, %v", cmd, answer, err)
	}
}

func (p *portals) add(id, auth string) *ubl.Server {
	p.t.Helper()
	s := ubl.Server{ServerID: id, Name: strings.ToUpper(id), URL: "https://" + id + ".example/mcp", Auth: auth}
	if auth == ubl.AuthHeader {
		s.Header = "X-Api-Key"
	}
	return ask[*ubl.Server](p, ubl.AddServer{Request: p.Request(p.ana), Owner: true, Server: s, Secret: []byte("sealed " + id)})
}

// syncs has a server list tools: names and versions of their definitions in turn.
func (p *portals) syncs(id string, namesAndVersions ...string) *ubl.Server {
	p.t.Helper()
	c := ubl.RecordSync{Request: p.Request(ubl.Platform()), ServerID: id}
	for i := 0; i < len(namesAndVersions); i += 2 {
		c.Tools = append(c.Tools, ubl.ToolDefinition{
			Name: namesAndVersions[i], Definition: json.RawMessage(`{"version":"` + namesAndVersions[i+1] + `"}`),
		})
	}
	return ask[*ubl.Server](p, c)
}

// tool is one of the listed tools.
func (p *portals) tool(name string) *ubl.PortalTool {
	p.t.Helper()
	for _, tool := range ask[[]*ubl.PortalTool](p, ubl.ListPortalTools{Who: p.bob}) {
		if tool.Tool == name {
			return tool
		}
	}
	p.t.Fatalf("%s is not listed", name)
	return nil
}

// atoms reads the ledger from a seq on.
func (p *portals) atoms(from int64) []json.RawMessage {
	p.t.Helper()
	return harness.Must[*ubl.AtomPage](p.House, ubl.LedgerName(p.ana.TenantID), ubl.ReadAtoms{From: from, Limit: 500}).Atoms
}

func (p *portals) head() int64 {
	p.t.Helper()
	return harness.Must[ubl.LedgerHead](p.House, ubl.LedgerName(p.ana.TenantID), ubl.GetLedgerHead{}).Seq
}

// TestServers: owners add, change and remove servers; everyone sees them.
func TestServers(t *testing.T) {
	p := openPortal(t)
	if list := ask[[]*ubl.Server](p, ubl.ListServers{Who: p.bob}); len(list) != 0 {
		t.Fatalf("a new tenant has servers: %v", list)
	}
	made := p.add("files", ubl.AuthHeader)
	if made.Status != ubl.ServerNew || made.CreatedBy != p.ana.UserID || made.CreatedAt != p.now() || made.Receipt.Seq != p.head()-1 {
		t.Errorf("the server is %+v", made)
	}
	p.add("calendar", ubl.AuthNone)
	p.refuse(ubl.CodeConflict, ubl.AddServer{Request: p.Request(p.ana), Owner: true, Server: ubl.Server{
		ServerID: "files", Name: "again", URL: "https://x.example", Auth: ubl.AuthNone,
	}})
	p.syncs("files", "read", "1", "write", "1")
	p.Clock.Add(time.Minute)
	down := ask[*ubl.Server](p, ubl.RecordSync{Request: p.Request(p.ana), Owner: true, ServerID: "calendar", Problem: "it doesn't answer"})
	if down.Status != ubl.ServerDown || down.Problem != "it doesn't answer" || *down.SyncedAt != p.now() {
		t.Errorf("a server that is down is %+v", down)
	}
	name, yes, no := "Documents", true, false
	renamed := ask[*ubl.Server](p, ubl.UpdateServer{Request: p.Request(p.ana), Owner: true, ServerID: "files", Patch: ubl.ServerPatch{Name: &name}})
	if renamed.Name != name || renamed.Status != ubl.ServerUp || renamed.Tools != 2 {
		t.Errorf("a renamed server is %+v", renamed)
	}
	for _, when := range []string{"live", "loaded anew"} {
		var got []string
		for _, s := range ask[[]*ubl.Server](p, ubl.ListServers{Who: p.bob}) {
			got = append(got, fmt.Sprint(s.ServerID, " ", s.Name, " ", s.Status, " ", s.Tools, " ", s.Receipt.Seq > 0))
		}
		if want := "[calendar CALENDAR down 0 true files Documents up 2 true]"; fmt.Sprint(got) != want {
			t.Errorf("%s, the servers are %v, want %s", when, got, want)
		}
		p.Reload()
	}

	disable := ubl.UpdateServer{Request: p.Request(p.ana), Owner: true, ServerID: "files", Patch: ubl.ServerPatch{Disabled: &yes}}
	if s := ask[*ubl.Server](p, disable); s.Status != ubl.ServerDisabled {
		t.Errorf("a disabled server is %s", s.Status)
	}
	if tools := ask[[]*ubl.PortalTool](p, ubl.ListPortalTools{Who: p.bob}); len(tools) != 0 {
		t.Errorf("a disabled server's tools are listed: %v", tools)
	}
	p.refuse(ubl.CodeForbidden, ubl.RecordSync{Request: p.Request(ubl.Platform()), ServerID: "files"})
	enable := ubl.UpdateServer{Request: p.Request(p.ana), Owner: true, ServerID: "files", Patch: ubl.ServerPatch{Disabled: &no}}
	if s := ask[*ubl.Server](p, enable); s.Status != ubl.ServerNew || s.Tools != 2 {
		t.Errorf("a server that was enabled again is %+v", s)
	}
	if s := ask[*ubl.Server](p, ubl.RemoveServer{Request: p.Request(p.ana), Owner: true, ServerID: "files"}); s.Tools != 2 || s.Name != name {
		t.Errorf("the removed server was %+v", s)
	}
	p.refuse(ubl.CodeNotFound, ubl.OpenServer{Who: p.ana, ServerID: "files"})
	p.add("files", ubl.AuthNone)
	if tools := ask[[]*ubl.PortalTool](p, ubl.ListPortalTools{Who: p.bob}); len(tools) != 0 {
		t.Errorf("a server added again has tools already: %v", tools)
	}
	p.VerifyLedger(p.ana.TenantID)
}

// TestServersThatCantBe are refused with the member's name, and change nothing.
func TestServersThatCantBe(t *testing.T) {
	p := openPortal(t)
	before := p.head()
	for field, spoil := range map[string]func(*ubl.Server){
		"server_id: empty":              func(s *ubl.Server) { s.ServerID = "" },
		"server_id: capitals":           func(s *ubl.Server) { s.ServerID = "Files" },
		"server_id: a dot":              func(s *ubl.Server) { s.ServerID = "my.files" },
		"server_id: too long":           func(s *ubl.Server) { s.ServerID = strings.Repeat("x", 33) },
		"server_id: our own tools":      func(s *ubl.Server) { s.ServerID = "messenger" },
		"server_id: our own acts":       func(s *ubl.Server) { s.ServerID = "office" },
		"server_id: ours in the log":    func(s *ubl.Server) { s.ServerID = ubl.OwnServer },
		"server_id: models":             func(s *ubl.Server) { s.ServerID = ubl.ModelServer },
		"name: empty":                   func(s *ubl.Server) { s.Name = " " },
		"name: no UTF-8":                func(s *ubl.Server) { s.Name = "\xff" },
		"url: empty":                    func(s *ubl.Server) { s.URL = "" },
		"url: relative":                 func(s *ubl.Server) { s.URL = "/mcp" },
		"url: no host":                  func(s *ubl.Server) { s.URL = "https://" },
		"url: another scheme":           func(s *ubl.Server) { s.URL = "file:///etc/passwd" },
		"url: credentials":              func(s *ubl.Server) { s.URL = "https://ana:secret@files.example" },
		"url: a fragment":               func(s *ubl.Server) { s.URL = "https://files.example/#x" },
		"url: too long":                 func(s *ubl.Server) { s.URL = "https://files.example/" + strings.Repeat("x", 2048) },
		"auth: unknown":                 func(s *ubl.Server) { s.Auth = "basic" },
		"header: none where one is due": func(s *ubl.Server) { s.Auth = ubl.AuthHeader },
		"header: no header":             func(s *ubl.Server) { s.Auth, s.Header = ubl.AuthHeader, "X Key" },
		"header: without use":           func(s *ubl.Server) { s.Header = "X-Key" },
		"token_url: no URL":             func(s *ubl.Server) { s.TokenURL = "token" },
		"authorize_url: no URL":         func(s *ubl.Server) { s.AuthorizeURL = "authorize" },
		"client_id: a line break":       func(s *ubl.Server) { s.ClientID = "a\nb" },
		"scopes: an empty one":          func(s *ubl.Server) { s.Scopes = []string{""} },
		"scopes: too many":              func(s *ubl.Server) { s.Scopes = make([]string, 100) },
	} {
		s := ubl.Server{ServerID: "files", Name: "Files", URL: "https://files.example/mcp", Auth: ubl.AuthNone}
		spoil(&s)
		_, err := p.Ask(context.Background(), p.name, ubl.AddServer{Request: p.Request(p.ana), Owner: true, Server: s})
		member, _, _ := strings.Cut(field, ":")
		if e := ubl.AsError(err); e.Code != ubl.CodeValidation || e.Details[member] == "" {
			t.Errorf("%s: %v %v", field, err, e.Details)
		}
	}
	large := ubl.AddServer{Request: p.Request(p.ana), Owner: true, Secret: make([]byte, ubl.MaxSealed+1),
		Server: ubl.Server{ServerID: "files", Name: "Files", URL: "https://files.example/mcp", Auth: ubl.AuthNone}}
	p.refuse(ubl.CodeTooLarge, large)
	for i := range ubl.MaxServers {
		p.add(fmt.Sprint("s", i), ubl.AuthNone)
	}
	large.Secret = nil
	p.refuse(ubl.CodeConflict, large)
	if grown := p.head() - before; grown != 2*ubl.MaxServers {
		t.Errorf("refusals left %d atoms", grown-2*ubl.MaxServers)
	}
}

// TestWhoMayInThePortal: what owners do is refused to whom the Tenant didn't call one, and
// everything to strangers, for whom there is no portal.
func TestWhoMayInThePortal(t *testing.T) {
	p := openPortal(t)
	p.add("files", ubl.AuthUser)
	p.syncs("files", "read", "1")
	p.syncs("files", "read", "2")
	eve := harness.User("eve@elsewhere.org")
	p.Enter(eve)
	name := "x"
	for _, test := range []struct {
		cmd    func(ubl.Request) ubl.Command
		member ubl.Code // what Bob is told, who is no owner
	}{
		{func(r ubl.Request) ubl.Command {
			return ubl.AddServer{Request: r, Server: ubl.Server{ServerID: "x", Name: "X", URL: "https://x.example", Auth: ubl.AuthNone}}
		}, ubl.CodeForbidden},
		{func(r ubl.Request) ubl.Command {
			return ubl.UpdateServer{Request: r, ServerID: "files", Patch: ubl.ServerPatch{Name: &name}}
		}, ubl.CodeForbidden},
		{func(r ubl.Request) ubl.Command { return ubl.RemoveServer{Request: r, ServerID: "files"} }, ubl.CodeForbidden},
		{func(r ubl.Request) ubl.Command { return ubl.RecordSync{Request: r, ServerID: "files"} }, ubl.CodeForbidden},
		{func(r ubl.Request) ubl.Command {
			return ubl.ApproveTool{Request: r, Tool: "files.read", Hash: p.tool("files.read").HeldHash}
		}, ubl.CodeForbidden},
		{func(r ubl.Request) ubl.Command { return ubl.SetBudget{Request: r, TokensPerDay: 1} }, ubl.CodeForbidden},
		{func(r ubl.Request) ubl.Command { return ubl.LogCalls{Request: r} }, ubl.CodeForbidden},
		{func(r ubl.Request) ubl.Command { return ubl.CloseCalls{Request: r, All: true} }, ubl.CodeForbidden},
		{func(r ubl.Request) ubl.Command { return ubl.ListServers{Who: r.Who} }, ""},
		{func(r ubl.Request) ubl.Command { return ubl.ListPortalTools{Who: r.Who} }, ""},
		{func(r ubl.Request) ubl.Command { return ubl.OpenServer{Who: r.Who, ServerID: "files"} }, ""},
		{func(r ubl.Request) ubl.Command {
			return ubl.SaveGrant{Request: r, ServerID: "files", Sealed: []byte("x")}
		}, ""},
		{func(r ubl.Request) ubl.Command { return ubl.GetBudget{Who: r.Who} }, ""},
		{func(r ubl.Request) ubl.Command { return ubl.ReadCalls{Who: r.Who} }, ""},
		{func(r ubl.Request) ubl.Command { return p.call(r.Who) }, ubl.CodeForbidden}, // the definition is held
	} {
		cmd := test.cmd(p.Request(p.bob))
		if _, err := p.Ask(context.Background(), p.name, cmd); ubl.CodeOf(err) != test.member {
			t.Errorf("%T of a member: %v, want %q", cmd, err, test.member)
		}
		stranger := test.cmd(p.Request(eve))
		want := ubl.CodeNotFound
		switch stranger.(type) {
		case ubl.LogCalls, ubl.CloseCalls:
			want = ubl.CodeForbidden // nobody may
		}
		if _, err := p.Ask(context.Background(), p.name, stranger); ubl.CodeOf(err) != want {
			t.Errorf("%T of a stranger: %v", stranger, err)
		}
	}
	for _, tenant := range []ubl.TenantID{"t:nowhere.org", "nonsense"} {
		p.Refused(ubl.CodeNotFound, ubl.PortalName(tenant), ubl.ListServers{Who: ubl.Identity{TenantID: tenant}})
	}
	p.refuse(ubl.CodeNotFound, ubl.GetRoom{Who: p.ana})
}

// TestSecrets: sealed secrets go to nodes alone, a user's own to who acts for
// that user; they are in no list, no event and no atom; and they don't follow a
// server to another place.
func TestSecrets(t *testing.T) {
	p := openPortal(t)
	var mu sync.Mutex
	var told strings.Builder
	defer p.Subscribe(ubl.LedgerName(p.ana.TenantID), func(pub ubl.Publication) {
		mu.Lock()
		defer mu.Unlock()
		fmt.Fprintf(&told, "%s\n", must(json.Marshal(pub)))
	})()
	p.add("files", ubl.AuthUser)
	p.add("plain", ubl.AuthNone)
	grant := ubl.SaveGrant{Request: p.Request(p.bob), ServerID: "files", Sealed: []byte("sealed for bob")}
	p.nothing(grant)
	p.nothing(grant)
	p.refuse(ubl.CodeNotFound, ubl.SaveGrant{Request: p.Request(p.bob), ServerID: "none", Sealed: []byte("x")})
	p.refuse(ubl.CodeConflict, ubl.SaveGrant{Request: p.Request(p.bob), ServerID: "plain", Sealed: []byte("x")})
	p.refuse(ubl.CodeTooLarge, ubl.SaveGrant{Request: p.Request(p.bob), ServerID: "files", Sealed: make([]byte, ubl.MaxSealed+1)})

	has := func(when string, who ubl.Identity, secret, grant string) {
		t.Helper()
		a := ask[*ubl.ServerAccess](p, ubl.OpenServer{Who: who, ServerID: "files"})
		if string(a.Secret) != secret || string(a.Grant) != grant || a.Server.ServerID != "files" || a.Server.Receipt.Seq == 0 {
			t.Errorf("%s, %s has %q and %q", when, who.Email, a.Secret, a.Grant)
		}
		for _, s := range ask[[]*ubl.Server](p, ubl.ListServers{Who: who}) {
			if personal := s.Auth == ubl.AuthUser; (s.Connected != nil) != personal || personal && *s.Connected != (grant != "") {
				t.Errorf("%s, %s sees of %s: connected %v", when, who.Email, s.ServerID, s.Connected)
			}
		}
	}
	for _, when := range []string{"live", "loaded anew"} {
		has(when, p.bob, "sealed files", "sealed for bob")
		has(when, p.ana, "sealed files", "")
		p.Reload()
	}
	update := func(patch ubl.ServerPatch) {
		t.Helper()
		ask[*ubl.Server](p, ubl.UpdateServer{Request: p.Request(p.ana), Owner: true, ServerID: "files", Patch: patch})
	}
	path, elsewhere, back := "https://FILES.example/v2", "https://evil.example/v2", "https://files.example/v2"
	update(ubl.ServerPatch{URL: &path})
	has("at another path", p.bob, "sealed files", "sealed for bob")
	update(ubl.ServerPatch{Secret: []byte("sealed anew")})
	has("with a new secret", p.bob, "sealed anew", "sealed for bob")
	update(ubl.ServerPatch{URL: &elsewhere})
	has("elsewhere", p.bob, "", "")
	update(ubl.ServerPatch{URL: &back, Secret: []byte("sealed again")})
	has("back, with a secret", p.bob, "sealed again", "")
	p.nothing(ubl.SaveGrant{Request: p.Request(p.bob), ServerID: "files", Sealed: []byte("sealed for bob")})
	p.nothing(ubl.SaveGrant{Request: p.Request(p.bob), ServerID: "files", Sealed: []byte("renewed"), Renews: true})
	has("renewed", p.bob, "sealed again", "renewed")
	out := ubl.SaveGrant{Request: p.Request(p.bob), ServerID: "files"}
	p.nothing(out)
	p.nothing(out)
	p.refuse(ubl.CodeNotFound, ubl.SaveGrant{Request: p.Request(p.bob), ServerID: "files"})
	p.refuse(ubl.CodeNotFound, ubl.SaveGrant{Request: p.Request(p.bob), ServerID: "files", Sealed: []byte("late"), Renews: true})
	has("after signing out", p.bob, "sealed again", "")
	p.nothing(ubl.SaveGrant{Request: p.Request(p.bob), ServerID: "files", Sealed: []byte("sealed for bob")})
	update(ubl.ServerPatch{Secret: []byte{}})
	has("with the secret forgotten", p.bob, "", "sealed for bob")
	ask[*ubl.Server](p, ubl.RemoveServer{Request: p.Request(p.ana), Owner: true, ServerID: "files"})
	p.add("files", ubl.AuthUser)
	has("removed and added", p.bob, "sealed files", "")

	mu.Lock()
	defer mu.Unlock()
	shown := told.String() + string(must(json.Marshal(ask[[]*ubl.Server](p, ubl.ListServers{Who: p.ana}))))
	for _, atom := range p.atoms(1) {
		shown += string(atom)
	}
	for _, secret := range []string{"sealed", "c2VhbGVk", "evil.example"} { // plain, in Base64, and in a URL
		if strings.Contains(shown, secret) {
			t.Errorf("%q is shown to everyone", secret)
		}
	}
}

// TestPatchesThatChangeNothing are refused.
func TestPatchesThatChangeNothing(t *testing.T) {
	p := openPortal(t)
	p.add("files", ubl.AuthNone)
	empty := " "
	for _, patch := range []ubl.ServerPatch{{}, {Name: &empty}, {URL: &empty}} {
		p.refuse(ubl.CodeValidation, ubl.UpdateServer{Request: p.Request(p.ana), Owner: true, ServerID: "files", Patch: patch})
	}
	p.refuse(ubl.CodeNotFound, ubl.UpdateServer{Request: p.Request(p.ana), Owner: true, ServerID: "none", Patch: ubl.ServerPatch{Name: &empty}})
}

// TestSyncs: what a server said is on record once, however often it says so; a
// server that is down keeps its tools.
func TestSyncs(t *testing.T) {
	p := openPortal(t)
	p.add("files", ubl.AuthNone)
	p.syncs("files", "read", "1", "write", "1")
	grew := func(what string, want int64, sync func()) {
		t.Helper()
		before := p.head()
		sync()
		if got := p.head() - before; got != want {
			t.Errorf("%s: %d atoms, want %d", what, got, want)
		}
	}
	grew("the same at once", 0, func() { p.syncs("files", "read", "1", "write", "1") })
	grew("another at once", 2, func() { p.syncs("files", "read", "2", "write", "1") })
	p.Clock.Add(time.Hour)
	grew("the same after an hour", 2, func() { p.syncs("files", "read", "2", "write", "1") })
	again := ubl.RecordSync{Request: p.Request(ubl.Platform()), ServerID: "files", Problem: "no answer"}
	grew("down, told twice", 2, func() { ask[*ubl.Server](p, again); ask[*ubl.Server](p, again) })
	if s := ask[[]*ubl.Server](p, ubl.ListServers{Who: p.bob})[0]; s.Status != ubl.ServerDown || s.Tools != 2 || s.Held != 1 {
		t.Errorf("a server that is down is %+v", s)
	}
	again.Problem = "another"
	p.refuse(ubl.CodeIdempotencyConflict, again)
	left := p.syncs("files", "read", "2", "my tool", "1")
	if left.Status != ubl.ServerUp || !strings.HasPrefix(left.Problem, "tools left out: 1") || left.Tools != 1 {
		t.Errorf("a server with a tool left out is %+v", left)
	}
	long := strings.Repeat("é", 400) + "\xff"
	if s := ask[*ubl.Server](p, ubl.RecordSync{Request: p.Request(ubl.Platform()), ServerID: "files", Problem: long}); s.Problem != strings.Repeat("é", 250) {
		t.Errorf("a long problem is kept as %d bytes", len(s.Problem))
	}
	p.refuse(ubl.CodeNotFound, ubl.RecordSync{Request: p.Request(ubl.Platform()), ServerID: "none"})
	p.VerifyLedger(p.ana.TenantID)
}

// TestApproval: a changed definition can't be called until an owner has approved
// the very one that is held.
func TestApproval(t *testing.T) {
	p := openPortal(t)
	p.add("files", ubl.AuthNone)
	p.syncs("files", "read", "<1>")
	approve := func(hash string) ubl.ApproveTool {
		return ubl.ApproveTool{Request: p.Request(p.ana), Owner: true, Tool: "files.read", Hash: hash}
	}
	p.refuse(ubl.CodeConflict, approve(p.tool("files.read").Hash))
	p.syncs("files", "read", "<2>")
	seen := p.tool("files.read").HeldHash
	p.syncs("files", "read", "<3>")
	p.refuse(ubl.CodeConflict, approve(seen)) // not what the owner has read
	p.refuse(ubl.CodeForbidden, p.call(p.bob))
	yes := approve(p.tool("files.read").HeldHash)
	for _, when := range []string{"first", "again", "after a restart"} {
		got := ask[*ubl.PortalTool](p, yes)
		if string(got.Definition) != `{"version":"<3>"}` || got.Hash != ubl.BodyHash(got.Definition) || !got.Callable() {
			t.Errorf("approved %s, the tool is %s %+v", when, got.Definition, got)
		}
		p.Restart()
	}
	if got := p.tool("files.read"); string(got.Definition) != `{"version":"<3>"}` || !got.Callable() {
		t.Errorf("the tool is listed as %+v", got)
	}
	ask[*ubl.CallTicket](p, p.call(p.bob))
	p.refuse(ubl.CodeUnknownTool, ubl.ApproveTool{Request: p.Request(p.ana), Owner: true, Tool: "files.none", Hash: seen})
}

func must(data []byte, err error) []byte {
	if err != nil {
		panic(err)
	}
	return data
}
