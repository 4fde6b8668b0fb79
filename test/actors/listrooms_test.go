package actors_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"ubl"
	"ubl/actors"
	"ubl/test/harness"
)

// overloaded is a Room that takes nothing.
type overloaded struct{}

func (overloaded) Receive(t *actors.Turn, _ ubl.Command) {
	t.Fail(ubl.Errorf(ubl.CodeUnavailable, "too much is waiting for this room"))
}

// listed are the rooms of a list, with what a member is told of each.
func listed(rooms []ubl.RoomEntry) string {
	var said []string
	for _, r := range rooms {
		s := string(r.RoomID)
		if r.LastMessage != nil {
			s += fmt.Sprint(" ", r.LastSeq)
		}
		if r.Failed != "" {
			s += fmt.Sprintf(" (%s: %s)", r.Failed, r.FailedWhy)
		}
		said = append(said, s)
	}
	return strings.Join(said, ", ")
}

// TestPagesOfRooms: a page of the caller's rooms asks the rooms that are on it,
// and no other.
func TestPagesOfRooms(t *testing.T) {
	h := harness.Open(t, harness.Options{})
	ana := harness.User("ana@example.com")
	h.Enter(ana)
	tenant := ubl.TenantName(ana.TenantID)
	for _, name := range []string{"a", "b", "c", "d"} {
		harness.Must[*ubl.RoomSummary](h, tenant, ubl.CreateRoom{Request: h.Request(ana), Name: name})
	}
	for _, page := range []struct {
		after ubl.RoomID
		limit int
		want  string
		asked int64
	}{
		{"", 0, "r:a 1, r:b 1, r:c 1, r:d 1, r:general 1", 5},
		{"", 2, "r:a 1, r:b 1", 2},
		{"r:b", 2, "r:c 1, r:d 1", 2},
		{"r:bb", 1, "r:c 1", 1}, // a room that is not there any more
		{"r:c", 9, "r:d 1, r:general 1", 2},
		{"r:general", 2, "", 0},
	} {
		h.Reload()
		harness.Must[[]ubl.RoomEntry](h, tenant, ubl.ListRooms{Who: ana})
		before := h.Stats().Active
		got := listed(harness.Must[[]ubl.RoomEntry](h, tenant, ubl.ListRooms{Who: ana, Details: true, After: page.after, Limit: page.limit}))
		if asked := h.Stats().Active - before; got != page.want || asked != page.asked {
			t.Errorf("%d after %q are %s, of %d rooms; want %s, of %d", page.limit, page.after, got, asked, page.want, page.asked)
		}
	}
}

// TestRoomThatCantBeAsked stays in the list, and says why it lacks what only it knows.
func TestRoomThatCantBeAsked(t *testing.T) {
	dir := t.TempDir()
	h := harness.Open(t, harness.Options{Dir: dir})
	ana := harness.User("ana@example.com")
	h.Enter(ana)
	tenant := ubl.TenantName(ana.TenantID)
	harness.Must[*ubl.RoomSummary](h, tenant, ubl.CreateRoom{Request: h.Request(ana), Name: "busy"})
	h.Close()
	h = harness.Open(t, harness.Options{Dir: dir, Families: []actors.Family{{
		Name: "busy", Owns: func(local string) bool { return local == "r:busy" },
		Open: func(context.Context, actors.Env) (actors.Actor, error) { return overloaded{}, nil },
	}}})
	if got := listed(harness.Must[[]ubl.RoomEntry](h, tenant, ubl.ListRooms{Who: ana, Details: true})); got != "r:busy (unavailable: too much is waiting for this room), r:general 1" {
		t.Errorf("the rooms are %s", got)
	}
}

// TestEndedRoomsSayIt: a room whose Agreement has ended stays in the list, and says so there and
// by itself.
func TestEndedRoomsSayIt(t *testing.T) {
	h := harness.Open(t, harness.Options{})
	ana := harness.User("ana@example.com")
	h.Enter(ana)
	tenant := ubl.TenantName(ana.TenantID)
	for _, name := range []string{"done", "goes on"} {
		harness.Must[*ubl.RoomSummary](h, tenant, ubl.CreateRoom{Request: h.Request(ana), Name: name})
	}
	harness.Must[*ubl.AgreementView](h, ubl.RoomName(ana.TenantID, "r:done"), ubl.EndAgreement{Request: h.Request(ana)})
	for range 2 { // and after a restart
		said := map[ubl.RoomID]string{}
		for _, r := range harness.Must[[]ubl.RoomEntry](h, tenant, ubl.ListRooms{Who: ana}) {
			said[r.RoomID] = r.Status
			room := harness.Must[*ubl.Room](h, ubl.RoomName(ana.TenantID, r.RoomID), ubl.GetRoom{Who: ana})
			if room.Status != r.Status {
				t.Errorf("%s says %q of itself, and is listed as %q", r.RoomID, room.Status, r.Status)
			}
		}
		if said["r:done"] != ubl.AgreementEnded || said["r:goes-on"] != "" || said["r:general"] != "" {
			t.Errorf("listed: %v", said)
		}
		h.Reload()
	}
}
