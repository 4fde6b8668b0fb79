package main

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"strconv"

	"ubl"
)

// containers writes workspaces, wallets and other containers that the exporter may read,
// with their members, documents and files.
func (a *archive) containers(ctx context.Context) error {
	list, err := a.server.list(ctx, "/api/containers", "containers")
	if err != nil {
		return err
	}
	var containers []json.RawMessage
	documents, err := a.create("documents.jsonl")
	if err != nil {
		return err
	}
	files, err := a.create("files.jsonl")
	if err != nil {
		return a.close(documents, err)
	}
	for _, raw := range list {
		var c ubl.ContainerSummary
		if c, err = formed[ubl.ContainerSummary]("a container", raw); err != nil {
			break
		}
		if !c.ContainerID.Valid() {
			err = errors.New("the server sent a container of another form")
			break
		}
		var one json.RawMessage
		var left bool
		if one, left, err = a.place(ctx, string(c.ContainerID), "/api/containers/", "container"); err != nil {
			break
		}
		if left {
			continue
		}
		containers = append(containers, one)
		if c.Physics.Topology != ubl.Objects {
			continue // it holds credits alone
		}
		if err = a.contents(ctx, c.ContainerID, documents, files); err != nil {
			break
		}
	}
	if err = errors.Join(a.close(documents, err), a.close(files, nil)); err != nil {
		return err
	}
	return a.write("containers.jsonl", containers...)
}

// contents writes the documents and files of one container.
func (a *archive) contents(ctx context.Context, in ubl.ContainerID, documents, files *lines) error {
	path := "/api/workspaces/" + url.PathEscape(string(in))
	list, err := a.server.list(ctx, path+"/documents?limit=100", "documents")
	if a.leave(string(in), &err) || err != nil {
		return err
	}
	for _, raw := range list {
		d, err := formed[ubl.Document]("a document", raw)
		if err == nil {
			err = a.versions(ctx, path+"/documents/", d, documents)
		}
		if err != nil {
			return err
		}
	}
	list, err = a.server.list(ctx, path+"/files?limit=100", "files")
	if a.leave(string(in), &err) || err != nil {
		return err
	}
	for _, raw := range list {
		f, err := formed[ubl.File]("a file", raw)
		if err == nil {
			err = a.blob(ctx, path+"/files/", f)
		}
		if err == nil {
			err = files.add(raw)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// versions writes every version of a document with its content, the oldest first.
func (a *archive) versions(ctx context.Context, below string, d ubl.Document, documents *lines) error {
	path := below + url.PathEscape(string(d.DocumentID)) + "?version="
	for v := int64(1); v <= d.Version; v++ {
		var answer struct {
			Document json.RawMessage `json:"document"`
		}
		err := a.server.call(ctx, "GET", path+strconv.FormatInt(v, 10), nil, &answer)
		if a.leave(string(d.DocumentID), &err) || err != nil {
			return err
		}
		if err := documents.add(answer.Document); err != nil {
			return err
		}
	}
	return nil
}

// blob keeps a file's content under its hash, once however many files have it. What comes
// is held against the hash.
func (a *archive) blob(ctx context.Context, below string, f ubl.File) error {
	if !f.SHA256.Valid() || f.Bytes < 0 {
		return errors.New("the server sent a file of another form")
	}
	name := "blobs/" + string(f.SHA256)
	full := filepath.Join(a.dir, filepath.FromSlash(name))
	if _, err := os.Stat(full); err == nil {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(full), 0o700); err != nil {
		return err
	}
	r := &receiving{client: a.server, path: below + url.PathEscape(string(f.FileID)) + "/content", of: f, progress: a.silent, hash: sha256.New()}
	err := r.into(ctx, full)
	if a.leave(string(f.FileID), &err) {
		return os.Remove(r.partOf(full))
	}
	if err != nil {
		return err
	}
	a.manifest.Files = append(a.manifest.Files, archived{Path: name, Bytes: f.Bytes, SHA256: string(f.SHA256)})
	a.progress.at(int64(len(a.manifest.Files)), unknown)
	return nil
}
