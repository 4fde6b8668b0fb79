package actors_test

import (
	"encoding/json"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"ubl"
	"ubl/test/harness"
)

// maker is an operation that makes something, and what it takes. TestMakersLeaveATrace names each
// place that a new argument has not reached.
type maker struct {
	// base are the arguments without which nothing is made.
	base  map[string]any
	takes map[string]trace
}

// trace is where an argument is found again.
type trace struct {
	value any    // one that isn't the default
	act   string // the field of the act's this, "" where nothing but untold says why
	told  any    // what is there, or whether it is: a text or an is; nil for the value itself
	// answer is the place in the answer, "" as act is.
	answer string
	// untold says why the act, or the answer, hasn't it.
	untold string
}

// is says that anything may be there, as a hash.
type is func(any) bool

func hashed(v any) bool { text, _ := v.(string); return strings.Contains(text, ":") }

// drawn are the operations whose secrets are drawn by what the program is made of
// (transport/auth, and the tests of notifications, test what they leave).
var drawn = map[string]bool{"person.key.create": true, "tenant.invitation.create": true, "token.create": true}

// TestMakersLeaveATrace: each argument of an operation that makes something is in the act's receipt
// and in the answer, or it is said here why not. One alone is set at a time, besides those without
// which there is none.
func TestMakersLeaveATrace(t *testing.T) {
	h := harness.Open(t, harness.Options{Webhooks: harness.Answering(http.StatusOK)})
	ana := harness.User("ana@example.com")
	h.Enter(ana)
	operate := operating(h, ana)
	physics := map[string]any{"permeability": "gated", "fungibility": "versioned", "topology": "objects", "execution": "disabled"}
	makers := map[string]maker{
		"room.create": {base: map[string]any{"name": "Plan"}, takes: map[string]trace{
			"name":    {value: "Launch", act: "name", answer: "room.name"},
			"physics": {value: physics, act: "physics", told: "versioned/objects/gated/disabled", untold: "the room's Agreement has it"},
		}},
		"office.workspace.create": {base: map[string]any{"name": "Plan"}, takes: map[string]trace{
			"name":    {value: "Audit", act: "name", answer: "workspace.name"},
			"physics": {value: physics, act: "physics", told: "versioned/objects/gated/disabled", answer: "workspace.physics"},
		}},
		"container.create": {base: map[string]any{"name": "Box", "kind": "workspace"}, takes: map[string]trace{
			"name":    {value: "Cash", act: "name", answer: "container.name"},
			"kind":    {value: "wallet", act: "kind", answer: "container.kind"},
			"physics": {value: physics, act: "physics", told: "versioned/objects/gated/disabled", answer: "container.physics"},
		}},
		"messenger.poll.create": {base: map[string]any{"room_id": "r:general", "question": "Where?", "options": []string{"Here", "There"}}, takes: map[string]trace{
			"room_id":   {value: "r:general", act: "room_id", answer: "entry.room_id"},
			"question":  {value: "When?", act: "body_hash", told: is(hashed), answer: "entry.body.json.question"},
			"options":   {value: []any{"Now", "Later"}, act: "body_hash", told: is(hashed), answer: "entry.body.json.options"},
			"multiple":  {value: true, act: "body_hash", told: is(hashed), answer: "entry.body.json.multiple"},
			"anonymous": {value: true, act: "body_hash", told: is(hashed), answer: "entry.body.json.anonymous"},
			"ends_at":   {value: "2026-02-01T12:00:00.000Z", act: "body_hash", told: is(hashed), answer: "entry.body.json.ends_at"},
			"thread":    {untold: "a thread is of a message, which TestThreads has"},
		}},
		"messenger.form.create": {base: map[string]any{"room_id": "r:general", "text": "May I?", "fields": []any{map[string]any{"name": "ok", "label": "OK", "type": "yes_no"}}}, takes: map[string]trace{
			"room_id":   {value: "r:general", act: "room_id", answer: "entry.room_id"},
			"text":      {value: "May we?", act: "body_hash", told: is(hashed), answer: "entry.body.json.text"},
			"fields":    {value: []any{map[string]any{"name": "day", "label": "Day", "type": "date"}}, act: "body_hash", told: is(hashed), answer: "entry.body.json.fields"},
			"answerers": {value: []any{string(ana.UserID)}, act: "body_hash", told: is(hashed), answer: "entry.body.json.answerers"},
			"ends_at":   {value: "2026-02-01T12:00:00.000Z", act: "body_hash", told: is(hashed), answer: "entry.body.json.ends_at"},
			"once":      {value: true, act: "body_hash", told: is(hashed), answer: "entry.body.json.once"},
			"private":   {value: true, act: "body_hash", told: is(hashed), answer: "entry.body.json.private"},
			"thread":    {untold: "a thread is of a message, which TestThreads has"},
		}},
		"webhook.create": {base: map[string]any{"name": "Build", "url": "https://hooks.example/1", "rooms": []any{"r:general"}}, takes: map[string]trace{
			"name":   {value: "Audit", act: "content_hash", told: is(hashed), answer: "name"},
			"url":    {value: "https://hooks.example/2", act: "content_hash", told: is(hashed), answer: "url"},
			"events": {value: []any{"edit", "pin"}, act: "content_hash", told: is(hashed), answer: "events"},
			"rooms":  {value: []any{"r:general"}, act: "content_hash", told: is(hashed), answer: "rooms"},
		}},
		"office.document.create": {base: map[string]any{"title": "A", "content": "b", "workspace_id": "w:general"}, takes: map[string]trace{
			"title":        {value: "Prices", act: "title_hash", told: is(hashed), answer: "document.title"},
			"content":      {value: "# 1", act: "content_hash", told: is(hashed), answer: "document.content"},
			"workspace_id": {value: "w:general", act: "workspace_id", answer: "document.workspace_id"},
		}},
	}
	for _, act := range operations(h) {
		if _, ok := makers[act.Name]; !ok && strings.HasSuffix(act.Name, ".create") && !drawn[act.Name] {
			t.Errorf("%s: say in this test what it takes", act.Name)
		}
	}
	for name, m := range makers {
		t.Run(name, func(t *testing.T) {
			for _, field := range arguments(t, h, name) {
				want, ok := m.takes[field]
				if !ok {
					t.Errorf("%s: say in this test where the act and the answer have it", field)
					continue
				}
				args := map[string]any{field: want.value}
				for other, v := range m.base {
					if other != field {
						args[other] = v
					}
				}
				if name := args["name"]; name != nil && field != "name" {
					args["name"] = name.(string) + " " + field
				}
				before := harness.Must[ubl.LedgerHead](h, ubl.LedgerName(ana.TenantID), ubl.GetLedgerHead{}).Seq
				answer := operate(t, name, args)
				if answer == nil {
					continue
				}
				want.check(t, field+" in the act", want.act, want.told, actionAt(t, h, ana.TenantID, before+1))
				want.check(t, field+" in the answer", want.answer, nil, answer)
			}
		})
	}
}

