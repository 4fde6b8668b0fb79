package auth

import (
	"crypto/rand"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"ubl"
	"ubl/test/harness"
	"ubl/transport/envelope"
)

// desk is a node's ways in over a real house: what tenants and tenant 0 say is
// not scripted. Its clock is the house's.
type desk struct {
	*Authenticator
	house  *harness.House
	key    *Key
	origin string
}

const deskOrigin = "http://localhost:8080"

// openDesk opens a house with one desk; change edits its options.
func openDesk(t testing.TB, change ...func(*Options)) *desk {
	t.Helper()
	key, err := NewKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	d := &desk{house: harness.Open(t, harness.Options{}), key: key, origin: deskOrigin}
	d.house.Enter(ubl.Platform())
	return d.another(t, change...)
}

// another is a second node's desk over the same house.
func (d *desk) another(t testing.TB, change ...func(*Options)) *desk {
	t.Helper()
	o := Options{Key: d.key, Asker: d.house.Runtime, Feed: d.house.Runtime, Now: d.house.Clock.Now, PublicURL: d.origin,
		Domains: map[string]ubl.TenantID{"corp.example": "t:corp.example"}}
	for _, c := range change {
		c(&o)
	}
	a, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(a.Close)
	return &desk{Authenticator: a, house: d.house, key: d.key, origin: strings.TrimSuffix(o.PublicURL, "/")}
}

// person is a local identity, of whom the tenant has heard.
func (d *desk) person(email string) ubl.Identity {
	who := localPerson(ubl.DomainTenant(ubl.EmailDomain(email)), email)
	d.house.Enter(who)
	return who
}

// visitor is somebody's browser: it keeps every cookie, and its pages are the
// server's own.
type visitor struct {
	t      testing.TB
	at     *desk
	jar    map[string]string
	origin string
}

func (d *desk) visitor(t testing.TB) *visitor {
	return &visitor{t: t, at: d, jar: map[string]string{}, origin: d.origin}
}

// signedIn gives the browser a session.
func (v *visitor) signedIn(who ubl.Identity) *visitor {
	v.t.Helper()
	w := httptest.NewRecorder()
	if err := v.at.startSession(w, httptest.NewRequest(http.MethodPost, "/", nil), who, ubl.SignInLink); err != nil {
		v.t.Fatal(err)
	}
	v.keep(w)
	return v
}

// with is the same browser after a change, which another may have made to it.
func (v *visitor) with(change func(*visitor)) *visitor {
	copied := *v
	copied.jar = map[string]string{}
	for name, value := range v.jar {
		copied.jar[name] = value
	}
	change(&copied)
	return &copied
}

// post sends JSON from a page.
func (v *visitor) post(path, body string, change ...func(*http.Request)) *httptest.ResponseRecorder {
	return v.send(http.MethodPost, path, body, append([]func(*http.Request){func(r *http.Request) {
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Origin", v.origin)
		r.Header.Set("Sec-Fetch-Site", "same-origin")
	}}, change...)...)
}

// open follows a link to the server, from wherever it was.
func (v *visitor) open(path string) *httptest.ResponseRecorder {
	return v.send(http.MethodGet, path, "", func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") })
}

func (v *visitor) send(method, path, body string, change ...func(*http.Request)) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, v.origin+path, strings.NewReader(body))
	for name, value := range v.jar {
		r.AddCookie(&http.Cookie{Name: name, Value: value})
	}
	for _, c := range change {
		c(r)
	}
	r = r.WithContext(envelope.WithRequest(r.Context(), &envelope.Request{ID: "req:test"}))
	w := httptest.NewRecorder()
	v.at.Browsers().ServeHTTP(w, r)
	v.keep(w)
	return w
}

func (v *visitor) keep(w *httptest.ResponseRecorder) {
	for _, c := range w.Result().Cookies() {
		if c.MaxAge < 0 {
			delete(v.jar, c.Name)
		} else {
			v.jar[c.Name] = c.Value
		}
	}
}

// session is whose session the browser has; the zero identity for none.
func (v *visitor) session() ubl.Identity {
	r := httptest.NewRequest(http.MethodGet, v.origin+"/", nil)
	for name, value := range v.jar {
		r.AddCookie(&http.Cookie{Name: name, Value: value})
	}
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	who, err := v.at.whose(r)
	if err != nil {
		return ubl.Identity{}
	}
	return who
}

// cookies counts those of ceremonies under way.
func (v *visitor) ceremonies() (n int) {
	for name := range v.jar {
		if strings.Count(name, "-") >= 2 {
			n++
		}
	}
	return n
}

// saidNo is the code that was answered, and the message.
func saidNo(w *httptest.ResponseRecorder) (ubl.Code, string) {
	var body envelope.ErrorBody
	if err := json.Unmarshal(w.Body.Bytes(), &body); err != nil {
		return "", ""
	}
	return body.Error.Code, body.Error.Message
}

// acts are the acts of tenant 0 about passkeys and tokens after a seq, with
// their status where they were not executed.
func (d *desk) acts(t testing.TB, after int64) (acts []string) {
	t.Helper()
	page := harness.Must[*ubl.AtomPage](d.house, ubl.LedgerName(ubl.CoreTenant), ubl.ReadAtoms{From: after + 1, Limit: 500})
	for _, raw := range page.Atoms {
		var a struct {
			Kind, Did, Status string
		}
		if err := json.Unmarshal(raw, &a); err != nil {
			t.Fatal(err)
		}
		if !ubl.IsAction(a.Kind) || !strings.HasPrefix(a.Did, "passkey.") && !strings.HasPrefix(a.Did, "platform.token.") {
			continue
		}
		if a.Status != string(ubl.StatusExecuted) {
			a.Did += " " + a.Status
		}
		acts = append(acts, a.Did)
	}
	return acts
}

func (d *desk) head() int64 {
	return harness.Must[ubl.LedgerHead](d.house, ubl.LedgerName(ubl.CoreTenant), ubl.GetLedgerHead{}).Seq
}
