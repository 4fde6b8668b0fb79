package main

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"

	"ubl"
)

// TestShowTellsEverySetting: "ubl show" says something else of a room for each field of its
// policy.
func TestShowTellsEverySetting(t *testing.T) {
	text := func(policy ubl.RoomPolicy) string {
		room, err := json.Marshal(ubl.Room{Policy: policy})
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		is := shown{Room: room, Agreement: []byte("{}")}
		if err := is.print(t.Context(), &program{out: &out}, nil, ""); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	for f := range reflect.TypeFor[ubl.RoomPolicy]().Fields() {
		var policy ubl.RoomPolicy
		switch field := reflect.ValueOf(&policy).Elem().FieldByIndex(f.Index); field.Kind() {
		case reflect.Bool:
			field.SetBool(true)
		case reflect.String:
			field.SetString(ubl.JoinTenant)
		default:
			field.SetInt(7)
		}
		if text(policy) == text(ubl.RoomPolicy{}) {
			t.Errorf("it says nothing of %s", f.Name)
		}
	}
}

// TestRoomIsMadeAsAsked: "ubl room create" asks for other physics where a flag says so, and for
// none where none does.
func TestRoomIsMadeAsAsked(t *testing.T) {
	for _, test := range []struct {
		create roomCreateCmd
		want   map[string]any
	}{
		{roomCreateCmd{Name: "Plans"}, map[string]any{"name": "Plans"}},
		{roomCreateCmd{Name: "Plans", Permeability: "gated"}, map[string]any{"name": "Plans", "physics": ubl.Physics{
			Fungibility: ubl.Versioned, Topology: ubl.Objects, Permeability: ubl.Gated, Execution: ubl.Sandboxed,
		}}},
		{roomCreateCmd{Name: "Plans", Permeability: "sealed", Execution: "disabled"}, map[string]any{"name": "Plans", "physics": ubl.Physics{
			Fungibility: ubl.Versioned, Topology: ubl.Objects, Permeability: ubl.Sealed, Execution: ubl.Disabled,
		}}},
	} {
		got := test.create.body()
		if !reflect.DeepEqual(got, test.want) {
			t.Errorf("asked is %v, want %v", got, test.want)
		}
		if physics, ok := got["physics"].(ubl.Physics); ok && ubl.CheckRoomPhysics(physics) != nil {
			t.Errorf("no room can have %v", physics)
		}
	}
}
