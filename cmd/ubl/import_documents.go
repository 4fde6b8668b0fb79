package main

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"

	"ubl"
)

// containersHere finds the export's containers of documents here, and what of them was
// imported before.
func (im *importing) containersHere(ctx context.Context) (places []*landing, err error) {
	list, err := im.list(ctx, "/api/containers", "containers")
	if err != nil {
		return nil, err
	}
	here := map[ubl.ContainerID]bool{}
	for _, raw := range list {
		c, err := formed[ubl.ContainerSummary]("a container", raw)
		if err != nil {
			return nil, err
		}
		here[c.ContainerID] = true
	}
	err = each(im.from, "containers.jsonl", func(c archivedContainer) error {
		of := &c.Container
		if !of.ContainerID.Valid() {
			return errors.New("containers.jsonl names a container of another form")
		}
		if of.Physics.Topology != ubl.Objects {
			im.left["wallets and other containers that hold no documents"]++
			return nil
		}
		at := &landing{was: string(of.ContainerID), container: c, known: map[string]string{}}
		if here[of.ContainerID] {
			at.id = at.was
		}
		places = append(places, at)
		return im.containerKnows(ctx, at)
	})
	return places, err
}

// containerKnows reads which versions and files are here.
func (im *importing) containerKnows(ctx context.Context, at *landing) error {
	if at.id == "" {
		return nil
	}
	path := im.inside(at)
	list, err := im.list(ctx, path+"/documents?limit=100", "documents")
	if err != nil {
		return err
	}
	for _, raw := range list {
		d, err := formed[ubl.Document]("a document", raw)
		if err != nil {
			return err
		}
		versions, err := im.list(ctx, path+"/documents/"+url.PathEscape(string(d.DocumentID))+"/versions?limit=100", "versions")
		if err != nil {
			return err
		}
		for _, raw := range versions {
			v, err := formed[ubl.Document]("a version", raw)
			if err != nil {
				return err
			}
			im.knows(at, v.ImportedFrom, string(v.DocumentID))
		}
	}
	if list, err = im.list(ctx, path+"/files?limit=100", "files"); err != nil {
		return err
	}
	for _, raw := range list {
		f, err := formed[ubl.File]("a file", raw)
		if err != nil {
			return err
		}
		im.knows(at, f.ImportedFrom, string(f.FileID))
	}
	return nil
}

func (im *importing) inside(at *landing) string { return "/api/workspaces/" + url.PathEscape(at.id) }

// container makes a container, unless it is there. Those of a kind of the tenant's own become
// plain containers of the same physics: kinds aren't in an export.
func (im *importing) container(ctx context.Context, at *landing) error {
	if at.id != "" {
		return nil
	}
	of := &at.container.Container
	var answer struct {
		Container ubl.ContainerSummary `json:"container"`
		Workspace ubl.ContainerSummary `json:"workspace"`
	}
	kind := ubl.ContainerKind().Name
	if of.Kind == ubl.WorkspaceKind().Name {
		kind = of.Kind
	}
	body := map[string]any{"kind": kind, "name": of.Name, "physics": of.Physics}
	made, err := im.write(ctx, "container", at.was, "POST", "/api/containers", nil, body, &answer)
	if err == nil && made && !answer.Container.ContainerID.Valid() {
		err = errors.New("the server made a container of another form")
	}
	at.id = string(answer.Container.ContainerID)
	if im.dry {
		at.id = at.was
	}
	return err
}

// leftInside is why documents and files are left behind.
const leftInside = "documents and files of a container that was left behind"

// placesByID are the places that can be written to, by their ids in the export.
func placesByID(places []*landing) map[ubl.ContainerID]*landing {
	by := make(map[ubl.ContainerID]*landing, len(places))
	for _, at := range places {
		if at.id != "" {
			by[ubl.ContainerID(at.was)] = at
		}
	}
	return by
}

// documents imports versions, the oldest of each document first.
func (im *importing) documents(ctx context.Context, places []*landing) error {
	by := placesByID(places)
	return each(im.from, "documents.jsonl", func(d ubl.Document) error {
		im.read()
		at := by[d.WorkspaceID]
		if at == nil {
			im.left[leftInside]++
			return nil
		}
		if id, ok := at.known[d.Receipt.CID]; ok {
			im.already++
			im.ids[d.DocumentID] = id
			return nil
		}
		return im.version(ctx, at, &d)
	})
}

