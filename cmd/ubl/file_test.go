package main

import (
	"bytes"
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

	"ubl"
)

// uploadServer takes uploads like a cluster of which a node is lost: the connection breaks within
// the first upload's first part, and those that are lost are gone when they are asked for.
type uploadServer struct {
	mu    sync.Mutex
	lost  int // how many uploads are lost before one stays
	begun int
	got   []byte
	put   []string // the uploads that became files
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
