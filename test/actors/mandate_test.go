package actors_test

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"ubl"
	"ubl/actors/families"
	"ubl/test/harness"
)

// mandated makes an agent of ana's with a mandate, and is who comes in with it.
func mandated(w *tools, client string, m ubl.Mandate) ubl.Identity {
	w.t.Helper()
	harness.Must[*ubl.ServiceToken](w.House, w.tenant, ubl.CreateServiceToken{
		Request: w.Request(w.ana), Name: client, ClientID: client, SecretHash: client, Mandate: &m})
	return w.agent(client)
}

// agent is who comes in with a client's secret, and its mandate as it is now.
func (w *tools) agent(client string) ubl.Identity {
	w.t.Helper()
	who := harness.Must[*ubl.ServiceCaller](w.House, w.tenant, ubl.CheckServiceToken{ClientID: client, SecretHash: client}).Identity
	w.Enter(who)
	return who
}

// room makes one of ana's, with somebody in it.
func (w *tools) room(name string, with ...ubl.Identity) ubl.Name {
	w.t.Helper()
	id := harness.Must[*ubl.RoomSummary](w.House, w.tenant, ubl.CreateRoom{Request: w.Request(w.ana), Name: name}).RoomID
	room := ubl.RoomName(w.ana.TenantID, id)
	w.letIn(room, with...)
	return room
}

func (w *tools) letIn(place ubl.Name, with ...ubl.Identity) {
	w.t.Helper()
	for _, who := range with {
		member := ubl.Member{UserID: who.UserID, Role: ubl.RoleMember, IsService: true}
		harness.Must[*ubl.Member](w.House, place, ubl.AddMember{Request: w.Request(w.ana), Member: member})
	}
}

// TestNothingReachesAPlaceOutsideAMandate: every command of every family that says who asks
// is refused before its actor, whatever else it says, and whether the place is there or not.
func TestNothingReachesAPlaceOutsideAMandate(t *testing.T) {
	w := openTools(t, harness.Options{})
	inside := w.room("inside")
	w.room("outside")
	agent := mandated(w, "bot", ubl.Mandate{Places: []string{inside.Local()}})
	w.letIn(inside, agent)
	asked := 0
	for _, cmd := range families.All.Commands() {
		c := reflect.New(reflect.TypeOf(cmd)).Elem()
		who := c.FieldByName("Who")
		if !who.IsValid() || who.Type() != reflect.TypeFor[ubl.Identity]() {
			continue
		}
		asked++
		who.Set(reflect.ValueOf(agent))
		for _, place := range []string{"r:outside", "r:nowhere", "w:general", "k:nowhere", "ledger|0", "r:general|x"} {
			_, err := w.Ask(t.Context(), ubl.Name(string(w.ana.TenantID)+"|"+place), c.Interface().(ubl.Command))
			if ubl.CodeOf(err) != ubl.CodeForbidden {
				t.Errorf("%T reaches %s: %v", cmd, place, err)
			}
		}
	}
	if asked < 60 {
		t.Errorf("only %d commands were asked", asked)
	}
	harness.Must[*ubl.Room](w.House, inside, ubl.GetRoom{Who: agent})
}

