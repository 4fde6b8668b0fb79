package web

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"
	"sync"
)

// kinds are the media types of the files there may be. The machine's own table is
// not asked: it differs from one to the next.
var kinds = map[string]string{
	".html":        "text/html; charset=utf-8",
	".js":          "text/javascript; charset=utf-8",
	".css":         "text/css; charset=utf-8",
	".svg":         "image/svg+xml",
	".png":         "image/png",
	".webmanifest": "application/manifest+json",
}

// How long browsers keep a file: for good where its name has its hash, else until
// they have asked whether it changed.
const (
	forever = "public, max-age=31536000, immutable"
	asking  = "no-cache"
)

// file is one file, ready to be sent.
type file struct {
	kind, keep string
	// tag is its hash.
	tag    string
	body   string
	packed func() string // by gzip, "" where that saves little
}

// files are all files of the app by name.
type files map[string]*file

// load reads what is below dist/.
func load(all fs.FS) (files, error) {
	out := files{}
	err := fs.WalkDir(all, "dist", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		body, err := fs.ReadFile(all, name)
		if err != nil {
			return err
		}
		name = strings.TrimPrefix(name, "dist/")
		keep := asking
		if strings.HasPrefix(name, "assets/") {
			keep = forever
		}
		out[name], err = newFile(name, body, keep)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("couldn't read the app: %w", err)
	}
	// No start waits for that, and hardly a request.
	go func() {
		for _, f := range out {
			f.packed()
		}
	}()
	return out, nil
}

func (all files) find(name string) *file { return all[name] }

// inFolder finds files as they are at that moment. The root lets nobody out of it,
// not by symbolic links either.
func inFolder(root *os.Root) func(string) *file {
	return func(name string) *file {
		body, err := root.ReadFile(name)
		if err != nil {
			return nil
		}
		f, _ := newFile(name, body, asking)
		return f
	}
}

// newFile makes a file ready; one of a kind that isn't known is none of the app's.
func newFile(name string, body []byte, keep string) (*file, error) {
	kind, ok := kinds[path.Ext(name)]
	if !ok {
		return nil, fmt.Errorf("%s has no media type", name)
	}
	hash := sha256.Sum256(body)
	return &file{
		kind: kind, keep: keep, tag: hex.EncodeToString(hash[:16]), body: string(body),
		packed: sync.OnceValue(func() string { return pack(body) }),
	}, nil
}

// pack compresses as well as gzip can: it is done once. Writing to memory can't fail.
func pack(body []byte) string {
	var out bytes.Buffer
	w, _ := gzip.NewWriterLevel(&out, gzip.BestCompression)
	_, _ = w.Write(body)
	_ = w.Close()
	if out.Len() >= len(body)*9/10 {
		return ""
	}
	return out.String()
}
