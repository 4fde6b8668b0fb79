package e2e

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"
)

// allowed says who may do what in places of each permeability, and of other physics where these make
// a difference: yes; no, in words; or "hidden", as if there were no such place. An owner has made the place, a
// moderator, an entry and an agent were added to it, a colleague is a member of the tenant without an entry, a
// stranger of another tenant, and nobody has no credential. What is edited, reacted to, pinned and redacted in
// rooms is the entry's. Who is removed has been let in before.
const allowed = `
place                    act        owner   moderator  entry   agent   colleague  stranger  nobody
sealed container         look       yes     -          yes     yes     hidden     hidden    401
sealed container         read       yes     -          yes     yes     hidden     hidden    401
sealed container         as anyone  hidden  -          hidden  hidden  hidden     hidden    hidden
sealed container         write      no      -          no      no      hidden     hidden    401
sealed container         delete     no      -          no      no      hidden     hidden    401
sealed container         carry out  no      -          no      no      hidden     hidden    401
sealed container         set roles  yes     -          no      no      hidden     hidden    401
sealed container         remove     yes     -          no      no      hidden     hidden    401
sealed container         set terms  yes     -          no      no      hidden     hidden    401
sealed container         end        yes     -          no      no      hidden     hidden    401
gated container          look       yes     -          yes     yes     hidden     hidden    401
gated container          read       yes     -          yes     yes     hidden     hidden    401
gated container          as anyone  hidden  -          hidden  hidden  hidden     hidden    hidden
gated container          write      yes     -          yes     yes     hidden     hidden    401
gated container          delete     yes     -          yes     yes     hidden     hidden    401
gated container          carry out  yes     -          no      no      hidden     hidden    401
gated container          set roles  yes     -          no      no      hidden     hidden    401
gated container          remove     yes     -          no      no      hidden     hidden    401
gated container          set terms  yes     -          no      no      hidden     hidden    401
gated container          end        yes     -          no      no      hidden     hidden    401
collaborative container  look       yes     -          yes     yes     hidden     hidden    401
collaborative container  read       yes     -          yes     yes     hidden     hidden    401
collaborative container  as anyone  hidden  -          hidden  hidden  hidden     hidden    hidden
collaborative container  write      yes     -          yes     yes     hidden     hidden    401
collaborative container  delete     yes     -          yes     yes     hidden     hidden    401
collaborative container  carry out  yes     -          yes     yes     hidden     hidden    401
collaborative container  set roles  yes     -          no      no      hidden     hidden    401
collaborative container  remove     yes     -          no      no      hidden     hidden    401
collaborative container  set terms  yes     -          no      no      hidden     hidden    401
collaborative container  end        yes     -          no      no      hidden     hidden    401
open container           look       yes     -          yes     yes     yes        hidden    401
open container           read       yes     -          yes     yes     yes        hidden    401
open container           as anyone  hidden  -          hidden  hidden  hidden     hidden    hidden
open container           write      yes     -          yes     yes     yes        hidden    401
open container           delete     yes     -          yes     yes     yes        hidden    401
open container           carry out  yes     -          yes     yes     yes        hidden    401
open container           set roles  yes     -          no      no      no         hidden    401
open container           remove     yes     -          no      no      no         hidden    401
open container           set terms  yes     -          no      no      no         hidden    401
open container           end        yes     -          no      no      no         hidden    401
public container         look       yes     -          yes     yes     yes        hidden    401
public container         read       yes     -          yes     yes     yes        hidden    401
public container         as anyone  yes     -          yes     yes     yes        yes       yes
public container         write      yes     -          yes     yes     yes        hidden    401
public container         delete     yes     -          yes     yes     yes        hidden    401
public container         carry out  yes     -          yes     yes     yes        hidden    401
public container         set roles  yes     -          no      no      no         hidden    401
public container         remove     yes     -          no      no      no         hidden    401
public container         set terms  yes     -          no      no      no         hidden    401
public container         end        yes     -          no      no      no         hidden    401
strict container         look       yes     -          yes     yes     hidden     hidden    401
strict container         write      yes     -          yes     yes     hidden     hidden    401
strict container         carry out  yes     -          no      no      hidden     hidden    401
transient, gated         look       yes     -          yes     yes     hidden     hidden    401
transient, gated         write      no      -          no      no      hidden     hidden    401
transient, gated         carry out  yes     -          no      no      hidden     hidden    401
transient, open          look       yes     -          yes     yes     yes        hidden    401
transient, open          write      no      -          no      no      no         hidden    401
transient, open          carry out  yes     -          yes     yes     yes        hidden    401
sealed room              look       yes     no         no      no      no         hidden    401
sealed room              read       yes     no         no      no      no         hidden    401
sealed room              write      no      no         no      no      no         hidden    401
sealed room              edit       hidden  no         no      no      no         hidden    401
sealed room              react      hidden  no         no      no      no         hidden    401
sealed room              pin        hidden  no         no      no      no         hidden    401
sealed room              redact     hidden  no         no      no      no         hidden    401
sealed room              poll       no      no         no      no      no         hidden    401
sealed room              invite     no      no         no      no      no         hidden    401
sealed room              remove     hidden  no         no      no      no         hidden    401
sealed room              set terms  yes     no         no      no      no         hidden    401
sealed room              end        yes     no         no      no      no         hidden    401
gated room               look       yes     yes        yes     yes     no         hidden    401
gated room               read       yes     yes        yes     yes     no         hidden    401
gated room               write      yes     yes        yes     yes     no         hidden    401
gated room               edit       no      no         yes     no      no         hidden    401
gated room               react      yes     yes        yes     yes     no         hidden    401
gated room               pin        yes     yes        yes     yes     no         hidden    401
gated room               redact     yes     yes        yes     no      no         hidden    401
gated room               poll       yes     yes        yes     yes     no         hidden    401
gated room               invite     yes     no         no      no      no         hidden    401
gated room               remove     yes     yes        no      no      no         hidden    401
gated room               set terms  yes     no         no      no      no         hidden    401
gated room               end        yes     no         no      no      no         hidden    401
collaborative room       look       yes     yes        yes     yes     no         hidden    401
collaborative room       read       yes     yes        yes     yes     no         hidden    401
collaborative room       write      yes     yes        yes     yes     no         hidden    401
collaborative room       edit       no      no         yes     no      no         hidden    401
collaborative room       react      yes     yes        yes     yes     no         hidden    401
collaborative room       pin        yes     yes        yes     yes     no         hidden    401
collaborative room       redact     yes     yes        yes     no      no         hidden    401
collaborative room       poll       yes     yes        yes     yes     no         hidden    401
collaborative room       invite     yes     no         no      no      no         hidden    401
collaborative room       remove     yes     yes        no      no      no         hidden    401
collaborative room       set terms  yes     no         no      no      no         hidden    401
collaborative room       end        yes     no         no      no      no         hidden    401
`

