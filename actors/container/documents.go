package container

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"ubl"
	"ubl/actors"
)

// The decisions about documents. Each reads the state, changes nothing, and
// returns a plan or a refusal.

func (c *Container) decideCreate(cmd ubl.CreateDocument) func(ubl.Time) (*plan, error) {
	return func(now ubl.Time) (*plan, error) {
		if err := c.state.mayHold(cmd.Who, ubl.OpCreate); err != nil {
			return nil, err
		}
		if err := c.env.Usage.MayAdd(cmd.Who); err != nil {
			return nil, err
		}
		title, err := checkNew(cmd.Title, cmd.Content)
		if err != nil {
			return nil, err
		}
		id, err := ubl.NewDocumentID(c.env.Random)
		if err != nil {
			return nil, err
		}
		d := newDocument(id, title, cmd.Content, now, cmd.Who.UserID)
		p := c.putting(d)
		p.records = append(p.records, c.keep(d, cmd.Content))
		return p, nil
	}
}

// newDocument is the first version of a document.
func newDocument(id ubl.DocumentID, title, content string, now ubl.Time, by ubl.UserID) document {
	return document{
		ID: id, Title: title, Hash: ubl.TextHash("content", content), Bytes: int64(len(content)), Version: 1, Text: 1,
		CreatedAt: now, CreatedBy: by, UpdatedAt: now, UpdatedBy: by,
	}
}

// putting makes a version the newest of its document.
func (c *Container) putting(d document) *plan {
	this := ubl.Fields{
		ubl.Str("content_hash", d.Hash), ubl.Str("document_id", d.ID), ubl.Str("title_hash", ubl.TextHash("title", d.Title)),
		ubl.Int("version", d.Version), ubl.Str("workspace_id", c.id),
	}
	return &plan{
		event: event{Document: &d},
		this:  this,
		effects: []ubl.Fields{{
			ubl.Str("content_hash", d.Hash), ubl.Str("document_id", d.ID), ubl.Str("op", "document.put"),
			ubl.Int("version", d.Version), ubl.Str("workspace_id", c.id),
		}},
	}
}

// keep is the record of the text that a version brings.
func (c *Container) keep(d document, content string) actors.Record {
	return actors.Record{
		Key:   textKey(c.id, string(d.ID), d.Text),
		Value: encode(text{Form: recordVersion, Content: content}), Content: true,
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

func (c *Container) decideUpdate(cmd ubl.UpdateDocument) func(ubl.Time) (*plan, error) {
	return func(now ubl.Time) (*plan, error) {
		if err := c.state.mayHold(cmd.Who, ubl.OpWrite); err != nil {
			return nil, err
		}
		if err := c.env.Usage.MayAdd(cmd.Who); err != nil {
			return nil, err
		}
		d, err := c.state.current(cmd.DocumentID)
		if err != nil {
			return nil, err
		}
		if cmd.IfVersion != 0 && cmd.IfVersion != d.Version {
			return nil, ubl.Errorf(ubl.CodeConflict, "the document has another version by now")
		}
		return c.next(d, cmd, now)
	}
}

// next is the version after d. One that changes the title alone goes on naming the
// record of the text that an earlier one brought.
func (c *Container) next(d document, cmd ubl.UpdateDocument, now ubl.Time) (*plan, error) {
	title, content := d.Title, ""
	if cmd.Title == nil && cmd.Content == nil {
		return nil, ubl.Errorf(ubl.CodeValidation, "neither the title nor the content is to change")
	}
	if cmd.Title != nil {
		title = *cmd.Title
	}
	if cmd.Content != nil {
		content = *cmd.Content
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
	d.Title, d.UpdatedAt, d.UpdatedBy = title, now, cmd.Who.UserID
	if cmd.Content == nil {
		return c.putting(d), nil
	}
	d.Hash, d.Bytes, d.Text = ubl.TextHash("content", content), int64(len(content)), d.Version
	p := c.putting(d)
	p.records = append(p.records, c.keep(d, content))
	return p, nil
}

// updateContent tells one update from another under the same key.
func updateContent(cmd ubl.UpdateDocument) []string {
	content := []string{string(cmd.DocumentID), fmt.Sprint(cmd.IfVersion)}
	for _, s := range []*string{cmd.Title, cmd.Content} {
		if s == nil {
			content = append(content, "unset")
		} else {
			content = append(content, "set", *s)
		}
	}
	return content
}

func (c *Container) decideDelete(cmd ubl.DeleteDocument) func(ubl.Time) (*plan, error) {
	return func(ubl.Time) (*plan, error) {
		if err := c.state.mayHold(cmd.Who, ubl.OpDelete); err != nil {
			return nil, err
		}
		d, err := c.state.current(cmd.DocumentID)
		if err != nil {
			return nil, err
		}
		d.Deleted = true
		this := ubl.Fields{ubl.Str("document_id", d.ID), ubl.Int("version", d.Version), ubl.Str("workspace_id", c.id)}
		return &plan{
			event:   event{Document: &d},
			this:    this,
			effects: []ubl.Fields{append(ubl.Fields{ubl.Str("op", "document.delete")}, this...)},
		}, nil
	}
}

// documentOutcome is the version that an act made, or the last one of what it
// deleted, which comes without its content.
func (c *Container) documentOutcome(ctx context.Context, e event) (any, error) {
	d, err := c.readDocument(ctx, e.Document.ID, e.Document.Version)
	if err == nil && d == nil {
		err = ubl.Errorf(ubl.CodeInternal, "a version is missing")
	}
	if err != nil {
		return nil, err
	}
	if e.Document.Deleted {
		d.Deleted, d.Content = true, ""
	}
	return &ubl.DocumentResult{Document: d, Receipt: e.Receipt}, nil
}
