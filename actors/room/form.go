package room

import (
	"bytes"
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

// A form is a message with a body of its own. An answer is an entry that says nothing: its content,
// with the salt of the ledger's commitment, is kept under P, where a newer answer of the same person
// or a redaction of the form takes it away, and where only those read it who may. O leads from the
// form to who has answered, so that a page of the timeline needn't read the answers.

// answererKey is the key O room 0 form user: which answer of a user's stands.
func answererKey(r ubl.RoomID, form int64, user ubl.UserID) []byte {
	return append(reading.Numbered('O', r, form), user...)
}

// answererEnd is behind all such keys of one form.
func answererEnd(r ubl.RoomID, form int64) []byte {
	return append(reading.Numbered('O', r, form), 0xff)
}

// answerKey is the key P room 0 form n: what entry n answers. n < 0 is the end of those of one form.
func answerKey(r ubl.RoomID, form, n int64) []byte {
	b := reading.Numbered('P', r, form)
	if n < 0 {
		return append(b, 0xff)
	}
	return binary.BigEndian.AppendUint64(b, uint64(n))
}

// formAnswer begins records under O and P. Behind it, one under O has the number of the entry and
// how long its content is, and one under P the salt and the content.
const formAnswer = 1

// standing is somebody's newest answer, and how long its record is.
type standing struct {
	seq  int64
	size int
}

func (a standing) record() []byte {
	v := binary.BigEndian.AppendUint64([]byte{formAnswer}, uint64(a.seq))
	return binary.BigEndian.AppendUint32(v, uint32(a.size))
}

func readStanding(v []byte) (standing, error) {
	if len(v) != 13 || v[0] != formAnswer {
		return standing{}, errAnswer()
	}
	return standing{int64(binary.BigEndian.Uint64(v[1:])), int(binary.BigEndian.Uint32(v[9:]))}, nil
}

func errAnswer() error {
	return ubl.Damaged("an answer is stored in a form that this program doesn't know")
}

// answered is what is stored of a form besides its entry.
type answered struct {
	body    *ubl.FormBody
	answers map[ubl.UserID]standing
}

// answeredOf reads who has answered one form.
func (r *Room) answeredOf(snap ubl.Snapshot, form int64, body *ubl.FormBody) (*answered, error) {
	all := &answered{body, make(map[ubl.UserID]standing)}
	from := answererKey(r.id, form, "")
	var bad error
	err := snap.Ascend(from, answererEnd(r.id, form), func(k, v []byte) bool {
		all.answers[ubl.UserID(k[len(from):])], bad = readStanding(v)
		return bad == nil
	})
	return all, errors.Join(err, bad)
}

// formed reads what became of the forms from first to last, as somebody sees it.
func (r *Room) formed(snap ubl.Snapshot, who ubl.UserID, first, last int64, of func(form int64) *ubl.Became) error {
	width := len(answererKey(r.id, 0, ""))
	found := make(map[int64]map[ubl.UserID]standing)
	var bad error
	err := snap.Ascend(answererKey(r.id, first, ""), answererEnd(r.id, last), func(k, v []byte) bool {
		seq := reading.NumberOf(k[:width])
		if found[seq] == nil {
			found[seq] = make(map[ubl.UserID]standing)
		}
		found[seq][ubl.UserID(k[width:])], bad = readStanding(v)
		return bad == nil
	})
	if err = errors.Join(err, bad); err != nil {
		return err
	}
	for seq, answers := range found {
		state := &ubl.FormState{Answered: int64(len(answers)), By: inOrder(answers)}
		if mine, ok := answers[who]; ok {
			if state.Mine, err = r.answerAt(snap, seq, mine.seq); err != nil {
				return err
			}
		}
		of(seq).Form = state
	}
	return nil
}

// inOrder are the first who have answered, by their newest answers.
func inOrder(answers map[ubl.UserID]standing) []ubl.UserID {
	list := slices.SortedFunc(maps.Keys(answers), func(a, b ubl.UserID) int { return cmp.Compare(answers[a].seq, answers[b].seq) })
	return list[:min(len(list), ubl.MaxReactors)]
}

// answerAt reads one answer; nil for one that was taken away.
func (r *Room) answerAt(snap ubl.Snapshot, form, seq int64) (*ubl.FormAnswer, error) {
	v, err := snap.Get(answerKey(r.id, form, seq))
	if err != nil || v == nil {
		return nil, err
	}
	return r.answerIn(snap, seq, v)
}

// answerIn reads a record under P, with the entry that it is of.
func (r *Room) answerIn(snap ubl.Snapshot, seq int64, v []byte) (*ubl.FormAnswer, error) {
	var body ubl.AnswerBody
	if len(v) <= 1+saltSize || v[0] != formAnswer || json.Unmarshal(v[1+saltSize:], &body) != nil {
		return nil, errAnswer()
	}
	a := &ubl.FormAnswer{RoomSeq: seq}
	copy(a.Salt[:], v[1:])
	var err error
	if a.Values, err = json.Marshal(body.Values); err != nil {
		return nil, errAnswer()
	}
	e, _, err := r.entryAt(snap, seq)
	if err != nil || e == nil {
		return nil, err
	}
	a.AuthorID, a.EntryID, a.Receipt, a.SentAt = e.AuthorID, e.ID, e.Receipt, e.SentAt
	return a, nil
}

// maxAnswerPage is the most answers of one page.
const maxAnswerPage = 200

// answers answers a page of a form's answers.
func (r *Room) answers(t *actors.Turn, c ubl.ReadAnswers) {
	err := r.State.shows("messenger.history", c.Who)
	head := r.State.head()
	t.Read(err, func(ctx context.Context) (any, error) { return r.answerPage(ctx, c, head) })
}

func (r *Room) answerPage(ctx context.Context, c ubl.ReadAnswers, head ubl.Head) (page *ubl.AnswerPage, err error) {
	unknown := ubl.Errorf(ubl.CodeNotFound, "there is no such form in this room")
	seq, ok := c.Form.Seq()
	if !ok || seq < head.AvailableFrom || seq > head.LastSeq {
		return nil, unknown
	}
	err = r.Read.View(ctx, r.group, func(snap ubl.Snapshot) error {
		e, _, err := r.entryAt(snap, seq)
		if err != nil || e == nil || e.ID != c.Form || e.Body.Form() == nil {
			return cmp.Or(err, error(unknown))
		}
		became, err := r.becameOf(snap, c.Who.UserID, []int64{seq})
		if err != nil {
			return err
		}
		now := ubl.Became{}
		if b := became[seq]; b != nil {
			now = *b
		}
		page = &ubl.AnswerPage{Form: e.With(now).Encode()}
		if e.Body.Form().Private && e.AuthorID != c.Who.UserID {
			if now.Form != nil && now.Form.Mine != nil && now.Form.Mine.RoomSeq > c.After {
				page.Answers = []ubl.FormAnswer{*now.Form.Mine}
			}
			return nil
		}
		return r.answersAfter(snap, seq, c, page)
	})
	return page, err
}

// answersAfter reads the answers of a page.
func (r *Room) answersAfter(snap ubl.Snapshot, form int64, c ubl.ReadAnswers, page *ubl.AnswerPage) error {
	limit := min(max(c.Limit, 1), maxAnswerPage)
	var bad error
	err := snap.Ascend(answerKey(r.id, form, c.After+1), answerKey(r.id, form, -1), func(k, v []byte) bool {
		if len(page.Answers) == limit {
			page.NextCursor = &page.Answers[limit-1].RoomSeq
			return false
		}
		var a *ubl.FormAnswer
		if a, bad = r.answerIn(snap, reading.NumberOf(k), bytes.Clone(v)); a != nil {
			page.Answers = append(page.Answers, *a)
		}
		return bad == nil
	})
	return errors.Join(err, bad)
}

// openedForm is what a form says.
func openedForm(c ubl.TypedBody, files, max int) (ubl.TypedBody, error) {
	var b ubl.FormBody
	if err := c.Read(ubl.ContentForm, &b); err != nil {
		return c, err
	}
	body := ubl.FormContent(b)
	if err := alone("form", body, files, max); err != nil {
		return c, err
	}
	return body, checkForm(&b)
}

// answer is what somebody answers; whether the form takes it is seen when the form is known.
func answer(c ubl.TypedBody, _, max int) (ubl.TypedBody, error) {
	var b ubl.AnswerBody
	if err := c.Read(ubl.ContentAnswer, &b); err != nil {
		return c, err
	}
	if b.Values == nil {
		return c, ubl.Errorf(ubl.CodeValidation, "values are missing")
	}
	values, err := json.Marshal(b.Values)
	if err != nil {
		return c, ubl.Errorf(ubl.CodeValidation, "values can't be read")
	}
	return ubl.AnswerContent(values).Check(max) // as it is served: what was sent may name values otherwise
}

// isForm tells the sending of a form from that of other messages.
func (c *posted) isForm() bool { return c.Type == ubl.EntryMessage && c.Body.Type == ubl.ContentForm }

// asks are whom a form asks by name: it is news for them as if it mentioned them.
func (c *posted) asks() []ubl.Mention {
	if form := c.Body.Form(); c.isForm() && form != nil && c.ImportedFrom == nil {
		return form.Mentions()
	}
	return nil
}

// mayForm sees what a form, or an entry about one, has to be.
func (s *State) mayForm(c *posted, body ubl.TypedBody, at actors.Moment) error {
	switch {
	case c.isForm():
		return s.mayAsk(c, body.Form(), at)
	case c.Type == ubl.EntryEdit && c.target.form != nil:
		return ubl.Errorf(ubl.CodeConflict, "a form can't be edited: people answer what it says")
	case c.Type != ubl.EntryAnswer:
		return nil
	case c.ImportedFrom != nil:
		return ubl.Errorf(ubl.CodeValidation, "answers aren't imported: they are acts of those who answer")
	case c.target.form == nil:
		return ubl.Errorf(ubl.CodeConflict, "the target is not a form")
	case c.target.Imported != nil:
		return ubl.Errorf(ubl.CodeConflict, "the form was imported: it is answered where it came from")
	}
	return c.target.form.mayAnswer(c.Who.UserID, body, at)
}

// mayAsk sees when a form ends, and whom it asks.
func (s *State) mayAsk(c *posted, form *ubl.FormBody, at actors.Moment) error {
	if c.ImportedFrom != nil {
		return nil
	}
	if err := endsWithin(ubl.MaxFormDays, form.EndsAt, at); err != nil {
		return err
	}
	for _, user := range form.Answerers {
		if _, ok := s.Agreement.Members[user]; !ok {
			return ubl.Errorf(ubl.CodeValidation, "answerers name %s, who is not in the room", user)
		}
	}
	return nil
}

// mayAnswer sees who answers, when, and what.
func (a *answered) mayAnswer(who ubl.UserID, body ubl.TypedBody, at actors.Moment) error {
	_, again := a.answers[who]
	switch form := a.body; {
	case form.EndsAt != 0 && form.EndsAt <= at.Now:
		return ubl.Errorf(ubl.CodeConflict, "the form took answers until %s", form.EndsAt)
	case len(form.Answerers) > 0 && !slices.Contains(form.Answerers, who):
		return ubl.Errorf(ubl.CodeForbidden, "the form asks others than you")
	case form.Once && again:
		return ubl.Errorf(ubl.CodeConflict, "you have answered, and the form takes one answer of each")
	case !again && len(a.answers) >= ubl.MaxAnswers:
		return ubl.Errorf(ubl.CodeConflict, "a form takes the answers of %d people", ubl.MaxAnswers)
	}
	var b ubl.AnswerBody
	if err := body.Read(ubl.ContentAnswer, &b); err != nil {
		return err
	}
	return checkAnswer(a.body, b)
}

// forming is what an answer, or the redaction of a form, has in its plan besides the entry.
func (s *State) forming(p *plan, c *posted, e entry) {
	room := s.Summary.RoomID
	switch {
	case c.Type == ubl.EntryAnswer:
		kept := append(append([]byte{formAnswer}, e.Salt[:]...), e.Body.JSON...)
		if before, ok := c.target.form.answers[c.Who.UserID]; ok {
			p.Records = append(p.Records, actors.Record{Key: answerKey(room, c.target.Seq, before.seq), Frees: before.size})
		}
		p.Records = append(p.Records,
			actors.Record{Key: answererKey(room, c.target.Seq, c.Who.UserID), Value: standing{e.RoomSeq, len(kept)}.record()},
			actors.Record{Key: answerKey(room, c.target.Seq, e.RoomSeq), Value: kept})
		says := ubl.KeptAnswerContent()
		e.Entry.Body, e.Entry.Salt = &says, ubl.Salt{}
	case c.Type == ubl.EntryRedaction && c.target.form != nil:
		answers := c.target.form.answers
		for _, user := range slices.Sorted(maps.Keys(answers)) {
			p.Records = append(p.Records,
				actors.Record{Key: answererKey(room, c.target.Seq, user)},
				actors.Record{Key: answerKey(room, c.target.Seq, answers[user].seq), Frees: answers[user].size})
		}
	}
}
