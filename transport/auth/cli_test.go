package auth

import (
	"encoding/base64"
	"encoding/json"
	"html"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"ubl"
	"ubl/test/harness"
	"ubl/transport/envelope"
)

// secretOf is the secret of a command line in these tests.
func secretOf(letter string) string {
	return base64.RawURLEncoding.EncodeToString([]byte(strings.Repeat(letter, 32)))
}

// beginBody is what a command line begins with.
func beginBody(name, secret, at string) string {
	return `{"name":"` + name + `","at":"` + at + `","challenge":"` + CLIChallenge(secret, at) + `"}`
}

// terminal is a command line that wants to be signed in. It has no cookies.
type terminal struct {
	*visitor
	secret string
	begun  CLIBegun
}

func (d *desk) terminal(t testing.TB, letter string) *terminal {
	t.Helper()
	c := &terminal{visitor: d.visitor(t), secret: secretOf(letter)}
	w := c.post(CLIBeginPath, beginBody("ubl on laptop", c.secret, d.origin))
	if err := json.Unmarshal(w.Body.Bytes(), &c.begun); err != nil || w.Code != http.StatusOK {
		t.Fatalf("begun: %d %s", w.Code, w.Body)
	}
	return c
}

// path is where the person agrees.
func (c *terminal) path() string { return strings.TrimPrefix(c.begun.Link, c.origin) }

// take asks for the token.
func (c *terminal) take() *httptest.ResponseRecorder {
	return c.post(CLITokenPath, `{"secret":"`+c.secret+`","at":"`+c.origin+`"}`)
}

// form is what the page's form sends, "" where it has none.
var formRequest = regexp.MustCompile(`name="request" value="([^"]+)"`)

// agree opens the page as somebody who has copied its address, and sends its form.
func (v *visitor) agree(path string) (page string, w *httptest.ResponseRecorder) {
	page = v.send(http.MethodGet, path, "", fromSite("none")).Body.String()
	found := formRequest.FindStringSubmatch(page)
	if found == nil {
		return page, nil
	}
	return page, v.post(cliPath, "request="+html.UnescapeString(found[1]), asForm)
}

// asks sends a request with a token.
func (d *desk) asks(token string) (*envelope.Caller, error) {
	r := httptest.NewRequest(http.MethodGet, d.origin+"/api/whoami", nil)
	r.Header.Set("Authorization", "Bearer "+token)
	return d.Authenticate(r.Context(), r)
}

// TestCommandLineSignsIn: the person sees who asks and the code, agrees, and the command
// that keeps the secret gets one token, whose whole identity is the person's.
func TestCommandLineSignsIn(t *testing.T) {
	d := openDesk(t)
	ann := d.person("ann@corp.example")
	c := d.terminal(t, "a")
	if code, _ := saidNo(c.take()); code != ubl.CodeNotFound {
		t.Errorf("before anybody agreed: %s", code)
	}
	page, w := d.visitor(t).agree(c.path())
	if w != nil || !strings.Contains(page, c.begun.Code) || !strings.Contains(page, "Sign in to UBL in this browser first") {
		t.Errorf("to nobody the page says: %s", page)
	}
	before := d.head()
	page, w = d.visitor(t).signedIn(ann).agree(c.path())
	for _, want := range []string{"ubl on laptop", "asked <b>" + d.origin, c.begun.Code, "ann@corp.example", "30 days"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q: %s", want, page)
		}
	}
	if w == nil || w.Code != http.StatusOK || !strings.Contains(w.Body.String(), "is signed in") {
		t.Fatalf("agreed: %v", w)
	}
	var got CLIToken
	w = c.take()
	if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || w.Code != http.StatusOK {
		t.Fatalf("taken: %d %s", w.Code, w.Body)
	}
	if w := c.take(); w.Code != http.StatusNotFound {
		t.Errorf("taken again: %d %s", w.Code, w.Body)
	}
	caller, err := d.asks(got.Token)
	if err != nil || caller.Identity.UserID != ann.UserID || caller.Identity.TenantID != ann.TenantID || caller.Session || caller.TokenID != got.JTI {
		t.Fatalf("it is %+v, %v", caller, err)
	}
	if acts := d.acts(t, before); !slices.Contains(acts, "platform.token.create") {
		t.Errorf("on record: %v", acts)
	}
	own := harness.Must[[]ubl.PlatformToken](d.house, ubl.TenantName(ubl.CoreTenant), ubl.ListTokens{Who: ann})
	n := slices.IndexFunc(own, func(p ubl.PlatformToken) bool { return p.JTI == got.JTI })
	if n < 0 || own[n].Label != "ubl on laptop" || own[n].Kind != ubl.TokenBearer || own[n].ExpiresAt != got.ExpiresAt {
		t.Errorf("listed as %+v", own)
	}
	if _, err := d.house.Ask(t.Context(), ubl.TenantName(ubl.CoreTenant), ubl.RevokeToken{Request: d.house.Request(ann), JTI: got.JTI}); err != nil {
		t.Fatal(err)
	}
	if _, err := d.another(t).asks(got.Token); ubl.CodeOf(err) != ubl.CodeUnauthorized {
		t.Errorf("once it is revoked: %v", err)
	}
}

