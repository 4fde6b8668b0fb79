package room

import (
	"cmp"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"maps"
	"slices"

	"ubl"
	"ubl/actors"
	"ubl/actors/reading"
)

// posted is a PostEntry with what was found of the entry that it is about.
type posted struct {
	ubl.PostEntry
	answers
	target *target
}

// target is the entry that another one is about, as it is stored.
type target struct {
	brief
	stored stored
	// edits are what else goes when it is redacted, by number.
	edits map[int64]stored
	// edited is how many edits it had, when another is made.
	edited int
	// files are those that it carries still, when it is edited or redacted.
	files *filesRecord
	// poll is what is stored of a poll, when something is done about it.
	poll *ballots
	// form is the same of a form.
	form *answered
}

// post has an entry decided. What is about another entry waits until all before it is
// durable, and reads the other one from the store: a redaction must find each edit, and an
// edit each redaction. Those are rare; the room's messages wait for them.
func (r *Room) post(t *actors.Turn, c ubl.PostEntry) {
	if _, err := r.State.member(c.Who); err != nil && !(c.Type == ubl.EntryPollEnd && c.Who.IsPlatform()) {
		t.Fail(err)
		return
	}
	p := &posted{PostEntry: c, answers: r.answered(t, c.ReplyTo, c.Thread)}
	if p.err == nil {
		p.err = r.holds(c.Who, sumOf(c.Attachments))
	}
	if c.Target != "" && !r.Knows(t, p) {
		err := t.Settled()
		if err == nil {
			p.target, err = r.find(t.Context(), c.Target, c.Type)
		}
		if err != nil {
			t.Fail(err)
			return
		}
	}
	r.ChangeThen(t, p, asEntry)
}

// asEntry answers a message that was posted as an entry in that form.
func asEntry(_ context.Context, answer any) (any, error) {
	sent, ok := answer.(*ubl.Sent)
	if !ok {
		return answer, nil
	}
	var m ubl.Message
	if err := json.Unmarshal(sent.Message, &m); err != nil {
		return nil, err
	}
	return &ubl.Posted{Entry: m.Entry(sent.Salt).Encode(), RoomSeq: sent.RoomSeq}, nil
}

// find reads an entry by its id, and what one of some type needs to know of it. The number
// inside the id says where it is.
func (r *Room) find(ctx context.Context, id ubl.MessageID, by ubl.EntryType) (*target, error) {
	unknown := ubl.Errorf(ubl.CodeNotFound, "there is no such entry in this room")
	seq, ok := id.Seq()
	if !ok || seq < r.State.head().AvailableFrom || seq > r.State.Head.LastSeq {
		return nil, unknown
	}
	var found target
	err := r.Read.View(ctx, r.group, func(snap ubl.Snapshot) error {
		v, err := keptAt(snap, r.id, seq)
		if err != nil || v == nil {
			return err
		}
		found = target{stored: slices.Clone(v)}
		if found.brief, err = found.stored.brief(); err != nil {
			return err
		}
		if by == ubl.EntryEdit || by == ubl.EntryRedaction {
			if found.files, err = readFiles(snap, r.id, seq); err != nil {
				return err
			}
		}
		if by != ubl.EntryReaction && by != ubl.EntryPin {
			if err := r.asked(snap, &found); err != nil {
				return err
			}
		}
		switch by {
		case ubl.EntryEdit:
			return snap.Ascend(aboutKey(r.id, seq, 0), aboutKey(r.id, seq, -1), func(_, v []byte) bool {
				if isEdit(v) {
					found.edited++
				}
				return true
			})
		case ubl.EntryRedaction:
			found.edits, err = r.editsOf(snap, seq)
		}
		return err
	})
	switch {
	case err != nil:
		return nil, err
	case found.id() != id:
		return nil, unknown
	}
	return &found, nil
}

