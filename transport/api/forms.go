package api

import (
	"context"
	"encoding/json"

	"ubl"
	"ubl/transport/envelope"
)

// FormPath names a form in a path.
type FormPath struct {
	RoomPath
	EntryID ubl.MessageID `path:"formId" pattern:"^m:[A-Za-z0-9._-]{1,256}$" doc:"The form's entry_id, as its message has it." example:"m:0199a1b2"`
}

// formField is a [ubl.FormField] as a request has it.
type formField struct {
	From     string        `json:"from,omitempty" doc:"Of date: the first." example:"2026-01-31"`
	Label    string        `json:"label" minLength:"1" maxLength:"300" doc:"What is shown." example:"Deploy?"`
	Max      *float64      `json:"max,omitempty" minimum:"-1000000000" maximum:"1000000000" doc:"Of a number, of characters, or of options chosen." example:"9"`
	Min      *float64      `json:"min,omitempty" minimum:"-1000000000" maximum:"1000000000" doc:"As max." example:"1"`
	Name     string        `json:"name" pattern:"^[a-z][a-z0-9_]{0,39}$" doc:"Names its value in answers." example:"deploy"`
	Options  []string      `json:"options,omitempty" maxItems:"20" nullable:"false" doc:"Of button, one and several." example:"[\"Approve\",\"Reject\"]"`
	Required bool          `json:"required,omitempty" doc:"It can't be left empty."`
	Type     ubl.FieldType `json:"type" enum:"button,line,text,number,date,yes_no,one,several" doc:"What is filled in, and how." example:"button"`
	Until    string        `json:"until,omitempty" doc:"Of date: the last." example:"2026-12-31"`
}

type createFormInput struct {
	RoomPath
	Body struct {
		Keyed
		Text      string        `json:"text" minLength:"1" maxLength:"2000" doc:"What the message says." example:"May I deploy?"`
		Fields    []formField   `json:"fields" minItems:"1" maxItems:"10" nullable:"false" doc:"What is asked."`
		Answerers []ubl.UserID  `json:"answerers,omitempty" maxItems:"50" nullable:"false" doc:"Who may answer, if not everybody."`
		EndsAt    ubl.Time      `json:"ends_at,omitempty" doc:"Until when; a year ahead at most." example:"2026-01-31T12:00:00.000Z"`
		Once      bool          `json:"once,omitempty" doc:"Answers can't be changed."`
		Private   bool          `json:"private,omitempty" doc:"Only you and who answers read an answer."`
		Thread    ubl.MessageID `json:"thread,omitempty" pattern:"^m:[A-Za-z0-9._-]{1,256}$" doc:"The message that began the thread to ask in." example:"m:0199a1b2"`
	}
}

func (a *API) createForm(ctx context.Context, in *createFormInput) (any, error) {
	b := in.Body
	form := ubl.FormBody{Answerers: b.Answerers, EndsAt: b.EndsAt, Once: b.Once, Private: b.Private, Text: b.Text}
	for _, f := range b.Fields {
		form.Fields = append(form.Fields, ubl.FormField(f))
	}
	return a.enter(ctx, in.RoomID, ubl.PostEntry{
		Request: envelope.Command(ctx, b.Key), Type: ubl.EntryMessage, Thread: b.Thread, Body: ubl.FormContent(form),
	})
}

type answerInput struct {
	FormPath
	Body struct {
		Keyed
		Values map[string]any `json:"values" doc:"By the names of fields: a text, a number, true or false, or of several its options." example:"{\"deploy\":\"Approve\"}"`
	}
}

func (a *API) answer(ctx context.Context, in *answerInput) (any, error) {
	values, err := json.Marshal(in.Body.Values)
	if err != nil {
		return nil, invalid("body.values", "not JSON that can be hashed")
	}
	return a.enter(ctx, in.RoomID, ubl.PostEntry{
		Request: envelope.Command(ctx, in.Body.Key), Type: ubl.EntryAnswer, Target: in.EntryID, Body: ubl.AnswerContent(values),
	})
}

type formInput struct {
	FormPath
	Cursor int64 `query:"cursor" minimum:"1" doc:"The next_cursor of the page before."`
	Limit  int   `query:"limit" minimum:"1" maximum:"200" default:"50" doc:"At most so many answers on a page."`
}

type formAnswer struct {
	Entry      json.RawMessage  `json:"entry"`
	Answers    []ubl.FormAnswer `json:"answers"`
	NextCursor *int64           `json:"next_cursor"`
}

// getForm reads a form with a page of its answers.
func (a *API) getForm(ctx context.Context, in *formInput) (any, error) {
	p, err := ubl.Ask[*ubl.AnswerPage](ctx, a.Asker, room(ctx, in.RoomID), ubl.ReadAnswers{Who: caller(ctx), Form: in.EntryID, After: in.Cursor, Limit: in.Limit})
	if err != nil {
		return nil, err
	}
	return formAnswer{p.Form, list(p.Answers), p.NextCursor}, nil
}

func (a *API) formRoutes() {
	notIn := []ubl.Code{ubl.CodeNotAMember}
	handle(a, operation{method: "POST", path: "/rooms/{roomId}/forms", id: "create-form", asks: nothing, counts: ubl.Sends, tool: "messenger.form.create", tag: "messages", answers: "ubl.api.entry.v1", creates: true,
		summary: "Send a message with buttons or fields", more: "Who may send messages there. A form can't be edited; redacting it takes its answers away.", also: notIn}, a.createForm)
	handle(a, operation{method: "GET", path: "/rooms/{roomId}/forms/{formId}", id: "get-form", tool: "messenger.form.get", tag: "messages", answers: "ubl.api.form.v1",
		summary: "A form with its answers", more: "Of a private form its author reads all answers, and others their own.", also: notIn}, a.getForm)
	handle(a, operation{method: "POST", path: "/rooms/{roomId}/forms/{formId}/answers", id: "answer-form", asks: nothing, counts: ubl.Sends, tool: "messenger.form.answer", tag: "messages", answers: "ubl.api.entry.v1", creates: true,
		summary: "Answer a form, or change one's answer", more: "Whom the form asks, until it ends. The newest answer of each stands, where the form lets it be changed. The entry says who answers; what, the form's answers do.", also: notIn}, a.answer)
}
