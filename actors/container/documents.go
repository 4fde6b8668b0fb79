package container

import (
	"context"
	"strings"
	"unicode/utf8"

	"ubl"
	"ubl/actors"
)

// The decisions about documents. Each reads the state, changes nothing, and
// returns a plan or a refusal.

func (s *State) decideCreate(cmd ubl.CreateDocument, at actors.Moment) (*plan, error) {
	if err := s.mayHold(cmd.Who, ubl.DidDocumentCreate, ubl.OpCreate); err != nil {
		return nil, err
	}
	if err := s.fits(ubl.DidDocumentCreate, cmd.Content); err != nil {
		return nil, err
	}
	if err := s.mayImport(cmd.ImportedFrom, cmd.Who, at); err != nil {
		return nil, err
	}
	title, err := checkNew(cmd.Title, cmd.Content)
	if err != nil {
		return nil, err
	}
	id, err := ubl.NewDocumentID(at.Now, s.Events+1, at.Random)
	if err != nil {
		return nil, err
	}
	salt, err := ubl.NewSalt(at.Random)
	if err != nil {
		return nil, err
	}
	d := newDocument(id, title, cmd.Content, salt, at.Now, cmd.Who.UserID)
	d.First, d.ImportedFrom = s.Events+1, cmd.ImportedFrom
	return s.bringing(d, cmd.Content), nil
}

// newDocument is the first version of a document.
func newDocument(id ubl.DocumentID, title, content string, salt ubl.Salt, now ubl.Time, by ubl.UserID) document {
	return document{
		ID: id, Title: title, Hash: salt.CommitText("content", content), Salt: salt, Bytes: int64(len(content)), Version: 1, Text: 1,
		CreatedAt: now, CreatedBy: by, UpdatedAt: now, UpdatedBy: by,
	}
}

// putting makes a version the newest of its document.
func (s *State) putting(d document) *plan {
	id := s.Summary.ContainerID
	return &plan{
		Act: actors.Act{
			This: d.ImportedFrom.In(ubl.Fields{
				ubl.Str("content_hash", d.Hash), ubl.Str("document_id", d.ID), ubl.Str("title_hash", d.Salt.CommitText("title", d.Title)),
				ubl.Int("version", d.Version), ubl.Str("workspace_id", id),
			}, d.Salt),
			Effects: []ubl.Fields{{
				ubl.Str("content_hash", d.Hash), ubl.Str("document_id", d.ID), ubl.Str("op", "document.put"),
				ubl.Int("version", d.Version), ubl.Str("workspace_id", id),
			}},
		},
		Event: event{Document: &d},
	}
}

// bringing is putting a version that brings its content, which is answered with it.
func (s *State) bringing(d document, content string) *plan {
	p := s.putting(d)
	p.Records = []actors.Record{s.keep(d, content)}
	made := served(s.Agreement.TenantID, s.Summary.ContainerID, d)
	made.Content = content
	p.Answer = func(receipt ubl.Receipt) any {
		made.Receipt = receipt
		return &ubl.DocumentResult{Document: made, Receipt: receipt}
	}
	return p
}

// keep is the record of the text that a version brings.
func (s *State) keep(d document, content string) actors.Record {
	return actors.Record{
		Key:   textKey(s.Summary.ContainerID, string(d.ID), d.Text),
		Value: encode(text{Form: recordVersion, Content: content}),
	}
}

// checkText refuses a title or content that no document may have, and answers the
// title without the blanks around it.
func checkText(title, content string) (string, error) {
	title = strings.TrimSpace(title)
	switch {
	case !utf8.ValidString(title) || !utf8.ValidString(content):
		return "", ubl.Errorf(ubl.CodeValidation, "the title or the content is not valid UTF-8")
	case title == "":
		return "", ubl.Errorf(ubl.CodeValidation, "the title is empty")
	case utf8.RuneCountInString(title) > ubl.MaxTitleChars:
		return "", ubl.Errorf(ubl.CodeTooLarge, "the title is longer than %d characters", ubl.MaxTitleChars)
	case utf8.RuneCountInString(content) > ubl.MaxContentChars:
		return "", ubl.Errorf(ubl.CodeTooLarge, "the content is longer than %d characters", ubl.MaxContentChars)
	}
	return title, nil
}

// checkNew is checkText for a title that is new: all of it has to be seen. One from
// before that rule stays with its document.
func checkNew(title, content string) (string, error) {
	title, err := checkText(title, content)
	if err == nil {
		err = ubl.CheckTitle(title)
	}
	return title, err
}

func errNoDocument() error {
	return ubl.Errorf(ubl.CodeNotFound, "there is no such document in this container")
}

// known is the number of the newest version of a document that is inside or was
// deleted here, 0 for any other.
func (s *State) known(id ubl.DocumentID) (n int64, deleted bool) {
	if n, deleted = s.Deleted[id]; deleted {
		return n, true
	}
	return s.Documents[id].Version, false
}

// current is the newest version of a document that isn't deleted.
func (s *State) current(id ubl.DocumentID) (document, error) {
	d, ok := s.Documents[id]
	if !ok {
		return d, errNoDocument()
	}
	return d, nil
}

