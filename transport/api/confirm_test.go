package api

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"ubl"
	"ubl/actors/families"
	"ubl/transport/envelope"
)

// sensitive are the operations that ask for a fresh proof, and those that do with some
// arguments. A new operation that belongs here is added by hand, so that somebody thinks.
var sensitive = map[asks][]string{
	proof: {
		"accept-terms", "add-server", "approve-tool", "claim-domain", "connect-server", "create-invitation", "create-service-token", "delete-document", "end-agreement", "export-ledger", "export-own-data", "issue-credits", "name-heir", "propose-terms", "release-domain",
		"remove-file", "remove-node", "remove-passkey", "remove-server", "remove-tenant-member", "renew-service-token", "revoke-tokens",
		"set-container-member", "set-heir", "set-member", "update-server", "verify-domain",
		"webhook-create", "webhook-rotate", "webhook-update",
	},
	sometimes: {
		"invite-member", "invite-to-container", "publish-documents", "redact-entry", "remove-container-member", "remove-member", "set-budget", "set-defaults", "set-mandate", "set-room-policy", "set-tenant-member",
		"set-tool-access", "transfer",
	},
}

// silent are the writes of families that ask for nothing. These say so by saying nothing, so a new
// one is added here by hand.
var silent = []string{
	"person-device-add", "person-device-remove", "person-key-create", "person-preferences-update", "person-reminder-add",
	"person-reminder-remove", "person-room-update", "person-scheduled-add", "person-scheduled-remove", "person-scheduled-update",
	"webhook-redeliver", "webhook-remove", "webhook-test",
}

// TestEveryWriteSaysWhetherItIsSensitive, so that none is forgotten, and the lists above
// are the whole lists.
func TestEveryWriteSaysWhetherItIsSensitive(t *testing.T) {
	found := map[asks][]string{}
	for _, tab := range newServer(t).api.table {
		if tab.method != http.MethodGet && tab.asks == unsaid {
			t.Errorf("%s changes something, and doesn't say whether it is sensitive: see asks", tab.id)
		}
		found[tab.asks] = append(found[tab.asks], tab.id)
	}
	var quiet []string
	for _, op := range families.All.Offers() {
		if op.Method != http.MethodGet && !op.Sensitive {
			quiet = append(quiet, strings.ReplaceAll(op.Tool, ".", "-"))
		}
	}
	if slices.Sort(quiet); !slices.Equal(quiet, silent) {
		t.Errorf("families' writes that ask for nothing:\n%q, want\n%q", quiet, silent)
	}
	for _, a := range []asks{proof, sometimes} {
		slices.Sort(found[a])
		if !slices.Equal(found[a], sensitive[a]) {
			t.Errorf("operations that ask %d:\n%q, want\n%q", a, found[a], sensitive[a])
		}
	}
}

// undoable are the operations that take something away and ask for no proof, and why what they
// take is not gone for good. One that isn't here must ask.
var undoable = map[string]string{
	"withdraw-terms":       "who withdraws can propose the same terms again",
	"revoke-invitation":    "it only shuts something, and another invitation can be made",
	"revoke-service-token": "it only shuts something, and the agent can have another token",
	"revoke-token":         "it only shuts something: who is signed out signs in again",
	"leave-room":           "they go by themselves",
	"leave-container":      "they go by themselves",
	"describe-room":        "its timeline keeps what the room was called and about",
	"append-upload":        "it adds bytes to what nobody has yet",
	"end-upload":           "nobody has what was uploaded yet",
	"update-document":      "earlier versions stay readable",
	"set-kind":             "it can be set as it was",
	"person-device-remove": "it only shuts something, and the device can be added again",
	"webhook-remove":       "it only shuts something, and another webhook can be made",

	"person-preferences-update": "it can be set as it was",
	"person-room-update":        "it can be set as it was",
	"person-reminder-remove":    "it is a note to oneself",
	"person-scheduled-update":   "nobody has read it yet",
	"person-scheduled-remove":   "nobody has read it yet",
	"remove-kind":               "containers of it stay as they are, and it can be set again",
	"disconnect-server":         "it only shuts something: who disconnects connects again",
	"call-tool":                 "what it does is another server's: an owner has opened the tool, with proof",
}

// TestRemovalAsks: what takes people or data away for good asks for a fresh proof.
func TestRemovalAsks(t *testing.T) {
	met := map[string]bool{}
	for _, tab := range newServer(t).api.table {
		destructive := tab.destroys || tab.method != http.MethodGet && tab.method != http.MethodPost
		if !destructive || tab.asks == proof || tab.asks == sometimes {
			continue
		}
		met[tab.id] = true
		if undoable[tab.id] == "" {
			t.Errorf("%s takes something away: it asks for a fresh proof, or the table says why that isn't gone for good", tab.id)
		}
	}
	for id := range undoable {
		if !met[id] {
			t.Errorf("%s stands in the table, and takes nothing away without proof", id)
		}
	}
}

