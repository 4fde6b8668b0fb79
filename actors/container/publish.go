package container

import (
	"bytes"
	"fmt"

	"ubl"
	"ubl/actors"
)

// Publishing: documents as a source outside has them, many in one act. A document is found by
// its key, and gets a version only where it says something else by now; so to publish the same
// again changes nothing, and what was left half done is done by publishing all of it once more.

func (s *State) decidePublish(cmd ubl.PublishDocuments, at actors.Moment) (*plan, error) {
	if err := s.mayPublish(cmd); err != nil {
		return nil, err
	}
	if n := s.publishedOf(cmd.Remove); 2*n > len(s.Keyed) && !cmd.RemoveMost {
		return nil, ubl.Errorf(ubl.CodeValidation, "this removes %d of %d published documents: say remove_most where that is meant", n, len(s.Keyed))
	}
	p := publishing{State: s, commit: cmd.Commit, who: cmd.Who.UserID, at: at, seen: map[ubl.DocumentKey]bool{}}
	p.Event.Documents = make([]document, 0, len(cmd.Put)+len(cmd.Remove))
	for _, d := range cmd.Put {
		if err := p.put(d); err != nil {
			return nil, named(d.DocumentKey, err)
		}
	}
	for _, key := range cmd.Remove {
		if err := p.remove(key); err != nil {
			return nil, named(key, err)
		}
	}
	this := ubl.Fields{
		ubl.Int("documents", int64(len(cmd.Put))), ubl.Int("removed", int64(len(cmd.Remove))), ubl.Str("workspace_id", s.Summary.ContainerID),
	}
	if cmd.Commit != "" {
		this = append(this, ubl.Str("commit", cmd.Commit))
	}
	p.Act.This = this
	if len(p.Act.Effects) == 0 {
		p.Act.Effects = []ubl.Fields{{ubl.Str("op", "document.unchanged"), ubl.Str("workspace_id", s.Summary.ContainerID)}}
	}
	made := p.Event
	p.Answer = func(receipt ubl.Receipt) any { return published(made, receipt) }
	return &p.plan, nil
}

func (s *State) mayPublish(cmd ubl.PublishDocuments) error {
	if err := s.mayHold(cmd.Who, ubl.DidDocumentPublish, ubl.OpWrite); err != nil {
		return err
	}
	if len(cmd.Remove) > 0 {
		if err := s.mayHold(cmd.Who, ubl.DidDocumentDelete, ubl.OpDelete); err != nil {
			return err
		}
	}
	if err := ubl.CheckCommit(cmd.Commit); err != nil {
		return err
	}
	n := len(cmd.Put) + len(cmd.Remove)
	size := 0
	for _, d := range cmd.Put {
		size += len(d.Content)
	}
	switch {
	case n == 0:
		return ubl.Errorf(ubl.CodeValidation, "there is nothing to publish, and nothing to remove")
	case n > ubl.MaxPublished:
		return ubl.Errorf(ubl.CodeTooLarge, "more than %d documents are published at once", ubl.MaxPublished)
	case size > ubl.MaxPublishedBytes:
		return ubl.Errorf(ubl.CodeTooLarge, "the texts published at once are longer than %d bytes", ubl.MaxPublishedBytes)
	}
	return nil
}

// publishedOf is how many of the keys are those of published documents.
func (s *State) publishedOf(keys []ubl.DocumentKey) (n int) {
	for _, key := range keys {
		if _, ok := s.Keyed[key]; ok {
			n++
		}
	}
	return n
}

// named says which of many documents was refused.
func named(key ubl.DocumentKey, err error) error {
	return ubl.Errorf(ubl.CodeOf(err), "%.80q of type %.80q: %s", key.ID, key.Type, ubl.AsError(err).Message)
}

// publishing is a plan in the making. It reads the state alone.
type publishing struct {
	*State
	plan
	commit string
	who    ubl.UserID
	at     actors.Moment
	seen   map[ubl.DocumentKey]bool
}