// roles are the columns of the table.
var roles = []string{"owner", "moderator", "entry", "agent", "colleague", "stranger", "nobody"}

// way is one way to do an act: what a caller is answered, over one transport.
type way func(a *agent) (status int, answer string)

func rest(method, path, body string) way {
	return func(a *agent) (int, string) { return a.ask(method, path, body) }
}

func tool(name, format string, args ...any) way {
	return func(a *agent) (int, string) { return a.tool(name, fmt.Sprintf(format, args...)) }
}

func resource(uri string) way {
	return func(a *agent) (int, string) { return a.call("resources/read", fmt.Sprintf(`{"uri":%q}`, uri)) }
}

// act is one row of a place: all ways that lead to it.
type act struct {
	name string
	ways []way
}

// TestAllowed holds every transport against one table.
func TestAllowed(t *testing.T) {
	n := newNode(t)
	callers := map[string]*agent{"nobody": n.agent("nobody")}
	for role, email := range map[string]string{"owner": "ana", "moderator": "mia", "entry": "bob", "colleague": "cleo", "guest": "gus"} {
		callers[role] = n.bearer(role, n.token(email+"@ours.example"))
	}
	callers["stranger"] = n.bearer("stranger", n.token("eve@theirs.example"))
	ana := callers["owner"]
	ids := map[string]string{}
	for _, role := range []string{"owner", "moderator", "entry", "colleague", "guest", "stranger"} {
		ids[role] = told(t, callers[role], "GET", "/api/whoami", "", "identity", "user_id")
	}
	var bot struct {
		Token struct {
			ClientID string `json:"client_id"`
			UserID   string `json:"user_id"`
		} `json:"service_token"`
		Secret string `json:"client_secret"`
	}
	_, made := ana.ask("POST", "/api/service-tokens", `{"name":"bot"}`)
	must(t, json.Unmarshal([]byte(made), &bot))
	callers["agent"], ids["agent"] = n.agent("agent", "CF-Access-Client-Id", bot.Token.ClientID, "CF-Access-Client-Secret", bot.Secret), bot.Token.UserID

	unmoderated := maps.Clone(callers) // containers know no moderators
	delete(unmoderated, "moderator")
	var rows []string
	for _, p := range []string{"sealed", "gated", "collaborative", "open", "public"} {
		rows = append(rows, table(t, p+" container", unmoderated, inContainer(t, ana, p, ids))...)
	}
	rows = append(rows, table(t, "strict container", unmoderated, inStrict(t, ana, ids))...)
	for _, p := range []string{"gated", "open"} {
		rows = append(rows, table(t, "transient, "+p, unmoderated, inTransient(t, ana, p, ids))...)
	}
	for _, p := range []string{"sealed", "gated", "collaborative"} {
		rows = append(rows, table(t, p+" room", callers, inRoom(t, callers, p, ids))...)
	}
	var got strings.Builder
	w := tabwriter.NewWriter(&got, 0, 8, 2, ' ', 0)
	fmt.Fprintf(w, "place\tact\t%s\n%s\n", strings.Join(roles, "\t"), strings.Join(rows, "\n"))
	w.Flush()
	if g, want := got.String(), strings.TrimPrefix(allowed, "\n"); g != want {
		t.Errorf("what is allowed is\n%s\nwant\n%s", g, want)
	}
}

