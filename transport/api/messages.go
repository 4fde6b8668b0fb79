package api

import (
	"bytes"
	"net/http"

	"ubl"
	"ubl/transport/envelope"
)

// Sending and reading messages are most of all requests and are decoded and
// written by hand: huma parses a body twice, into a map and into a struct.

// sendInput describes a send, and its Body is what is decoded.
type sendInput struct {
	RoomPath
	Body sendBody
}

type sendBody struct {
	Type    string         `json:"type" enum:"text,system" doc:"Always text: system is for the server."`
	Body    textBody       `json:"body" doc:"The message: an object with text."`
	ReplyTo *ubl.MessageID `json:"reply_to,omitempty" nullable:"true" pattern:"^m:[A-Za-z0-9._-]{1,256}$" doc:"A message of the same room." example:"m:0199a1b2"`
	Thread  *ubl.MessageID `json:"thread,omitempty" nullable:"true" pattern:"^m:[A-Za-z0-9._-]{1,256}$" doc:"The message that began the thread that this one belongs to." example:"m:0199a1b2"`
	Files   []string       `json:"attachments,omitempty" maxItems:"10" nullable:"false" doc:"Files: upload_ids, or ROOM/FILE to send on." example:"[\"r:general/f:1\"]"`
	Forward *string        `json:"forward,omitempty" doc:"A message to forward, as ROOM/MESSAGE; text may then be empty." example:"r:general/m:0199a1b2"`
	Key     *string        `json:"client_request_id,omitempty" nullable:"true" minLength:"1" maxLength:"128" pattern:"^[^\\x00-\\x1f\\x7f-\\x9f]*$" doc:"A key of your own: what is repeated under it is done once." example:"order-7-note"`
}

type textBody struct {
	Text     string        `json:"text" maxLength:"8000" doc:"At most 8,000 bytes of UTF-8." example:"We meet at ten."`
	Mentions []ubl.Mention `json:"mentions,omitempty" maxItems:"50" nullable:"false" pattern:"^(@room|u:[A-Za-z0-9._-]{1,256})$" doc:"Whom it is for in particular: ids of members, or @room for everybody. The text may show their names." example:"[\"u:4Zk1\"]"`
}

func (b textBody) body() ubl.Body { return ubl.Body{Mentions: b.Mentions, Text: b.Text} }

func (a *API) send(w http.ResponseWriter, r *http.Request) {
	cmd, to, err := a.readSend(r)
	if err != nil {
		envelope.WriteError(w, r, err)
		return
	}
	sent, err := ubl.Ask[*ubl.Sent](r.Context(), a.Asker, to, cmd)
	if err != nil {
		envelope.WriteError(w, r, err)
		return
	}
	buf := takeBuffer()
	defer giveBuffer(buf)
	b := append(buf.AvailableBuffer(), `{"message":`...)
	b = append(b, sent.Message...)
	if _, rest, ok := bytes.Cut(sent.Message, []byte(`"msg_id":"`)); ok { // as in locations, without decoding it all
		id, _, _ := bytes.Cut(rest, []byte(`"`))
		w.Header()["Location"] = []string{"/api/rooms/" + string(to.Local()) + "/entries/" + string(id)}
	}
	finish(w, r, http.StatusCreated, b)
}

// readSend makes the command of a request and addresses it.
func (a *API) readSend(r *http.Request) (cmd ubl.SendMessage, to ubl.Name, err error) {
	id, err := roomOf(r)
	if err != nil {
		return cmd, "", err
	}
	var in sendBody
	if err := readBody(r, &in); err != nil {
		return cmd, "", err
	}
	if err := in.check(); err != nil {
		return cmd, "", err
	}
	key := ""
	if in.Key != nil {
		key = *in.Key
	}
	cmd = ubl.SendMessage{Request: envelope.Command(r.Context(), key), Text: in.Body.Text}
	if cmd.Attachments, err = a.attachments(r.Context(), id, in.Files); err != nil {
		return cmd, "", err
	}
	if in.Forward != nil {
		if err := a.forward(r.Context(), &cmd, *in.Forward); err != nil {
			return cmd, "", err
		}
	}
	cmd.Mentions = in.Body.Mentions
	if in.ReplyTo != nil {
		cmd.ReplyTo = *in.ReplyTo
	}
	if in.Thread != nil {
		cmd.Thread = *in.Thread
	}
	return cmd, ubl.RoomName(cmd.Who.TenantID, id), nil
}

func (in *sendBody) check() error {
	switch {
	case in.Type == ubl.TypeSystem:
		return ubl.Errorf(ubl.CodeForbidden, "system messages come from acts, not from clients")
	case in.Type == "":
		return invalid("body.type", "is missing: expected text")
	case in.Type != ubl.TypeText:
		return invalid("body.type", "expected text")
	case in.ReplyTo != nil && !in.ReplyTo.Valid():
		return invalid("body.reply_to", "not a message id")
	case in.Thread != nil && !in.Thread.Valid():
		return invalid("body.thread", "not a message id")
	case in.Forward != nil && len(in.Files) > 0:
		return invalid("body.attachments", "not together with forward")
	case ubl.CheckMentions(in.Body.Mentions) != nil:
		return invalid("body.body.mentions", "expected at most 50 ids of people, or @room")
	case in.Key != nil && !ubl.ValidKey(*in.Key):
		return invalid("body.client_request_id", "expected 1 to 128 characters, none of them a control character")
	}
	beside := len(in.Files)
	if in.Forward != nil {
		beside++
	}
	err := in.Body.body().CheckBeside(beside, ubl.MaxMessageBytes)
	if ubl.CodeOf(err) == ubl.CodeValidation {
		e := *ubl.AsError(err)
		e.Details = map[string]string{"body.body.text": "is missing, empty, or nothing that can be seen"}
		return &e
	}
	return err
}

// readBody reads and decodes a body that the guard has bounded.
func readBody(r *http.Request, v any) error {
	buf := takeBuffer()
	defer giveBuffer(buf)
	if _, err := buf.ReadFrom(r.Body); err != nil {
		return translate(http.StatusInternalServerError, "", []error{err}, nil, nil)
	}
	if buf.Len() == 0 {
		return invalid("body", "request body is required")
	}
	return decode(buf.Bytes(), v)
}

// roomOf is the room in the path.
func roomOf(r *http.Request) (ubl.RoomID, error) {
	if id := ubl.RoomID(pathValue(r, "roomId")); id.Valid() {
		return id, nil
	}
	return "", invalid("path.roomId", "not a room id, like r:general")
}
