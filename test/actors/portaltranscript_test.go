package actors_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"ubl"
	"ubl/schemas"
)

var updatePortal = flag.Bool("update-portal", false, "rewrite the transcript of a portal's life")

const portalTranscript = "testdata/portal.txt"

// TestPortalTranscript plays a portal's life and compares it with the one on
// record: what was asked, what was answered, and what the ledger says of it. Every
// atom is valid under its schema.
func TestPortalTranscript(t *testing.T) {
	s := newScript(t)
	ana, bob, platform := s.ana, s.bob, ubl.Platform()
	key, wide := []byte("sealed"), "https://files.example/mcp?key=a-secret"

	s.say("Ana, an owner, adds a server. Its URL is in the ledger as a hash.")
	s.ask(ubl.AddServer{Request: s.Request(ana), Owner: true, Secret: key, Server: ubl.Server{
		ServerID: "files", Name: "Files", URL: wide, Auth: ubl.AuthUser, Scopes: []string{"read"}}})
	s.say("Bob may not.")
	s.ask(ubl.AddServer{Request: s.Request(bob), Server: ubl.Server{ServerID: "mine", Name: "Mine", URL: wide, Auth: ubl.AuthNone}})
	s.say("Bob signs in to it.")
	s.ask(ubl.SaveGrant{Request: s.Request(bob), ServerID: "files", Sealed: key})
	s.say("A node asks the server for its tools. One has a name that can't be called.")
	list := func(read string) []ubl.ToolDefinition {
		return []ubl.ToolDefinition{{Name: "read", Definition: json.RawMessage(`{"name":"read","title":"` + read + `"}`)}, {Name: "read me", Definition: json.RawMessage(`{}`)}}
	}
	s.ask(ubl.RecordSync{Request: s.Request(platform), ServerID: "files", Tools: list("Read a file")})
	s.ask(ubl.ListPortalTools{Who: bob})

	s.say("Bob's agent calls the tool: the intent comes first, the effect when the call has ended.")
	call := s.call(bob)
	call.Parent = "req:parent-1"
	s.ask(call)
	s.Clock.Add(340 * time.Millisecond)
	s.ask(ubl.EndCall{Request: s.Request(bob), N: 1, OutputHash: ubl.BodyHash([]byte(`"text"`)), DurationMS: 340})
	s.say("The same key again: it has begun before, and must not be made a second time.")
	s.ask(call)
	s.say("A call that fails.")
	s.ask(s.call(bob))
	s.ask(ubl.EndCall{Request: s.Request(bob), N: 2, Code: ubl.CodeTooLarge, Message: "the answer is larger than 1 MiB", DurationMS: 20})

	s.say("The server changes the definition: the tool can't be called, and the refusal is on record.")
	s.Clock.Add(time.Hour)
	s.ask(ubl.RecordSync{Request: s.Request(ana), Owner: true, ServerID: "files", Tools: list("Read a file, and mail it away")})
	s.ask(s.call(bob))
	s.say("Ana has read the new definition, and approves it by its hash.")
	s.ask(ubl.ApproveTool{Request: s.Request(ana), Owner: true, Tool: "files.read", Hash: s.tool("files.read").HeldHash})

	s.say("Models have a budget; what a call may yet use is reserved.")
	s.ask(ubl.SetBudget{Request: s.Request(ana), Owner: true, TokensPerDay: 1000, RequestsPerMinute: 60})
	s.ask(s.model(bob, 800))
	s.ask(s.model(bob, 300))
	s.ask(ubl.EndCall{Request: s.Request(bob), N: 4, OutputHash: ubl.BodyHash([]byte(`"text"`)), DurationMS: 900,
		Usage:  &ubl.Usage{PromptTokens: 120, CompletionTokens: 80, CostMicros: 450, Provider: "local", Model: "small"},
		Effect: ubl.Fields{ubl.Bool("pii_detected", false), ubl.Int("injection_score", 3)}})
	s.ask(ubl.GetBudget{Who: bob})

	s.say("A node dies in the middle of a call. The sweep closes it once its deadline has passed.")
	s.ask(s.call(bob))
	s.Clock.Add(2 * time.Minute)
	s.ask(ubl.CloseCalls{Request: s.Request(platform)})
	s.say("Calls of our own tools are logged without atoms: their acts have receipts of their own.")
	s.ask(ubl.LogCalls{Request: s.Request(platform), Calls: []*ubl.Call{s.own(bob)}})
	s.say("Ana reads the whole log, and Bob his part of it.")
	s.ask(ubl.ReadCalls{Who: ana, Owner: true, Limit: 2})
	s.ask(ubl.ReadCalls{Who: bob, Limit: 1})

	s.say("The server moves to another host: secrets don't follow.")
	elsewhere := "https://files.other.example/mcp"
	s.ask(ubl.UpdateServer{Request: s.Request(ana), Owner: true, ServerID: "files", Patch: ubl.ServerPatch{URL: &elsewhere}})
	s.ask(ubl.OpenServer{Who: bob, ServerID: "files"})
	s.ask(ubl.RecordSync{Request: s.Request(platform), ServerID: "files", Problem: "it refuses the connection"})
	s.ask(ubl.ListServers{Who: bob})
	s.ask(ubl.RemoveServer{Request: s.Request(ana), Owner: true, ServerID: "files"})
	s.VerifyLedger(ana.TenantID)

	if *updatePortal {
		if err := os.WriteFile(portalTranscript, s.out.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(portalTranscript)
	if err != nil {
		t.Fatal(err)
	}
	if got := s.out.String(); got != string(want) {
		t.Errorf("the transcript differs from %s; if that is meant, rewrite it with -update-portal:\n%s", portalTranscript, got)
	}
}

// script writes down what a portal is asked.
type script struct {
	*portals
	out   bytes.Buffer
	seq   int64
	forms map[string]*jsonschema.Schema
}

func newScript(t *testing.T) *script {
	t.Helper()
	s := &script{portals: openPortal(t), forms: map[string]*jsonschema.Schema{}}
	s.seq = s.head()
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	const base = "https://ubl.invalid/schemas/"
	for _, id := range schemas.List() {
		data, _ := schemas.Read(id)
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
		if err == nil {
			err = c.AddResource(base+id, doc)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for kind, id := range map[string]string{ubl.ActionV2: "ubl.ledger.action.v2", ubl.EffectV2: "ubl.ledger.effect.v2"} {
		form, err := c.Compile(base + id)
		if err != nil {
			t.Fatal(err)
		}
		s.forms[kind] = form
	}
	return s
}

func (s *script) say(text string) { fmt.Fprintf(&s.out, "\n# %s\n", text) }

// ask writes down a command with its answer and the atoms that it left.
func (s *script) ask(cmd ubl.Command) {
	s.t.Helper()
	who := map[ubl.UserID]string{s.ana.UserID: "ana", s.bob.UserID: "bob", ubl.Platform().UserID: "platform"}
	asker := regexp.MustCompile(`"user_id":"([^"]+)"`).FindStringSubmatch(string(must(json.Marshal(cmd))))[1]
	fmt.Fprintf(&s.out, "\n%s: %s\n", who[ubl.UserID(asker)], strings.TrimPrefix(fmt.Sprintf("%T", cmd), "ubl."))
	answer, err := s.Ask(s.t.Context(), s.name, cmd)
	if err != nil {
		fmt.Fprintf(&s.out, "  ! %s: %s\n", ubl.CodeOf(err), ubl.AsError(err).Message)
	} else {
		fmt.Fprintf(&s.out, "  = %s\n", s.text(must(json.Marshal(answer))))
	}
	for _, raw := range s.atoms(s.seq + 1) {
		s.seq++
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
		if err != nil {
			s.t.Fatal(err)
		}
		form := s.forms[doc.(map[string]any)["kind"].(string)]
		if err := form.Validate(doc); err != nil {
			s.t.Errorf("%s\n%v", raw, err)
		}
		s.atom(raw)
	}
}

func (s *script) atom(raw json.RawMessage) {
	var a struct {
		Did, Status, Outcome string
		Agreement            string `json:"agreement_id"`
		This, Error          json.RawMessage
		Effects              []json.RawMessage
	}
	if err := json.Unmarshal(raw, &a); err != nil {
		s.t.Fatal(err)
	}
	if a.Did != "" {
		fmt.Fprintf(&s.out, "  action %s %s under %s %s\n", a.Did, a.Status, a.Agreement, s.text(a.This))
		return
	}
	fmt.Fprintf(&s.out, "  effect %s %s%s\n", a.Outcome, s.text(bytes.Join(toBytes(a.Effects), []byte(" "))), s.text(a.Error))
}

func toBytes(list []json.RawMessage) (out [][]byte) {
	for _, x := range list {
		out = append(out, x)
	}
	return out
}

// shorter cuts what would hide the rest: receipts, whose places depend on what
// else a tenant begins with, and the tails of hashes and user ids.
var shorter = []struct {
	what *regexp.Regexp
	by   string
}{
	{regexp.MustCompile(`,?"(receipt|Receipt)":\{[^}]*\}`), ""},
	{regexp.MustCompile(`\b(b:[0-9a-f]{6})[0-9a-f]{58}`), "$1…"},
	{regexp.MustCompile(`"(salt|Salt)":"[0-9a-f]{32}"`), `"$1":"…"`},
	{regexp.MustCompile(`"((?:terms|url)_hash)":"b:[^"]*"`), `"$1":"b:…"`},
	{regexp.MustCompile(`\b(u:[0-9a-f]{4})[0-9a-f]{28}`), "$1…"},
}

func (s *script) text(data []byte) string {
	for _, cut := range shorter {
		data = cut.what.ReplaceAll(data, []byte(cut.by))
	}
	return string(data)
}