// TestCommandLineOfAProvidersPerson stays who they are by their provider, and another node
// gives the token.
func TestCommandLineOfAProvidersPerson(t *testing.T) {
	b := openBooth(t)
	v := b.visitor(t)
	v.open(b.back(t, v, ""))
	who := v.session()
	v.signedIn(who) // the provider of these tests doesn't say when it asked
	c := b.terminal(t, "b")
	if _, w := v.agree(c.path()); w == nil || w.Code != http.StatusOK {
		t.Fatalf("agreed: %v", w)
	}
	var got CLIToken
	if err := json.Unmarshal(c.take().Body.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	caller, err := b.asks(got.Token)
	if err != nil || caller.Identity.UserID != who.UserID || caller.Identity.Issuer != who.Issuer || caller.Identity.Subject != who.Subject {
		t.Errorf("%+v, %v, want %+v", caller, err, who)
	}
}

// TestCommandLineIsRefused: whoever lacks the secret, the session, a fresh proof, the time or
// a page of this server's gets nothing.
func TestCommandLineIsRefused(t *testing.T) {
	agreed := func(t *testing.T) (*desk, *terminal) {
		d := openDesk(t)
		c := d.terminal(t, "c")
		if _, w := d.visitor(t).signedIn(d.person("ann@corp.example")).agree(c.path()); w == nil || w.Code != http.StatusOK {
			t.Fatalf("agreed: %v", w)
		}
		return d, c
	}
	t.Run("another secret", func(t *testing.T) {
		_, c := agreed(t)
		c.secret = secretOf("d")
		if code, _ := saidNo(c.take()); code != ubl.CodeNotFound {
			t.Error(code)
		}
	})
	t.Run("the challenge in its place", func(t *testing.T) {
		d, c := agreed(t)
		c.secret = CLIChallenge(c.secret, d.origin)
		if code, _ := saidNo(c.take()); code != ubl.CodeNotFound {
			t.Error(code)
		}
	})
	t.Run("too late for the token", func(t *testing.T) {
		d, c := agreed(t)
		d.house.Clock.Add(cliTaken)
		if code, _ := saidNo(c.take()); code != ubl.CodeNotFound {
			t.Error(code)
		}
	})
	t.Run("too late to agree", func(t *testing.T) {
		d := openDesk(t)
		c := d.terminal(t, "e")
		d.house.Clock.Add(cliTime)
		page, w := d.visitor(t).signedIn(d.person("ann@corp.example")).agree(c.path())
		if w != nil || !strings.Contains(page, "too old") {
			t.Error(page)
		}
	})
	t.Run("a proof of before", func(t *testing.T) {
		d := openDesk(t)
		c := d.terminal(t, "f")
		v := d.visitor(t).signedIn(d.person("ann@corp.example"))
		_, request, _ := strings.Cut(c.path(), "?")
		d.stale()
		page, w := v.agree(c.path())
		if w != nil || !strings.Contains(page, "last five minutes") {
			t.Error(page)
		}
		if w := v.post(cliPath, request, asForm); w.Code != http.StatusForbidden {
			t.Errorf("sent all the same: %d %s", w.Code, w.Body)
		}
		if code, _ := saidNo(c.take()); code != ubl.CodeNotFound {
			t.Error(code)
		}
	})
	t.Run("another site", func(t *testing.T) {
		d := openDesk(t)
		c := d.terminal(t, "g")
		v := d.visitor(t).signedIn(d.person("ann@corp.example"))
		if w := v.open(c.path()); w.Code != http.StatusForbidden || strings.Contains(w.Body.String(), c.begun.Code) {
			t.Errorf("a link of another site's: %d %s", w.Code, w.Body)
		}
		_, request, _ := strings.Cut(c.path(), "?")
		if w := v.post(cliPath, request, asForm, fromSite("cross-site")); w.Code != http.StatusForbidden {
			t.Errorf("a form of another site's: %d %s", w.Code, w.Body)
		}
		if w := d.visitor(t).post(cliPath, request, asForm); w.Code != http.StatusUnauthorized {
			t.Errorf("without a session: %d %s", w.Code, w.Body)
		}
	})
	t.Run("changed on the way", func(t *testing.T) {
		d := openDesk(t)
		c := d.terminal(t, "h")
		v := d.visitor(t).signedIn(d.person("ann@corp.example"))
		for _, path := range []string{c.path() + "A", cliPath, cliPath + "?request=x"} {
			if page, w := v.agree(path); w != nil || !strings.Contains(page, "not valid") {
				t.Errorf("%s: %s", path, page)
			}
		}
	})
	t.Run("what isn't a request", func(t *testing.T) {
		d := openDesk(t)
		for _, body := range []string{`{}`, `{"name":"x","challenge":"short"}`, beginBody(`\u202ex`, "x", d.origin), beginBody("x", "x", ""), `[]`} {
			if w := d.visitor(t).post(CLIBeginPath, body); w.Code != http.StatusUnprocessableEntity && w.Code != http.StatusBadRequest {
				t.Errorf("%s: %d %s", body, w.Code, w.Body)
			}
		}
		if w := d.visitor(t).post(CLITokenPath, `{"secret":"x"}`); w.Code != http.StatusUnprocessableEntity && w.Code != http.StatusBadRequest {
			t.Errorf("%d %s", w.Code, w.Body)
		}
	})
}

// TestCommandLinesTokenIsNoSession, and a session is no such token.
func TestCommandLinesTokenIsNoSession(t *testing.T) {
	d := openDesk(t)
	v := d.visitor(t).signedIn(d.person("ann@corp.example"))
	c := d.terminal(t, "i")
	v.agree(c.path())
	var got CLIToken
	if err := json.Unmarshal(c.take().Body.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	for name, cookie := range v.jar {
		if _, err := d.asks(cookie); ubl.CodeOf(err) != ubl.CodeUnauthorized {
			t.Errorf("the cookie %s signs a program in: %v", name, err)
		}
		other := v.with(func(v *visitor) { v.jar[name] = got.Token })
		if who := other.session(); who.UserID != "" {
			t.Errorf("the token is a session of %s", who.UserID)
		}
	}
	d.house.Clock.Add(cliTokenTime + time.Second)
	if _, err := d.asks(got.Token); ubl.CodeOf(err) != ubl.CodeUnauthorized {
		t.Errorf("after its end: %v", err)
	}
}

// TestCommandLineIsAgreedToOnce: in the time of a request nobody agrees to it again, neither
// before its command has come, nor after, nor once it is too late for that.
func TestCommandLineIsAgreedToOnce(t *testing.T) {
	d := openDesk(t)
	c := d.terminal(t, "j")
	ann, bob := d.visitor(t).signedIn(d.person("ann@corp.example")), d.visitor(t).signedIn(d.person("bob@corp.example"))
	if _, w := ann.agree(c.path()); w == nil || w.Code != http.StatusOK {
		t.Fatalf("agreed: %v", w)
	}
	again := func(when string, v *visitor) {
		t.Helper()
		if _, w := v.agree(c.path()); w == nil || w.Code != http.StatusConflict {
			t.Errorf("%s: %v", when, w)
		}
	}
	again("before the command has come", bob)
	if w := c.take(); w.Code != http.StatusOK || !strings.Contains(w.Body.String(), "ann@corp.example") {
		t.Fatalf("taken: %d %s", w.Code, w.Body)
	}
	again("after that", ann)
	d.house.Clock.Add(cliTaken + time.Second)
	again("later", ann)
	if w := c.take(); w.Code != http.StatusNotFound {
		t.Errorf("taken again: %d %s", w.Code, w.Body)
	}
}

// TestCommandLineNamesTheServer: a request that was passed on by a program at another address
// begins nothing, and a secret counts for the address alone that it was drawn for.
func TestCommandLineNamesTheServer(t *testing.T) {
	d := openDesk(t)
	for _, at := range []string{"https://evil.example", "http://127.0.0.1:9", d.origin + ":444", d.origin + "/x"} {
		if w := d.visitor(t).post(CLIBeginPath, beginBody("ubl", secretOf("k"), at)); w.Code != http.StatusForbidden && w.Code != http.StatusUnprocessableEntity && w.Code != http.StatusBadRequest {
			t.Errorf("%s: %d %s", at, w.Code, w.Body)
		}
	}
	c := &terminal{visitor: d.visitor(t), secret: secretOf("l")}
	body := `{"name":"ubl","at":"` + d.origin + `","challenge":"` + CLIChallenge(c.secret, "https://evil.example") + `"}`
	if err := json.Unmarshal(c.post(CLIBeginPath, body).Body.Bytes(), &c.begun); err != nil {
		t.Fatal(err)
	}
	d.visitor(t).signedIn(d.person("ann@corp.example")).agree(c.path())
	if w := c.take(); w.Code != http.StatusNotFound {
		t.Errorf("a secret of another address: %d %s", w.Code, w.Body)
	}
}