// once refuses a key that was named before: which of the two is meant, nobody knows.
func (p *publishing) once(key ubl.DocumentKey) error {
	if p.seen[key] {
		return ubl.Errorf(ubl.CodeValidation, "the document is named twice")
	}
	p.seen[key] = true
	return nil
}

func (p *publishing) put(from ubl.DocumentToPublish) error {
	as := &ubl.PublishedAs{DocumentKey: from.DocumentKey, Path: from.Path, Metadata: from.Metadata, Commit: p.commit}
	if err := as.Check(); err != nil {
		return err
	}
	if err := p.once(as.DocumentKey); err != nil {
		return err
	}
	if err := p.fits(ubl.DidDocumentPublish, from.Content); err != nil {
		return err
	}
	title, err := checkNew(from.Title, from.Content)
	if err != nil {
		return err
	}
	old, known := p.Documents[p.Keyed[as.DocumentKey]]
	if known && old.says(title, from.Content, as) {
		p.Event.Unchanged++
		return nil
	}
	salt, err := ubl.NewSalt(p.at.Random)
	if err != nil {
		return err
	}
	id := old.ID
	if !known {
		// The number of the event is followed by that of the document, so that their ids rise.
		if id, err = ubl.NewDocumentID(p.at.Now, p.Events+1+int64(len(p.Event.Documents)), p.at.Random); err != nil {
			return err
		}
	}
	d := newDocument(id, title, from.Content, salt, p.at.Now, p.who)
	d.First, d.Published = p.Events+1, as
	if known {
		d.First, d.CreatedAt, d.CreatedBy, d.Version, d.Text = old.First, old.CreatedAt, old.CreatedBy, old.Version+1, old.Version+1
	}
	hash, err := as.Hash(salt)
	if err != nil {
		return err
	}
	p.Act.Effects = append(p.Act.Effects, append(p.about(d),
		ubl.Str("content_hash", d.Hash), ubl.Str("op", "document.put"), ubl.Str("published_hash", hash), ubl.Str("title_hash", salt.CommitText("title", title))))
	p.Event.Documents = append(p.Event.Documents, d)
	p.Records = append(p.Records, p.keep(d, from.Content))
	return nil
}

// says reports whether a document says all this already. A commit that left it as it was is
// no change of it.
func (d document) says(title, content string, as *ubl.PublishedAs) bool {
	return d.Title == title && d.Hash == d.Salt.CommitText("content", content) &&
		d.Published.Path == as.Path && bytes.Equal(d.Published.Metadata, as.Metadata)
}

func (p *publishing) remove(key ubl.DocumentKey) error {
	if err := key.Check(); err != nil {
		return err
	}
	if err := p.once(key); err != nil {
		return err
	}
	d, known := p.Documents[p.Keyed[key]]
	if !known {
		p.Event.Unchanged++
		return nil
	}
	gone, files, effects, err := p.deleting(d)
	if err != nil {
		return err
	}
	p.Event.Documents = append(p.Event.Documents, gone)
	p.Event.deletes(files)
	p.Act.Effects = append(p.Act.Effects, effects...)
	p.Alarms = []actors.Alarm{redactSoon}
	return nil
}

// published is what publishing is answered, now and at a retry.
func published(e event, receipt ubl.Receipt) *ubl.DocumentsPublished {
	out := &ubl.DocumentsPublished{Changed: []ubl.PublishedVersion{}, Unchanged: e.Unchanged, Receipt: receipt}
	for _, d := range e.Documents {
		out.Changed = append(out.Changed, ubl.PublishedVersion{DocumentID: d.ID, Version: d.Version, Removed: d.Deleted})
	}
	return out
}

// publishContent tells one publishing from another under the same key.
func publishContent(c ubl.PublishDocuments) []string {
	content := []string{c.Commit, fmt.Sprint(len(c.Put))}
	for _, d := range c.Put {
		content = append(content, d.Type, d.ID, d.Path, string(d.Metadata), d.Title, d.Content)
	}
	for _, key := range c.Remove {
		content = append(content, key.Type, key.ID)
	}
	if c.RemoveMost { // else as before there was such a thing
		content = append(content, "remove_most")
	}
	return content
}
