package e2e

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/descope/virtualwebauthn"
	"github.com/oauth2-proxy/mockoidc"
)

// post sends JSON as a page at an origin does, and wants a status.
func (v visitor) post(origin, path, body string, want int) string {
	v.t.Helper()
	req, err := http.NewRequest(http.MethodPost, origin+path, strings.NewReader(body))
	must(v.t, err)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Origin", origin)
	resp, err := v.Do(req)
	must(v.t, err)
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	must(v.t, err)
	if resp.StatusCode != want {
		v.t.Fatalf("POST %s is answered %d, want %d: %s", path, resp.StatusCode, want, answer)
	}
	return string(answer)
}

// TestPasskey: whoever came by the link makes a passkey, and comes back with it
// after the server was killed. Once it is removed it lets nobody in.
func TestPasskey(t *testing.T) {
	n := newNode(t, "--owner", "ana@key.example")
	link := n.signInLink(t)
	at, _, _ := strings.Cut(link, "/signin/")
	// One key of elliptic curves in 128 the library writes down too short.
	phone, key := virtualwebauthn.NewAuthenticator(), virtualwebauthn.NewCredential(virtualwebauthn.KeyTypeRSA)
	rp := virtualwebauthn.RelyingParty{ID: "localhost", Origin: at}

	v := newVisitor(t)
	v.ask("POST", link, http.StatusSeeOther)
	making, err := virtualwebauthn.ParseAttestationOptions(v.post(at, "/auth/passkeys/register/begin", "", http.StatusOK))
	must(t, err)
	phone.Options.UserHandle = []byte(making.UserID)
	v.post(at, "/auth/passkeys/register/finish",
		`{"name":"My phone","credential":`+virtualwebauthn.CreateAttestationResponse(rp, phone, key, *making)+`}`, http.StatusCreated)
	numbers := "http://" + n.addr
	if told := v.post(numbers, "/auth/passkeys/login/begin", "", http.StatusForbidden); !strings.Contains(told, at) {
		t.Errorf("who opened %s is told %s", numbers, told)
	}

	n.kill()
	n.start()
	signIn := func(want int) visitor {
		v := newVisitor(t)
		login, err := virtualwebauthn.ParseAssertionOptions(v.post(at, "/auth/passkeys/login/begin", "", http.StatusOK))
		must(t, err)
		key.Counter++
		v.post(at, "/auth/passkeys/login/finish", virtualwebauthn.CreateAssertionResponse(rp, phone, key, *login), want)
		return v
	}
	again := signIn(http.StatusOK)
	if who := again.ask("GET", at+"/api/whoami", http.StatusOK); !strings.Contains(who, "ana@key.example") || !strings.Contains(who, `"owner"`) {
		t.Errorf("signed in as %s", who)
	}
	list := again.ask("GET", at+"/api/passkeys", http.StatusOK)
	id := regexp.MustCompile(`p:[0-9a-f]{32}`).FindString(list)
	if !strings.Contains(list, "My phone") || strings.Contains(list, `"last_used_at":null`) || id == "" {
		t.Errorf("the passkeys are %s", list)
	}
	again.ask("DELETE", at+"/api/passkeys/"+id, http.StatusOK)
	signIn(http.StatusUnauthorized)
	again.ask("GET", at+"/api/whoami", http.StatusOK) // the session goes on
}

// TestProvider: people sign in at the provider that the flags name, and so do
// those of the YAML file.
func TestProvider(t *testing.T) {
	p, err := mockoidc.Run()
	must(t, err)
	defer func() { _ = p.Shutdown() }()
	dir := t.TempDir()
	secret, file := filepath.Join(dir, "secret"), filepath.Join(dir, "ubl.yaml")
	must(t, os.WriteFile(secret, []byte(p.ClientSecret+"\n"), 0o600))
	must(t, os.WriteFile(file, []byte("oidc:\n  - {issuer: '"+p.Issuer()+"', client-id: '"+p.ClientID+"', client-secret-file: '"+secret+"'}\n"), 0o600))
	for how, args := range map[string][]string{
		"flags": {"--oidc-issuer", p.Issuer(), "--oidc-client-id=" + p.ClientID, "--oidc-client-secret-file", secret},
		"file":  {"--config", file},
	} {
		t.Run(how, func(t *testing.T) {
			n := newNode(t, append(args, "--owner", "ana@link.example")...)
			at, _, _ := strings.Cut(n.signInLink(t), "/signin/")
			v := newVisitor(t)
			v.CheckRedirect = nil
			var ways struct{ OIDC []struct{ ID, Name string } }
			must(t, json.Unmarshal([]byte(v.ask("GET", at+"/auth/ways", http.StatusOK)), &ways))
			if len(ways.OIDC) != 1 || !strings.Contains(p.Addr(), ways.OIDC[0].Name) {
				t.Fatalf("the ways are %+v", ways)
			}
			p.QueueUser(&mockoidc.MockUser{Subject: "bob", Email: "bob@corp.example", EmailVerified: true})
			page := v.ask("GET", at+"/auth/oidc/"+ways.OIDC[0].ID+"/start?return=/ui/settings", http.StatusOK) // to the provider, back, and into the app
			if !strings.Contains(page, "<!doctype html>") {
				t.Errorf("came to %s", page)
			}
			if who := v.ask("GET", at+"/api/whoami", http.StatusOK); !strings.Contains(who, "bob@corp.example") {
				t.Errorf("signed in as %s", who)
			}
			if list := v.ask("GET", at+"/api/tokens", http.StatusOK); !strings.Contains(list, `"method":"oidc"`) {
				t.Errorf("the list of tokens is %s", list)
			}
		})
	}
}