func (s *State) decideUpdate(cmd ubl.UpdateDocument, at actors.Moment) (*plan, error) {
	if err := s.mayHold(cmd.Who, ubl.DidDocumentUpdate, ubl.OpWrite); err != nil {
		return nil, err
	}
	d, err := s.current(cmd.DocumentID)
	if err != nil {
		return nil, err
	}
	if cmd.IfVersion != 0 && cmd.IfVersion != d.Version {
		return nil, ubl.Errorf(ubl.CodeConflict, "the document has another version by now")
	}
	if d.Published != nil {
		return nil, ubl.Errorf(ubl.CodeConflict, "the document is published from %s: change it there, and publish it again", d.Published.Path)
	}
	if err := s.mayImport(cmd.ImportedFrom, cmd.Who, at); err != nil {
		return nil, err
	}
	return s.next(d, cmd, at)
}

// mayImport refuses what only an owner may say of where something comes from.
func (s *State) mayImport(f *ubl.ImportedFrom, who ubl.Identity, at actors.Moment) error {
	return f.MayImport(who, s.Agreement.Members[who.UserID].Role, at.Now)
}

// next is the version after d. One that changes the title alone goes on naming the
// record of the text that an earlier one brought.
func (s *State) next(d document, cmd ubl.UpdateDocument, at actors.Moment) (*plan, error) {
	title, content := d.Title, ""
	if cmd.Title == nil && cmd.Content == nil {
		return nil, ubl.Errorf(ubl.CodeValidation, "neither the title nor the content is to change")
	}
	if cmd.Title != nil {
		title = *cmd.Title
	}
	if cmd.Content != nil {
		content = *cmd.Content
		if err := s.fits(ubl.DidDocumentUpdate, content); err != nil {
			return nil, err
		}
	}
	check := checkNew
	if title == d.Title {
		check = checkText
	}
	title, err := check(title, content)
	if err != nil {
		return nil, err
	}
	d.Version++
	d.Title, d.UpdatedAt, d.UpdatedBy, d.ImportedFrom = title, at.Now, cmd.Who.UserID, cmd.ImportedFrom
	if cmd.Content == nil {
		return s.putting(d), nil
	}
	if d.Salt, err = ubl.NewSalt(at.Random); err != nil {
		return nil, err
	}
	d.Hash, d.Bytes, d.Text = d.Salt.CommitText("content", content), int64(len(content)), d.Version
	return s.bringing(d, content), nil
}

func (s *State) decideDelete(cmd ubl.DeleteDocument, _ actors.Moment) (*plan, error) {
	if err := s.mayHold(cmd.Who, ubl.DidDocumentDelete, ubl.OpDelete); err != nil {
		return nil, err
	}
	d, err := s.current(cmd.DocumentID)
	if err != nil {
		return nil, err
	}
	gone, files, effects, err := s.deleting(d)
	if err != nil {
		return nil, err
	}
	e := event{Document: &gone}
	e.deletes(files)
	return &plan{Act: actors.Act{This: s.about(gone), Effects: effects}, Event: e, Alarms: []actors.Alarm{redactSoon}}, nil
}

// deleting is what is left of a document, the files that go with it, and what an act says of both.
func (s *State) deleting(d document) (gone document, files []file, effects []ubl.Fields, err error) {
	if files, err = s.leavingFiles(d.ID); err != nil {
		return d, nil, nil, err
	}
	d.Deleted = true
	gone = d.redacted()
	effects = []ubl.Fields{append(ubl.Fields{ubl.Str("op", "document.delete")}, s.about(gone)...)}
	for _, f := range files {
		effects = append(effects, append(s.naming(f), ubl.Str("op", "file.remove")))
	}
	return gone, files, effects, nil
}

// about names a version of a document.
func (s *State) about(d document) ubl.Fields {
	return ubl.Fields{ubl.Str("document_id", d.ID), ubl.Int("version", d.Version), ubl.Str("workspace_id", s.Summary.ContainerID)}
}

// deletes says which files go with what the event deletes.
func (e *event) deletes(files []file) {
	e.gone = append(e.gone, files...)
	for _, f := range files {
		e.Files = append(e.Files, *f.redacted())
	}
}

// documentOutcome is the version that an act made, while the document isn't deleted, or what is
// left of one that it deleted. It reads the text, which no state has: a first answer does so only
// where the title alone has changed.
func (c *Container) documentOutcome(ctx context.Context, e event) (any, error) {
	if e.Document.Deleted {
		return c.deletedOutcome(e), nil
	}
	d := c.document(*e.Document)
	d.Receipt = e.Receipt
	var v []byte
	err := c.Read.View(ctx, c.group, func(snap ubl.Snapshot) error {
		deleted, err := c.isDeleted(snap, d.DocumentID)
		if err == nil && deleted {
			err = ubl.Errorf(ubl.CodeConflict, "the document of this key was written, and deleted since")
		}
		if err != nil {
			return err
		}
		v, err = c.readText(snap, string(d.DocumentID), e.Document.Text)
		return err
	})
	if err != nil {
		return nil, err
	}
	stored, err := decodeText(v)
	if err != nil {
		return nil, err
	}
	d.Content = stored.Content
	return &ubl.DocumentResult{Document: d, Receipt: e.Receipt}, nil
}

// deletedOutcome is what is left of a document, from the event alone. The version that says so is
// the deletion's own.
func (c *Container) deletedOutcome(e event) *ubl.DocumentResult {
	d := c.document(e.Document.redacted())
	d.Receipt = e.Receipt
	for _, f := range e.Files {
		d.Files = append(d.Files, ubl.HeldFile{FileID: f.ID, Bytes: f.Bytes})
	}
	return &ubl.DocumentResult{Document: d, Receipt: e.Receipt}
}