// asked reads the votes for a poll, and who has answered a form.
func (r *Room) asked(snap ubl.Snapshot, of *target) (err error) {
	body := of.message()
	if poll := body.Poll(); poll != nil {
		of.poll, err = r.ballotsOf(snap, of.Seq, poll)
	}
	if form := body.Form(); form != nil {
		of.form, err = r.answeredOf(snap, of.Seq, form)
	}
	return err
}

// editsOf reads the edits of a message that still have their text.
func (r *Room) editsOf(snap ubl.Snapshot, seq int64) (map[int64]stored, error) {
	edits := make(map[int64]stored)
	var bad error
	err := snap.Ascend(aboutKey(r.id, seq, 0), aboutKey(r.id, seq, -1), func(k, about []byte) bool {
		if !isEdit(about) {
			return true
		}
		n := reading.NumberOf(k)
		v, err := keptAt(snap, r.id, n)
		if err == nil && v != nil && !v.redacted() {
			edits[n] = slices.Clone(v)
		}
		bad = err
		return err == nil
	})
	return edits, errors.Join(err, bad)
}

// entryRule is what one type of entry asks of its author, its target and its body.
type entryRule struct {
	did ubl.Did
	// about are the types that it may be about; empty for an entry about no other.
	about []ubl.EntryType
	// mine says that only the author of the target may; keepers, that who may change the room
	// may, too.
	mine, keepers bool
	// body checks a body and gives its one form; max is the room's limit on messages. Beside
	// files a message may say nothing.
	body func(c ubl.TypedBody, files, max int) (ubl.TypedBody, error)
}

// entryRules are the types that people and programs post. The others come from the acts that
// cause them.
var entryRules = map[ubl.EntryType]entryRule{
	ubl.EntryMessage:  {did: ubl.DidSend, body: opened},
	ubl.EntryEdit:     {did: ubl.DidEdit, about: []ubl.EntryType{ubl.EntryMessage}, mine: true, body: said},
	ubl.EntryReaction: {did: ubl.DidReact, about: []ubl.EntryType{ubl.EntryMessage}, body: reaction},
	ubl.EntryRedaction: {
		did: ubl.DidRedact, about: []ubl.EntryType{ubl.EntryMessage, ubl.EntryEdit, ubl.EntryReaction},
		mine: true, keepers: true, body: reason,
	},
	ubl.EntryPin:     {did: ubl.DidPin, about: []ubl.EntryType{ubl.EntryMessage}, body: pin},
	ubl.EntryVote:    {did: ubl.DidPollVote, about: []ubl.EntryType{ubl.EntryMessage}, body: vote},
	ubl.EntryPollEnd: {did: ubl.DidPollEnd, about: []ubl.EntryType{ubl.EntryMessage}, mine: true, keepers: true, body: ending},
	ubl.EntryAnswer:  {did: ubl.DidFormAnswer, about: []ubl.EntryType{ubl.EntryMessage}, body: answer},
}

// said is what a message or its edit says. Text has the rules of any message; what only
// clients read is bytes here.
func said(c ubl.TypedBody, files, max int) (ubl.TypedBody, error) {
	if c.Type != ubl.ContentText {
		if ubl.OwnContent(c.Type) {
			return c, ubl.Errorf(ubl.CodeValidation, "a message can't have this content_type")
		}
		return c.Check(max)
	}
	var b ubl.Body
	if err := c.Read(ubl.ContentText, &b); err != nil {
		return c, err
	}
	b.Mentions = ubl.Distinct(b.Mentions)
	return b.Content(), b.CheckBeside(files, max)
}

func reaction(c ubl.TypedBody, _, _ int) (ubl.TypedBody, error) {
	var b ubl.ReactionBody
	if err := c.Read(ubl.ContentReaction, &b); err != nil {
		return c, err
	}
	return ubl.ReactionContent(b.Key), ubl.CheckReaction(b.Key)
}