// check looks for an argument in an act or an answer.
func (x trace) check(t *testing.T, where, place string, want any, in map[string]any) {
	t.Helper()
	if place == "" {
		if x.untold == "" {
			t.Errorf("%s: say where it is, or why it isn't", where)
		}
		return
	}
	got := at(in, place)
	if fits, ok := want.(is); ok {
		if !fits(got) {
			t.Errorf("%s: %v at %s", where, got, place)
		}
		return
	}
	if want == nil {
		want = x.value
	}
	if want := parsed(t, mustJSON(t, want)); !reflect.DeepEqual(got, want) {
		t.Errorf("%s: %v at %s, want %v", where, got, place, want)
	}
}

// arguments are those that an operation takes, but for the caller's key.
func arguments(t *testing.T, h *harness.House, tool string) (names []string) {
	t.Helper()
	for _, act := range operations(h) {
		if act.Name != tool {
			continue
		}
		var input struct{ Properties map[string]json.RawMessage }
		if err := json.Unmarshal(act.Input, &input); err != nil {
			t.Fatal(err)
		}
		for name := range input.Properties {
			if name != "client_request_id" {
				names = append(names, name)
			}
		}
	}
	if len(names) == 0 {
		t.Fatalf("there is no tool %s", tool)
	}
	return names
}

// TestRoomCreatedIsWhole: who hears of a new room hears all that the room's summary has, but what a
// room begins without.
func TestRoomCreatedIsWhole(t *testing.T) {
	later := map[string]bool{"status": true, "topic": true}
	var payload map[string]any
	room := ubl.RoomSummary{RoomID: "r:plans", Name: "Plans", Mode: ubl.ModeInternal, CreatedAt: 1, Direct: &ubl.Direct{Members: []ubl.UserID{"u:ana", "u:bob"}}}
	for i := range reflect.TypeOf(room).NumField() {
		if f := reflect.ValueOf(&room).Elem().Field(i); f.IsZero() && f.Kind() == reflect.String {
			f.SetString("x")
		}
	}
	if err := json.Unmarshal(ubl.RoomCreatedPayload(room), &payload); err != nil {
		t.Fatal(err)
	}
	whole, _ := parsed(t, mustJSON(t, room)).(map[string]any)
	for _, field := range fieldsOf(room) {
		if !later[field] && (whole[field] == nil || !reflect.DeepEqual(payload[field], whole[field])) {
			t.Errorf("%s: %v is told, the room has %v", field, payload[field], whole[field])
		}
	}
}