// TestAMandateIsHeldAtTheDoor: which tools an agent may use, by mandate.
func TestAMandateIsHeldAtTheDoor(t *testing.T) {
	w := openTools(t, harness.Options{})
	w.set(ubl.SetToolAccess{Tool: "weather.get", Allowed: true})
	w.set(ubl.SetToolAccess{Tool: "room.update"})
	const reads, writes = false, true
	for name, test := range map[string]struct {
		mandate  ubl.Mandate
		tool     string
		acts     bool
		external bool
		want     ubl.Code
	}{
		"nothing bounds it":                        {ubl.Mandate{}, "room.create", writes, false, ""},
		"but the tenant does":                      {ubl.Mandate{}, "room.update", writes, false, ubl.CodeForbidden},
		"another server's, that the tenant opened": {ubl.Mandate{}, "weather.get", writes, true, ""},
		"another server's, that it didn't":         {ubl.Mandate{}, "weather.set", writes, true, ubl.CodeForbidden},
		"a tool that is named":                     {ubl.Mandate{Tools: []string{"messenger.send"}}, "messenger.send", writes, false, ""},
		"one that isn't":                           {ubl.Mandate{Tools: []string{"messenger.send"}}, "messenger.history", reads, false, ubl.CodeForbidden},
		"one of several":                           {ubl.Mandate{Tools: []string{"messenger.*"}}, "messenger.history", reads, false, ""},
		"one beside them":                          {ubl.Mandate{Tools: []string{"messenger.*"}}, "room.get", reads, false, ubl.CodeForbidden},
		"another server's by name":                 {ubl.Mandate{Tools: []string{"weather.*"}}, "weather.get", writes, true, ""},
		"another server's, not named":              {ubl.Mandate{Tools: []string{"messenger.*"}}, "weather.get", writes, true, ubl.CodeForbidden},
		"named, and closed by the tenant":          {ubl.Mandate{Tools: []string{"room.*"}}, "room.update", writes, false, ubl.CodeForbidden},
		"who it is":                                {ubl.Mandate{Tools: []string{"messenger.send"}}, "user.whoami", reads, false, ""},
		"its own Agreement":                        {ubl.Mandate{Tools: []string{"messenger.send"}}, "agreement.get", reads, false, ""},
		"a read, read-only":                        {ubl.Mandate{ReadOnly: true}, "messenger.history", reads, false, ""},
		"a write, read-only":                       {ubl.Mandate{ReadOnly: true}, "messenger.send", writes, false, ubl.CodeForbidden},
		"another server's, read-only":              {ubl.Mandate{ReadOnly: true}, "weather.get", reads, true, ubl.CodeForbidden},
		"a tool of a place, placed":                {ubl.Mandate{Places: []string{"r:general"}}, "messenger.send", writes, false, ""},
		"a new room, placed":                       {ubl.Mandate{Places: []string{"r:general"}}, "room.create", writes, false, ubl.CodeForbidden},
		"a new workspace, placed":                  {ubl.Mandate{Places: []string{"r:general"}}, "office.workspace.create", writes, false, ubl.CodeForbidden},
		"the ledger, placed":                       {ubl.Mandate{Places: []string{"r:general"}}, "ledger.atoms", reads, false, ubl.CodeForbidden},
		"a receipt, placed":                        {ubl.Mandate{Places: []string{"r:general"}}, "receipt.get", reads, false, ubl.CodeForbidden},
		"the portal's log, placed":                 {ubl.Mandate{Places: []string{"r:general"}}, "portal.log.list", reads, false, ubl.CodeForbidden},
		"the members, placed":                      {ubl.Mandate{Places: []string{"r:general"}}, "tenant.member.list", reads, false, ubl.CodeForbidden},
		"a family of its own, placed":              {ubl.Mandate{Places: []string{"r:general"}}, "counter.add", writes, false, ubl.CodeForbidden},
		"another server's, placed":                 {ubl.Mandate{Places: []string{"r:general"}}, "weather.get", writes, true, ""},
	} {
		t.Run(name, func(t *testing.T) {
			agent := mandated(w, "agent-of-"+clientNamed(name), test.mandate)
			head := w.head()
			_, err := w.Ask(t.Context(), w.tenant, ubl.Enter{Request: w.Request(agent), Act: test.acts, Tool: test.tool, External: test.external})
			if ubl.CodeOf(err) != test.want {
				t.Fatalf("answered %v, want %q", err, test.want)
			}
			if test.want == "" {
				return
			}
			under := ubl.AgentAgreement(agent.Subject)
			if test.mandate.May(ubl.Did(test.tool), test.acts, test.external) == nil {
				under = ubl.TenantAgreement(w.ana.TenantID)
				if test.tool == "room.update" {
					under = ubl.ToolAgreement(test.tool)
				}
			}
			if atoms := w.since(head); len(atoms) != 2 || atoms[0].Did != string(ubl.DidToolDeny) || atoms[0].AgreementID != string(under) {
				t.Errorf("the refusal left %+v, want it under %s", atoms, under)
			}
		})
	}
}

// clientNamed is a text as a client id may have it.
func clientNamed(s string) string {
	b := []byte(s)
	for i, c := range b {
		if c < 'a' || c > 'z' {
			b[i] = '-'
		}
	}
	return string(b)
}

// TestAMandateCountsAllTools together, in a minute.
func TestAMandateCountsAllTools(t *testing.T) {
	w := openTools(t, harness.Options{})
	agent := mandated(w, "bot", ubl.Mandate{PerMinute: 3})
	for i, tool := range []string{"messenger.send", "room.get", "user.whoami"} {
		if code := w.use(agent, tool, false); code != "" {
			t.Errorf("use %d is refused: %s", i, code)
		}
	}
	if code := w.use(agent, "messenger.history", false); code != ubl.CodeRateLimited {
		t.Errorf("the fourth is answered %q", code)
	}
	if _, err := w.Ask(t.Context(), w.tenant, ubl.Enter{Request: w.Request(agent), Tool: "messenger.stream_room", Still: true}); err != nil {
		t.Errorf("what goes on is counted: %v", err)
	}
	w.Clock.Add(20 * time.Second)
	if code := w.use(agent, "room.get", false); code != "" {
		t.Errorf("after a third of a minute: %s", code)
	}
}