// table has everyone try every act, in every way. Ways that disagree are told apart. Owners come
// last: what they end is there for the others until then.
func table(t *testing.T, place string, callers map[string]*agent, acts []act) (rows []string) {
	t.Helper()
	for _, do := range acts {
		row := []string{place, do.name}
		for _, role := range slices.Backward(roles) {
			var said []string
			if callers[role] == nil {
				row = slices.Insert(row, 2, "-")
				continue
			}
			for _, by := range do.ways {
				status, answer := by(callers[role])
				if is := verdict(t, status, answer); !slices.Contains(said, is) {
					said = append(said, is)
				}
			}
			row = slices.Insert(row, 2, strings.Join(said, "/"))
		}
		rows = append(rows, strings.Join(row, "\t"))
	}
	return rows
}

// verdict is what an answer comes to, over REST or MCP.
func verdict(t *testing.T, status int, answer string) string {
	t.Helper()
	switch {
	case status == http.StatusUnauthorized:
		return "401"
	case status < 300 && !failed(status, answer), strings.Contains(answer, "conflict"): // it is so already, and was allowed
		return "yes"
	}
	for _, code := range []string{"forbidden", "not_a_member"} {
		if strings.Contains(answer, code) {
			return "no"
		}
	}
	if strings.Contains(answer, "not_found") {
		return "hidden"
	}
	return fmt.Sprintf("%d %s", status, answer)
}

// told is one member of an answer that must be a good one.
func told(t *testing.T, a *agent, method, path, body string, members ...string) string {
	t.Helper()
	status, answer := a.ask(method, path, body)
	if status >= 300 {
		t.Fatalf("%s: %s %s is answered %d %s", a.name, method, path, status, answer)
	}
	var at any
	must(t, json.Unmarshal([]byte(answer), &at))
	for _, m := range members {
		in, _ := at.(map[string]any)
		at = in[m]
	}
	text, ok := at.(string)
	if !ok && len(members) > 0 {
		t.Fatalf("%s has no %q", answer, members)
	}
	return text
}

// anew is a way to do something with what is made for it.
func anew(made func() string, with func(id string) way) way {
	return func(a *agent) (int, string) { return with(made())(a) }
}

