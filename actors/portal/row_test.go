package portal

import (
	"encoding/json"
	"reflect"
	"testing"

	"ubl"
)

// TestRows: a row is stored as canonical JSON of all its members, and comes back as
// it was.
func TestRows(t *testing.T) {
	full := ubl.Call{
		N: 7, At: 1234, Did: ubl.DidPortalCall, Server: "ev", Capability: "ev.echo", UserID: "u:1", IsService: true, Status: "error",
		Code: ubl.CodeConflict, DurationMS: 12, RequestID: "req:1", Parent: "req:0",
		Usage: &ubl.Usage{
			PromptTokens: 1, CompletionTokens: 2, CostMicros: 3, Provider: "a<b>&\u2028\"\\", Model: "größer\x01", Cached: true, Estimated: true,
		},
		Receipt: &ubl.Receipt{Shard: "0", Seq: 9, CID: "c:a", HeadHash: "h:b", Time: 5678},
	}
	for _, v := range []reflect.Value{reflect.ValueOf(full), reflect.ValueOf(*full.Usage), reflect.ValueOf(*full.Receipt)} {
		for i := range v.NumField() {
			if v.Field(i).IsZero() {
				t.Errorf("the full row lacks %s, so nothing here checks it", v.Type().Field(i).Name)
			}
		}
	}
	plain, bare := full, full
	plain.Usage = nil
	bare.Usage, bare.Receipt, bare.Code, bare.Parent = nil, nil, "", ""
	for name, row := range map[string]ubl.Call{"full": full, "without usage": plain, "of our own tools": bare, "empty": {}} {
		stored := encodeRow(row)
		usual, err := json.Marshal(row)
		if err != nil {
			t.Fatal(err)
		}
		want, err := ubl.Canonical(usual)
		if err != nil {
			t.Fatal(err)
		}
		if stored[0] != rowVersion || string(stored[1:]) != string(want) {
			t.Errorf("%s: stored as\n%s, want\n%s", name, stored[1:], want)
		}
		if back, err := decodeRow(stored); err != nil || !reflect.DeepEqual(back, row) {
			t.Errorf("%s: came back as %+v, %v", name, back, err)
		}
	}
}
