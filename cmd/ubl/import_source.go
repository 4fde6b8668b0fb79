package main

import (
	"archive/zip"
	"bufio"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strconv"
	"strings"

	"ubl"
)

// source is an archive that is read: a folder, or a zip file of one. Everything in it is
// somebody else's word until it is verified.
type source struct {
	files    fs.FS
	close    func()
	manifest manifest
	listed   map[string]archived // of the manifest, by path
	names    map[ubl.UserID]string
	lines    int64 // of all that is imported, as the manifest has it
	// head is the last atom of the ledger.
	head ubl.Receipt
	// facts are what the ledger says of the acts that are imported, by their seq, and committed
	// the contents of documents that it has commitments to. Nil where nothing is verified.
	facts     map[int64]fact
	committed map[fact]bool
}

// fact is the hash of what an atom says, so that millions of them can be kept.
type fact [sha256.Size]byte

func factOf(parts ...string) fact { return sha256.Sum256([]byte(strings.Join(parts, "\n"))) }

// archivedRoom and archivedContainer are lines of the export.
type (
	archivedRoom struct {
		Room    ubl.Room     `json:"room"`
		Members []ubl.Member `json:"members"`
	}
	archivedContainer struct {
		Container ubl.Container `json:"container"`
	}
)

// openSource reads the manifest and who was in the tenant.
func openSource(name string) (*source, error) {
	s := &source{close: func() {}, listed: map[string]archived{}, names: map[ubl.UserID]string{}}
	info, err := os.Stat(name)
	if err == nil && info.IsDir() {
		s.files = os.DirFS(name)
	} else if err == nil {
		err = s.unzip(name)
	}
	if err != nil {
		return nil, thenDo(fmt.Errorf("couldn't read the export: %w", err), "name the folder that \"ubl export --all DIR\" has written, or a zip file of it")
	}
	if err := s.start(); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

// unzip looks into a zip file, in which the archive may be in a folder.
func (s *source) unzip(name string) error {
	z, err := zip.OpenReader(name)
	if err != nil {
		return err
	}
	s.files, s.close = z, func() { _ = z.Close() }
	if found, _ := fs.Glob(z, "*/manifest.json"); len(found) == 1 {
		s.files, err = fs.Sub(z, path.Dir(found[0]))
	}
	return err
}

func (s *source) start() error {
	f, err := s.files.Open("manifest.json")
	if errors.Is(err, fs.ErrNotExist) {
		return thenDo(errors.New("there is no manifest.json: this is no export, or one that broke off"), "name what \"ubl export --all DIR\" has written")
	}
	if err == nil {
		err = json.NewDecoder(&bounded{Reader: f, left: maxArchived}).Decode(&s.manifest)
		_ = f.Close()
	}
	switch {
	case err != nil:
		return fmt.Errorf("couldn't read the manifest: %w", err)
	case s.manifest.Format != archiveFormat:
		return fmt.Errorf("the export is not of the form %s; a newer program may know it", archiveFormat)
	case !s.manifest.TenantID.Valid():
		return errors.New("the manifest names no tenant")
	}
	for _, f := range s.manifest.Files {
		s.listed[f.Path] = f
		if strings.HasPrefix(f.Path, "rooms/") || f.Path == "documents.jsonl" || f.Path == "files.jsonl" {
			s.lines += int64(f.Lines)
		}
	}
	for _, list := range []string{"former-members.jsonl", "members.jsonl"} {
		err := each(s, list, func(m ubl.Member) error {
			name, _, _ := strings.Cut(m.Email, "@") // an address isn't taken along, and is no name
			if name = ubl.FitMemberName(cmp.Or(m.Name, name)); ubl.CheckMemberName(name) == nil {
				s.names[m.UserID] = name
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// open opens a file that the manifest lists.
func (s *source) open(name string) (fs.File, error) {
	if _, ok := s.listed[name]; !ok || !fs.ValidPath(name) {
		return nil, fmt.Errorf("%s: %w", clean(name), fs.ErrNotExist)
	}
	return s.files.Open(name)
}

// each reads the values of a file, one after another. A file that was left out has none.
func each[T any](s *source, name string, do func(T) error) error {
	f, err := s.open(name)
	if errors.Is(err, fs.ErrNotExist) && s.listed[name].Path == "" {
		return nil
	}
	if err != nil {
		return fmt.Errorf("couldn't read the export: %w", err)
	}
	defer f.Close()
	short := &bounded{Reader: f}
	d := json.NewDecoder(bufio.NewReaderSize(short, 64<<10))
	for n := 1; ; n++ {
		short.left = maxArchived
		var v T
		switch err := d.Decode(&v); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("%s, value %d is of another form: %w", clean(name), n, err)
		}
		if err := do(v); err != nil {
			return err
		}
	}
}

// maxArchived is the longest value of an export that is read, in bytes: far more than a document
// has. One that says it is longer would fill the memory.
const maxArchived = 64 << 20

var errTooLong = fmt.Errorf("a value is longer than %d bytes", maxArchived)

// bounded reads left bytes, and then fails.
type bounded struct {
	io.Reader
	left int64
}

// Read implements [io.Reader].
func (b *bounded) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, errTooLong
	}
	n, err := b.Reader.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	return n, err
}

// verify holds every file against the manifest, the ledger against itself, and all that is
// imported against the ledger.
func (s *source) verify(ctx context.Context, g *progress, earlier string) error {
	var done, total int64
	for _, f := range s.manifest.Files {
		total += f.Bytes
	}
	for _, f := range s.manifest.Files {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := s.verifyFile(f); err != nil {
			return err
		}
		done += f.Bytes
		g.at(done, total)
	}
	ledger, err := s.open("ledger.ndjson")
	if err != nil {
		return err
	}
	v, err := verified(ledger, ubl.VerifyOptions{Earlier: earlier})
	_ = ledger.Close()
	switch {
	case err != nil:
		return doesNotVerify(err)
	case v.TenantID != s.manifest.TenantID:
		return errors.New("its ledger is another tenant's")
	}
	s.facts, s.committed = map[int64]fact{}, map[fact]bool{}
	if err := s.readHead(); err != nil {
		return err
	}
	return s.verifyContents()
}

func (s *source) verifyFile(want archived) error {
	f, err := s.open(want.Path)
	if err != nil {
		return err
	}
	defer f.Close()
	hash := sha256.New()
	n, err := io.Copy(hash, io.LimitReader(f, want.Bytes+1))
	if err != nil {
		return fmt.Errorf("couldn't read %s: %w", clean(want.Path), err)
	}
	sum := hex.EncodeToString(hash.Sum(nil))
	content, isContent := strings.CutPrefix(want.Path, "blobs/") // whose name the ledger commits to
	switch {
	case isContent && sum != content:
		return fmt.Errorf("%s is another content than its name says", clean(want.Path))
	case n != want.Bytes || sum != want.SHA256:
		return fmt.Errorf("%s is not what the manifest says", clean(want.Path))
	}
	return nil
}

// ledgerLine is an atom of the ledger, as far as an import looks at it.
type ledgerLine struct {
	Seq  int64 `json:"seq"`
	Atom struct {
		CID  string   `json:"cid"`
		Did  ubl.Did  `json:"did"`
		When ubl.Time `json:"when"`
		Who  struct {
			UserID ubl.UserID `json:"user_id"`
		} `json:"who"`
		This struct {
			BodyHash     string `json:"body_hash"`
			FilesHash    string `json:"attachments_hash"`
			ContentHash  string `json:"content_hash"`
			TitleHash    string `json:"title_hash"`
			NameHash     string `json:"name_hash"`
			ImportedHash string `json:"imported_hash"`
			Message      string `json:"msg_id"`
			Room         string `json:"room_id"`
			RoomSeq      int64  `json:"room_seq"`
			Document     string `json:"document_id"`
			File         string `json:"file_id"`
			Workspace    string `json:"workspace_id"`
			Target       string `json:"target"`
			Thread       string `json:"thread"`
		} `json:"this"`
		Effects []struct {
			Op          string `json:"op"`
			ContentHash string `json:"content_hash"`
			NameHash    string `json:"name_hash"`
			File        string `json:"file_id"`
			Workspace   string `json:"workspace_id"`
		} `json:"effects"`
	} `json:"atom"`
}

// readHead reads the ledger: its last atom, and the facts where they are wanted.
func (s *source) readHead() error {
	if _, ok := s.listed["ledger.ndjson"]; !ok {
		return errors.New("the export has no ledger")
	}
	return each(s, "ledger.ndjson", func(l ledgerLine) error {
		a, this := &l.Atom, &l.Atom.This
		s.head.Seq, s.head.CID = l.Seq, a.CID
		if s.facts == nil {
			return nil
		}
		for _, e := range a.Effects { // a file that came along with a document
			if e.Op == "file.put" && e.NameHash != "" {
				s.committed[factOf(e.Workspace, e.File, e.ContentHash, e.NameHash)] = true
			}
		}
		switch a.Did {
		case ubl.DidSend, ubl.DidPollCreate, ubl.DidFormCreate, ubl.DidEdit, ubl.DidReact, ubl.DidPin:
			s.facts[l.Seq] = factOf(a.CID, string(a.Who.UserID), a.When.String(), this.Room, strconv.FormatInt(this.RoomSeq, 10), this.Message, this.BodyHash, this.ImportedHash, string(a.Did), this.Target, this.Thread, this.FilesHash)
		case ubl.DidDocumentCreate, ubl.DidDocumentUpdate:
			s.facts[l.Seq] = factOf(a.CID, string(a.Who.UserID), a.When.String(), this.Workspace, this.Document, this.ContentHash, this.TitleHash, this.ImportedHash)
			s.committed[factOf(this.ContentHash)] = true
		case ubl.DidReceive, ubl.DidTransfer: // brings a version that was written elsewhere in the tenant
			s.facts[l.Seq] = factOf(a.CID)
		case ubl.DidFilePut:
			s.facts[l.Seq] = factOf(a.CID, string(a.Who.UserID), a.When.String(), this.Workspace, this.File, this.ContentHash, this.NameHash, this.ImportedHash)
		}
		return nil
	})
}

// verifyContents holds each entry, version and file against the act that its receipt names.
func (s *source) verifyContents() error {
	other := func(what, id string, seq int64) error {
		return fmt.Errorf("%s %s is not what act %d of the ledger says: its text, author, time or place was changed", what, clean(id), seq)
	}
	for name := range s.listed {
		if !strings.HasPrefix(name, "rooms/") {
			continue
		}
		last := int64(0)
		err := each(s, name, func(e ubl.Entry) error {
			if last != 0 && e.RoomSeq != last+1 {
				return fmt.Errorf("%s lacks entries behind %d, or has them in another order", clean(name), last)
			}
			if last = e.RoomSeq; !imports(&e) {
				return nil
			}
			if name != roomFile(e.RoomID) || s.facts[e.Receipt.Seq] != factOf(e.Receipt.CID, string(e.AuthorID), e.SentAt.String(), string(e.RoomID), strconv.FormatInt(e.RoomSeq, 10),
				string(e.ID), e.Salt.Commit(e.Body.Hashed()), e.ImportedFrom.Hash(e.Salt), string(actOf(&e)), idOr(e.Target), idOr(e.Thread), filesHash(&e)) {
				return other("entry", string(e.ID), e.Receipt.Seq)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	err := each(s, "documents.jsonl", func(d ubl.Document) error {
		content := d.Salt.CommitText("content", d.Content)
		written := factOf(d.Receipt.CID, string(d.UpdatedBy), d.UpdatedAt.String(), string(d.WorkspaceID), string(d.DocumentID), content,
			d.Salt.CommitText("title", d.Title), d.ImportedFrom.Hash(d.Salt))
		moved := s.facts[d.Receipt.Seq] == factOf(d.Receipt.CID) && s.committed[factOf(content)]
		if s.facts[d.Receipt.Seq] != written && !moved {
			return other("document", string(d.DocumentID), d.Receipt.Seq)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return each(s, "files.jsonl", func(f ubl.File) error {
		content, named := f.Salt.Commit(f.SHA256.Sum()), f.Salt.CommitText("name", f.Name)
		put := factOf(f.Receipt.CID, string(f.CreatedBy), f.CreatedAt.String(), string(f.WorkspaceID), string(f.FileID), content, named, f.ImportedFrom.Hash(f.Salt))
		moved := s.facts[f.Receipt.Seq] == factOf(f.Receipt.CID) && s.committed[factOf(string(f.WorkspaceID), string(f.FileID), content, named)]
		if s.facts[f.Receipt.Seq] != put && !moved {
			return other("file", string(f.FileID), f.Receipt.Seq)
		}
		return nil
	})
}

// didOf are the acts that leave the entries which are imported.
var didOf = map[ubl.EntryType]ubl.Did{
	ubl.EntryMessage: ubl.DidSend, ubl.EntryEdit: ubl.DidEdit, ubl.EntryReaction: ubl.DidReact, ubl.EntryPin: ubl.DidPin,
}

// actOf is the act that left an entry.
func actOf(e *ubl.Entry) ubl.Did {
	if e.Body.Poll() != nil {
		return ubl.DidPollCreate
	}
	if e.Body.Form() != nil {
		return ubl.DidFormCreate
	}
	return didOf[e.Type]
}

// idOr is an id, "" for none.
func idOr(id *ubl.MessageID) string {
	if id == nil {
		return ""
	}
	return string(*id)
}

// roomFile is where a room's entries are.
func roomFile(r ubl.RoomID) string { return "rooms/" + strings.TrimPrefix(string(r), "r:") + ".jsonl" }

// imports reports whether an entry is one that can be imported: what somebody posted, and
// nobody has redacted.
func imports(e *ubl.Entry) bool {
	if e.Body == nil || e.Body.Type == ubl.ContentSystem {
		return false
	}
	switch e.Type {
	case ubl.EntryMessage, ubl.EntryEdit, ubl.EntryReaction, ubl.EntryPin:
		return true
	}
	return false
}
