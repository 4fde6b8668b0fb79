package e2e

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"text/tabwriter"
	"time"

	"ubl/test/poll"
)

// mandated says what agents may do, over every way in. All are members of both rooms and both
// workspaces. The first has no mandate. The others are there for one room and one workspace, to
// read alone, and for the messenger in one room and nothing else.
const mandated = `
what                  member  placed  read-only  one room
who it is             yes     yes     yes        yes
its mandate           -       yes     yes        yes
room inside, look     yes     yes     yes        no
room inside, read     yes     yes     yes        yes
room inside, stream   yes     yes     yes        yes
room inside, write    yes     yes     no         yes
room outside, look    yes     no      yes        no
room outside, read    yes     no      yes        no
room outside, stream  yes     no      yes        no
room outside, write   yes     no      no         no
work inside, look     yes     yes     yes        no
work inside, read     yes     yes     yes        no
work inside, write    yes     yes     no         no
work outside, look    yes     no      yes        no
work outside, read    yes     no      yes        no
work outside, write   yes     no      no         no
bring it outside      yes     no      no         no
bring it inside       yes     no      no         no
its places            yes     yes     yes        no
the rooms             yes     yes     yes        yes
new places            yes     no      no         no
the ledger            yes     no      yes        no
the tenant            yes     no      yes        no
credentials           no      no      no         no
`

// TestMandated holds every transport against one table.
func TestMandated(t *testing.T) {
	n := newNode(t)
	ana := n.bearer("ana", n.token("ana@ours.example"))
	room := func(name string) string {
		return told(t, ana, "POST", "/api/rooms", fmt.Sprintf(`{"name":%q}`, name), "room", "room_id")
	}
	work := func(name string) string {
		return told(t, ana, "POST", "/api/workspaces", fmt.Sprintf(`{"name":%q}`, name), "workspace", "container_id")
	}
	inside, outside, workInside, workOutside := room("inside"), room("outside"), work("in"), work("out")
	columns := []string{"member", "placed", "read-only", "one room"}
	callers, clients := map[string]*agent{}, map[string]string{}
	for name, mandate := range map[string]string{
		"member":    `null`,
		"placed":    fmt.Sprintf(`{"places":[%q,%q]}`, inside, workInside),
		"read-only": `{"read_only":true}`,
		"one room":  fmt.Sprintf(`{"tools":["messenger.*"],"places":[%q]}`, inside),
	} {
		callers[name], clients[name] = n.service(t, ana, name, mandate)
		user := told(t, callers[name], "GET", "/api/whoami", "", "identity", "user_id")
		for _, place := range []string{"rooms/" + inside, "rooms/" + outside, "containers/" + workInside, "containers/" + workOutside} {
			told(t, ana, "POST", "/api/"+place+"/members", fmt.Sprintf(`{"user_id":%q}`, user))
		}
	}
	told(t, ana, "POST", "/api/rooms/"+outside+"/messages", `{"type":"text","body":{"text":"of others alone"}}`)
	doc := map[string]string{}
	for _, w := range []string{workInside, workOutside} {
		doc[w] = told(t, ana, "POST", "/api/workspaces/"+w+"/documents", `{"title":"Plan","content":"All of it"}`, "document", "document_id")
	}
	var rows []string
	for _, act := range actsOfMandates(inside, outside, workInside, workOutside, doc) {
		row := act.name
		for _, name := range columns {
			var said []string
			for _, by := range act.ways {
				status, answer := by(callers[name])
				is := verdict(t, status, answer)
				if act.name == "its mandate" && !strings.Contains(answer, `"mandate":{`) {
					is = "-"
				}
				if len(said) == 0 || said[len(said)-1] != is {
					said = append(said, is)
				}
				if strings.Contains(answer, "of others alone") && !strings.Contains(act.name, "outside") && name != "member" && name != "read-only" {
					t.Errorf("%s hears of what is outside: %s", name, answer)
				}
			}
			row += "\t" + strings.Join(said, "/")
		}
		rows = append(rows, row)
	}
	var got strings.Builder
	w := tabwriter.NewWriter(&got, 0, 8, 2, ' ', 0)
	fmt.Fprintf(w, "what\t%s\n%s\n", strings.Join(columns, "\t"), strings.Join(rows, "\n"))
	w.Flush()
	if g, want := got.String(), strings.TrimPrefix(mandated, "\n"); g != want {
		t.Errorf("agents may\n%s\nwant\n%s", g, want)
	}
	narrowed(t, ana, callers["placed"], clients["placed"], inside, outside)
}

