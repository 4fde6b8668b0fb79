package main

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"mime"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"ubl"
)

// filePutCmd puts a file into a workspace.
type filePutCmd struct {
	remote
	format
	inWorkspace
	File     string `arg:"" type:"existingfile" help:"The file."`
	Name     string `help:"What to call it there; else its own name." config:"-"`
	Type     string `help:"Its media type; else it follows from the name." placeholder:"TYPE/SUBTYPE" config:"-"`
	Document string `help:"The document that is to hold it." placeholder:"d:…" config:"-"`
	Upload   string `help:"Go on with an upload of this file that broke off." placeholder:"up:…" config:"-"`
	Quiet    bool   `help:"Tell no progress."`
}

// worthTelling is from how many bytes on the command says how to go on with its upload.
const worthTelling = 16 << 20

// Run sends the content, from where the server is, and then puts the file.
func (c *filePutCmd) Run(ctx context.Context, p *program) error {
	workspace, err := c.path()
	if err != nil {
		return err
	}
	server, err := c.client(p)
	if err != nil {
		return err
	}
	// A pipe or a device has no length, and would be waited for.
	if info, err := os.Stat(c.File); err == nil && !info.Mode().IsRegular() {
		return usagef("FILE is not a regular file")
	}
	f, err := os.Open(c.File)
	if err != nil {
		return fmt.Errorf("couldn't read the file: %w", err)
	}
	defer f.Close()
	key, err := ubl.NewRequestID(p.random)
	if err != nil {
		return err
	}
	// The whole content is made durable before the answer, which may take its time.
	server.http.Transport.(*http.Transport).ResponseHeaderTimeout = 0
	s := &sending{client: server, file: f}
	for n := 1; ; n++ {
		if err = s.begin(ctx, workspace, c); err != nil {
			return err
		}
		if err = s.put(ctx, p, key, c); !uploadLost(err) || c.Upload != "" || n == s.tries {
			return err
		}
	}
}

// uploadLost reports whether an upload was ended at the other side, as when its node died: then it
// begins again.
func uploadLost(err error) bool {
	refusal, ok := errors.AsType[*apiError](err)
	return ok && refusal.body.Error.Code == ubl.CodeNotFound
}

// put sends the content and puts the file.
func (s *sending) put(ctx context.Context, p *program, key string, c *filePutCmd) error {
	again := fmt.Sprintf("ubl file put %s --upload %s", quoted(c.File), s.upload.UploadID)
	if s.upload.Bytes >= worthTelling && !c.Quiet {
		fmt.Fprintln(p.err, "Should this break off, go on with:", p.copyable(again))
	}
	g := p.progress("sending", "bytes", c.Quiet)
	err := s.send(ctx, g)
	g.end()
	switch {
	case uploadLost(err):
		return err
	case err != nil:
		return fmt.Errorf("%w; what came in is kept for a day; to go on: %s", err, again)
	}
	body := map[string]any{"upload_id": s.upload.UploadID, "client_request_id": key}
	return s.tellFile(ctx, p, "POST", "/api/workspaces/"+string(s.upload.WorkspaceID)+"/files", body, c.format, "put")
}

// partPause is how long the first pause after a broken connection is.
const partPause = time.Second

// sending is a file on its way to a server.
type sending struct {
	*client
	file   *os.File
	sum    ubl.BlobID // of the file, once it is known
	upload ubl.Upload
}

// begin makes an upload of the file, or takes up the one that the command names.
func (s *sending) begin(ctx context.Context, workspace string, c *filePutCmd) error {
	info, err := s.file.Stat()
	if err != nil {
		return fmt.Errorf("couldn't read the file: %w", err)
	}
	if c.Upload != "" {
		if !ubl.UploadID(c.Upload).Valid() {
			return usagef("--upload is not the id of an upload, like up:…")
		}
		if err := s.look(ctx, ubl.UploadID(c.Upload)); err != nil {
			return err
		}
		if s.upload.Bytes != info.Size() {
			return errors.New("the upload is of a file of another size")
		}
		return nil
	}
	if s.sum == "" {
		if s.sum, err = s.hash(info.Size()); err != nil {
			return err
		}
	}
	name, kind := c.Name, c.Type
	if name == "" {
		name = filepath.Base(c.File)
	}
	if kind == "" {
		kind = mime.TypeByExtension(filepath.Ext(name))
	}
	body := map[string]any{"name": name, "bytes": info.Size(), "sha256": s.sum}
	for member, value := range map[string]string{"content_type": kind, "document_id": c.Document} {
		if value != "" {
			body[member] = value
		}
	}
	return s.tell(ctx, "POST", workspace+"/uploads", body)
}