// TestEveryWriteSaysHowItIsCounted, so that none can be done without end.
func TestEveryWriteSaysHowItIsCounted(t *testing.T) {
	for _, tab := range newServer(t).api.table {
		writes := tab.method != http.MethodGet
		if known := tab.counts == ubl.Sends || tab.counts == ubl.Creations; known != writes {
			t.Errorf("%s %s is counted as %q: writes count as sends or creations, reads as requests alone", tab.method, tab.id, tab.counts)
		}
	}
}

// people are ana's ways to ask: at a browser, where she proved who she is at some
// moment or nobody knows when, and with a token.
func people() map[string]*envelope.Caller {
	return map[string]*envelope.Caller{
		"stale":   {Session: true, ProvedAt: now.Add(-envelope.FreshFor)},
		"unknown": {Session: true},
		"fresh":   {Session: true, ProvedAt: now.Add(-envelope.FreshFor + 1e6)},
		"token":   {},
	}
}

// confirms asks an operation as each of the people, over HTTP and as a tool: those who
// must confirm first are told so and nobody else is asked, the others go through.
func (s *server) confirms(t *testing.T, tab *route, path, body string, asked bool) {
	t.Helper()
	for who, c := range people() {
		c.Identity = ana
		if strings.HasPrefix(tab.path, "/platform/") {
			c.Identity = root
		}
		let(c, ubl.RoleOwner)
		want := ubl.Code("")
		if asked && (who == "stale" || who == "unknown") {
			want = ubl.CodeConfirmation
		}
		r := httptest.NewRequest(tab.method, path+"?"+queries[tab.id], strings.NewReader(body))
		if body != "" {
			r.Header.Set("Content-Type", "application/json")
		}
		tab.dress(r)
		looked := func(asked string) bool {
			return strings.Contains(asked, "GetBudget{") || strings.Contains(asked, "ListServiceTokens{") || strings.Contains(asked, "ReadHistory{")
		} // how far the bounds go, and whose entry it is
		s.takeAsked()
		w := s.serve(r.WithContext(envelope.WithCaller(r.Context(), c)))
		got := ubl.Code("")
		if w.Code >= 400 {
			got = codeIn(t, w)
		}
		if heard := slices.DeleteFunc(s.takeAsked(), looked); got != want || want != "" && len(heard) > 0 {
			t.Errorf("%s %s, %s: answered %d %q and asked %q", tab.id, body, who, w.Code, got, heard)
		}
		if tab.tool == "" || path != places.Replace("/api"+tab.path) {
			continue
		}
		_, err := s.act(t, tab.tool).Do(acting(c), argumentsOf(t, tab, queries[tab.id], body))
		if heard := slices.DeleteFunc(s.takeAsked(), looked); ubl.CodeOf(err) != want || want != "" && len(heard) > 0 {
			t.Errorf("%s %s as a tool, %s: %v, and asked %q", tab.id, body, who, err, heard)
		}
	}
}

// TestSensitive: every operation, asked by a session that is stale, by one that is
// fresh, and with a token.
func TestSensitive(t *testing.T) {
	s := newServer(t)
	for i := range s.api.table {
		if tab := &s.api.table[i]; tab.asks != sometimes {
			s.confirms(t, tab, places.Replace("/api"+tab.path), bodies[tab.method+" /api"+tab.path], tab.asks == proof)
		}
	}
}