// inContainer makes a container of a permeability, with a document and a file in it, and answers
// what can be done there.
func inContainer(t *testing.T, ana *agent, permeability string, ids map[string]string) []act {
	t.Helper()
	id := told(t, ana, "POST", "/api/containers", fmt.Sprintf(
		`{"kind":"container","name":"%s place","physics":{"fungibility":"versioned","topology":"objects","permeability":%q,"execution":"disabled"}}`, permeability, permeability),
		"container", "container_id")
	inside := "/api/workspaces/" + id
	document := "d:none"
	var readings []way
	if permeability != "sealed" { // nothing comes into what is
		document = told(t, ana, "POST", inside+"/documents", `{"title":"Plan","content":"All of it"}`, "document", "document_id")
		file := told(t, ana, "POST", inside+"/files", `{"name":"plan.txt","text":"All of it"}`, "file", "file_id")
		readings = []way{
			rest("GET", inside+"/documents/"+document, ""), rest("GET", inside+"/documents/"+document+"/versions", ""),
			tool("office.document.get", `{"workspace_id":%q,"document_id":%q}`, id, document), resource("ubl://documents/" + id + "/" + document),
			rest("GET", inside+"/files/"+file, ""), rest("GET", inside+"/files/"+file+"/content", ""),
			tool("office.file.get", `{"workspace_id":%q,"file_id":%q}`, id, file), resource("ubl://files/" + id + "/" + file),
		}
	}
	to := told(t, ana, "POST", "/api/containers", fmt.Sprintf(
		`{"kind":"container","name":"beside %s","physics":{"fungibility":"versioned","topology":"objects","permeability":"open","execution":"disabled"}}`, permeability),
		"container", "container_id")
	letIn(t, ana, id, ids)
	place := "/api/containers/" + id
	outside := "/public/t:ours.example/" + id
	agreement := "/api/agreements/a:container:" + id
	terms := itsTerms(t, ana, agreement)
	wrote, put := func() string { return "d:none" }, func() string { return "f:none" }
	if permeability != "sealed" {
		wrote = func() string {
			return told(t, ana, "POST", inside+"/documents", `{"title":"Draft","content":"Not for long"}`, "document", "document_id")
		}
		put = func() string {
			return told(t, ana, "POST", inside+"/files", `{"name":"draft.txt","text":"Not for long"}`, "file", "file_id")
		}
	}
	return []act{
		{"look", []way{rest("GET", place, ""), rest("GET", place+"/members", ""), rest("GET", agreement, ""), tool("container.get", `{"container_id":%q}`, id)}},
		{"read", append(readings, []way{
			rest("GET", inside+"/documents", ""), rest("GET", inside+"/search?query=plan", ""), rest("GET", inside+"/files", ""),
			tool("office.document.list", `{"workspace_id":%q}`, id), tool("office.document.search", `{"workspace_id":%q,"query":"plan"}`, id),
			tool("office.file.list", `{"workspace_id":%q}`, id),
		}...)},
		{"as anyone", []way{ // who asks doesn't count there
			rest("GET", outside, ""), rest("GET", outside+"/documents", ""), rest("GET", outside+"/documents/"+document, ""),
		}},
		{"write", []way{
			rest("POST", inside+"/documents", `{"title":"More","content":"More of it"}`),
			rest("PATCH", inside+"/documents/"+document, `{"content":"More of it"}`),
			rest("POST", inside+"/files", `{"name":"more.txt","text":"More of it"}`),
			rest("POST", inside+"/uploads", `{"name":"more.txt","bytes":10}`),
			tool("office.document.update", `{"workspace_id":%q,"document_id":%q,"content":"Less of it"}`, id, document),
			tool("office.file.put", `{"workspace_id":%q,"name":"less.txt","text":"Less of it"}`, id),
		}},
		{"delete", []way{ // something new each time
			anew(wrote, func(id string) way { return rest("DELETE", inside+"/documents/"+id, "") }),
			anew(wrote, func(document string) way {
				return tool("office.document.delete", `{"workspace_id":%q,"document_id":%q}`, id, document)
			}),
			anew(put, func(id string) way { return rest("DELETE", inside+"/files/"+id, "") }),
			anew(put, func(file string) way {
				return tool("office.file.remove", `{"workspace_id":%q,"file_id":%q}`, id, file)
			}),
		}},
		{"carry out", []way{
			rest("POST", place+"/transfer", fmt.Sprintf(`{"to":%q,"document_id":%q}`, to, document)),
			tool("container.transfer", `{"container_id":%q,"to":%q,"document_id":%q}`, id, to, document),
		}},
		{"set roles", []way{
			rest("PATCH", place+"/members/"+ids["entry"], `{"role":"member"}`),
			tool("container.member.update", `{"container_id":%q,"user_id":%q,"role":"member"}`, id, ids["entry"]),
		}},
		{"remove", removing(ana, place, "container.remove", "container_id", ids["guest"])},
		{"set terms", []way{
			rest("PUT", agreement+"/proposal", terms),
			tool("agreement.propose", `{"agreement_id":"a:container:%s",%s`, id, terms[1:]),
		}},
		{"end", []way{tool("agreement.end", `{"agreement_id":"a:container:%s"}`, id)}},
	}
}

// letIn makes entries of a container.
func letIn(t *testing.T, ana *agent, container string, ids map[string]string) {
	t.Helper()
	for _, role := range []string{"entry", "agent"} {
		told(t, ana, "POST", "/api/containers/"+container+"/members", fmt.Sprintf(`{"user_id":%q}`, ids[role]))
	}
}

