package actors_test

import (
	"cmp"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"ubl"
	"ubl/schemas"
	"ubl/test/harness"
)

// settings is a record that people change by acts. Whoever adds a field to it is led
// by TestSettingsLeaveATrace to all the places that the field belongs.
type settings struct {
	record any // a value of its type
	// derived are the fields that nobody sets.
	derived []string
	// samples are values that aren't the defaults, by field.
	samples map[string]string // as JSON
	// set is the command that changes a field, made of an object with it alone.
	set func(t *testing.T, object []byte) (ubl.Name, ubl.Command)
	// find is the record in the command's answer.
	find func(answer map[string]any) any
	// act and shown are schemas: of the act's this, and of the record as it is shown.
	act, shown schemaPart
}

// schemaPart is an object in a schema, by the id and the way to it.
type schemaPart struct {
	id  string
	way []string
}

const actionSchema = "ubl.ledger.action.v1"

// TestSettingsLeaveATrace changes every field of every settings record alone: its new
// value is in the answer and in the act's receipt, and both schemas have the field.
func TestSettingsLeaveATrace(t *testing.T) {
	h := harness.Open(t, harness.Options{})
	ana := harness.User("ana@example.com")
	h.Enter(ana)
	tenant := ubl.TenantName(ana.TenantID)
	whole := func(answer map[string]any) any { return answer }
	for name, s := range map[string]settings{
		"a room's policy": {
			record:  ubl.RoomPolicy{},
			samples: map[string]string{"max_message_bytes": "99", "retention_days": "7", "join": `"tenant"`},
			set: func(t *testing.T, object []byte) (ubl.Name, ubl.Command) {
				c := ubl.SetRoomPolicy{Request: h.Request(ana)}
				strictly(t, object, &c.Patch)
				return ubl.RoomName(ana.TenantID, "r:plans"), c
			},
			find:  func(answer map[string]any) any { return answer["policy"] },
			act:   schemaPart{actionSchema, []string{"$defs", "room_policy"}},
			shown: schemaPart{"ubl.room.v1", []string{"$defs", "policy"}},
		},
		"a tenant's defaults": {
			record: ubl.TenantDefaults{}, derived: []string{"room_mode"}, // there is one mode
			samples: map[string]string{"retention_days": "7", "max_message_bytes": "99"},
			set: func(t *testing.T, object []byte) (ubl.Name, ubl.Command) {
				c := ubl.SetDefaults{Request: h.Request(ana)}
				strictly(t, object, &c.Patch)
				return tenant, c
			},
			find:  func(answer map[string]any) any { return answer["defaults"] },
			act:   schemaPart{actionSchema, []string{"$defs", "tenant_policy"}},
			shown: schemaPart{"ubl.api.tenant.v1", []string{"properties", "tenant", "properties", "defaults"}},
		},
		"who may use a tool": {
			record: ubl.ToolAccess{}, derived: []string{"agreement_id", "tool", "updated_at", "updated_by", "receipt"},
			samples: map[string]string{"allowed": "true", "users": `["` + string(ana.UserID) + `"]`, "groups": `["staff"]`, "per_minute": "9"},
			set: func(t *testing.T, object []byte) (ubl.Name, ubl.Command) {
				c := ubl.SetToolAccess{Request: h.Request(ana), Tool: "messenger.send"}
				byName(t, object, ubl.ToolAccess{}, &c)
				return tenant, c
			},
			find:  whole,
			act:   schemaPart{actionSchema, []string{"$defs", "tool_access"}},
			shown: schemaPart{"ubl.tool_access.v1", nil},
		},
		"the budget for models": {
			record: ubl.Budget{}, derived: []string{"used_today"},
			samples: map[string]string{"tokens_per_day": "1000", "requests_per_minute": "9"},
			set: func(t *testing.T, object []byte) (ubl.Name, ubl.Command) {
				c := ubl.SetBudget{Request: h.Request(ana), Owner: true}
				byName(t, object, ubl.Budget{}, &c)
				return ubl.PortalName(ana.TenantID), c
			},
			find:  whole,
			act:   schemaPart{actionSchema, []string{"$defs", "budget"}},
			shown: schemaPart{"ubl.api.budget.v1", []string{"properties", "budget"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if name == "a room's policy" {
				harness.Must[*ubl.RoomSummary](h, tenant, ubl.CreateRoom{Request: h.Request(ana), Name: "plans"})
			}
			for _, field := range fieldsOf(s.record) {
				if slices.Contains(s.derived, field) {
					continue
				}
				sample, ok := s.samples[field]
				if !ok {
					t.Errorf("%s: say in this test what another value is, or that nobody sets it", field)
					continue
				}
				to, cmd := s.set(t, []byte(`{"`+field+`":`+sample+`}`))
				want := parsed(t, []byte(sample))
				answer, _ := parsed(t, mustJSON(t, harness.Must[any](h, to, cmd))).(map[string]any)
				if shown, _ := s.find(answer).(map[string]any); !reflect.DeepEqual(shown[field], want) {
					t.Errorf("%s: the answer says %v, want %v", field, shown[field], want)
				}
				if list, ok := want.([]any); ok {
					want = float64(len(list)) // a receipt counts the list, and has a hash of all terms
				}
				if got := lastAction(t, h, ana.TenantID)[field]; !reflect.DeepEqual(got, want) {
					t.Errorf("%s: the receipt says %v, want %v", field, got, want)
				}
				for _, part := range []schemaPart{s.act, s.shown} {
					if !slices.Contains(part.properties(t), field) {
						t.Errorf("%s: the schema %s doesn't have it at %s", field, part.id, strings.Join(part.way, "/"))
					}
				}
			}
		})
	}
}

// fieldsOf are a record's fields as JSON calls them.
func fieldsOf(record any) (names []string) {
	of := reflect.TypeOf(record)
	for i := range of.NumField() {
		name, _, _ := strings.Cut(of.Field(i).Tag.Get("json"), ",")
		names = append(names, name)
	}
	return names
}

// strictly decodes an object into a patch, which must know its fields.
func strictly(t *testing.T, object []byte, patch any) {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(string(object)))
	d.DisallowUnknownFields()
	if err := d.Decode(patch); err != nil {
		t.Errorf("the patch can't set it: %v", err)
	}
}

// byName sets the command's field that has the name of the record's.
func byName(t *testing.T, object []byte, record, command any) {
	t.Helper()
	of := reflect.TypeOf(record)
	var given map[string]json.RawMessage
	if err := json.Unmarshal(object, &given); err != nil {
		t.Fatal(err)
	}
	for i := range of.NumField() {
		name, _, _ := strings.Cut(of.Field(i).Tag.Get("json"), ",")
		if given[name] == nil {
			continue
		}
		at := reflect.ValueOf(command).Elem().FieldByName(of.Field(i).Name)
		if !at.IsValid() {
			t.Errorf("the command can't set %s", name)
			continue
		}
		if err := json.Unmarshal(given[name], at.Addr().Interface()); err != nil {
			t.Fatal(err)
		}
	}
}

// lastAction is what the newest act of a tenant was about.
func lastAction(t *testing.T, h *harness.House, tenant ubl.TenantID) map[string]any {
	t.Helper()
	ledger := ubl.LedgerName(tenant)
	head := harness.Must[ubl.LedgerHead](h, ledger, ubl.GetLedgerHead{})
	page := harness.Must[*ubl.AtomPage](h, ledger, ubl.ReadAtoms{From: head.Seq - 1, Limit: 1})
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
