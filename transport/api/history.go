package api

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"

	"ubl"
	"ubl/transport/envelope"
)

// Limits of a page of history.
const (
	defaultHistory = 50
	maxHistory     = 200
)

// historyInput describes a page of history.
type historyInput struct {
	RoomPath
	Cursor int64 `query:"cursor" minimum:"1" doc:"Reads messages with room_seq below it; without one, the newest."`
	Limit  int   `query:"limit" minimum:"1" maximum:"200" default:"50" doc:"At most so many messages."`
	// Senders is off unless asked for: most readers know their people.
	Senders bool `query:"senders" doc:"Adds who wrote these messages, as far as they are members: with their names."`
}

func (a *API) history(w http.ResponseWriter, r *http.Request) {
	cmd, to, named, err := readHistory(r)
	if err != nil {
		envelope.WriteError(w, r, err)
		return
	}
	messages, next, err := ubl.ReadMessages(r.Context(), a.Asker, to, cmd)
	var senders []byte
	if err == nil && named {
		senders, err = a.sendersOf(r.Context(), messages)
	}
	if err != nil {
		envelope.WriteError(w, r, err)
		return
	}
	buf := takeBuffer()
	defer giveBuffer(buf)
	buf.WriteString(`{"messages":[`)
	for i, m := range messages {
		if i > 0 {
			buf.WriteByte(',')
		}
		buf.Write(m)
	}
	buf.WriteString(`],"next_cursor":`)
	if next == nil {
		buf.WriteString("null")
	} else {
		buf.Write(strconv.AppendInt(buf.AvailableBuffer(), *next, 10))
	}
	if named {
		buf.WriteString(`,"senders":`)
		buf.Write(senders)
	}
	finish(w, r, http.StatusOK, buf.Bytes())
}

// sendersOf is the entries of those who wrote the messages, as JSON.
func (a *API) sendersOf(ctx context.Context, messages []json.RawMessage) ([]byte, error) {
	find := ubl.ListMembers{Who: caller(ctx)}
	for _, raw := range messages {
		var m ubl.Message
		if err := json.Unmarshal(raw, &m); err != nil {
			return nil, fmt.Errorf("couldn't read a message: %w", err)
		}
		if !slices.Contains(find.Only, m.SenderID) {
			find.Only = append(find.Only, m.SenderID)
		}
	}
	if len(find.Only) == 0 {
		return []byte("[]"), nil
	}
	members, err := ubl.Ask[[]ubl.Member](ctx, a.Asker, home(ctx), find)
	if err != nil {
		return nil, err
	}
	return json.Marshal(list(members))
}

// readHistory makes the command of a request and addresses it, and tells whether the
// senders are asked for.
func readHistory(r *http.Request) (cmd ubl.ReadHistory, to ubl.Name, senders bool, err error) {
	id, err := roomOf(r)
	if err != nil {
		return cmd, "", false, err
	}
	cmd = ubl.ReadHistory{Who: caller(r.Context()), Limit: defaultHistory, Now: true}
	if r.URL.RawQuery != "" {
		q := r.URL.Query()
		if s := q.Get("cursor"); s != "" {
			if cmd.Before, err = strconv.ParseInt(s, 10, 64); err != nil || cmd.Before < 1 {
				return cmd, "", false, invalid("query.cursor", "expected an integer from 1")
			}
		}
		if s := q.Get("limit"); s != "" {
			if cmd.Limit, err = strconv.Atoi(s); err != nil || cmd.Limit < 1 || cmd.Limit > maxHistory {
				return cmd, "", false, invalid("query.limit", "expected an integer from 1 to 200")
			}
		}
		if s := q.Get("senders"); s != "" {
			if senders, err = strconv.ParseBool(s); err != nil {
				return cmd, "", false, invalid("query.senders", "expected true or false")
			}
		}
	}
	return cmd, ubl.RoomName(cmd.Who.TenantID, id), senders, nil
}
