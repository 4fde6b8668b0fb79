package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"ubl"
)

// uploadServer takes uploads like a cluster of which a node is lost: the connection breaks within
// the first upload's first part, and those that are lost are gone when they are asked for.
type uploadServer struct {
	mu   sync.Mutex
	lost int // how many uploads are lost before one stays
	// shorten is called as the first part comes in; nil for nothing.
	shorten func()
	begun   int
	got     []byte
	put     []string // the uploads that became files
}

// id is that of the upload that was begun last.
func (s *uploadServer) id() string { return fmt.Sprintf("up:%040d", s.begun) }

func (s *uploadServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	const size = 1 << 20
	tell := func() {
		u, _ := json.Marshal(ubl.Upload{UploadID: ubl.UploadID(s.id()), WorkspaceID: "w:general", Name: "x.bin", Bytes: size, Offset: int64(len(s.got))})
		fmt.Fprintf(w, `{"upload":%s}`, u)
	}
	known := strings.HasSuffix(r.URL.Path, s.id()) && s.begun > s.lost
	switch {
	case r.Method == "POST" && r.URL.Path == "/api/workspaces/w:general/uploads":
		s.begun, s.got = s.begun+1, nil
		tell()
	case r.Method == "PATCH" && (known || s.begun == 1):
		part := io.Reader(r.Body)
		broken := s.begun == 1 && s.got == nil
		if broken {
			part = io.LimitReader(part, size/4)
		}
		if s.shorten != nil {
			s.shorten()
		}
		data, _ := io.ReadAll(part)
		s.got = append(s.got, data...)
		if broken {
			panic(http.ErrAbortHandler)
		}
		w.Header().Set("Upload-Offset", strconv.Itoa(len(s.got)))
		w.WriteHeader(http.StatusNoContent)
	case r.Method == "GET" && known:
		tell()
	case r.Method == "POST" && r.URL.Path == "/api/workspaces/w:general/files":
		var body struct {
			UploadID string `json:"upload_id"`
		}
		_ = json.NewDecoder(r.Body).Decode(&body)
		s.put = append(s.put, body.UploadID)
		fmt.Fprintf(w, `{"file":{"file_id":"f:1","name":"x.bin","bytes":%d},"receipt":{"seq":7}}`, len(s.got))
	default:
		refuse(w, 404, "not_found")
	}
}

// TestFilePutBeginsAgain: a connection that breaks is taken up where the server is. An upload that
// its node has lost is begun again, as often as other requests are tried; one that was named isn't.
func TestFilePutBeginsAgain(t *testing.T) {
	want := bytes.Repeat([]byte("0123456789abcdef"), 1<<16)
	path := filepath.Join(t.TempDir(), "x.bin")
	if err := os.WriteFile(path, want, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ lost, begun, code int }{{0, 1, 0}, {1, 2, 0}} {
		s := &uploadServer{lost: c.lost}
		server := httptest.NewServer(s)
		code, out, errs := run(t, server.URL, "", "file", "put", path, "--quiet")
		server.Close()
		if code != c.code || s.begun != c.begun || !bytes.Equal(s.got, want) || len(s.put) != 1 || s.put[0] != s.id() || !strings.HasPrefix(out, "put f:1 (x.bin, 1048576 bytes)") {
			t.Errorf("with %d lost: exit code %d, begun %d times, %d bytes, put %v\n%s%s", c.lost, code, s.begun, len(s.got), s.put, out, errs)
		}
	}
	s := &uploadServer{lost: 1000}
	server := httptest.NewServer(s)
	defer server.Close()
	if code, _, errs := run(t, server.URL, "", "file", "put", path, "--quiet"); code != 1 || s.begun < 2 || s.begun > 10 || len(s.put) != 0 {
		t.Errorf("all lost: exit code %d, begun %d times: %s", code, s.begun, errs)
	}
	s.begun = 1
	if code, _, errs := run(t, server.URL, "", "file", "put", path, "--quiet", "--upload", s.id()); code != 1 || s.begun != 1 {
		t.Errorf("a named one that is lost: exit code %d, begun %d times: %s", code, s.begun, errs)
	}
}