func reason(c ubl.TypedBody, _, max int) (ubl.TypedBody, error) {
	var b ubl.RedactionBody
	if err := c.Read(ubl.ContentRedaction, &b); err != nil {
		return c, err
	}
	if b.Reason != "" {
		if err := ubl.CheckText(b.Reason, max); err != nil {
			return c, err
		}
	}
	return ubl.RedactionContent(b.Reason), nil
}

func pin(c ubl.TypedBody, _, _ int) (ubl.TypedBody, error) {
	var b ubl.PinBody
	err := c.Read(ubl.ContentPin, &b)
	return ubl.PinContent(b.Pinned), err
}

// postContent tells one PostEntry from another under the same key.
func postContent(c *posted) []string {
	parts := []string{string(c.Type), string(c.Target), string(c.ReplyTo), c.Body.Type, string(c.Body.Hashed())}
	return c.ImportedFrom.Content(withFiles(appended(parts, c.Thread), c.Attachments, c.Keeps))
}

// postDid names the act.
func postDid(c *posted) ubl.Did {
	if c.isPoll() {
		return ubl.DidPollCreate
	}
	if c.isForm() {
		return ubl.DidFormCreate
	}
	return cmp.Or(entryRules[c.Type].did, ubl.DidSend)
}

// decidePost plans an entry of a member.
func (s *State) decidePost(c *posted, at actors.Moment) (*plan, error) {
	if c.Type != ubl.EntryRedaction && c.Type != ubl.EntryPollEnd { // which are possible after the end too
		if err := s.Agreement.May(ubl.OpWrite); err != nil {
			return nil, err
		}
	}
	rule, ok := entryRules[c.Type]
	if !ok {
		return nil, ubl.Errorf(ubl.CodeValidation, "the type is none of message, edit, reaction, redaction, pin, vote, poll_end and answer")
	}
	beside := len(c.Attachments)
	if c.Keeps != nil {
		beside = len(c.Keeps.Files)
	}
	body, err := rule.body(c.Body, beside, s.Policy.MaxMessageBytes)
	if err == nil {
		c.Attachments, err = ubl.CheckAttachments(c.Attachments)
	}
	if err == nil {
		err = s.Agreement.Terms.Fits(postDid(c), size(body))
	}
	if err == nil {
		err = s.mayPost(c, rule)
	}
	if err == nil {
		err = s.mayPoll(c, body, at)
	}
	if err == nil {
		err = s.mayForm(c, body, at)
	}
	if err == nil && c.Type == ubl.EntryMessage {
		err = s.Policy.MayPost(s.Agreement.Members[c.Who.UserID].Role, c.Thread != "")
	}
	if err == nil {
		err = c.ImportedFrom.MayImport(c.Who, s.Agreement.Members[c.Who.UserID].Role, at.Now)
	}
	if err != nil {
		return nil, err
	}
	if c.Type == ubl.EntryMessage && body.Type == ubl.ContentText {
		said := text{kind: ubl.TypeText, replyTo: c.ReplyTo, thread: c.Thread, people: c.people, importedFrom: c.ImportedFrom, files: c.Attachments}
		if err := body.Read(ubl.ContentText, &said.body); err != nil {
			return nil, err
		}
		return s.posting(c.Who, at, said)
	}
	if c.Type == ubl.EntryPollEnd {
		body = ubl.PollEndContent(c.target.poll.result())
	}
	return s.entering(c, body, at)
}

// size is that of what a body says, in bytes.
func size(c ubl.TypedBody) int {
	if text, ok := c.Text(); ok {
		return len(text)
	}
	return len(c.Hashed())
}

// maxEdits bounds the edits of one message: a redaction names them all, and reads them.
const maxEdits = 100

