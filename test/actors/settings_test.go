package actors_test

import (
	"cmp"
	"encoding/json"
	"maps"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"ubl"
	"ubl/actors/families"
	"ubl/schemas"
	"ubl/test/harness"
	"ubl/transport/api"
	"ubl/transport/envelope"
)

// settings is a record that people change by acts. TestSettingsLeaveATrace names each place
// that a new field still lacks.
type settings struct {
	record any // a value of its type
	// derived are the fields that nobody sets.
	derived []string
	// samples are values that aren't the defaults, by field, as JSON.
	samples map[string]string
	// tool is the operation that sets a field, over REST and MCP, and args what else it takes.
	tool string
	args map[string]any
	// answer is where its answer has the record.
	answer string
	// act and shown are schemas: of the act's this, and of the record as it is shown.
	act, shown schemaPart
	// screen is where the app shows and sets it, "" where the app doesn't.
	screen string
}

// schemaPart is an object in a schema, by the id and the way to it.
type schemaPart struct {
	id  string
	way []string
}

const (
	actionSchema = "ubl.ledger.act.v1"
	screens      = "../../transport/web/app/src/screens/"
)

// TestSettingsLeaveATrace changes every field of every settings record alone, by its
// operation. The new value is in the answer and in the act's receipt, both schemas have the
// field, and so does the screen.
func TestSettingsLeaveATrace(t *testing.T) {
	h := harness.Open(t, harness.Options{})
	ana := harness.User("ana@example.com")
	h.Enter(ana)
	harness.Must[*ubl.RoomSummary](h, ubl.TenantName(ana.TenantID), ubl.CreateRoom{Request: h.Request(ana), Name: "plans"})
	operate := operating(h, ana)
	for name, s := range map[string]settings{
		"a room's policy": {
			record:  ubl.RoomPolicy{},
			samples: map[string]string{"max_message_bytes": "99", "retention_days": "7", "retention_hours": "5", "join": `"tenant"`, "posting": `"threads"`},
			tool:    "room.update", args: map[string]any{"room_id": "r:plans"}, answer: "room.policy",
			act:    schemaPart{actionSchema, []string{"$defs", "room_policy"}},
			shown:  schemaPart{"ubl.room.v1", []string{"$defs", "policy"}},
			screen: "room/Policy.tsx",
		},
		"a tenant's defaults": {
			record: ubl.TenantDefaults{}, derived: []string{"room_mode"}, // there is one mode
			samples: map[string]string{"retention_days": "7", "max_message_bytes": "99"},
			tool:    "tenant.update", answer: "tenant.defaults",
			act:   schemaPart{actionSchema, []string{"$defs", "tenant_policy"}},
			shown: schemaPart{"ubl.api.tenant.v1", []string{"properties", "tenant", "properties", "defaults"}},
		},
		"who may use a tool": {
			record: ubl.ToolAccess{}, derived: []string{"agreement_id", "tool", "updated_at", "updated_by", "receipt"},
			samples: map[string]string{"allowed": "true", "users": `["` + string(ana.UserID) + `"]`, "groups": `["staff"]`, "per_minute": "9", "confirm": `"always"`},
			tool:    "tool.access", args: map[string]any{"tool": "messenger.send", "allowed": false}, answer: "access",
			act:    schemaPart{actionSchema, []string{"$defs", "tool_access"}},
			shown:  schemaPart{"ubl.tool_access.v1", nil},
			screen: "servers/Access.tsx",
		},
		"the budget for models": {
			record: ubl.Budget{}, derived: []string{"used_today"},
			samples: map[string]string{"tokens_per_day": "1000", "requests_per_minute": "9"},
			tool:    "portal.budget.update", args: map[string]any{"tokens_per_day": 1, "requests_per_minute": 1}, answer: "budget",
			act:    schemaPart{actionSchema, []string{"$defs", "budget"}},
			shown:  schemaPart{"ubl.api.budget.v1", []string{"properties", "budget"}},
			screen: "budget/Budget.tsx",
		},
	} {
		t.Run(name, func(t *testing.T) {
			for _, field := range fieldsOf(s.record) {
				if slices.Contains(s.derived, field) {
					continue
				}
				sample, ok := s.samples[field]
				if !ok {
					t.Errorf("%s: say in this test what another value is, or that nobody sets it", field)
					continue
				}
				args := map[string]any{}
				maps.Copy(args, s.args)
				args[field] = json.RawMessage(sample)
				shown, _ := at(operate(t, s.tool, args), s.answer).(map[string]any)
				want := parsed(t, []byte(sample))
				if !reflect.DeepEqual(shown[field], want) {
					t.Errorf("%s: %s answers %v, want %v", field, s.tool, shown[field], want)
				}
				if list, ok := want.([]any); ok {
					want = float64(len(list)) // a receipt counts the list, and has a hash of all terms
				}
				if got := lastAction(t, h, ana.TenantID)[field]; !reflect.DeepEqual(got, want) {
					t.Errorf("%s: the receipt says %v, want %v", field, got, want)
				}
				s.describes(t, field)
			}
		})
	}
}

