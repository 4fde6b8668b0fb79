// Package s3server starts a store that speaks S3, for tests: versitygw, which others wrote, over a
// directory. It is built from its module (test/s3) once, and kept by the Go command.
package s3server

import (
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"ubl/test/poll"
	"ubl/test/ports"
)

// The key that a server takes, and the bucket that it has.
const (
	AccessKey = "key"
	Secret    = "secret"
	Bucket    = "files"
	Region    = "us-east-1"
)

// Server is one process over a directory. Its test stops it.
type Server struct {
	Addr string

	t    testing.TB
	dir  string
	proc *exec.Cmd
}

// Start builds and starts a server, with the bucket.
func Start(t testing.TB) *Server {
	t.Helper()
	s := &Server{Addr: ports.Free(t), t: t, dir: t.TempDir()}
	for _, dir := range []string{s.Objects(), s.aside()} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(s.Stop)
	s.Again()
	return s
}

// URL is the endpoint.
func (s *Server) URL() string { return "http://" + s.Addr }

// Objects is the directory in which the bucket's objects are files.
func (s *Server) Objects() string { return filepath.Join(s.dir, "buckets", Bucket) }

// aside is what the server keeps beside them, as their types: not every file system has attributes.
func (s *Server) aside() string { return filepath.Join(s.dir, "aside") }

// Again starts the server that was stopped.
func (s *Server) Again() {
	s.t.Helper()
	path, err := path()
	if err != nil {
		s.t.Fatal(err)
	}
	s.proc = exec.Command(path, "--access", AccessKey, "--secret", Secret, "--region", Region, "--port", s.Addr, "--quiet",
		"posix", "--sidecar", s.aside(), filepath.Dir(s.Objects()))
	if err := s.proc.Start(); err != nil {
		s.t.Fatal(err)
	}
	poll.Until(s.t, "the S3 server listens", func() bool {
		conn, err := net.DialTimeout("tcp", s.Addr, time.Second)
		if err == nil {
			conn.Close()
		}
		return err == nil
	})
}

// Stop kills the server. What it holds stays.
func (s *Server) Stop() {
	if s.proc != nil {
		_ = s.proc.Process.Kill()
		_ = s.proc.Wait()
		s.proc = nil
	}
}

var path = sync.OnceValues(func() (string, error) {
	root, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "ubl").Output()
	if err != nil {
		return "", errors.New("couldn't find the S3 server's module")
	}
	build := exec.Command("go", "tool", "-n", "versitygw")
	build.Dir = filepath.Join(strings.TrimSpace(string(root)), "test", "s3")
	var told strings.Builder
	build.Stderr = &told
	out, err := build.Output()
	if err != nil {
		return "", errors.New("couldn't build the S3 server: " + told.String())
	}
	return strings.TrimSpace(string(out)), nil
})
