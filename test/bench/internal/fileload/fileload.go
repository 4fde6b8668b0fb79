// Package fileload sends one large file to a server over HTTP, and tells how long that takes until
// the server says that it is durable: as an upload to UBL, or in one POST to the bare file copy.
//
// Another file goes before it and is removed, so that each server writes into memory which the
// machine has just had. On a virtual machine the host takes back what was free for a while, and the
// first touch of it would be most of what is measured.
package fileload

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"time"

	"ubl/test/bench/internal/machine"
)

const (
	// CopyPath is where the bare file copy takes files.
	CopyPath    = "/file"
	uploadsPath = "/api/workspaces/w:general/uploads"
	filesPath   = "/api/workspaces/w:general/files"
	blockSize   = 4 << 20
)

// Options say what to send where.
type Options struct {
	Host, Token string
	Bytes       int64
	Bare        bool // to the bare file copy
	Watch       []int
}

// Result is how long it took, and the CPU time of the servers that were watched.
type Result struct {
	Seconds       float64 `json:"seconds"`
	ServerSeconds float64 `json:"server_seconds"`
}

// Run sends one file.
func Run(ctx context.Context, o Options) (Result, error) {
	block := make([]byte, blockSize) // noise, so that nothing on the way packs it
	random := rand.NewChaCha8([32]byte{1})
	_, _ = random.Read(block)
	warm, send := o.warmUpload, o.upload
	if o.Bare {
		warm, send = o.warmCopy, o.copy
	}
	if err := warm(ctx, block); err != nil {
		return Result{}, err
	}
	before, err := used(o.Watch)
	if err != nil {
		return Result{}, err
	}
	began := time.Now()
	if err := send(ctx, block); err != nil {
		return Result{}, err
	}
	took := time.Since(began)
	after, err := used(o.Watch)
	return Result{took.Seconds(), (after - before).Seconds()}, err
}

// used is the CPU time of some processes so far.
func used(pids []int) (total time.Duration, err error) {
	for _, pid := range pids {
		of, err := machine.CPU(pid)
		if err != nil {
			return 0, err
		}
		total += of
	}
	return total, nil
}

// content is the file: the block over and over, each time with another beginning.
func (o Options) content(block []byte) io.Reader {
	return io.LimitReader(&repeated{block: block}, o.Bytes)
}

type repeated struct {
	block []byte
	at    int
	n     uint64
}

func (r *repeated) Read(p []byte) (int, error) {
	if r.at == len(r.block) {
		r.at = 0
	}
	if r.at == 0 {
		r.n++
		copy(r.block, fmt.Sprintf("%016x", r.n))
	}
	n := copy(p, r.block[r.at:])
	r.at += n
	return n, nil
}

func (o Options) copy(ctx context.Context, block []byte) error {
	return o.do(ctx, "POST", CopyPath, o.content(block), o.Bytes, nil, nil)
}

func (o Options) warmCopy(ctx context.Context, block []byte) error {
	if err := o.copy(ctx, block); err != nil {
		return err
	}
	return o.do(ctx, "DELETE", CopyPath, http.NoBody, 0, nil, nil)
}

// bring sends all bytes of a new upload.
func (o Options) bring(ctx context.Context, block []byte) (id string, err error) {
	var begun struct {
		Upload struct {
			ID string `json:"upload_id"`
		} `json:"upload"`
	}
	if err := o.ask(ctx, uploadsPath, map[string]any{"name": "bench.bin", "bytes": o.Bytes}, &begun); err != nil {
		return "", err
	}
	header := http.Header{"Content-Type": {"application/partial-upload"}, "Upload-Offset": {"0"}}
	return begun.Upload.ID, o.do(ctx, "PATCH", "/api/uploads/"+begun.Upload.ID, o.content(block), o.Bytes, header, nil)
}

func (o Options) warmUpload(ctx context.Context, block []byte) error {
	id, err := o.bring(ctx, block)
	if err != nil {
		return err
	}
	return o.do(ctx, "DELETE", "/api/uploads/"+id, http.NoBody, 0, nil, nil)
}

// upload is all that a client of UBL does: begin, send, put.
func (o Options) upload(ctx context.Context, block []byte) error {
	id, err := o.bring(ctx, block)
	if err != nil {
		return err
	}
	var put struct {
		File struct {
			Bytes int64 `json:"bytes"`
		} `json:"file"`
	}
	if err := o.ask(ctx, filesPath, map[string]any{"upload_id": id}, &put); err != nil {
		return err
	}
	if put.File.Bytes != o.Bytes {
		return errors.New("the file has another length")
	}
	return nil
}

func (o Options) ask(ctx context.Context, path string, body, answer any) error {
	data, err := json.Marshal(body)
	if err != nil {
		return err
	}
	return o.do(ctx, "POST", path, bytes.NewReader(data), int64(len(data)), http.Header{"Content-Type": {"application/json"}}, answer)
}

func (o Options) do(ctx context.Context, method, path string, body io.Reader, size int64, header http.Header, answer any) error {
	r, err := http.NewRequestWithContext(ctx, method, "http://"+o.Host+path, body)
	if err != nil {
		return err
	}
	r.ContentLength = size
	if header != nil {
		r.Header = header
	}
	r.Header.Set("Authorization", "Bearer "+o.Token)
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return fmt.Errorf("couldn't send: %w", err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		return fmt.Errorf("couldn't read the answer: %w", err)
	}
	if resp.StatusCode >= 300 {
		return fmt.Errorf("%s %s was refused: %d %.200s", method, path, resp.StatusCode, data)
	}
	if answer == nil {
		return nil
	}
	return json.Unmarshal(data, answer)
}
