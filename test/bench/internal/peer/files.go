package peer

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"

	"ubl/test/bench/internal/fileload"
)

// RunFiles serves the bare file copy until ctx is done: a body goes into a file, as net/http and
// io.Copy do it, and the answer comes when the file is synced. It hashes nothing and can't go on.
func RunFiles(ctx context.Context, out io.Writer, dir string) error {
	mux := http.NewServeMux()
	mux.HandleFunc("POST "+fileload.CopyPath, func(w http.ResponseWriter, r *http.Request) {
		if err := save(filepath.Join(dir, "file"), r.Body); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.WriteHeader(http.StatusNoContent)
	})
	mux.HandleFunc("DELETE "+fileload.CopyPath, func(w http.ResponseWriter, r *http.Request) {
		if err := os.Remove(filepath.Join(dir, "file")); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.WriteHeader(http.StatusNoContent)
	})
	return serve(ctx, out, mux)
}

func save(path string, body io.Reader) (err error) {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if _, err := io.Copy(f, body); err != nil {
		return err
	}
	return f.Sync()
}