// TestSometimesSensitive: what of an operation is, and what isn't. Each argument is asked with.
func TestSometimesSensitive(t *testing.T) {
	s := newServer(t)
	tested := map[string]bool{}
	for _, c := range []struct {
		id, of, body string // of is a user, an entry or, in a transfer, the source
		asked        bool
	}{
		{"set-tenant-member", "u:bob", `{"role":"owner"}`, true},
		{"set-tenant-member", "u:bob", `{"role":"member","name":"Bob"}`, true},
		{"set-tenant-member", "u:bob", `{"name":"Bob"}`, false},
		{"invite-member", "", `{"user_id":"u:bob","role":"owner"}`, true},
		{"invite-member", "", `{"user_id":"u:bob"}`, false},
		{"invite-to-container", "", `{"user_id":"u:bob","role":"owner"}`, true},
		{"invite-member", "", `{"email":"bob@acme.com"}`, false},
		{"invite-to-container", "", `{"user_id":"u:bob"}`, false},
		{"invite-to-container", "", `{"email":"bob@acme.com"}`, false},
		{"publish-documents", "", `{"documents":[{"type":"tag","id":"tide","path":"tide.md","title":"Tide","content":""}]}`, false},
		{"publish-documents", "", `{"remove":[{"type":"tag","id":"tide"}],"remove_most":true}`, true},
		{"publish-documents", "", `{"documents":[{"type":"tag","id":"tide","path":"tide.md","title":"Tide","content":""}],"remove_most":true}`, false},
		{"publish-documents", "", `{"commit":"4b825dc642cb6eb9a060e54bf8d69288fbee4904","remove":[{"type":"tag","id":"tide"}]}`, true},
		{"remove-member", "u:bob", "", true},
		{"remove-member", string(ana.UserID), "", false},
		{"redact-entry", string(bobsID), "", true},
		{"redact-entry", string(saidID), "", false},
		{"redact-entry", string(saidID), `{"reason":"a slip"}`, false},
		{"remove-container-member", "u:bob", "", true},
		{"remove-container-member", string(ana.UserID), "", false},
		{"set-room-policy", "", `{"retention_days":30}`, true},
		{"set-room-policy", "", `{"retention_days":0}`, false},
		{"set-room-policy", "", `{"retention_hours":8}`, true},
		{"set-room-policy", "", `{"retention_hours":0}`, true},
		{"set-room-policy", "", `{"retention_days":0,"retention_hours":0}`, false},
		{"set-room-policy", "", `{"join":"tenant"}`, true},
		{"set-room-policy", "", `{"join":"invite"}`, false},
		{"set-room-policy", "", `{"max_message_bytes":100}`, false},
		{"set-room-policy", "", `{"posting":"moderators"}`, false},
		{"set-defaults", "", `{"retention_days":1}`, true},
		{"set-defaults", "", `{"retention_days":30,"max_message_bytes":100}`, true},
		{"set-defaults", "", `{"retention_days":0}`, false},
		{"set-defaults", "", `{"max_message_bytes":100}`, false},
		{"set-budget", "", `{"tokens_per_day":0,"requests_per_minute":0}`, true},
		{"set-budget", "", `{"tokens_per_day":0,"requests_per_minute":30}`, true},
		{"set-budget", "", `{"tokens_per_day":5000,"requests_per_minute":0}`, true},
		{"set-budget", "", `{"tokens_per_day":100001,"requests_per_minute":60}`, true},
		{"set-budget", "", `{"tokens_per_day":5000,"requests_per_minute":61}`, true},
		{"set-budget", "", `{"tokens_per_day":100000,"requests_per_minute":60}`, false},
		{"set-budget", "", `{"tokens_per_day":1,"requests_per_minute":1}`, false},
		{"set-mandate", "", `{"tools":["messenger.*"],"places":["r:general"],"read_only":true,"per_minute":9,"sets":["office"]}`, false},
		{"set-mandate", "", `{"tools":["messenger.send","messenger.history"],"places":["r:general"],"per_minute":60}`, false},
		{"set-mandate", "", `{"tools":["messenger.*"],"places":["r:general"],"per_minute":60,"confirm":"destructive"}`, false},
		{"set-mandate", "", `{}`, true},
		{"set-mandate", "", `{"tools":["messenger.*","room.get"],"places":["r:general"],"per_minute":60}`, true},
		{"set-mandate", "", `{"tools":["messenger.*"],"places":["r:general","r:plans"],"per_minute":60}`, true},
		{"set-mandate", "", `{"tools":["messenger.*"],"places":["r:general"],"per_minute":61}`, true},
		{"transfer", "", `{"to":"k:till","amount":5}`, false},
		{"transfer", "", `{"to":"k:till","document_id":"d:1"}`, false},
		{"transfer", "", `{"to":"k:till","title":"T","content":"All of it"}`, false},
		{"transfer", "t:ubl_core", `{"to":"t:acme.com","email":"new@else.example","role":"owner"}`, true},
		{"set-tool-access", "", `{"allowed":true}`, true},
		{"set-tool-access", "", `{"allowed":false}`, false},
		{"set-tool-access", "", `{"allowed":false,"confirm":"always"}`, false},
		{"set-tool-access", "", `{"allowed":false,"users":["u:bob"],"groups":["staff"],"per_minute":9}`, false},
	} {
		i := slices.IndexFunc(s.api.table, func(r route) bool { return r.id == c.id })
		path := strings.NewReplacer("{userId}", c.of, "{entryId}", c.of).Replace("/api" + s.api.table[i].path)
		if c.id == "transfer" && c.of != "" {
			path = strings.Replace(path, "{containerId}", c.of, 1)
		}
		s.confirms(t, &s.api.table[i], places.Replace(path), c.body, c.asked)
		for argument := range parse(argumentsOf(t, &s.api.table[i], "", c.body)) {
			tested[c.id+" "+argument] = true
		}
	}
	for _, id := range sensitive[sometimes] {
		i := slices.IndexFunc(s.api.table, func(r route) bool { return r.id == id })
		for argument := range parse(s.act(t, s.api.table[i].tool).Input)["properties"].(map[string]any) {
			if argument != "client_request_id" && !tested[id+" "+argument] {
				t.Errorf("%s is not asked with %s here: is it sensitive?", id, argument)
			}
		}
	}
}
