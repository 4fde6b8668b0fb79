package web

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"

	"ubl/transport/envelope"
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

// files are all files of the app by name.
type files map[string]*envelope.Document

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
		keep := envelope.KeepAsking
		if strings.HasPrefix(name, "assets/") {
			keep = envelope.KeepForever
		}
		out[name], err = newFile(name, body, keep)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("couldn't read the app: %w", err)
	}
	return out, nil
}

func (all files) find(name string) *envelope.Document { return all[name] }

// inFolder finds files as they are at that moment. The root lets nobody out of it,
// not by symbolic links either.
func inFolder(root *os.Root) func(string) *envelope.Document {
	return func(name string) *envelope.Document {
		body, err := root.ReadFile(name)
		if err != nil {
			return nil
		}
		f, _ := newFile(name, body, envelope.KeepAsking)
		return f
	}
}

// newFile makes a file ready; one of a kind that isn't known is none of the app's.
func newFile(name string, body []byte, keep string) (*envelope.Document, error) {
	kind, ok := kinds[path.Ext(name)]
	if !ok {
		return nil, fmt.Errorf("%s has no media type", name)
	}
	return envelope.NewDocument(kind, keep, func() []byte { return body }), nil
}