// actsOfMandates are the rows.
func actsOfMandates(inside, outside, workInside, workOutside string, doc map[string]string) []act {
	of := func(name, id string) []act {
		room := "/api/rooms/" + id
		return []act{
			{"room " + name + ", look", []way{rest("GET", room, ""), rest("GET", room+"/members", ""), tool("room.get", `{"room_id":%q}`, id)}},
			{"room " + name + ", read", []way{
				rest("GET", room+"/history", ""), rest("GET", room+"/entries", ""), tool("messenger.history", `{"room_id":%q}`, id), resource("ubl://rooms/" + id),
			}},
			{"room " + name + ", stream", []way{
				rest("GET", "/api/events/rooms/"+id, ""), tool("messenger.stream_room", `{"room_id":%q,"seconds":1}`, id),
			}},
			{"room " + name + ", write", []way{
				rest("POST", room+"/messages", `{"type":"text","body":{"text":"hi"}}`), rest("POST", room+"/entries", `{"body":{"content_type":"text/plain","bytes":"aGk="}}`),
				tool("messenger.send", `{"room_id":%q,"type":"text","body":{"text":"hi"}}`, id),
			}},
		}
	}
	in := func(name, id string) []act {
		work := "/api/workspaces/" + id
		return []act{
			{"work " + name + ", look", []way{rest("GET", "/api/containers/"+id, ""), rest("GET", "/api/agreements/a:workspace:"+id, ""), tool("container.get", `{"container_id":%q}`, id)}},
			{"work " + name + ", read", []way{
				rest("GET", work+"/documents", ""), rest("GET", work+"/documents/"+doc[id], ""), rest("GET", work+"/search?query=plan", ""), rest("GET", work+"/files", ""),
				tool("office.document.get", `{"workspace_id":%q,"document_id":%q}`, id, doc[id]), resource("ubl://documents/" + id + "/" + doc[id]),
			}},
			{"work " + name + ", write", []way{
				rest("POST", work+"/documents", `{"title":"More","content":"More of it"}`), rest("POST", work+"/files", `{"name":"more.txt","text":"More of it"}`),
				rest("POST", work+"/uploads", `{"name":"more.txt","bytes":10}`),
				tool("office.document.update", `{"workspace_id":%q,"document_id":%q,"content":"Less of it"}`, id, doc[id]),
			}},
		}
	}
	bring := func(from, to string) []way {
		return []way{
			rest("POST", "/api/containers/"+from+"/transfer", fmt.Sprintf(`{"to":%q,"document_id":%q}`, to, doc[from])),
			tool("container.transfer", `{"container_id":%q,"to":%q,"document_id":%q}`, from, to, doc[from]),
		}
	}
	rows := []act{
		{"who it is", []way{rest("GET", "/api/whoami", ""), tool("user.whoami", `{}`)}},
		{"its mandate", []way{rest("GET", "/api/whoami", "")}},
	}
	rows = append(append(append(append(rows, of("inside", inside)...), of("outside", outside)...), in("inside", workInside)...), in("outside", workOutside)...)
	return append(rows,
		act{"bring it outside", bring(workInside, workOutside)},
		act{"bring it inside", bring(workOutside, workInside)},
		act{"its places", []way{rest("GET", "/api/containers", ""), rest("GET", "/api/workspaces", ""), tool("container.list", `{}`)}},
		act{"the rooms", []way{rest("GET", "/api/rooms", ""), rest("GET", "/api/rooms?details=true", ""), tool("messenger.list_rooms", `{}`), rest("GET", "/api/events", "")}},
		act{"new places", []way{rest("POST", "/api/rooms", `{"name":"new"}`), rest("POST", "/api/workspaces", `{"name":"new"}`), tool("room.create", `{"name":"new"}`)}},
		act{"the ledger", []way{
			rest("GET", "/api/atoms?limit=1", ""), rest("GET", "/api/ledger/head", ""), rest("GET", "/api/receipts/1", ""), exported,
			tool("ledger.atoms", `{"limit":1}`), tool("receipt.get", `{"seq":1}`), resource("ubl://receipts/1"),
		}},
		act{"the tenant", []way{rest("GET", "/api/tenant", ""), rest("GET", "/api/tenant/members", ""), rest("GET", "/api/agreements/a:tenant:t:ours.example", ""), tool("tenant.get", `{}`)}},
		act{"credentials", []way{
			rest("POST", "/api/service-tokens", `{"name":"free"}`), rest("GET", "/api/service-tokens", ""), tool("token.create", `{"name":"free"}`),
			rest("POST", "/api/invitations", `{"email":"new@else.example"}`),
		}},
	)
}

