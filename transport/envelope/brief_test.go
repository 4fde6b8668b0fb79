package envelope

import (
	"encoding/json"
	"slices"
	"testing"

	"ubl"
)

func TestBrief(t *testing.T) {
	b := Brief{Drops: []string{"room_id"}, Names: map[string]string{"sender_id": "sender"}}
	names := map[ubl.UserID]ubl.Member{"u:ana": {Name: `Ana "the" Great`}, "u:ceo": {Name: "Сео", Alike: true}, "u:link": {Name: "boss@example.com", Unproven: true}}
	for name, c := range map[string]struct{ whole, want string }{
		"a message": {
			`{"messages":[{"attachments":[],"body":{"text":"hi"},"msg_id":"m:1","receipt":{"cid":"c:1","head_hash":"h:1","ledger_shard":"0","seq":7,"time":"2026-01-07T12:34:56.789Z"},"reply_to":null,"room_id":"r:a","room_seq":1,"sender_id":"u:ana","sent_at":"2026-01-07T12:34:56.789Z","tenant_id":"t:a","type":"text"}],"next_cursor":null,"request_id":"req:1","server_time":"2026-01-07T12:34:56.789Z"}`,
			`{"messages":[{"body":{"text":"hi"},"msg_id":"m:1","receipt":{"seq":7},"room_seq":1,"sender_id":"u:ana","sender":"Ana \"the\" Great","sent_at":"2026-01-07T12:34:56Z","type":"text"}],"next_cursor":null}`,
		},
		"who looks like another":      {`{"a":{"sender_id":"u:ceo"}}`, `{"a":{"sender_id":"u:ceo","sender":"Сео","sender_alike":true}}`},
		"who is unproven":             {`{"a":{"sender_id":"u:link"}}`, `{"a":{"sender_id":"u:link","sender":"boss@example.com","sender_unproven":true}}`},
		"somebody unknown":            {`{"a":{"sender_id":"u:bob"}}`, `{"a":{"sender_id":"u:bob"}}`},
		"what people wrote":           {`{"m":{"body":{"cid":null,"room_id":[],"sent_at":"2026-01-07T12:34:56.789Z","sender_id":"u:ana"},"title":"2026-01-07T12:34:56.789Z"}}`, `{"m":{"body":{"cid":null,"room_id":[],"sent_at":"2026-01-07T12:34:56.789Z","sender_id":"u:ana"},"title":"2026-01-07T12:34:56.789Z"}}`},
		"a text that looks like one":  {`{"m":{"note":"\"sender_id\":\"u:ana\""}}`, `{"m":{"note":"\"sender_id\":\"u:ana\""}}`},
		"numbers and strange letters": {`{"m":{"n":9007199254740993,"s":"<é>"}}`, `{"m":{"n":9007199254740993,"s":"<é>"}}`},
		"nothing at the top":          {`{"items":[],"next_cursor":null}`, `{"items":[],"next_cursor":null}`},
	} {
		if got, err := b.tell([]byte(c.whole), names); err != nil || string(got) != c.want {
			t.Errorf("%s: %s, %v\nwant %s", name, got, err, c.want)
		}
	}
	ids := b.ids([]json.RawMessage{[]byte(`{"a":[{"sender_id":"u:ana","by":"u:carl"},{"sender_id":"u:bob"},{"sender_id":"u:ana","note":"\"sender_id\":\"u:eve\""}]}`)})
	if !slices.Equal(ids, []ubl.UserID{"u:ana", "u:bob"}) {
		t.Errorf("asks for %v", ids)
	}
	if _, err := b.tell([]byte(`{"a":`), nil); err == nil {
		t.Error("took half an answer")
	}
}
