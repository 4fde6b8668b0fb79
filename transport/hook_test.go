package transport

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestHookText: what Slack's senders say becomes text; names that they claim stand in it.
func TestHookText(t *testing.T) {
	const json, form = "application/json", "application/x-www-form-urlencoded"
	for name, test := range map[string]struct{ of, body, want string }{
		"a text":                   {json, `{"text":"build *passed*"}`, "build *passed*"},
		"links and marks":          {json, `{"text":"see <https://a.example/?x=1&amp;y=2|the log> or <https://b.example>, <!channel> <@U1> &lt;b&gt;"}`, "see the log (https://a.example/?x=1&y=2) or https://b.example, @channel @U1 <b>"},
		"a form, as of long ago":   {form, `payload=%7B%22text%22%3A%22hi%22%7D`, "hi"},
		"a claimed name":           {json, `{"text":"hi","username":"Ana\n\u202e [admin]"}`, "[Ana admin, as the sender calls itself]\nhi"},
		"blocks":                   {json, `{"text":"short","blocks":[{"type":"header","text":{"type":"plain_text","text":"Deploy"}},{"type":"section","fields":[{"text":"a"},{"text":"b"}]},{"type":"rich_text","elements":[{"elements":[{"text":"deep"}]}]}]}`, "Deploy\na\nb\ndeep"},
		"blocks that say nothing":  {json, `{"text":"short","blocks":[{"type":"divider"}]}`, "short"},
		"an attachment":            {json, `{"attachments":[{"fallback":"f","title":"T","title_link":"https://a.example","text":"body","fields":[{"title":"k","value":"v"}]}]}`, "T (https://a.example)\nbody\nk: v"},
		"an attachment's fallback": {json, `{"attachments":[{"fallback":"f"}]}`, "f"},
		"no JSON":                  {json, `text=hi`, ""},
		"nothing":                  {json, `{"username":"x"}`, ""},
		"too deep":                 {json, `{"blocks":[` + strings.Repeat(`{"elements":[`, 30) + `{"text":"x"}` + strings.Repeat(`]}`, 30) + `]}`, ""},
		"too long":                 {json, `{"text":"` + strings.Repeat("é", 5000) + `"}`, strings.Repeat("é", 3998) + "…"},
	} {
		if got := hookText(test.of, strings.NewReader(test.body)); got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

// TestHooks: a post to a webhook is a request to send a message, with the token of its path and
// nothing else of the sender's; no path with a secret comes further.
func TestHooks(t *testing.T) {
	var seen *http.Request
	var body string
	status := http.StatusCreated
	server := hooks(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		seen, body = r, string(text)
		w.Header().Set("Location", "/somewhere")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, `{"an":"answer"}`)
	}))
	post := func(method, path string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(method, path, strings.NewReader(`{"text":"hi"}`))
		r.Header.Set("Cookie", "session=1")
		r.Header.Set("Idempotency-Key", "once")
		w := httptest.NewRecorder()
		server.ServeHTTP(w, r)
		return w
	}
	w := post("POST", "/hooks/r:general/ubl_secret")
	if w.Code != 200 || w.Body.String() != "ok" || w.Header().Get("Location") != "" {
		t.Errorf("the sender is answered %d %s", w.Code, w.Body)
	}
	if seen.URL.Path != "/api/rooms/r:general/messages" || seen.Header.Get("Authorization") != "Bearer ubl_secret" || seen.Header.Get("Cookie") != "" ||
		seen.Header.Get("Idempotency-Key") != "once" || body != `{"body":{"text":"hi"},"type":"text"}` {
		t.Errorf("what is asked is %s %v %s", seen.URL, seen.Header, body)
	}
	status = http.StatusUnauthorized
	if w := post("POST", "/hooks/r:general/forged"); w.Code != 401 || w.Body.String() != `{"an":"answer"}` {
		t.Errorf("a forged token is answered %d %s", w.Code, w.Body)
	}
	for _, path := range []string{"/hooks/r:general/ubl_secret/x", "/hooks/general/ubl_secret", "/hooks//ubl_secret", "/hooks/ubl_secret", "/hooks/r:general/"} {
		post("POST", path)
		if strings.Contains(seen.URL.String()+seen.RequestURI, "ubl_secret") || seen.URL.Path != "/hooks/" || seen.Header.Get("Authorization") != "" {
			t.Errorf("%s comes through as %s", path, seen.URL)
		}
	}
	if post("GET", "/hooks/r:general/ubl_secret"); seen.URL.Path != "/hooks/" || strings.Contains(seen.RequestURI, "secret") {
		t.Errorf("a GET comes through as %s", seen.URL)
	}
	if post("GET", "/api/whoami"); seen.URL.Path != "/api/whoami" || seen.Header.Get("Cookie") == "" {
		t.Errorf("what is no webhook comes through as %s", seen.URL)
	}
}
