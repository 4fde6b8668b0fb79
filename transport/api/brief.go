package api

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"ubl"
	"ubl/transport/envelope"
)

// brief has a reading operation answer briefly where it is done as a tool: see [envelope.Brief]. The
// argument full asks for what REST answers. REST itself knows nothing of this.
type brief struct {
	envelope.Brief
	// page is how many a page has as a tool, where nobody says; 0 as many as over REST.
	page int
	// before prepares an answer; nil for none.
	before func(answer json.RawMessage) (json.RawMessage, error)
	// salted says that an answer has the only copy of its act's salt, which goes beside a brief one.
	salted bool
}

// fullArgument asks for the whole answer, pageArgument says how long a page is.
const (
	fullArgument = "full"
	pageArgument = "limit"
)

// briefs are those operations by their tools.
var briefs = map[string]*brief{
	"messenger.history":        {Brief: inRoom("sender_id", "sender")},
	"messenger.entries":        {Brief: inRoom("author_id", "author")},
	"messenger.pins":           {Brief: inRoom("author_id", "author")},
	"messenger.thread":         {Brief: inRoom("author_id", "author")},
	"messenger.search":         {Brief: envelope.Brief{Drops: []string{"highlights", "score"}, Names: map[string]string{"author_id": "author"}}},
	"messenger.readers":        {Brief: envelope.Brief{Names: map[string]string{"user_id": "name"}}},
	"messenger.list_rooms":     {Brief: envelope.Brief{Names: map[string]string{"sender_id": "sender"}}},
	"room.get":                 {},
	"room.member.list":         {},
	"tenant.member.list":       {},
	"container.member.list":    {},
	"container.list":           {Brief: envelope.Brief{Drops: []string{"physics"}}},
	"office.workspace.list":    {Brief: envelope.Brief{Drops: []string{"physics"}}},
	"office.document.get":      {Brief: inWorkspace()},
	"office.document.list":     {Brief: manyInWorkspace()},
	"office.document.search":   {Brief: manyInWorkspace("highlights"), salted: true},
	"office.document.versions": {Brief: manyInWorkspace()},
	"office.file.list":         {Brief: inWorkspace("sha256")},
	"agreement.list":           {Brief: envelope.Brief{Drops: []string{"hash", "physics"}}},
	"agreement.get":            {Brief: envelope.Brief{Drops: []string{"hash"}}},
	"ledger.atoms":             {Brief: envelope.Brief{Drops: []string{"pointers"}}, page: 20, before: numbered},
}

// inRoom is for what stands in the room that the caller has named.
func inRoom(user, called string) envelope.Brief {
	return envelope.Brief{Drops: []string{"kind", "room_id"}, Names: map[string]string{user: called}}
}

// inWorkspace is for what stands in the workspace that the caller has named.
func inWorkspace(drops ...string) envelope.Brief {
	return envelope.Brief{Drops: append(drops, "workspace_id")}
}

// manyInWorkspace is inWorkspace for several documents. What each says of itself would be 8 KiB of each: it is in the
// answer about one.
func manyInWorkspace(drops ...string) envelope.Brief {
	return inWorkspace(append(drops, "created_at", "created_by", "metadata")...)
}

// briefly changes the form of a tool that answers briefly: it takes full, and its answers may lack
// what brief ones leave out.
func (f *form) briefly(b *brief) {
	var schema map[string]any
	if err := json.Unmarshal(f.input, &schema); err != nil { // impossible: it was made here
		panic(err)
	}
	in := object{properties: schema["properties"].(map[string]any)}
	f.add(&in, fullArgument, slot{in: inTool, name: fullArgument, kind: "boolean", optional: true}, nullable(map[string]any{
		"type": "boolean", "default": false, "description": "Everything, with hashes and receipts: to prove something."}))
	if b.page != 0 {
		in.properties[pageArgument].(map[string]any)["default"] = b.page
	}
	f.input = must(json.Marshal(schema))
	f.output = must(b.Schema(f.output))
}

// inTool is where a slot is that the tool itself takes: no request has it.
const inTool = "tool"

// asked reads what a caller asks of a tool that answers briefly, and says how many a page is to have.
func (b *brief) asked(args json.RawMessage) (full bool, page int) {
	var in struct {
		Full  *bool          `json:"full"`
		Limit jsontext.Value `json:"limit"`
	}
	_ = json.Unmarshal(args, &in) // what is wrong with them, the form says
	full = in.Full != nil && *in.Full
	if !full && (in.Limit == nil || in.Limit.Kind() == 'n') {
		page = b.page
	}
	return full, page
}

// brief does an operation as a tool that answers briefly.
func (a *API) brief(ctx context.Context, t *route, f *form, b *brief, args json.RawMessage) (json.RawMessage, error) {
	ctx, err := t.enter(ctx)
	if err != nil {
		return nil, err
	}
	r, err := f.request(args)
	if err != nil {
		return nil, err
	}
	full, page := b.asked(args)
	if page != 0 {
		q := r.URL.Query()
		q.Set(pageArgument, strconv.Itoa(page))
		r.URL.RawQuery = q.Encode()
	}
	answer, err := t.serve(ctx, r, nil)
	if err == nil && b.salted {
		err = saltAside(ctx, answer)
	}
	if err != nil || full {
		return answer, err
	}
	return b.tell(ctx, a, answer)
}

// saltAside puts the salt of an answer beside it, where whoever asked looks there.
func saltAside(ctx context.Context, answer json.RawMessage) error {
	aside := envelope.AsideOf(ctx)
	if aside == nil {
		return nil
	}
	var whole struct {
		Salt ubl.Salt `json:"salt"`
	}
	err := json.Unmarshal(answer, &whole)
	aside.Salt = whole.Salt
	return err
}

// tell is the brief form of an answer.
func (b *brief) tell(ctx context.Context, a *API, answer json.RawMessage) (json.RawMessage, error) {
	if b.before != nil {
		var err error
		if answer, err = b.before(answer); err != nil {
			return nil, err
		}
	}
	out, err := b.Tell(ctx, a.Asker, caller(ctx), answer)
	return out[0], err
}

// numbered says of each atom of a page its seq, which else follows from its place.
func numbered(answer json.RawMessage) (json.RawMessage, error) {
	var page atomsAnswer
	if err := json.Unmarshal(answer, &page); err != nil {
		return nil, err
	}
	for i, atom := range page.Atoms {
		page.Atoms[i] = slices.Concat([]byte(`{"seq":`+strconv.FormatInt(page.From+int64(i), 10)+`,`), atom[1:])
	}
	return json.Marshal(page)
}
