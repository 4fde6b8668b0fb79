package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"sync"
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

// TestAsOf: what is asked for as it was is asked of the server so, the tenant and lists of
// documents too.
func TestAsOf(t *testing.T) {
	var mu sync.Mutex
	var asked []string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		asked = append(asked, strings.TrimPrefix(r.URL.RequestURI(), "/api/"))
		fmt.Fprint(w, `{"container":{"container_id":"t:a.b","agreement_id":"a:tenant:t:a.b","kind":"tenant","members":7},`+
			`"agreement":{"id":"a:tenant:t:a.b"},"documents":[],"next_cursor":null}`)
	}))
	defer s.Close()
	for _, c := range []struct {
		args []string
		want string
		says string
	}{
		{[]string{"show", "t:a.b", "--as-of", "6"}, "containers/t:a.b?as_of=6 agreements/a:tenant:t:a.b?as_of=6", "members    7"},
		{[]string{"show", "w:plans", "--as-of", "6"}, "containers/w:plans?as_of=6 agreements/a:tenant:t:a.b?as_of=6", ""},
		{[]string{"doc", "list", "--as-of", "6"}, "workspaces/w:general/documents?limit=100&as_of=6", ""},
		{[]string{"doc", "list", "--as-of", "6h"}, "", "--as-of is neither"},
		{[]string{"show", "general", "--as-of", "6h"}, "", "--as-of is neither"},
	} {
		asked = nil
		_, out, errs := run(t, s.URL, "", c.args...)
		if got := strings.Join(asked, " "); got != c.want || !strings.Contains(out+errs, c.says) {
			t.Errorf("%v asks %q, want %q, and says %s%s", c.args, got, c.want, out, errs)
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