// removing takes somebody out of a place, who is let in before each try.
func removing(ana *agent, place, named, idOf, guest string) []way {
	in := func() string {
		ana.ask("POST", place+"/members", fmt.Sprintf(`{"user_id":%q}`, guest)) // in vain where it is sealed, or they are in
		return guest
	}
	id := place[strings.LastIndexByte(place, '/')+1:]
	return []way{
		anew(in, func(guest string) way { return rest("DELETE", place+"/members/"+guest, "") }),
		anew(in, func(guest string) way { return tool(named, `{%q:%q,"user_id":%q}`, idOf, id, guest) }),
	}
}

// inStrict makes a container whose documents move when they are carried out: what is carried is
// written for each try, and gone from there where that was allowed.
func inStrict(t *testing.T, ana *agent, ids map[string]string) []act {
	t.Helper()
	make := func(name string) string {
		return told(t, ana, "POST", "/api/containers", fmt.Sprintf(
			`{"kind":"container","name":%q,"physics":{"fungibility":"strict","topology":"objects","permeability":"gated","execution":"disabled"}}`, name),
			"container", "container_id")
	}
	id, to := make("strict place"), make("beside strict")
	letIn(t, ana, id, ids)
	letIn(t, ana, to, ids)
	inside, place := "/api/workspaces/"+id, "/api/containers/"+id
	wrote := func() string {
		return told(t, ana, "POST", inside+"/documents", `{"title":"Deed","content":"The only one"}`, "document", "document_id")
	}
	left := func(document string, carry way) way {
		return func(a *agent) (int, string) {
			status, answer := carry(a)
			_, there := ana.ask("GET", inside+"/documents", "")
			if gone, moved := !strings.Contains(there, document), verdict(t, status, answer) == "yes"; gone != moved {
				t.Errorf("%s carries %s out (%v), and it is gone: %v", a.name, document, moved, gone)
			}
			return status, answer
		}
	}
	return []act{
		{"look", []way{rest("GET", place, ""), tool("container.get", `{"container_id":%q}`, id)}},
		{"write", []way{
			rest("POST", inside+"/documents", `{"title":"More","content":"More of it"}`),
			tool("office.document.create", `{"workspace_id":%q,"title":"Less","content":"Less of it"}`, id),
		}},
		{"carry out", []way{
			anew(wrote, func(d string) way {
				return left(d, rest("POST", place+"/transfer", fmt.Sprintf(`{"to":%q,"document_id":%q}`, to, d)))
			}),
			anew(wrote, func(d string) way {
				return left(d, tool("container.transfer", `{"container_id":%q,"to":%q,"document_id":%q}`, id, to, d))
			}),
		}},
	}
}

// inTransient makes a container that keeps nothing: what is carried out comes with the caller.
func inTransient(t *testing.T, ana *agent, permeability string, ids map[string]string) []act {
	t.Helper()
	id := told(t, ana, "POST", "/api/containers", fmt.Sprintf(
		`{"kind":"container","name":"passing %s","physics":{"fungibility":"transient","topology":"links","permeability":%q,"execution":"disabled"}}`, permeability, permeability),
		"container", "container_id")
	letIn(t, ana, id, ids)
	to := told(t, ana, "POST", "/api/containers", fmt.Sprintf(
		`{"kind":"container","name":"behind %s","physics":{"fungibility":"versioned","topology":"objects","permeability":"open","execution":"disabled"}}`, permeability),
		"container", "container_id")
	inside, place := "/api/workspaces/"+id, "/api/containers/"+id
	return []act{
		{"look", []way{rest("GET", place, ""), tool("container.get", `{"container_id":%q}`, id)}},
		{"write", []way{
			rest("POST", inside+"/documents", `{"title":"More","content":"More of it"}`),
			tool("office.document.create", `{"workspace_id":%q,"title":"Less","content":"Less of it"}`, id),
		}},
		{"carry out", []way{
			rest("POST", place+"/transfer", fmt.Sprintf(`{"to":%q,"title":"News","content":"All of it"}`, to)),
			tool("container.transfer", `{"container_id":%q,"to":%q,"title":"News","content":"All of it"}`, id, to),
		}},
	}
}

