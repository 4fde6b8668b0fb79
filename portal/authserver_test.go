package portal_test

import (
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
)

// authServer is an OAuth authorization server of its own, for what mockoidc hasn't:
// client credentials, registration, and refresh tokens that work once.
type authServer struct {
	*httptest.Server
	mu      sync.Mutex
	clients map[string]string
	codes   map[string]string // code → challenge
	refresh map[string]bool
	valid   map[string]bool
	issued  int
	iss     bool
	// elsewhere has the metadata name other addresses than its own: their base by endpoint.
	elsewhere map[string]string
	// refreshing is called when a refresh token is about to be taken.
	refreshing func()
	// broken has it fail over refresh tokens, and keep them.
	broken bool
}

func newAuthServer(t *testing.T) *authServer {
	a := &authServer{clients: map[string]string{"c1": "s1-is-a-secret"}, codes: map[string]string{}, refresh: map[string]bool{}, valid: map[string]bool{}}
	mux := http.NewServeMux()
	mux.HandleFunc("/.well-known/oauth-authorization-server", func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, map[string]any{
			"issuer": a.URL, "authorization_endpoint": cmp.Or(a.elsewhere["authorize"], a.URL) + "/authorize",
			"token_endpoint": cmp.Or(a.elsewhere["token"], a.URL) + "/token", "registration_endpoint": a.URL + "/register",
			"code_challenge_methods_supported": []string{"S256"}, "response_types_supported": []string{"code"},
			"authorization_response_iss_parameter_supported": a.iss,
		})
	})
	mux.HandleFunc("/register", a.register)
	mux.HandleFunc("/authorize", a.authorize)
	mux.HandleFunc("/token", a.token)
	a.Server = httptest.NewServer(mux)
	t.Cleanup(a.Close)
	return a
}

func writeJSON(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v)
}

func (a *authServer) register(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	var meta struct {
		RedirectURIs []string `json:"redirect_uris"`
	}
	if err := json.NewDecoder(r.Body).Decode(&meta); err != nil || len(meta.RedirectURIs) != 1 {
		http.Error(w, "{}", http.StatusBadRequest)
		return
	}
	id := fmt.Sprintf("dyn%d", len(a.clients))
	a.clients[id] = ""
	w.WriteHeader(http.StatusCreated)
	writeJSON(w, map[string]any{"client_id": id, "redirect_uris": meta.RedirectURIs, "token_endpoint_auth_method": "none"})
}

func (a *authServer) authorize(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	q := r.URL.Query()
	if _, known := a.clients[q.Get("client_id")]; !known || q.Get("code_challenge_method") != "S256" || q.Get("resource") == "" {
		http.Error(w, "no", http.StatusBadRequest)
		return
	}
	code := fmt.Sprintf("code%d", len(a.codes))
	a.codes[code] = q.Get("code_challenge")
	http.Redirect(w, r, q.Get("redirect_uri")+"?"+url.Values{"code": {code}, "state": {q.Get("state")}, "iss": {a.URL}}.Encode(), http.StatusFound)
}

func (a *authServer) token(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	_ = r.ParseForm()
	id, secret := r.Form.Get("client_id"), r.Form.Get("client_secret")
	if user, pass, ok := r.BasicAuth(); ok {
		id, secret = user, pass
	}
	want, known := a.clients[id]
	switch grant := r.Form.Get("grant_type"); {
	case !known || secret != want:
	case grant == "client_credentials" && r.Form.Get("resource") != "":
		a.issue(w, false)
		return
	case grant == "authorization_code":
		sum := sha256.Sum256([]byte(r.Form.Get("code_verifier")))
		challenge, known := a.codes[r.Form.Get("code")]
		delete(a.codes, r.Form.Get("code"))
		if known && challenge == base64.RawURLEncoding.EncodeToString(sum[:]) {
			a.issue(w, true)
			return
		}
	case grant == "refresh_token" && a.refresh[r.Form.Get("refresh_token")]:
		if a.refreshing != nil {
			a.refreshing()
		}
		if a.broken {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		delete(a.refresh, r.Form.Get("refresh_token"))
		a.issue(w, true)
		return
	}
	w.WriteHeader(http.StatusBadRequest)
	writeJSON(w, map[string]string{"error": "invalid_grant", "error_description": "secret"})
}

func (a *authServer) issue(w http.ResponseWriter, refresh bool) {
	a.issued++
	access := fmt.Sprintf("access-%d", a.issued)
	a.valid = map[string]bool{access: true}
	answer := map[string]any{"access_token": access, "token_type": "bearer", "expires_in": 3600}
	if refresh {
		next := fmt.Sprintf("refresh%d", a.issued)
		a.refresh[next] = true
		answer["refresh_token"] = next
	}
	writeJSON(w, answer)
}

func (a *authServer) knows(h http.Header) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	token, ok := strings.CutPrefix(h.Get("Authorization"), "Bearer ")
	return ok && a.valid[token]
}

// revoke ends all access tokens.
func (a *authServer) revoke() {
	a.mu.Lock()
	defer a.mu.Unlock()
	clear(a.valid)
}

// keepCodes remembers the codes that were given, and has them be taken again by what it
// returns.
func (a *authServer) keepCodes() (restore func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	codes := maps.Clone(a.codes)
	return func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.codes = maps.Clone(codes)
	}
}

// forgetCodes has no code be taken.
func (a *authServer) forgetCodes() {
	a.mu.Lock()
	defer a.mu.Unlock()
	clear(a.codes)
}

// forget ends a client.
func (a *authServer) forget(client string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.clients, client)
}

func (a *authServer) count() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.issued
}
