package portal_test

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"time"

	"ubl"
	"ubl/test/harness"
)

// TestStoredForms: events, and what events leave that pass, are stored byte for byte as
// all versions of the program have, so that an older one reads them too. Nothing in
// them is escaped: definitions have the bytes that were hashed.
func TestStoredForms(t *testing.T) {
	h := harness.Open(t, harness.Options{})
	ana := harness.User("ana@example.com")
	h.Enter(ana)
	at := ubl.PortalName(ana.TenantID)
	definition := `{"d":"<1>&"}`
	made := harness.Must[*ubl.Server](h, at, ubl.AddServer{Request: h.Request(ana), Owner: true, Server: ubl.Server{
		ServerID: "files", Name: "A & <B>", URL: "https://files.example/?a=1&b=2", Auth: ubl.AuthNone,
	}})
	harness.Must[*ubl.Server](h, at, ubl.RecordSync{Request: h.Request(ana), Owner: true, ServerID: "files", Tools: []ubl.ToolDefinition{
		{Name: "read", Definition: []byte(definition)},
	}})
	begin := ubl.BeginCall{
		Request: h.Request(ana), Did: ubl.DidPortalCall, Agreement: "a:tool:files.read", Server: "files", Capability: "files.read",
		InputHash: ubl.BodyHash(nil), Deadline: ubl.TimeOf(h.Clock.Now()).Add(time.Minute),
	}
	ticket := harness.Must[*ubl.CallTicket](h, at, begin)
	const now = `"2026-01-07T12:34:56.000Z"`
	const none = `{"ledger_shard":"","seq":0,"cid":"","head_hash":"","time":"1970-01-01T00:00:00.000Z"}`
	first := "\x00\x00\x00\x00\x00\x00\x00\x00\x01"
	for key, want := range map[string]string{
		"p" + first: `{"v":1,"n":1,"did":"portal.server.add","at":` + now + `,"by":"ANA","server":{"server_id":"files","name":"A & <B>",` +
			`"url":"https://files.example/?a=1&b=2","auth":"none","disabled":false,"status":"new","synced_at":null,"tools":0,"held":0,` +
			`"created_at":` + now + `,"created_by":"ANA","receipt":` + none + `},"receipt":` + text(made.Receipt) + `}`,
		"pyfiles": `{"v":1,"server_id":"files","at":` + now + `,"down":false}`,
		"bfiles\x00read": `{"v":1,"tool":"files.read","server_id":"files","upstream":"read","definition":` + definition +
			`,"hash":"` + ubl.BodyHash([]byte(definition)) + `"}`,
		"i\x01portal\x00out:1": `{"v":2,"due":"2026-01-07T12:35:56.000Z","for":"2026-01-07T12:35:56.000Z","wait":"1970-01-01T00:01:00.000Z","out":{"content":{"v":1,"call":{"n":1,"at":` + now + `,"did":"portal.call","server":"files","capability":"files.read","user_id":"ANA",` +
			`"is_service":false,"status":"intended","duration_ms":0,"request_id":"` + begin.ID + `"},` +
			`"agreement_id":"a:tool:files.read","deadline":"2026-01-07T12:35:56.000Z","tokens":0},"lease":"2026-01-07T12:35:56.000Z",` +
			`"deadline":"2026-01-07T12:35:56.000Z","once":true},"intent":` + text(ticket.Receipt) + `}`,
		"l" + first: "\x01" + `{"at":` + now + `,"capability":"files.read","did":"portal.call","duration_ms":0,"is_service":false,"n":1,"receipt":` +
			canonical(t, ticket.Receipt) + `,"request_id":"` + begin.ID + `","server":"files","status":"intended","user_id":"ANA"}`,
	} {
		want = strings.ReplaceAll(want, "ANA", string(ana.UserID))
		err := h.Engine.View(t.Context(), at.Group(), func(snap ubl.Snapshot) error {
			got, err := snap.Get([]byte(key))
			got = salts.ReplaceAll(got, nil) // which versions before don't know, and pass over
			if string(got) != want {
				t.Errorf("under %q is stored\n%s, before\n%s", key, got, want)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
}

var salts = regexp.MustCompile(`"salt":"[0-9a-f]{32}",`)

func text(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}

func canonical(t *testing.T, v any) string {
	b, err := ubl.Canonical([]byte(text(v)))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
