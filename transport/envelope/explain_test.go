package envelope_test

import (
	"encoding/json"
	"errors"
	"maps"
	"strings"
	"testing"

	"ubl"
	"ubl/transport/envelope"
)

// booking is a tool with arguments of all kinds.
var booking = envelope.Act{Name: "room.book", Input: json.RawMessage(`{"type":"object","additionalProperties":false,"required":["room_id"],"properties":{
	"room_id":{"type":"string","pattern":"^r:[a-z]{1,128}$","examples":["r:general"]},
	"code":{"type":"string","pattern":"^[A-Z]{3}$"},
	"seats":{"anyOf":[{"type":"integer","minimum":1,"maximum":200},{"type":"null"}],"default":4},
	"since":{"type":"integer","minimum":0,"maximum":9007199254740991},
	"price":{"type":"number","maximum":2},
	"quiet":{"type":"boolean"},
	"kind":{"enum":["talk","party"]},
	"guests":{"type":"array","maxItems":3,"items":{"type":"string"},"examples":[["u:bob"]]},
	"note":{"anyOf":[{"type":"object","properties":{"text":{"type":"string","minLength":1,"maxLength":80}}},{"type":"null"}]}}}`)}

// TestExplain: each error of an argument says what would be right there.
func TestExplain(t *testing.T) {
	const takes = "It takes code, guests, kind, note, price, quiet, room_id, seats, since"
	for place, c := range map[string]struct{ reason, want string }{
		"room_id":      {"is missing", `is missing; right is a text like "r:general"`},
		"code":         {"expected string to match pattern ^[A-Z]{3}$", "has another form than it should; right is a text that matches ^[A-Z]{3}$"},
		"seats":        {"expected number <= 200", "expected number <= 200; right is a whole number from 1 to 200, and without it 4"},
		"since":        {"a string, where an integer is expected", "a string, where an integer is expected; right is a whole number from 0"},
		"price":        {"expected number <= 2", "expected number <= 2; right is a number up to 2"},
		"quiet":        {"a string, where a boolean is expected", "a string, where a boolean is expected; right is true or false"},
		"kind":         {"a number, where a string is expected", `a number, where a string is expected; right is one of "talk", "party"`},
		"guests":       {"expected array length <= 3", `expected array length <= 3; right is a list of at most 3, each a text like ["u:bob"]`},
		"guests[2]":    {"is missing", `is missing; right is a text like "u:bob"`},
		"note":         {"a string, where an object is expected", "a string, where an object is expected; right is an object with text"},
		"note.text":    {"expected length >= 1", "expected length >= 1; right is a text of 1 to 80 characters"},
		"note.txt":     {"unexpected property", "there is no such argument. Did you mean text? It takes text"},
		"text":         {"an unexpected member", "there is no such argument. Did you mean note.text? " + takes},
		"room":         {"an unexpected member", "there is no such argument. Did you mean room_id? " + takes},
		"seat":         {"an unexpected member", "there is no such argument. Did you mean seats? " + takes},
		"roomId":       {"an unexpected member", "there is no such argument. Did you mean room_id? " + takes},
		"RoomID":       {"an unexpected member", "there is no such argument. Did you mean room_id? " + takes},
		"Room":         {"an unexpected member", "there is no such argument. Did you mean room_id? " + takes},
		"room-id":      {"an unexpected member", "there is no such argument. Did you mean room_id? " + takes},
		"Text":         {"an unexpected member", "there is no such argument. Did you mean note.text? " + takes},
		"zzz":          {"an unexpected member", "there is no such argument. " + takes},
		"arguments":    {"an unexpected member", "there is no such argument. " + takes},
		"nowhere.deep": {"is odd", "is odd"},
	} {
		e := ubl.Errorf(ubl.CodeValidation, envelope.NotAsDescribed)
		e.Details = map[string]string{place: c.reason}
		got := ubl.AsError(booking.Explain(e))
		if want := map[string]string{place: c.want}; !maps.Equal(got.Details, want) || got.Message != "the arguments are not as room.book takes them" {
			t.Errorf("%s %s: %s\n%v\nwant\n%v", place, c.reason, got.Message, got.Details, want)
		}
		if again := ubl.AsError(booking.Explain(got)); !maps.Equal(again.Details, got.Details) {
			t.Errorf("explained twice: %v", again.Details)
		}
	}
}

// TestExplainOthers: a message that begins with an argument is taken apart; what isn't about
// arguments stays as it is, and no error is none.
func TestExplainOthers(t *testing.T) {
	got := ubl.AsError(booking.Explain(ubl.Errorf(ubl.CodeTooLarge, "note: more than 80 characters")))
	if got.Code != ubl.CodeTooLarge || !strings.Contains(got.Details["note"], "right is an object with text") {
		t.Errorf("too large: %v", got.Details)
	}
	for _, err := range []error{nil, ubl.Errorf(ubl.CodeForbidden, "room_id: not yours"), errors.New("room_id: is missing")} {
		if got := booking.Explain(err); got != err {
			t.Errorf("%v became %v", err, got)
		}
	}
	odd := ubl.Errorf(ubl.CodeValidation, "this is odd")
	if got := ubl.AsError(booking.Explain(odd)); got.Message != odd.Message || len(got.Details) != 0 {
		t.Errorf("%v became %v %v", odd, got, got.Details)
	}
}
