package container

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"ubl"
	"ubl/actors"
)

// Files: contents of any kind and size. The container decides and keeps the record; the content
// is a blob, kept before the act that refers to it ([ubl.Blobs]). A file never changes: another
// content is another file.

// file is a file in the state, in its event and in its record.
type file struct {
	ID       ubl.FileID     `json:"id"`
	Document ubl.DocumentID `json:"document,omitempty"`
	Name     string         `json:"name,omitempty"`
	Type     string         `json:"type,omitempty"`
	Blob     ubl.BlobID     `json:"blob,omitempty"`
	Bytes    int64          `json:"bytes"`
	Salt     ubl.Salt       `json:"salt,omitzero"`
	// N is the number of the event that put it there.
	N         int64      `json:"n"`
	CreatedAt ubl.Time   `json:"created_at"`
	CreatedBy ubl.UserID `json:"created_by"`
	// ArrivedAt is when it came with a document from another container, 0 where it was put.
	ArrivedAt ubl.Time `json:"arrived_at,omitzero"`

	ImportedFrom *ubl.ImportedFrom `json:"imported_from,omitempty"`
	// Redacted says that name, type, salt and what names the content are gone for good.
	Redacted bool `json:"redacted,omitempty"`
}

// fileRecord is the stored form of a file that is there, with the receipt of the act that put it.
type fileRecord struct {
	Form    int         `json:"v"`
	File    file        `json:"file"`
	Receipt ubl.Receipt `json:"receipt,omitzero"`
}

// fileKey is where a file's record is, and fileRef is the key by which it refers to its blob.
func fileKey(c ubl.ContainerID, f ubl.FileID) []byte {
	return append([]byte{'F'}, within(c, string(f))...)
}

func fileRef(c ubl.ContainerID, f file) []byte { return ubl.BlobRef(f.Blob, within(c, string(f.ID))) }

// fileKeysEnd bounds the keys of a container's files.
func fileKeysEnd(c ubl.ContainerID) []byte { return append(append([]byte{'F'}, c...), 1) }

// fileBytes is how much of what the tenant may store a file takes: its content, each time
// that a file has it.
func fileBytes(record []byte) int64 {
	var stored fileRecord
	if json.Unmarshal(record, &stored) != nil {
		return 0 // whoever reads the record tells of the damage
	}
	return stored.File.Bytes
}

func errNoFile() error {
	return ubl.Errorf(ubl.CodeNotFound, "there is no such file in this container")
}

// checkFile refuses what can't be a file here, and answers name and type as they are kept.
func (s *State) checkFile(who ubl.Identity, name, kind string, bytes int64, document ubl.DocumentID) (string, string, error) {
	err := s.mayHold(who, ubl.DidFilePut, ubl.OpCreate)
	if err == nil && document != "" {
		_, err = s.current(document)
	}
	if err == nil && document != "" && len(s.filesOf(document)) >= ubl.MaxDocumentFiles {
		err = ubl.Errorf(ubl.CodeConflict, "the document holds %d files, which are the most", ubl.MaxDocumentFiles)
	}
	if err == nil && len(s.Files) >= ubl.MaxFiles {
		err = ubl.Errorf(ubl.CodeConflict, "the container has %d files, which are the most", ubl.MaxFiles)
	}
	if err == nil {
		name, err = ubl.CheckFileName(name)
	}
	if err == nil {
		kind, err = ubl.CheckFileType(kind)
	}
	if err == nil {
		err = s.fitsFile(kind, bytes)
	}
	return name, kind, err
}

// prepareFile says whether a file may be put, before its content is sent.
func (c *Container) prepareFile(t *actors.Turn, cmd ubl.PrepareFile) {
	_, _, err := c.State.checkFile(cmd.Who, cmd.Name, cmd.Type, cmd.Bytes, cmd.DocumentID)
	if err == nil {
		err = c.Usage.MayAdd(cmd.Who, cmd.Bytes+cmd.Staged)
	}
	t.Answer(err, func() any { return nil })
}

