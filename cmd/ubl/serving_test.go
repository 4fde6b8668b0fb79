package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"ubl"
	"ubl/transport/auth"
)

// eavesdropper listens where a server was, and keeps what it is sent.
type eavesdropper struct {
	*httptest.Server
	heard bytes.Buffer
}

func eavesdrop(t *testing.T, answer http.HandlerFunc) *eavesdropper {
	t.Helper()
	e := new(eavesdropper)
	e.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = r.Write(&e.heard)
		answer(w, r)
	}))
	t.Cleanup(e.Close)
	return e
}

// left is a data directory with a key, whose server left word that it is at a URL.
func left(t *testing.T, url string) (dir string, key *auth.Key) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "data")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	key, _, err := auth.LoadOrCreateKey(keyPath(dir), rand.Reader)
	data, encoded := json.Marshal(map[string]string{"format": servingFormat, "url": url, "at": "http://evil.example", "owner": "eve@evil.example"})
	if err = errors.Join(err, encoded, os.WriteFile(servingPath(dir), data, 0o600)); err != nil {
		t.Fatal(err)
	}
	return dir, key
}

// command is a program whose data directory is dir.
func command(dir string) *program {
	return &program{env: map[string]string{"UBL_DATA": dir}, err: new(bytes.Buffer), now: testNow, random: rand.Reader}
}

// TestStaleServingGetsNoCredential: who listens where a server was, and can't prove that it
// holds the key, hears a nonce and nothing else.
func TestStaleServingGetsNoCredential(t *testing.T) {
	for name, answer := range map[string]string{"another program": "hello", "a false proof": `{"proof":"AAAA"}`, "its own error": ""} {
		t.Run(name, func(t *testing.T) {
			e := eavesdrop(t, func(w http.ResponseWriter, r *http.Request) { _, _ = w.Write([]byte(answer)) })
			dir, key := left(t, e.URL)
			p := command(dir)
			if at, err := new(remote).target(p); err == nil || !strings.Contains(err.Error(), "isn't the one of this directory") {
				t.Errorf("%+v, %v", at, err)
			}
			here, err := believed(dir)
			if err != nil {
				t.Fatal(err)
			}
			var home auth.HomeAnswer
			if err := p.askAsKeyholder(t.Context(), here, key, "GET", auth.HomePath, "ann@corp.example", &home); err == nil {
				t.Error("it was asked all the same")
			}
			token := &tokenCmd{keyFileFlags: keyFileFlags{Data: dir}, Email: "ann@corp.example", Service: "bot"}
			if err := token.Run(t.Context(), p); err == nil {
				t.Error("an agent was made")
			}
			heard := e.heard.String()
			if !strings.Contains(heard, "nonce") || strings.Contains(heard, "Authorization") || strings.Contains(heard, "@") {
				t.Errorf("it heard %s", heard)
			}
		})
	}
}

// nobody is a node without anybody: a proof asks none.
type nobody struct{}

func (nobody) Ask(context.Context, ubl.Name, ubl.Command) (any, error) {
	return nil, ubl.Errorf(ubl.CodeUnavailable, "there is nobody")
}

func (nobody) Subscribe(ubl.Name, func(ubl.Publication), ...string) (leave func()) { return func() {} }

// relay passes connections on to an address, until the door is closed.
func relay(door net.Listener, address string) {
	for {
		from, err := door.Accept()
		if err != nil {
			return
		}
		to, err := net.Dial("tcp", address)
		if err != nil {
			_ = from.Close()
			continue
		}
		go func() { _, _ = io.Copy(to, from); _ = to.Close() }()
		go func() { _, _ = io.Copy(from, to); _ = from.Close() }()
	}
}

// TestProofIsOfThatDoor: a program in between can't pass on the proof of the true server.
func TestProofIsOfThatDoor(t *testing.T) {
	dir, key := left(t, "http://127.0.0.1:1")
	a, err := auth.New(auth.Options{Key: key, Asker: nobody{}, Feed: nobody{}, Owner: "ann@corp.example", PublicURL: "https://ubl.example"})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	server := httptest.NewServer(a.Browsers())
	defer server.Close()
	here := &serving{dir: dir, URL: server.URL}
	if err := command(dir).prove(t.Context(), here, key); err != nil || here.Owner != "ann@corp.example" || here.At != "https://ubl.example" {
		t.Fatalf("the true server: %+v, %v", here, err)
	}
	door, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer door.Close()
	go relay(door, server.Listener.Addr().String())
	between := &serving{dir: dir, URL: "http://" + door.Addr().String()}
	if err := command(dir).prove(t.Context(), between, key); err == nil || between.Owner != "" {
		t.Errorf("one in between: %+v, %v", between, err)
	}
}

// TestOnlyOwnDirectoriesAreBelieved: neither links nor what others may write leads anywhere.
func TestOnlyOwnDirectoriesAreBelieved(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("its files have no such modes")
	}
	link := func(path string) error {
		return errors.Join(os.Rename(path, path+".moved"), os.Symlink(path+".moved", path))
	}
	for name, spoil := range map[string]func(dir string) error{
		"the directory is open":  func(dir string) error { return os.Chmod(dir, 0o777) },
		"its group may write it": func(dir string) error { return os.Chmod(dir, 0o770) },
		"serving.json is open":   func(dir string) error { return os.Chmod(servingPath(dir), 0o666) },
		"serving.json is a link": func(dir string) error { return link(servingPath(dir)) },
		"the key is open":        func(dir string) error { return os.Chmod(keyPath(dir), 0o644) },
		"the key is a link":      func(dir string) error { return link(keyPath(dir)) },
	} {
		t.Run(name, func(t *testing.T) {
			e := eavesdrop(t, func(http.ResponseWriter, *http.Request) {})
			dir, _ := left(t, e.URL)
			if err := spoil(dir); err != nil {
				t.Fatal(err)
			}
			if at, err := (&remote{whichServer: whichServer{URL: e.URL}}).target(command(dir)); err == nil || !strings.Contains(err.Error(), "couldn't use") {
				t.Errorf("%+v, %v", at, err)
			}
			if e.heard.Len() != 0 {
				t.Errorf("it heard %s", e.heard.String())
			}
		})
	}
}

// TestLoginIsNotRelayed: a server that shows the link of another one signs nobody in.
func TestLoginIsNotRelayed(t *testing.T) {
	for link, want := range map[string]string{
		"https://ubl.example/signin/cli?request=x":        "ubl login https://ubl.example",
		"http://127.0.0.1:1/signin/cli?request=x":         "ubl login http://127.0.0.1:1",
		"http://127.0.0.1:1@evil.example/signin?request=": "not as a UBL server's",
	} {
		e := eavesdrop(t, func(w http.ResponseWriter, r *http.Request) {
			_ = json.NewEncoder(w).Encode(auth.CLIBegun{Link: link, Code: "ABCD-2345", Seconds: 600})
		})
		p := command(t.TempDir())
		err := new(loginCmd).ask(t.Context(), p, &profile{URL: e.URL})
		if err == nil {
			t.Fatalf("%s was taken", link)
		}
		if told := err.Error() + nextStep(err); !strings.Contains(told, want) {
			t.Errorf("%s: %s", link, told)
		}
		if heard := e.heard.String(); strings.Contains(heard, "secret") || !strings.Contains(heard, `"at":"`+e.URL) || p.err.(*bytes.Buffer).Len() != 0 {
			t.Errorf("%s: it heard %s, the person %s", link, heard, p.err)
		}
	}
}