// version imports one version: the first of a document makes that.
func (im *importing) version(ctx context.Context, at *landing, d *ubl.Document) error {
	method, path, what := "POST", im.inside(at)+"/documents", "document"
	id := im.ids[d.DocumentID]
	if id != "" {
		method, path, what = "PATCH", path+"/"+url.PathEscape(id), "version"
	}
	var answer struct {
		Document json.RawMessage `json:"document"`
	}
	body := map[string]any{"title": d.Title, "content": d.Content}
	made, err := im.write(ctx, what, string(d.DocumentID), method, path, im.origin(d.UpdatedBy, d.UpdatedAt, d.Receipt, d.ImportedFrom), body, &answer)
	if im.dry {
		im.ids[d.DocumentID] = "d:dry"
	}
	if err != nil || !made {
		return err
	}
	put, err := formed[ubl.Document]("a document", answer.Document)
	im.ids[d.DocumentID] = string(put.DocumentID)
	return err
}

// files imports files, into the documents that hold them.
func (im *importing) files(ctx context.Context, places []*landing) error {
	by := placesByID(places)
	return each(im.from, "files.jsonl", func(f ubl.File) error {
		im.read()
		at := by[f.WorkspaceID]
		_, there := im.from.listed["blobs/"+string(f.SHA256)]
		switch {
		case at == nil:
			im.left[leftInside]++
			return nil
		case !f.SHA256.Valid() || !there:
			im.left["files whose content is not in the export"]++
			return nil
		}
		if _, ok := at.known[f.Receipt.CID]; ok {
			im.already++
			return nil
		}
		return im.file(ctx, at, &f)
	})
}

// maxInlineFile is the largest content that goes within a request.
const maxInlineFile = 1 << 20

// file sends a content and puts the file.
func (im *importing) file(ctx context.Context, at *landing, f *ubl.File) error {
	from := im.origin(f.CreatedBy, f.CreatedAt, f.Receipt, f.ImportedFrom)
	document := im.ids[f.DocumentID]
	path, body := im.inside(at)+"/files", map[string]any{}
	switch {
	case im.dry:
	case f.Bytes <= maxInlineFile:
		content, err := im.blob(f)
		if err != nil {
			return err
		}
		body["name"], body["content_type"], body["base64"] = f.Name, f.Type, base64.StdEncoding.EncodeToString(content)
		if document != "" {
			body["document_id"] = document
		}
	default:
		upload, err := im.upload(ctx, at, f, document)
		if im.refuses(string(f.FileID), err) {
			return nil
		}
		if err != nil {
			return err
		}
		body["upload_id"] = upload
	}
	_, err := im.write(ctx, "file", string(f.FileID), "POST", path, from, body, &struct{}{})
	return err
}

// blob reads a short content.
func (im *importing) blob(f *ubl.File) ([]byte, error) {
	r, err := im.from.open("blobs/" + string(f.SHA256))
	if err != nil {
		return nil, err
	}
	defer r.Close()
	content, err := io.ReadAll(io.LimitReader(r, maxInlineFile+1))
	if err == nil && int64(len(content)) != f.Bytes {
		err = fmt.Errorf("the content of %s is of another size than the export says", f.FileID)
	}
	return content, err
}

// content opens a content to be sent. An archive that is a zip file can't be read from the middle, so
// it goes by a file of its own. Done is called at the end.
func (im *importing) content(_ context.Context, sum ubl.BlobID) (s *sending, done func(), err error) {
	r, err := im.from.open("blobs/" + string(sum))
	if err != nil {
		return nil, nil, err
	}
	done = func() { _ = r.Close() } // which was read
	content, ok := r.(*os.File)
	if !ok {
		if content, err = os.CreateTemp("", "ubl-import-*"); err != nil {
			done()
			return nil, nil, err
		}
		done = func() { _, _, _ = r.Close(), content.Close(), os.Remove(content.Name()) }
		if _, err := io.Copy(content, r); err != nil {
			done()
			return nil, nil, fmt.Errorf("couldn't read the export: %w", err)
		}
	}
	return &sending{client: im.client, file: content, sum: sum}, done, nil
}

// upload sends a long content.
func (im *importing) upload(ctx context.Context, at *landing, f *ubl.File, document string) (ubl.UploadID, error) {
	s, done, err := im.content(ctx, f.SHA256)
	if err != nil {
		return "", err
	}
	defer done()
	c := &filePutCmd{Name: f.Name, Type: f.Type, Document: document}
	if err := s.begin(ctx, im.inside(at), c); err != nil {
		return "", err
	}
	return s.upload.UploadID, s.send(ctx, im.p.progress("", "", true))
}
