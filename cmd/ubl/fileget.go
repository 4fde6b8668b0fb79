package main

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"ubl"
	"ubl/durable"
)

// fileGetCmd gets a file's content.
type fileGetCmd struct {
	remote
	inWorkspace
	Room  string `help:"The room whose message carries it, like r:plans or plans; in the place of a workspace." placeholder:"ROOM" config:"-"`
	File  string `arg:"" complete:"files" help:"The file's id, as \"ubl file list\" has it."`
	Out   string `arg:"" optional:"" help:"Where to; else its own name, here. A file that is there isn't replaced. - is standard output."`
	Quiet bool   `help:"Tell no progress."`
}

// Run gets it. What an earlier try has left beside its place is gone on with.
func (c *fileGetCmd) Run(ctx context.Context, p *program) error {
	path, err := c.path()
	if err != nil {
		return err
	}
	server, err := c.client(p)
	if err != nil {
		return err
	}
	var answer struct {
		File json.RawMessage `json:"file"`
	}
	if err := server.call(ctx, "GET", path, nil, &answer); err != nil {
		return err
	}
	file, err := formed[ubl.File]("a file", answer.File)
	if err != nil {
		return err
	}
	if !file.SHA256.Valid() || file.Bytes < 0 {
		return errors.New("the server sent a file of another form")
	}
	g := p.progress("receiving", "bytes", c.Quiet)
	defer g.end()
	r := &receiving{client: server, path: path + "/content", of: file, progress: g, hash: sha256.New()}
	if c.Out == "-" {
		r.to = p.out
		return r.all(ctx)
	}
	name := c.Out
	if name == "" {
		if name, err = ubl.CheckFileName(file.Name); err != nil { // a server's word isn't enough to write by
			return errors.New("the file has no name to be kept under: say where to")
		}
	}
	if err := r.into(ctx, name); err != nil {
		return err
	}
	_, err = fmt.Fprintf(p.out, "got %s, %d bytes, sha256 %s\n", clean(name), file.Bytes, file.SHA256)
	return err
}

// path is where the file is.
func (c *fileGetCmd) path() (string, error) {
	path, err := c.file(c.File)
	if err != nil || c.Room == "" {
		return path, err
	}
	id := c.Room
	if !strings.Contains(id, ":") {
		id = "r:" + id
	}
	if !ubl.RoomID(id).Valid() {
		return "", usagef("--room is not the id of a room, like r:general or general")
	}
	return "/api/rooms/" + id + "/files/" + c.File, nil
}

// receiving is a content on its way from a server.
type receiving struct {
	*client
	path     string
	of       ubl.File
	progress *progress
	to       io.Writer
	hash     hash.Hash
	at       int64 // how much there is
}

// into writes the content into a file beside its place, and moves it there when it is whole.
func (r *receiving) into(ctx context.Context, name string) (err error) {
	if _, err := os.Lstat(name); err == nil {
		return &fs.PathError{Op: "create", Path: name, Err: fs.ErrExist}
	}
	part := r.partOf(name)
	f, err := os.OpenFile(part, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	if r.at, err = io.Copy(r.hash, f); err == nil && r.at > r.of.Bytes { // it is another's
		r.at = 0
		r.hash.Reset()
		if err = f.Truncate(0); err == nil {
			_, err = f.Seek(0, io.SeekStart)
		}
	}
	if err == nil {
		r.to = f
		err = r.all(ctx)
	}
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		if errors.Is(err, errOther) {
			err = errors.Join(err, os.Remove(part))
		}
		return err
	}
	if err := os.Link(part, name); err != nil { // which replaces nothing
		return err
	}
	return errors.Join(os.Remove(part), durable.Sync(filepath.Dir(name)))
}

// partOf is where what there is of the content waits for the rest; no other content has that place.
func (r *receiving) partOf(name string) string {
	return name + "." + string(r.of.SHA256[:16]) + ".part"
}

// errOther is of a content that isn't the file's.
var errOther = errors.New("what came isn't the file's content: try again")

// all gets what is missing, over as many connections as it takes while each brings something,
// and holds the whole against its hash.
func (r *receiving) all(ctx context.Context) error {
	for failed := 0; r.at < r.of.Bytes; {
		from := r.at
		wait, err := r.part(ctx)
		if r.at > from {
			failed = 0
		}
		if err == nil {
			continue
		}
		if failed++; ctx.Err() != nil || wait == 0 || failed >= r.tries {
			return err
		}
		r.pause(ctx, longer(wait, failed, maxPause))
	}
	if ubl.BlobIDOf([sha256.Size]byte(r.hash.Sum(nil))) != r.of.SHA256 {
		return errOther
	}
	return nil
}

// part gets the rest in one request. wait is how long to wait before another, 0 for never.
func (r *receiving) part(ctx context.Context) (wait time.Duration, err error) {
	q, err := http.NewRequestWithContext(ctx, "GET", r.base+r.path, http.NoBody)
	if err != nil {
		return 0, err
	}
	q.Header.Set("Authorization", "Bearer "+r.token)
	want := http.StatusOK
	if r.at > 0 {
		want = http.StatusPartialContent
		q.Header.Set("Range", fmt.Sprintf("bytes=%d-", r.at))
		q.Header.Set("If-Range", `"`+string(r.of.SHA256)+`"`)
	}
	resp, err := r.http.Do(q)
	if err != nil {
		return partPause, fmt.Errorf("couldn't reach the server: %w", reason(err))
	}
	defer resp.Body.Close()
	if resp.StatusCode != want {
		return retryAfter(resp), errorOf(resp)
	}
	before := r.at
	out := &counted{w: io.MultiWriter(r.to, r.hash), tell: func(n int64) { r.progress.at(before+n, r.of.Bytes) }}
	_, err = io.Copy(out, io.LimitReader(resp.Body, r.of.Bytes-r.at))
	r.at = before + out.n
	if err != nil {
		return partPause, fmt.Errorf("the connection broke after %d of %d bytes: %w", r.at, r.of.Bytes, err)
	}
	if r.at < r.of.Bytes {
		return partPause, fmt.Errorf("the answer ends after %d of %d bytes", r.at, r.of.Bytes)
	}
	return 0, nil
}
