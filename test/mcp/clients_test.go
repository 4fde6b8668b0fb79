package mcp_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// heard is what the scripts of the TypeScript clients tell of their visit.
type heard struct {
	Tools    []string
	Sent     string
	Updated  string
	History  int
	Streamed int
	Progress []int
	// Failed is a call that did, though its answer isn't of the tool's output schema.
	Failed struct {
		IsError bool
		Code    string
		Details map[string]string
	}
	Room       string
	Prompt     int
	Completion []string
}

func TestTypeScriptClients(t *testing.T) {
	box := tools(t)
	for script, check := range map[string]func(*testing.T, heard){
		"sdk.mjs": func(t *testing.T, got heard) {
			if got.Sent != "from the TypeScript SDK" || got.Updated != "ubl://rooms/r:general" || got.History < 2 || !slices.Equal(got.Completion, []string{"r:general"}) {
				t.Errorf("heard %+v", got)
			}
		},
		"client.mjs": func(t *testing.T, got heard) {
			if got.Sent != "from the TypeScript client" || got.Streamed != 2 || !slices.Equal(got.Progress, []int{1, 2}) {
				t.Errorf("heard %+v", got)
			}
		},
	} {
		t.Run(script, func(t *testing.T) {
			p := start(t, product)
			out, code := box.run(t, box.script(t, script), p.url(), p.token)
			var got heard
			if err := json.Unmarshal([]byte(lastLine(out)), &got); err != nil || code != 0 {
				t.Fatalf("ended with %d: %s", code, out)
			}
			if !slices.Contains(got.Tools, "messenger.send") || !got.Failed.IsError || got.Failed.Code != "validation_error" ||
				got.Failed.Details["room_id"] == "" || got.Room != "application/json" || got.Prompt != 2 {
				t.Errorf("heard %+v", got)
			}
			check(t, got)
			if texts := p.texts(t); !strings.Contains(texts, got.Sent) {
				t.Errorf("the room has %s", texts)
			}
		})
	}
}

func lastLine(s string) string {
	s = strings.TrimSpace(s)
	return s[strings.LastIndexByte(s, '\n')+1:]
}

// inspect runs the Inspector once, in one era of the protocol.
func (b toolbox) inspect(t *testing.T, p *program, era string, args ...string) (out string, code int) {
	t.Helper()
	return b.run(t, append([]string{b.module("@modelcontextprotocol", "inspector", "clients", "launcher", "build", "index.js"), "--cli", p.url(),
		"--transport", "http", "--protocol-era", era, "--header", "Authorization: Bearer " + p.token}, args...)...)
}

// TestInspector runs the protocol's Inspector, strict about schemas.
func TestInspector(t *testing.T) {
	box := tools(t)
	p := start(t, product)
	for _, era := range []string{"legacy", "modern"} {
		inspect := func(args ...string) (string, int) { return box.inspect(t, p, era, args...) }
		t.Run(era, func(t *testing.T) {
			for _, c := range []struct {
				args []string
				want string
				fail bool
			}{
				{[]string{"--method", "tools/list", "--strict"}, `"messenger.send"`, false},
				{[]string{"--method", "resources/list"}, `"ubl://rooms/r:general"`, false},
				{[]string{"--method", "resources/templates/list"}, `"ubl://receipts/{seq}"`, false},
				{[]string{"--method", "resources/read", "--uri", "ubl://rooms/r:general"}, `room_seq`, false},
				{[]string{"--method", "prompts/list"}, `"catch_up"`, false},
				{[]string{"--method", "prompts/get", "--prompt-name", "verify_receipt", "--prompt-args", "seq=1"}, `tenant.create`, false},
				{[]string{"--method", "tools/call", "--tool-name", "messenger.list_rooms"}, `"structuredContent"`, false},
				{[]string{"--method", "tools/call", "--tool-name", "messenger.send", "--tool-arg", "room_id=r:general", "--tool-arg", "type=text",
					"--tool-arg", `body={"text":"from the Inspector, ` + era + `"}`}, `"receipt"`, false},
				{[]string{"--method", "tools/call", "--tool-name", "messenger.history", "--tool-arg", "room_id=r:nowhere"}, `there is no such room`, true},
			} {
				out, code := inspect(c.args...)
				if (code != 0) != c.fail || !strings.Contains(out, c.want) {
					t.Errorf("%q ended with %d: %s", c.args, code, out)
				}
			}
			if texts := p.texts(t); !strings.Contains(texts, "from the Inspector, "+era) {
				t.Errorf("the room has %s", texts)
			}
		})
	}
}
