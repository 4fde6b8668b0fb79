package sse

import (
	"bytes"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"ubl"
)

const (
	retryFrame     = "retry: 2000\n\n"
	keepaliveFrame = ":keepalive\n\n"
)

// ledgerID stands before the number in the ids of tenant streams: they count
// in ledger shard 0, not in any room.
const ledgerID = "l" + ubl.DefaultShard + "-"

// maxID is the largest id a client may send: the largest safe JSON integer.
const maxID = 1<<53 - 1

// noID is for frames that carry no id.
const noID = -1

// appendFrame writes an event as a complete frame.
func appendFrame(dst []byte, prefix string, id int64, ev *ubl.Event) []byte {
	if id != noID {
		dst = append(appendID(dst, prefix, id), '\n')
	}
	dst = append(dst, "event: "...)
	dst = append(dst, ev.Kind...)
	dst = append(dst, "\ndata: "...)
	dst = ev.AppendData(dst)
	return append(dst, "\n\n"...)
}

// idFrame sets a client's last id without an event.
func idFrame(prefix string, id int64) []byte {
	return append(appendID(nil, prefix, id), "\n\n"...)
}

func appendID(dst []byte, prefix string, id int64) []byte {
	dst = append(dst, "id: "...)
	dst = append(dst, prefix...)
	return strconv.AppendInt(dst, id, 10)
}

// entryEvent is the event that told entry i of a page when it was new: the same
// bytes come out of a replay as came live, but for one that was redacted since.
func entryEvent(t ubl.TenantID, r ubl.RoomID, page *ubl.HistoryPage, i int) (*ubl.Event, error) {
	ev := &ubl.Event{Kind: ubl.EventMessageCreated, TenantID: t, RoomID: r, RoomSeq: page.FirstSeq + int64(i), Payload: page.Messages[i]}
	if ev.Payload == nil {
		ev.Kind, ev.Payload = ubl.EventEntryCreated, page.Entries[i]
	}
	var err error
	ev.TS, err = sentAt(ev.Payload)
	return ev, err
}

// sentAt reads one member of a canonical entry without decoding the rest.
// Nothing a client chose stands behind it, so the last one found is it.
func sentAt(entry []byte) (ubl.Time, error) {
	const member = `,"sent_at":"`
	var t ubl.Time
	at := bytes.LastIndex(entry, []byte(member))
	if at < 0 {
		return 0, ubl.Errorf(ubl.CodeInternal, "a stored entry has no sent_at")
	}
	value, _, _ := bytes.Cut(entry[at+len(member):], []byte(`"`))
	if err := t.UnmarshalText(value); err != nil {
		return 0, ubl.Errorf(ubl.CodeInternal, "a stored entry has a bad sent_at").Because(err)
	}
	return t, nil
}

// cursorOf reads where a client wants to go on: Last-Event-ID, else the query
// parameter, else nil. Both are the prefix and a number.
func cursorOf(r *http.Request, param, prefix string) (*int64, error) {
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, ubl.Errorf(ubl.CodeValidation, "the query is not well formed")
	}
	for name, values := range query {
		if name != param || len(values) > 1 {
			return nil, ubl.Errorf(ubl.CodeValidation, "the only query parameter here is %s, and once", param)
		}
	}
	if id := r.Header.Get("Last-Event-ID"); id != "" {
		return parseID("Last-Event-ID", id, prefix)
	}
	if !query.Has(param) {
		return nil, nil
	}
	return parseID(param, query.Get(param), prefix)
}

func parseID(name, id, prefix string) (*int64, error) {
	digits, ok := strings.CutPrefix(id, prefix)
	n, err := strconv.ParseUint(digits, 10, 64) // unlike ParseInt it takes no sign
	if !ok || err != nil || n > maxID {
		return nil, ubl.Errorf(ubl.CodeValidation, "%s is not an id of this stream", name)
	}
	seq := int64(n)
	return &seq, nil
}