// inRoom makes a room of a permeability, in which the entry has said something where that is possible:
// what becomes of it is tried by all.
func inRoom(t *testing.T, callers map[string]*agent, permeability string, ids map[string]string) []act {
	t.Helper()
	ana, bob := callers["owner"], callers["entry"]
	id := told(t, ana, "POST", "/api/rooms", fmt.Sprintf(
		`{"name":"%s place","physics":{"fungibility":"versioned","topology":"objects","permeability":%q,"execution":"disabled"}}`, permeability, permeability),
		"room", "room_id")
	room := "/api/rooms/" + id
	said := func() string { return "m:none" }
	if permeability != "sealed" { // nobody comes into what is, and nothing is said there
		for _, role := range []string{"moderator", "entry", "agent"} {
			told(t, ana, "POST", room+"/members", fmt.Sprintf(`{"user_id":%q}`, ids[role]))
		}
		told(t, ana, "PATCH", room+"/members/"+ids["moderator"], `{"role":"moderator"}`)
		said = func() string {
			return told(t, bob, "POST", room+"/messages", `{"type":"text","body":{"text":"hi"}}`, "message", "msg_id")
		}
	}
	message := said()
	on := "/entries/" + message
	agreement := "/api/agreements/a:room:" + id
	terms := itsTerms(t, ana, agreement)
	return []act{
		{"look", []way{rest("GET", room, ""), rest("GET", room+"/members", ""), rest("GET", agreement, ""), rest("GET", "/api/containers/"+id, ""), tool("room.get", `{"room_id":%q}`, id)}},
		{"read", []way{
			rest("GET", room+"/history", ""), rest("GET", room+"/entries", ""), rest("GET", "/api/events"+strings.TrimPrefix(room, "/api"), ""),
			tool("messenger.history", `{"room_id":%q}`, id), tool("messenger.entries", `{"room_id":%q}`, id),
			resource("ubl://rooms/" + id),
		}},
		{"write", []way{
			rest("POST", room+"/messages", `{"type":"text","body":{"text":"hi"}}`),
			rest("POST", room+"/entries", `{"body":{"content_type":"text/plain","bytes":"aGk="}}`),
			tool("messenger.send", `{"room_id":%q,"type":"text","body":{"text":"hi"}}`, id),
		}},
		{"edit", []way{
			rest("POST", room+on+"/edits", `{"text":"hello"}`), tool("messenger.edit", `{"room_id":%q,"entry_id":%q,"text":"hello!"}`, id, message),
		}},
		{"react", []way{
			rest("POST", room+on+"/reactions", `{"reaction":"👍"}`), tool("messenger.react", `{"room_id":%q,"entry_id":%q,"reaction":"🎉"}`, id, message),
		}},
		{"pin", []way{
			rest("POST", room+on+"/pin", `{"pinned":true}`), tool("messenger.pin", `{"room_id":%q,"entry_id":%q,"pinned":true}`, id, message),
		}},
		{"redact", []way{
			anew(said, func(m string) way { return rest("POST", room+"/entries/"+m+"/redaction", "") }),
			anew(said, func(m string) way { return tool("messenger.redact", `{"room_id":%q,"entry_id":%q}`, id, m) }),
		}},
		{"poll", []way{
			rest("POST", room+"/polls", `{"question":"Where?","options":["Here","There"]}`),
			tool("messenger.poll.create", `{"room_id":%q,"question":"When?","options":["Now","Then"]}`, id),
		}},
		{"invite", []way{
			rest("POST", room+"/members", fmt.Sprintf(`{"user_id":%q}`, ids["entry"])),
			tool("room.invite", `{"room_id":%q,"user_id":%q}`, id, ids["entry"]),
		}},
		{"remove", removing(ana, room, "room.remove", "room_id", ids["guest"])},
		{"set terms", []way{
			rest("PUT", agreement+"/proposal", terms),
			tool("agreement.propose", `{"agreement_id":"a:room:%s",%s`, id, terms[1:]),
		}},
		{"end", []way{rest("POST", agreement+"/end", "")}},
	}
}

// itsTerms is the proposal of the terms that an Agreement has.
func itsTerms(t *testing.T, ana *agent, agreement string) string {
	t.Helper()
	status, answer := ana.ask("GET", agreement, "")
	var in struct {
		Agreement struct{ Terms json.RawMessage }
	}
	if err := json.Unmarshal([]byte(answer), &in); err != nil || status != http.StatusOK || in.Agreement.Terms == nil {
		t.Fatalf("the Agreement is %d %s", status, answer)
	}
	return fmt.Sprintf(`{"terms":%s}`, in.Agreement.Terms)
}