// TestReadOnlyIsHeldAtTheSeat: what an agent that only reads asks of its own rooms and
// workspaces, by no tool, changes nothing there.
func TestReadOnlyIsHeldAtTheSeat(t *testing.T) {
	w := openTools(t, harness.Options{})
	room := w.room("plans")
	space := ubl.ContainerName(w.ana.TenantID, ubl.GeneralWorkspace)
	agent := mandated(w, "bot", ubl.Mandate{ReadOnly: true})
	w.letIn(room, agent)
	w.letIn(space, agent)
	doc := w.write(space, "Plan", "All of it")
	harness.Must[*ubl.HistoryPage](w.House, room, ubl.ReadHistory{Who: agent, Limit: 10})
	before := w.head()
	harness.Must[*ubl.DocumentResult](w.House, space, ubl.GetDocument{Request: w.Request(agent), DocumentID: doc})
	if w.head() == before {
		t.Error("a look leaves no receipt")
	}
	before = w.head()
	w.Refused(ubl.CodeForbidden, room, ubl.SendMessage{Request: w.Request(agent), Text: "hi"})
	w.Refused(ubl.CodeForbidden, space, ubl.CreateDocument{Request: w.Request(agent), Title: "Plan", Content: "More"})
	w.Refused(ubl.CodeForbidden, w.tenant, ubl.CreateRoom{Request: w.Request(agent), Name: "new"})
	if w.head() != before {
		t.Error("a refused act is in the ledger")
	}
}

// TestATransferStaysWithinAMandate: what an agent would bring out of its places is refused
// before the source lets it go, and what comes from outside at the source.
func TestATransferStaysWithinAMandate(t *testing.T) {
	w := openTools(t, harness.Options{})
	inside, beside, outside := w.found("wallet", "inside", ""), w.found("wallet", "beside", ""), w.found("wallet", "outside", "")
	agent := mandated(w, "bot", ubl.Mandate{Places: []string{inside.Local(), beside.Local()}})
	for _, wallet := range []ubl.Name{inside, beside, outside} {
		w.letIn(wallet, agent)
		harness.Must[*ubl.Member](w.House, wallet, ubl.SetMember{Request: w.Request(w.ana), UserID: agent.UserID, Role: ubl.RoleOwner})
		w.issue(wallet, 100)
	}
	send := func(to ubl.Name) ubl.Transfer {
		return ubl.Transfer{Request: w.Request(agent), To: id(to), Amount: 10}
	}
	harness.Must[*ubl.TransferResult](w.House, inside, send(beside))
	before := w.head()
	w.Refused(ubl.CodeForbidden, inside, send(outside))
	w.Refused(ubl.CodeForbidden, outside, send(inside))
	w.Alarms()
	if a, b, c := w.look(inside).Balance, w.look(beside).Balance, w.look(outside).Balance; a != 90 || b != 110 || c != 100 || w.head() != before {
		t.Errorf("the wallets have %d, %d and %d", a, b, c)
	}
}

// TestAnAgentSeesItsPlaces: lists of the tenant show an agent with places those alone.
func TestAnAgentSeesItsPlaces(t *testing.T) {
	w := openTools(t, harness.Options{})
	inside, outside := w.room("inside"), w.room("outside")
	agent := mandated(w, "bot", ubl.Mandate{Places: []string{inside.Local(), string(ubl.GeneralWorkspace)}})
	w.letIn(inside, agent)
	w.letIn(outside, agent)
	rooms := harness.Must[[]ubl.RoomEntry](w.House, w.tenant, ubl.ListRooms{Who: agent, Details: true})
	if len(rooms) != 1 || string(rooms[0].RoomID) != inside.Local() || rooms[0].LastSeq == 0 {
		t.Errorf("it sees the rooms %+v", rooms)
	}
	if list := harness.Must[*ubl.ContainerList](w.House, w.tenant, ubl.ListContainers{Request: w.Request(agent)}); len(list.Containers) != 1 {
		t.Errorf("it sees the containers %+v", list.Containers)
	}
	for _, cmd := range []ubl.Command{
		ubl.CreateRoom{Request: w.Request(agent), Name: "new"},
		ubl.CreateContainer{Request: w.Request(agent), Kind: "workspace", Name: "new"},
		ubl.GetAgreement{Who: agent},
		ubl.GetContainer{Who: agent},
		ubl.ListMembers{Who: agent},
	} {
		w.Refused(ubl.CodeForbidden, w.tenant, cmd)
	}
	general := harness.Must[*ubl.AgreementView](w.House, ubl.RoomName(w.ana.TenantID, ubl.GeneralRoom), ubl.GetAgreement{Who: w.ana, Brief: true})
	if slices.ContainsFunc(general.Members, func(m ubl.Member) bool { return m.UserID == agent.UserID }) {
		t.Error("it was welcomed to a room outside its places")
	}
}
