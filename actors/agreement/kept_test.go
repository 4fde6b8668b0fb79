package agreement

import (
	"maps"
	"reflect"
	"testing"

	"ubl"
)

// TestSharedAgreement: entries change in place, but for those that were handed
// out: what has been read stays as it was.
func TestSharedAgreement(t *testing.T) {
	a := Kept{Agreement: ubl.Agreement{Members: map[ubl.UserID]ubl.Member{"u:ana": {UserID: "u:ana", Role: ubl.RoleOwner}}}}
	steps := []func(){
		func() { a.Set(ubl.Member{UserID: "u:bob", Role: ubl.RoleMember}) },
		func() { a.Set(ubl.Member{UserID: "u:ana", Role: ubl.RoleMember}) },
		func() { a.Remove("u:ana") },
		func() { a.Remove("u:bob") },
	}
	for i, step := range steps {
		before := maps.Clone(a.Members)
		shared, view := a.Share(), a.View(nil)
		step()
		if !reflect.DeepEqual(shared.Members, before) || !reflect.DeepEqual(view.Agreement.Members, before) {
			t.Errorf("step %d changed what was handed out: %v and %v, want %v", i, shared.Members, view.Agreement.Members, before)
		}
		if reflect.DeepEqual(a.Members, before) {
			t.Errorf("step %d changed nothing", i)
		}
	}
	was := a.Members
	a.Set(ubl.Member{UserID: "u:cem", Role: ubl.RoleOwner})
	if _, ok := was["u:cem"]; !ok {
		t.Error("entries that nobody was handed are copied")
	}
}
