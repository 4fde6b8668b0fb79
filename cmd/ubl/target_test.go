package main

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"ubl/transport/auth"
)

// TestOwnersTokenStaysForAnHour: what commands on the server's machine send by themselves
// leaves one receipt an hour, and holds beyond that.
func TestOwnersTokenStaysForAnHour(t *testing.T) {
	dir := t.TempDir()
	_, _, err := auth.LoadOrCreateKey(keyPath(dir), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 1, 7, 12, 1, 0, 0, time.UTC)
	p := &program{now: func() time.Time { return now }}
	here := &serving{dir: dir, Owner: "owner@localhost", proved: true}
	first := p.ownersToken(here)
	now = now.Add(58 * time.Minute)
	if first == "" || p.ownersToken(here) != first {
		t.Error("another token within the hour")
	}
	now = now.Add(2 * time.Minute)
	if p.ownersToken(here) == first {
		t.Error("the same token after the hour")
	}
	if got := p.ownersToken(&serving{dir: t.TempDir(), Owner: "owner@localhost"}); got != "" {
		t.Error("a token without a key")
	}
}

// TestServingIsBelievedOnlyInItsForm: what isn't a server's word about itself leads nowhere.
func TestServingIsBelievedOnlyInItsForm(t *testing.T) {
	for name, s := range map[string]any{
		"another form": serving{Format: "ubl.serving.v9", URL: "http://127.0.0.1:1"},
		"elsewhere":    serving{Format: servingFormat, URL: "http://192.0.2.1:8080"},
		"no URL":       serving{Format: servingFormat, URL: "file:///etc/passwd"},
		"no object":    []int{1},
	} {
		dir := t.TempDir()
		data, err := json.Marshal(s)
		if err = errors.Join(err, os.WriteFile(servingPath(dir), data, 0o600)); err != nil {
			t.Fatal(err)
		}
		if got, err := believed(dir); got != nil || err != nil {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

// TestProfilesAreKept: what is written is read again, and a crash between leaves the one
// before; a folder for settings follows from the system's variables.
func TestProfilesAreKept(t *testing.T) {
	home := t.TempDir()
	p := &program{env: map[string]string{"XDG_CONFIG_HOME": filepath.Join(home, "own"), "HOME": home}, err: new(bytes.Buffer)}
	if err := p.keepProfiles(&profiles{Format: profilesFormat, Default: "a", List: map[string]*profile{"a": {URL: "https://a.example/", Token: "secret"}}}); err != nil {
		t.Fatal(err)
	}
	read, err := p.profiles()
	if err != nil || read.of("https://A.example") != "a" || read.of("https://b.example") != "" || read.List["a"].Token != "secret" {
		t.Errorf("%+v, %v", read, err)
	}
	for url, want := range map[string]string{"https://UBL.example.com": "ubl.example.com", "http://127.0.0.1:8080": "127.0.0.1:8080", "https://a.example:443/": "a.example"} {
		if got := profileName(url); got != want {
			t.Errorf("%s is called %s", url, got)
		}
	}
	if none, err := (&program{env: map[string]string{}}).profiles(); err != nil || len(none.List) != 0 {
		t.Errorf("without a home: %+v, %v", none, err)
	}
	if err := (&program{env: map[string]string{}}).keepProfiles(read); !errors.Is(err, errNoHome) {
		t.Errorf("without a home: %v", err)
	}
}

// TestNearest proposes what somebody may have meant, and nothing else.
func TestNearest(t *testing.T) {
	names := []string{"messenger.send", "messenger.history", "office.document.get", "tool.access"}
	for word, want := range map[string]string{"messenger.sent": "messenger.send", "document": "office.document.get", "tool.acess": "tool.access", "zzz": ""} {
		got := nearest(word, names)
		if want == "" && len(got) > 0 || want != "" && (len(got) == 0 || got[0] != want) {
			t.Errorf("%s: %v", word, got)
		}
	}
}