// beginInRoom makes an upload of the file for a message.
func (s *sending) beginInRoom(ctx context.Context, room ubl.RoomID, name string) error {
	info, err := s.file.Stat()
	if err != nil {
		return fmt.Errorf("couldn't read the file: %w", err)
	}
	if s.sum == "" {
		if s.sum, err = s.hash(info.Size()); err != nil {
			return err
		}
	}
	return s.tell(ctx, "POST", "/api/rooms/"+string(room)+"/uploads", map[string]any{"name": name, "bytes": info.Size(), "sha256": s.sum})
}

// hash is that of the file's first bytes: one that grows meanwhile is put as it was.
func (s *sending) hash(size int64) (ubl.BlobID, error) {
	sum := sha256.New()
	switch n, err := io.Copy(sum, io.NewSectionReader(s.file, 0, size)); {
	case err != nil:
		return "", fmt.Errorf("couldn't read the file: %w", err)
	case n < size:
		return "", errShorter
	}
	return ubl.BlobIDOf([sha256.Size]byte(sum.Sum(nil))), nil
}

var errShorter = errors.New("the file has become shorter since the command began")

// look asks how far an upload is.
func (s *sending) look(ctx context.Context, id ubl.UploadID) error {
	return s.tell(ctx, "GET", "/api/uploads/"+string(id), nil)
}

func (s *sending) tell(ctx context.Context, method, path string, body any) error {
	var answer struct {
		Upload json.RawMessage `json:"upload"`
	}
	err := s.call(ctx, method, path, body, &answer)
	if err == nil {
		s.upload, err = formed[ubl.Upload]("an upload", answer.Upload)
	}
	if err == nil && (s.upload.Offset < 0 || s.upload.Offset > s.upload.Bytes || !s.upload.UploadID.Valid() || !s.upload.WorkspaceID.Valid() && !s.upload.RoomID.Valid()) {
		err = errors.New("the server sent an upload of another form")
	}
	return err
}

// send sends what the server doesn't have yet. A connection that breaks is made anew, as long as
// each brings something.
func (s *sending) send(ctx context.Context, g *progress) error {
	for failed := 0; s.upload.Offset < s.upload.Bytes; {
		from := s.upload.Offset
		wait, err := s.part(ctx, g)
		if err == nil {
			continue
		}
		if ctx.Err() != nil || wait == 0 {
			return err
		}
		if failed++; failed >= s.tries {
			return err
		}
		s.pause(ctx, longer(wait, failed, maxPause))
		if lost := s.look(ctx, s.upload.UploadID); lost != nil {
			return lost
		}
		if s.upload.Offset > from {
			failed = 0
		}
	}
	return nil
}

// sent is what a request sends. Nobody reads from it once it is closed, as the transport may go on
// to do for a while after the answer.
type sent struct {
	mu     sync.Mutex
	r      io.Reader
	closed bool
}

func (b *sent) Read(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return 0, fs.ErrClosed
	}
	return b.r.Read(p)
}

func (b *sent) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	return nil
}

// part sends the rest in one request. wait is how long to wait before another, 0 for never.
func (s *sending) part(ctx context.Context, g *progress) (wait time.Duration, err error) {
	rest := io.NewSectionReader(s.file, s.upload.Offset, s.upload.Bytes-s.upload.Offset)
	done, total := s.upload.Offset, s.upload.Bytes
	body := &sent{r: io.TeeReader(rest, &counted{w: io.Discard, tell: func(n int64) { g.at(done+n, total) }})}
	defer body.Close()
	r, err := http.NewRequestWithContext(ctx, "PATCH", s.base+"/api/uploads/"+string(s.upload.UploadID), body)
	if err != nil {
		return 0, err
	}
	r.ContentLength = rest.Size()
	r.Header.Set("Authorization", "Bearer "+s.token)
	r.Header.Set("Content-Type", "application/partial-upload")
	r.Header.Set("Upload-Offset", strconv.FormatInt(s.upload.Offset, 10))
	resp, err := s.http.Do(r)
	if err == nil {
		defer resp.Body.Close()
	}
	if info, bad := s.file.Stat(); bad == nil && info.Size() < s.upload.Bytes {
		return 0, errShorter
	}
	if err != nil {
		return partPause, fmt.Errorf("the connection broke: %w", reason(err))
	}
	if resp.StatusCode >= 300 {
		err := errorOf(resp)
		if resp.StatusCode == http.StatusConflict { // the server is somewhere else
			return partPause, err
		}
		return retryAfter(resp), err
	}
	if s.upload.Offset, err = strconv.ParseInt(resp.Header.Get("Upload-Offset"), 10, 64); err != nil || s.upload.Offset != done+rest.Size() {
		return 0, errors.New("the answer is not as a UBL server's would be")
	}
	return 0, nil
}