func (s *State) decidePutFile(cmd ubl.PutFile, at actors.Moment) (*plan, error) {
	name, kind, err := s.checkFile(cmd.Who, cmd.Name, cmd.Type, cmd.Bytes, cmd.DocumentID)
	if err == nil {
		err = s.mayImport(cmd.ImportedFrom, cmd.Who, at)
	}
	if err != nil {
		return nil, err
	}
	if !cmd.Blob.Valid() || cmd.Bytes < 0 || cmd.Bytes > ubl.MaxFileBytes {
		return nil, ubl.Errorf(ubl.CodeValidation, "the file has no content that is kept")
	}
	f := file{
		Document: cmd.DocumentID, Name: name, Type: kind, Blob: cmd.Blob, Bytes: cmd.Bytes,
		N: s.Events + 1, CreatedAt: at.Now, CreatedBy: cmd.Who.UserID, ImportedFrom: cmd.ImportedFrom,
	}
	if f.ID, err = ubl.NewFileID(at.Now, f.N, at.Random); err != nil {
		return nil, err
	}
	if f.Salt, err = ubl.NewSalt(at.Random); err != nil {
		return nil, err
	}
	made := s.file(f)
	this := f.ImportedFrom.In(append(s.naming(f), ubl.Str("content_hash", made.ContentHash), ubl.Str("name_hash", made.NameHash)), f.Salt)
	return &plan{
		Act:   actors.Act{This: this, Effects: []ubl.Fields{append(s.naming(f), ubl.Str("content_hash", made.ContentHash), ubl.Str("op", "file.put"))}},
		Event: event{File: &f},
		Answer: func(receipt ubl.Receipt) any {
			made.Receipt = receipt
			return &ubl.FileResult{File: made, Receipt: receipt}
		},
	}, nil
}

func (s *State) decideRemoveFile(cmd ubl.RemoveFile, _ actors.Moment) (*plan, error) {
	if err := s.mayHold(cmd.Who, ubl.DidFileRemove, ubl.OpDelete); err != nil {
		return nil, err
	}
	f, ok := s.Files[cmd.FileID]
	if !ok {
		return nil, errNoFile()
	}
	return &plan{
		Act:    actors.Act{This: s.naming(f), Effects: []ubl.Fields{append(s.naming(f), ubl.Str("op", "file.remove"))}},
		Event:  event{File: f.redacted(), gone: []file{f}},
		Alarms: []actors.Alarm{redactSoon},
	}, nil
}

// naming are the fields that say in an atom which file it is.
func (s *State) naming(f file) ubl.Fields {
	fields := ubl.Fields{ubl.Str("file_id", f.ID), ubl.Str("workspace_id", s.Summary.ContainerID)}
	if f.Document != "" {
		fields = append(fields, ubl.Str("document_id", f.Document))
	}
	return fields
}

// file is one as it is served, without its receipt.
func (s *State) file(f file) *ubl.File {
	return servedFile(s.Agreement.TenantID, s.Summary.ContainerID, f)
}

func servedFile(tenant ubl.TenantID, id ubl.ContainerID, f file) *ubl.File {
	served := &ubl.File{
		FileID: f.ID, WorkspaceID: id, TenantID: tenant, DocumentID: f.Document, Name: f.Name, Type: f.Type, Bytes: f.Bytes,
		SHA256: f.Blob, Salt: f.Salt, CreatedAt: f.CreatedAt, CreatedBy: f.CreatedBy, ImportedFrom: f.ImportedFrom, Removed: f.Redacted,
	}
	if !f.Redacted {
		served.ContentHash, served.NameHash = f.Salt.Commit(f.Blob.Sum()), f.Salt.CommitText("name", f.Name)
	}
	return served
}

// putFile and dropFile change the state.
func (s *State) putFile(f file) {
	if max(f.CreatedAt, f.ArrivedAt) <= s.Hidden {
		return
	}
	if at, filed := slices.BinarySearch(s.Filed, f.ID); !filed {
		s.Filed = slices.Insert(s.Filed, at, f.ID)
	}
	s.Files[f.ID] = f
}

func (s *State) dropFile(id ubl.FileID) {
	delete(s.Files, id)
	if at, filed := slices.BinarySearch(s.Filed, id); filed {
		s.Filed = slices.Delete(s.Filed, at, at+1)
	}
}

// indexFile is what a file's event changes besides: its record, and what refers to its blob.
func indexFile(id ubl.ContainerID, f file, act *actors.Act) []actors.Record {
	return []actors.Record{
		act.Sealed(fileKey(id, f.ID), encode(fileRecord{Form: recordVersion, File: f})),
		{Key: fileRef(id, f), Value: []byte{recordVersion}},
	}
}

// unindexFile takes both away.
func unindexFile(id ubl.ContainerID, f file) []actors.Record {
	return []actors.Record{{Key: fileKey(id, f.ID), Frees: int(f.Bytes)}, {Key: fileRef(id, f)}}
}

// getFile puts on record that somebody reads a file, and answers what is known of it.
func (c *Container) getFile(t *actors.Turn, cmd ubl.GetFile) {
	err := c.State.reads(cmd.Who, ubl.DidFileGet)
	f, ok := c.State.Files[cmd.FileID]
	if err == nil && !ok {
		err = errNoFile()
	}
	if err != nil {
		t.Fail(err)
		return
	}
	c.reading(t, cmd.Request, ubl.DidFileGet, "file.read", ubl.Fields{ubl.Str("file_id", f.ID)}, func(ctx context.Context, act *actors.Act) (any, error) {
		list, err := c.readFiles(ctx, []file{f})
		if err != nil {
			return nil, err
		}
		return &ubl.FileResult{File: list[0], Receipt: act.Receipt}, nil
	})
}