// TestFilePutGoesOnInItsWorkspace: an upload says where it belongs, and so does the command that is
// told for when it breaks off.
func TestFilePutGoesOnInItsWorkspace(t *testing.T) {
	const size = 16 << 20
	path := filepath.Join(t.TempDir(), "x.bin")
	if err := os.WriteFile(path, make([]byte, size), 0o600); err != nil {
		t.Fatal(err)
	}
	id := "up:" + strings.Repeat("0", 40)
	up := ubl.Upload{UploadID: ubl.UploadID(id), WorkspaceID: "w:plans", Name: "x.bin", Bytes: size, Offset: size}
	var put []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/files") {
			put = append(put, r.URL.Path)
			fmt.Fprint(w, `{"file":{"file_id":"f:1","name":"x.bin","bytes":1},"receipt":{"seq":7}}`)
			return
		}
		told, _ := json.Marshal(up)
		fmt.Fprintf(w, `{"upload":%s}`, told)
	}))
	defer server.Close()
	for _, args := range [][]string{{"--workspace", "plans"}, {"--upload", id}} {
		put = nil
		code, out, errs := run(t, server.URL, "", append([]string{"file", "put", path}, args...)...)
		if code != 0 || len(put) != 1 || put[0] != "/api/workspaces/w:plans/files" {
			t.Errorf("%v: exit code %d, put at %v\n%s%s", args, code, put, out, errs)
		}
		if !strings.Contains(errs, "--upload "+id) {
			t.Errorf("%v: how to go on isn't told: %s", args, errs)
		}
	}
}

// TestFilePutOfAChangingFile: a file that grows is put as it was at first. One that becomes shorter,
// and what is no file, is said to be so.
func TestFilePutOfAChangingFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.log")
	s := &sending{file: nil}
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("at first, and more")
	var err error
	if s.file, err = os.Open(path); err != nil {
		t.Fatal(err)
	}
	defer s.file.Close()
	if sum, err := s.hash(8); err != nil || sum != ubl.BlobIDOf(sha256.Sum256([]byte("at first"))) {
		t.Errorf("its beginning is %s, %v", sum, err)
	}
	if _, err := s.hash(100); err == nil || !strings.Contains(err.Error(), "shorter") {
		t.Errorf("a shorter one: %v", err)
	}

	server := httptest.NewServer(&uploadServer{lost: -1, shorten: func() { write("x") }})
	defer server.Close()
	write(strings.Repeat("x", 1<<20))
	if code, _, errs := run(t, server.URL, "", "file", "put", path, "--quiet"); code != 1 || !strings.Contains(errs, "shorter") {
		t.Errorf("one that becomes shorter: exit code %d: %s", code, errs)
	}
	if code, _, errs := run(t, server.URL, "", "file", "put", os.DevNull); code != 2 || !strings.Contains(errs, "regular file") {
		t.Errorf("a device: exit code %d: %s", code, errs)
	}
}

// TestFileGetLeavesOthersAlone: what goes on from where it broke off is told by its content, so a
// file of somebody else's that ends in .part stays.
func TestFileGetLeavesOthersAlone(t *testing.T) {
	content := []byte("content")
	sum := ubl.BlobIDOf(sha256.Sum256(content))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/content") {
			http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content))
			return
		}
		fmt.Fprintf(w, `{"file":{"file_id":"f:1","name":"x","bytes":%d,"sha256":"%s"}}`, len(content), sum)
	}))
	defer server.Close()
	to := filepath.Join(t.TempDir(), "x")
	if err := os.WriteFile(to+".part", []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, out, errs := run(t, server.URL, "", "file", "get", "f:1", to); code != 0 {
		t.Errorf("exit code %d: %s%s", code, out, errs)
	}
	if mine, err := os.ReadFile(to + ".part"); err != nil || string(mine) != "mine" {
		t.Errorf("the other is %q, %v", mine, err)
	}
}
