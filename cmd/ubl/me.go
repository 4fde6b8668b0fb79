package main

import (
	"archive/zip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"

	"ubl"
	own "ubl/archive"
	"ubl/durable"
)

// meCmd is about whose token it is.
type meCmd struct {
	Export meExportCmd `cmd:"" help:"Take your own data home, as a zip file."`
}

type meExportCmd struct {
	remote
	format
	Out   string `help:"The zip file to write. Nobody else may read it." type:"path" required:"" placeholder:"FILE" config:"-"`
	Force bool   `help:"Replace the file if it is there." config:"-"`
	Quiet bool   `help:"Tell no progress."`
}

// takenHome is what --json says of an archive: where it is, and what its manifest says but for the
// list of files.
type takenHome struct {
	File    string        `json:"file"`
	Bytes   int64         `json:"bytes"`
	Receipt ubl.Receipt   `json:"receipt"`
	Counts  own.Counts    `json:"counts"`
	LeftOut []own.LeftOut `json:"left_out"`
}

// Run downloads the archive beside its place, checks every hash of its manifest, and gives it its
// name then: a download that breaks leaves nothing.
func (c *meExportCmd) Run(ctx context.Context, p *program) error {
	if _, err := os.Lstat(c.Out); err == nil && !c.Force {
		return thenDo(&fs.PathError{Op: "create", Path: c.Out, Err: fs.ErrExist}, "name another file, or replace it with --force")
	}
	server, err := c.client(p)
	if err != nil {
		return err
	}
	g := p.progress("receiving", "bytes", c.Quiet)
	defer g.end()
	part := c.Out + ".part"
	if err := os.Remove(part); err != nil && !errors.Is(err, fs.ErrNotExist) { // of a download that was killed
		return err
	}
	done := takenHome{File: c.Out}
	err = durable.Create(part, func(w io.Writer) error {
		out := &counted{w: w, tell: func(n int64) { g.at(n, unknown) }}
		err := server.download(ctx, "/api/me/export", out)
		done.Bytes = out.n
		return err
	})
	if err == nil {
		defer os.Remove(part)
		var m *own.Manifest
		if m, err = checkArchive(part); err == nil {
			done.Receipt, done.Counts, done.LeftOut = m.Receipt, m.Counts, m.LeftOut
		}
	}
	if err == nil {
		err = c.place(part)
	}
	if err != nil {
		return fmt.Errorf("couldn't take your data home: %w", err)
	}
	if c.JSON {
		return json.NewEncoder(p.out).Encode(done)
	}
	for _, left := range done.LeftOut {
		fmt.Fprintf(p.err, "left out: %s (%s)\n", clean(left.ID), clean(left.Why))
	}
	n := done.Counts
	_, err = fmt.Fprintf(p.out, "%s: %d of your messages, %d documents, %d files, %d acts with their receipts; %d bytes\n", clean(c.Out), n.Messages, n.Documents, n.Uploads, n.Acts, done.Bytes)
	return err
}

// place gives what was downloaded its name.
func (c *meExportCmd) place(part string) error {
	err := os.Link(part, c.Out) // which replaces nothing
	if errors.Is(err, fs.ErrExist) && c.Force {
		err = os.Rename(part, c.Out)
	}
	if err != nil {
		return err
	}
	return durable.Sync(filepath.Dir(c.Out))
}

// download copies an answer that is a file.
func (c *client) download(ctx context.Context, path string, to io.Writer) error {
	resp, err := c.open(ctx, "GET", path, http.NoBody)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return errorOf(resp)
	}
	if _, err := io.Copy(to, resp.Body); err != nil {
		return fmt.Errorf("the connection broke: %w", reason(err))
	}
	return nil
}

// maxManifest bounds a manifest that is read.
const maxManifest = 1 << 30

// checkArchive holds every file of an archive against its manifest.
func checkArchive(path string) (*own.Manifest, error) {
	r, err := zip.OpenReader(path)
	if err != nil {
		return nil, fmt.Errorf("what came is no whole zip file: %w", err)
	}
	defer r.Close()
	f, err := r.Open("manifest.json")
	if err != nil {
		return nil, errors.New("what came has no manifest")
	}
	defer f.Close()
	m := new(own.Manifest)
	if err := json.NewDecoder(io.LimitReader(f, maxManifest)).Decode(m); err != nil || m.Format != own.Format {
		return nil, errors.New("what came has a manifest of another form: a newer program may read it")
	}
	for _, want := range m.Files {
		if err := checkFile(&r.Reader, want); err != nil {
			return nil, fmt.Errorf("%s isn't what the manifest says: %w", clean(want.Path), err)
		}
	}
	return m, nil
}

var errChanged = errors.New("its content has another hash")

func checkFile(r *zip.Reader, want own.File) error {
	f, err := r.Open(want.Path)
	if err != nil {
		return err
	}
	defer f.Close()
	sum := sha256.New()
	if n, err := io.Copy(sum, io.LimitReader(f, want.Bytes+1)); err != nil {
		return err
	} else if n != want.Bytes || hex.EncodeToString(sum.Sum(nil)) != want.SHA256 {
		return errChanged
	}
	return nil
}