// at is what an answer has in a place: "room.policy".
func at(answer any, place string) any {
	for step := range strings.SplitSeq(place, ".") {
		in, _ := answer.(map[string]any)
		answer = in[step]
	}
	return answer
}

// describes tells whether both schemas and the screen have a field.
func (s settings) describes(t *testing.T, field string) {
	t.Helper()
	for _, part := range []schemaPart{s.act, s.shown} {
		if !slices.Contains(part.properties(t), field) {
			t.Errorf("%s: the schema %s doesn't have it at %s", field, part.id, strings.Join(part.way, "/"))
		}
	}
	if s.screen == "" {
		return
	}
	source, err := os.ReadFile(screens + s.screen)
	if err != nil {
		t.Fatal(err)
	}
	if !regexp.MustCompile(`\b` + field + `\b`).Match(source) {
		t.Errorf("%s: the app's %s doesn't have it", field, s.screen)
	}
}

// operations are all of the program, over a house.
func operations(h *harness.House) []envelope.Act {
	return api.New(api.Options{Asker: envelope.Entering(h.Runtime), Now: h.Clock.Now, Version: "test", Offers: families.All.Offers()}).Acts()
}

// operating has somebody do operations as tools, which is the same as over REST, and gives
// their answers.
func operating(h *harness.House, who ubl.Identity) func(t *testing.T, tool string, args map[string]any) map[string]any {
	acts := operations(h)
	caller := &envelope.Caller{Identity: who}
	caller.Let(ubl.RoleOwner)
	return func(t *testing.T, tool string, args map[string]any) map[string]any {
		t.Helper()
		i := slices.IndexFunc(acts, func(a envelope.Act) bool { return a.Name == tool })
		if i < 0 {
			t.Fatalf("there is no tool %s", tool)
		}
		req := h.Request(who)
		ctx := envelope.WithRequest(t.Context(), &envelope.Request{ID: req.ID, Key: req.Key, At: ubl.TimeOf(h.Clock.Now())})
		out, err := acts[i].Do(envelope.WithCaller(ctx, caller), mustJSON(t, args))
		if err != nil {
			t.Errorf("%s refuses %s: %v %v", tool, mustJSON(t, args), err, ubl.AsError(err).Details)
			return nil
		}
		answer, _ := parsed(t, out).(map[string]any)
		return answer
	}
}

// fieldsOf lists the JSON names of a record's fields.
func fieldsOf(record any) (names []string) {
	of := reflect.TypeOf(record)
	for i := range of.NumField() {
		name, _, _ := strings.Cut(of.Field(i).Tag.Get("json"), ",")
		names = append(names, name)
	}
	return names
}

// lastAction is what the newest act of a tenant was about.
func lastAction(t *testing.T, h *harness.House, tenant ubl.TenantID) map[string]any {
	t.Helper()
	head := harness.Must[ubl.LedgerHead](h, ubl.LedgerName(tenant), ubl.GetLedgerHead{})
	return actionAt(t, h, tenant, head.Seq-1)
}

// actionAt is what the act with the seq was about.
func actionAt(t *testing.T, h *harness.House, tenant ubl.TenantID, seq int64) map[string]any {
	t.Helper()
	page := harness.Must[*ubl.AtomPage](h, ubl.LedgerName(tenant), ubl.ReadAtoms{From: seq, Limit: 1})
	var action struct {
		This map[string]any `json:"this"`
	}
	if err := json.Unmarshal(page.Atoms[0], &action); err != nil {
		t.Fatal(err)
	}
	return action.This
}

// properties are those of the object, which may be behind a reference.
func (p schemaPart) properties(t *testing.T) (names []string) {
	t.Helper()
	text, ok := schemas.Read(p.id)
	if !ok {
		t.Fatalf("there is no schema %s", p.id)
	}
	at, _ := parsed(t, text).(map[string]any)
	for _, step := range p.way {
		at, _ = at[step].(map[string]any)
	}
	if ref, ok := at["$ref"].(string); ok {
		id, way, _ := strings.Cut(ref, "#")
		return schemaPart{cmp.Or(id, p.id), strings.FieldsFunc(way, func(r rune) bool { return r == '/' })}.properties(t)
	}
	properties, _ := at["properties"].(map[string]any)
	for name := range properties {
		names = append(names, name)
	}
	return names
}

func parsed(t *testing.T, data []byte) (v any) {
	t.Helper()
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

func mustJSON(t *testing.T, v any) []byte {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return data
}