// listFiles reads a page of files.
func (c *Container) listFiles(t *actors.Turn, cmd ubl.ListFiles) {
	if err := c.State.reads(cmd.Who, ubl.DidFileList); err != nil {
		t.Fail(err)
		return
	}
	page, next := c.State.filePage(cmd)
	var this ubl.Fields
	if cmd.DocumentID.Valid() {
		this = ubl.Fields{ubl.Str("document_id", cmd.DocumentID)}
	}
	c.reading(t, cmd.Request, ubl.DidFileList, "file.read", this, func(ctx context.Context, act *actors.Act) (any, error) {
		list, err := c.readFiles(ctx, page)
		if err != nil {
			return nil, err
		}
		return &ubl.FileList{Files: list, Next: next, Receipt: act.Receipt}, nil
	})
}

// filePage is the files after one, and the last of them where there are more.
func (s *State) filePage(cmd ubl.ListFiles) (page []file, next ubl.FileID) {
	at, found := slices.BinarySearch(s.Filed, cmd.After)
	if found {
		at++
	}
	limit := pageOf(cmd.Limit)
	for _, id := range s.Filed[at:] {
		f := s.Files[id]
		if cmd.DocumentID != "" && f.Document != cmd.DocumentID {
			continue
		}
		if len(page) == limit {
			return page, page[limit-1].ID
		}
		page = append(page, f)
	}
	return page, ""
}

// readFiles fills in the receipts of files. One that was removed meanwhile has none.
func (c *Container) readFiles(ctx context.Context, files []file) ([]*ubl.File, error) {
	list := make([]*ubl.File, len(files))
	return list, c.Read.View(ctx, c.group, func(snap ubl.Snapshot) error {
		for i, f := range files {
			v, err := snap.Get(fileKey(c.id, f.ID))
			if err != nil {
				return err
			}
			list[i] = servedFile(c.tenant, c.id, f)
			if v == nil {
				continue
			}
			stored, err := decodeFile(v)
			if err != nil {
				return err
			}
			list[i].Receipt = stored.Receipt
		}
		return nil
	})
}

func decodeFile(v []byte) (stored fileRecord, err error) {
	err = decode(v, &stored)
	if err == nil && stored.Form > recordVersion {
		err = errForm(stored.Form)
	}
	return stored, err
}

// fileOutcome is the file that an act has put, while it is there, or what is left of one that it
// has removed.
func (c *Container) fileOutcome(ctx context.Context, e event) (any, error) {
	if e.Did == ubl.DidFileRemove {
		f := servedFile(c.tenant, c.id, *e.File.redacted())
		f.Receipt = e.Receipt
		return &ubl.FileResult{File: f, Receipt: e.Receipt}, nil
	}
	f := servedFile(c.tenant, c.id, *e.File)
	f.Receipt = e.Receipt
	err := c.Read.View(ctx, c.group, func(snap ubl.Snapshot) error {
		v, err := snap.Get(fileKey(c.id, f.FileID))
		if err == nil && v == nil {
			err = ubl.Errorf(ubl.CodeConflict, "the file of this key was put, and isn't here any more")
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return &ubl.FileResult{File: f, Receipt: e.Receipt}, nil
}

// restoreFiles reads the files as they are now, a page at a time.
func restoreFiles(ctx context.Context, read ubl.Reader, name ubl.Name, s *State) error {
	id := ubl.ContainerID(name.Local())
	from, to := fileKey(id, ""), fileKeysEnd(id)
	for n := eventPage; n == eventPage; {
		n = 0
		var bad error
		err := read.View(ctx, name.Group(), func(snap ubl.Snapshot) error {
			return snap.Ascend(from, to, func(k, v []byte) bool {
				var stored fileRecord
				if stored, bad = decodeFile(v); bad != nil {
					return false
				}
				s.putFile(stored.File)
				from, n = append(slices.Clone(k), 0), n+1
				return n < eventPage
			})
		})
		if err := errors.Join(err, bad); err != nil {
			return err
		}
	}
	return nil
}

// putFileContent tells one from another under the same key.
func putFileContent(c ubl.PutFile) []string {
	return c.ImportedFrom.Content([]string{c.Name, c.Type, string(c.DocumentID), string(c.Blob), fmt.Sprint(c.Bytes)})
}

func removeFileContent(c ubl.RemoveFile) []string { return []string{string(c.FileID)} }
