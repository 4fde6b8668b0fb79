package archive

import (
	"errors"
	"fmt"
	"io"

	"ubl"
)

// documentsPage is how many documents or files one question asks for.
const documentsPage = 100

// containerLine is a line of containers.jsonl.
type containerLine struct {
	Folder    string               `json:"folder"`
	Container ubl.ContainerSummary `json:"container"`
	Role      ubl.Role             `json:"role,omitempty"`
}

// place is a container that is written.
type place struct {
	ubl.ContainerSummary
	name   ubl.Name
	folder string
	role   ubl.Role
}

// containers writes the documents of the containers that the person owns, and the files that they
// brought into any.
func (j *job) containers() error {
	if !j.may("documents and files", toolList) {
		return nil
	}
	list, err := ask[*ubl.ContainerList](j, j.tenant, ubl.ListContainers{Request: j.req})
	if err != nil {
		return err
	}
	var places []place
	lines := func() error {
		for _, c := range list.Containers {
			p := place{ContainerSummary: c, name: ubl.ContainerName(j.req.Who.TenantID, c.ContainerID), folder: "containers/" + numbered(len(places)+1, c.Name)}
			if p.role, err = j.roleIn(p); j.left(string(c.ContainerID), &err) {
				continue
			} else if err != nil {
				return err
			}
			if err := j.zip.line(containerLine{p.folder, c, p.role}); err != nil {
				return err
			}
			places = append(places, p)
		}
		return nil
	}
	if err := j.zip.file("containers.jsonl", lines); err != nil {
		return err
	}
	for _, p := range places {
		if p.Physics.Topology != ubl.Objects {
			continue // it holds credits alone
		}
		if p.role == ubl.RoleOwner {
			if err := j.documents(p); err != nil {
				return err
			}
		}
		if err := j.uploads(p); err != nil {
			return err
		}
	}
	return nil
}

// roleIn is the person's in a container, "" where they have none.
func (j *job) roleIn(p place) (ubl.Role, error) {
	view, err := ask[*ubl.AgreementView](j, p.name, ubl.GetAgreement{Who: j.req.Who, Brief: true})
	if err != nil {
		return "", err
	}
	for _, m := range view.Members {
		if m.UserID == j.req.Who.UserID {
			return m.Role, nil
		}
	}
	return "", nil
}

// documents writes the newest version of each document: what is known of them as lines, and each
// text as a file of Markdown. Both looks leave receipts, as in the app.
func (j *job) documents(p place) error {
	if !j.may("documents of "+string(p.ContainerID), toolDocuments, toolDocument) {
		return nil
	}
	if err := j.zip.file(p.folder+"/documents.jsonl", func() error {
		return j.eachDocument(p, func(d *ubl.Document) error { return j.zip.line(d) })
	}); err != nil {
		return err
	}
	n := 0
	return j.eachDocument(p, func(d *ubl.Document) error {
		n++
		got, err := ask[*ubl.DocumentResult](j, p.name, ubl.GetDocument{Request: j.req, DocumentID: d.DocumentID})
		if j.left(string(d.DocumentID), &err) || err != nil {
			return err
		}
		if got.Document == nil {
			return nil // deleted meanwhile
		}
		j.manifest.Counts.Documents++
		return j.zip.file(p.folder+"/documents/"+numbered(n, d.Title)+".md", func() error {
			_, err := io.WriteString(j.zip, got.Document.Content)
			return err
		})
	})
}

// eachDocument calls fn with the documents of a container, without their texts.
func (j *job) eachDocument(p place, fn func(*ubl.Document) error) error {
	for after := ubl.DocumentID(""); ; {
		page, err := ask[*ubl.DocumentList](j, p.name, ubl.ListDocuments{Request: j.req, After: after, Limit: documentsPage})
		if j.left(string(p.ContainerID), &err) || err != nil {
			return err
		}
		for _, d := range page.Documents {
			if err := fn(d); err != nil {
				return err
			}
		}
		if after = page.Next; after == "" {
			return nil
		}
	}
}

// fileLine is a line of files.jsonl.
type fileLine struct {
	Path string    `json:"path"`
	File *ubl.File `json:"file"`
}

// uploads writes the files that the person brought into a container: what is known of each as a
// line, and its content. Reading one leaves a receipt, as in the app.
func (j *job) uploads(p place) error {
	if !j.may("files of "+string(p.ContainerID), toolFiles, toolGetFile) {
		return nil
	}
	path := func(n int, f *ubl.File) string { return p.folder + "/files/" + numbered(n, f.Name) }
	if err := j.zip.file(p.folder+"/files.jsonl", func() error {
		return j.eachUpload(p, func(n int, f *ubl.File) error { return j.zip.line(fileLine{path(n, f), f}) })
	}); err != nil {
		return err
	}
	return j.eachUpload(p, func(n int, f *ubl.File) error {
		got, err := ask[*ubl.FileResult](j, p.name, ubl.GetFile{Request: j.req, FileID: f.FileID})
		if j.left(string(f.FileID), &err) || err != nil {
			return err
		}
		return j.blob(path(n, f), got.File.SHA256)
	})
}

// eachUpload calls fn with the files of a container that the person brought, numbered from 1.
func (j *job) eachUpload(p place, fn func(int, *ubl.File) error) error {
	n := 0
	for after := ubl.FileID(""); ; {
		page, err := ask[*ubl.FileList](j, p.name, ubl.ListFiles{Request: j.req, After: after, Limit: documentsPage})
		if j.left(string(p.ContainerID), &err) || err != nil {
			return err
		}
		for _, f := range page.Files {
			if f.CreatedBy != j.req.Who.UserID {
				continue
			}
			n++
			if err := fn(n, f); err != nil {
				return err
			}
		}
		if after = page.Next; after == "" {
			return nil
		}
	}
}

// blob writes a content, as it is. One that is lost or damaged is named among what was left out.
func (j *job) blob(path string, id ubl.BlobID) error {
	content, err := j.Blobs.Open(j.ctx, j.req.Who.TenantID, id)
	switch {
	case ubl.CodeOf(err) == ubl.CodeNotFound, errors.Is(err, ubl.ErrDamaged):
		j.leave(path, "the content is lost or damaged")
		return nil
	case err != nil:
		return err
	}
	defer content.Close()
	if err := j.zip.create(path); err != nil {
		return err
	}
	if _, err := io.Copy(j.zip, content); errors.Is(err, ubl.ErrDamaged) {
		j.leave(path, "the content is damaged: the file ends early")
	} else if err != nil {
		return fmt.Errorf("couldn't copy a file: %w", err)
	} else {
		j.manifest.Counts.Uploads++
	}
	return j.zip.close()
}