// mayPost sees what the entry is about, and who its author is.
func (s *State) mayPost(c *posted, rule entryRule) error {
	switch {
	case c.ReplyTo != "" && c.Type != ubl.EntryMessage:
		return ubl.Errorf(ubl.CodeValidation, "only a message replies to another one")
	case c.Thread != "" && c.Type != ubl.EntryMessage:
		return ubl.Errorf(ubl.CodeValidation, "only a message is in a thread")
	case len(c.Attachments) > 0 && c.Type != ubl.EntryMessage:
		return ubl.Errorf(ubl.CodeValidation, "only a message carries files")
	case c.Keeps != nil && c.Type != ubl.EntryEdit:
		return ubl.Errorf(ubl.CodeValidation, "only an edit says which files a message keeps")
	case c.err != nil:
		return c.err
	case len(rule.about) == 0 && c.Target != "":
		return ubl.Errorf(ubl.CodeValidation, "a message has no target")
	case len(rule.about) == 0:
		return nil
	case c.target == nil:
		return ubl.Errorf(ubl.CodeValidation, "target is not the id of an entry")
	case !slices.Contains(rule.about, c.target.kind()):
		return ubl.Errorf(ubl.CodeConflict, "an entry of this type can't be about the target, which is of another type")
	case c.target.stored.redacted():
		return ubl.Errorf(ubl.CodeConflict, "the target was redacted")
	case c.Type == ubl.EntryEdit && c.target.Forwarded != nil:
		return ubl.Errorf(ubl.CodeConflict, "a forwarded message can't be edited: its words are another's")
	case c.target.edited >= maxEdits:
		return ubl.Errorf(ubl.CodeConflict, "a message can be edited %d times", maxEdits)
	case !rule.mine || c.target.author() == c.Who.UserID || c.Type == ubl.EntryPollEnd && c.Who.IsPlatform():
		return nil
	case rule.keepers:
		if s.Agreement.Members[c.Who.UserID].Role == ubl.RoleModerator {
			return nil
		}
		return s.shows(ubl.DidRoomUpdate, c.Who)
	}
	return ubl.Errorf(ubl.CodeForbidden, "only the author of a message may edit it")
}

// entering plans an entry that message.v1 can't say.
func (s *State) entering(c *posted, body ubl.TypedBody, at actors.Moment) (*plan, error) {
	next, err := s.next(at, body.Hashed())
	if err != nil {
		return nil, err
	}
	files := next.carry(c.Attachments)
	e := s.entryIn(next, c.Type, body, c.Who, at)
	e.ImportedFrom, e.Attachments = c.ImportedFrom, files
	p := &plan{Act: s.puts(next), Answer: next.answer}
	s.files(p, next, files, c.Who, at)
	p.This = c.ImportedFrom.In(p.This, next.salt)
	if ubl.OwnContent(body.Type) { // others are words of the author's, which a redaction takes away
		p.This = append(p.This, ubl.Str("content_type", body.Type))
	}
	if c.ReplyTo != "" {
		e.ReplyTo = &c.ReplyTo
	}
	if c.Thread != "" {
		e.Thread = &c.Thread
		p.This = append(p.This, ubl.Str("thread", c.Thread))
	}
	if c.Target != "" {
		e.Target = &c.Target
		p.This = append(p.This, ubl.Str("target", c.Target))
	}
	switch c.Type {
	case ubl.EntryEdit, ubl.EntryReaction, ubl.EntryPin:
		about, err := aboutOf(e.Entry)
		if err != nil {
			return nil, err
		}
		p.Records = append(p.Records, actors.Record{Key: aboutKey(e.RoomID, c.target.Seq, e.RoomSeq), Value: about})
		if e.Type == ubl.EntryEdit && c.Keeps != nil {
			if e.Attachments, e.freed, err = s.keeping(p, c, next); err != nil {
				return nil, err
			}
		}
	case ubl.EntryRedaction:
		if e.redacts, err = s.redacting(p, c, at); err != nil {
			return nil, err
		}
		e.freed = s.dropping(p, c.target.Seq, c.target.files, nil)
		e.marks = s.unsaid(p, c.target)
	}
	s.polling(p, c, e)
	s.forming(p, c, e)
	if c.Type != ubl.EntryMessage {
		p.Records = append(p.Records, s.counting())
	}
	e.post.thread = c.Thread
	e.marks = append(e.marks, s.news(p, e.post, c.asks(), c.people)...)
	p.Item = e
	return s.oldestOf(p, at), nil
}

