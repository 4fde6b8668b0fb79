package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ubl"
)

// TestMeExport: a person's data comes as a file of theirs alone, which replaces nothing unless they say
// so, and whose receipts verify. An agent and somebody without a token are refused.
func TestMeExport(t *testing.T) {
	w := openImportWorld(t)
	ana := w.somebody()
	w.must(ana, "room", "create", "plans")
	w.must(ana, "send", "plans", "my own words")
	out := filepath.Join(t.TempDir(), "mine.zip")
	said := w.must(ana, "me", "export", "--quiet", "--out", out)
	if info, err := os.Stat(out); err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("the file is %v (%v)", info, err)
	}
	if !strings.Contains(said, "1 of your messages") {
		t.Errorf("it says %q", said)
	}
	if code, _, errs := w.ubl(t.Context(), w.url, ana, "me", "export", "--quiet", "--out", out); code != 1 || !strings.Contains(errs, "--force") {
		t.Errorf("a second one ends with %d: %s", code, errs)
	}
	var answer struct {
		Counts  struct{ Messages, Acts int64 } `json:"counts"`
		Receipt ubl.Receipt                    `json:"receipt"`
	}
	if err := json.Unmarshal([]byte(w.must(ana, "me", "export", "--quiet", "--out", out, "--force", "--json")), &answer); err != nil {
		t.Fatal(err)
	}
	if answer.Counts.Messages != 1 || answer.Counts.Acts == 0 || answer.Receipt.Seq == 0 {
		t.Errorf("--json says %+v", answer)
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(out), "*")); len(left) != 1 {
		t.Errorf("beside it there are %v", left)
	}
	var bot struct {
		Secret string `json:"client_secret"`
		Of     struct {
			ClientID string `json:"client_id"`
		} `json:"service_token"`
	}
	r, err := http.NewRequestWithContext(t.Context(), "POST", w.url+"/api/service-tokens", strings.NewReader(`{"name":"bot"}`))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+ana)
	r.Header.Set("Content-Type", "application/json")
	if resp, err := http.DefaultClient.Do(r); err != nil || json.NewDecoder(resp.Body).Decode(&bot) != nil || bot.Secret == "" {
		t.Fatalf("no agent was made: %+v (%v)", bot, err)
	}
	for who, header := range map[string]http.Header{
		"an agent": {"Cf-Access-Client-Id": {bot.Of.ClientID}, "Cf-Access-Client-Secret": {bot.Secret}},
		"nobody":   {},
	} {
		r, err := http.NewRequestWithContext(t.Context(), "GET", w.url+"/api/me/export", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header = header
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if want := map[string]int{"an agent": http.StatusForbidden, "nobody": http.StatusUnauthorized}[who]; resp.StatusCode != want {
			t.Errorf("%s is answered %d, want %d", who, resp.StatusCode, want)
		}
	}
}

// TestMeExportThatBreaks leaves no file, whole or half, and none in the place of one that was there.
func TestMeExportThatBreaks(t *testing.T) {
	for what, answer := range map[string]http.HandlerFunc{
		"cut off": func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write([]byte("PK\x03\x04 the beginning"))
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		},
		"no zip": func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("PK\x03\x04 the beginning")) },
		"refused": func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusTooManyRequests)
		},
	} {
		s := httptest.NewServer(answer)
		dir := t.TempDir()
		out := filepath.Join(dir, "mine.zip")
		if err := os.WriteFile(out, []byte("before"), 0o600); err != nil {
			t.Fatal(err)
		}
		code, _, errs := run(t, s.URL, "", "me", "export", "--quiet", "--force", "--out", out)
		s.Close()
		if code != 1 || !strings.Contains(errs, "couldn't take your data home") {
			t.Errorf("%s: %d, %s", what, code, errs)
		}
		left, err := filepath.Glob(filepath.Join(dir, "*"))
		data, _ := os.ReadFile(out)
		if err != nil || len(left) != 1 || string(data) != "before" {
			t.Errorf("%s: there are %v, with %q", what, left, data)
		}
	}
}