// exported asks for the whole ledger, and keeps its first line: the refusals in it are others'.
func exported(a *agent) (int, string) {
	status, answer := a.ask("GET", "/api/export", "")
	first, _, _ := strings.Cut(answer, "\n")
	return status, first
}

// service is a program with a service token of its own, bound by a mandate (JSON).
func (n *node) service(t *testing.T, owner *agent, name, mandate string) (a *agent, clientID string) {
	t.Helper()
	var made struct {
		Token struct {
			ClientID string `json:"client_id"`
		} `json:"service_token"`
		Secret string `json:"client_secret"`
	}
	body := fmt.Sprintf(`{"name":%q}`, name)
	if mandate != "null" {
		body = fmt.Sprintf(`{"name":%q,"mandate":%s}`, name, mandate)
	}
	status, answer := owner.ask("POST", "/api/service-tokens", body)
	if err := json.Unmarshal([]byte(answer), &made); err != nil || status != 201 {
		t.Fatalf("the token of %s is %d %s", name, status, answer)
	}
	return n.agent(name, "CF-Access-Client-Id", made.Token.ClientID, "CF-Access-Client-Secret", made.Secret), made.Token.ClientID
}

// narrowed: an open stream of an agent ends when its mandate is changed, and the agent is held to the
// new one from its next request on.
func narrowed(t *testing.T, ana, bot *agent, clientID, inside, outside string) {
	t.Helper()
	s := bot.opens("/api/events")
	late := told(t, ana, "POST", "/api/rooms", `{"name":"late"}`, "room", "room_id")
	user := told(t, bot, "GET", "/api/whoami", "", "identity", "user_id")
	told(t, ana, "POST", "/api/rooms/"+late+"/members", fmt.Sprintf(`{"user_id":%q}`, user))
	told(t, ana, "POST", "/api/rooms/"+late+"/messages", `{"type":"text","body":{"text":"not for the agent either"}}`)
	told(t, ana, "POST", "/api/rooms/"+outside+"/messages", `{"type":"text","body":{"text":"not for the agent"}}`)
	told(t, ana, "POST", "/api/rooms/"+inside+"/messages", `{"type":"text","body":{"text":"this is its own"}}`)
	poll.Until(t, "the agent hears of its room", func() bool { return s.has("this is its own") })
	if s.has("not for the agent") || s.has(late) {
		t.Error("the agent hears of a room outside its places")
	}
	told(t, ana, "PUT", "/api/service-tokens/"+clientID+"/mandate", fmt.Sprintf(`{"places":[%q],"read_only":true}`, inside))
	select {
	case <-s.done:
	case <-time.After(patience):
		t.Error("the stream goes on under the mandate before")
	}
	if status, answer := bot.ask("POST", "/api/rooms/"+inside+"/messages", `{"type":"text","body":{"text":"hi"}}`); status != 403 {
		t.Errorf("read-only it writes: %d %s", status, answer)
	}
	if status, answer := bot.ask("GET", "/api/rooms/"+inside+"/history", ""); status != 200 {
		t.Errorf("read-only it can't read: %d %s", status, answer)
	}
}