// entryIn is the item of an entry in its place.
func (s *State) entryIn(n place, kind ubl.EntryType, body ubl.TypedBody, by ubl.Identity, at actors.Moment) entry {
	n.of(by.UserID, kind == ubl.EntryMessage, "")
	return entry{n.post, nil, nil, 0, &ubl.Entry{
		AuthorID: by.UserID, Body: &body, ID: n.id, Kind: ubl.EntryKind, RoomID: s.Summary.RoomID, RoomSeq: n.seq, Salt: n.salt,
		SentAt: at.Now, TenantID: s.Agreement.TenantID, Type: kind,
	}}
}

// counting is the record of how many entries aren't messages, with another that comes now.
func (s *State) counting() actors.Record {
	others := s.Head.LastSeq - s.Head.Messages + 1
	return actors.Record{Key: othersKey(s.Summary.RoomID), Value: binary.BigEndian.AppendUint64(nil, uint64(others))}
}

func othersKey(r ubl.RoomID) []byte { return append([]byte{'z'}, r...) }

// redacting takes the content of an entry and of its edits away, with the salts: what the
// ledger says of them then leads nowhere.
func (s *State) redacting(p *plan, c *posted, at actors.Moment) (map[int64]stored, error) {
	by := ubl.Redacted{At: at.Now, By: c.Who.UserID, RoomSeq: s.Head.LastSeq + 1}
	gone := map[int64]stored{c.target.Seq: c.target.stored}
	maps.Copy(gone, c.target.edits)
	left := make(map[int64]stored, len(gone))
	for _, seq := range slices.Sorted(maps.Keys(gone)) {
		e, err := gone[seq].entry()
		if err != nil {
			return nil, ubl.Damaged("entry %d of %s can't be read", seq, s.Summary.RoomID)
		}
		e.Attachments, e.Body, e.Forwarded, e.Salt, e.Redacted = nil, nil, nil, ubl.Salt{}, &by
		e.ImportedFrom = e.ImportedFrom.Redacted()
		left[seq] = storeEntry(formRedacted, e)
		p.Records = append(p.Records, actors.Record{Key: messageKey(s.Summary.RoomID, seq), Value: left[seq], Frees: len(gone[seq])})
		p.Effects = append(p.Effects, ubl.Fields{ubl.Str("op", "room.redact"), ubl.Str("room_id", s.Summary.RoomID), ubl.Int("room_seq", seq)})
	}
	if target, ok := c.target.Target.Seq(); ok && c.target.kind() == ubl.EntryReaction {
		p.Records = append(p.Records, actors.Record{Key: aboutKey(s.Summary.RoomID, target, c.target.Seq)})
	}
	p.Frees = true
	return left, nil
}

// entry is the item of an entry that message.v1 can't say.
type entry struct {
	post    *post
	redacts map[int64]stored // what it leaves of others, by number
	marks   []marked
	freed   int64 // how many bytes of files it takes away
	*ubl.Entry
}

// Number implements [actors.Item].
func (e entry) Number() int64 { return e.RoomSeq }

// Seal implements [actors.Item].
func (e entry) Seal(receipt ubl.Receipt) []byte {
	e.Receipt = receipt
	e.post.stored = storeEntry(formEntry, e.Entry)
	return e.post.stored
}

// Told implements [actors.Item].
func (e entry) Told() ubl.Event {
	return ubl.Event{Kind: ubl.EventEntryCreated, RoomID: e.RoomID, RoomSeq: e.RoomSeq, UserID: e.AuthorID, Payload: e.post.stored.json(), Redacts: e.redacts != nil}
}
