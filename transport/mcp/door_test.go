package mcp_test

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"ubl"
	"ubl/transport/envelope"
	"ubl/transport/mcp"
)

// canary stands in requests for what must never come back.
const canary = "CANARY-7c1f"

// TestBadInputIsRefusedAndNotRepeated: a refusal names the place, never the
// value, and is the same whoever would answer.
func TestBadInputIsRefusedAndNotRepeated(t *testing.T) {
	const legacy, modern = "2025-11-25", "2026-07-28"
	ways := map[string]*world{"direct": newWorld(t), "sdk": newWorld(t)}
	ways["sdk"].LeaveToSDK()
	for name, c := range map[string]struct {
		version, body, more string // more is a header, NAME: VALUE
		status              int
		code                string // of JSON-RPC, or in quotes of a result
	}{
		"no JSON":                       {legacy, `{"` + canary, "", 400, "-32700"},
		"nothing":                       {legacy, ` `, "", 400, "-32700"},
		"broken UTF-8":                  {legacy, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff" + canary + "\"}", "", 400, "-32700"},
		"a member twice":                {legacy, `{"jsonrpc":"2.0","id":1,"method":"ping","` + canary + `":1,"` + canary + `":2}`, "", 400, "-32700"},
		"more behind it":                {legacy, `{"jsonrpc":"2.0","id":1,"method":"ping"} "` + canary + `"`, "", 400, "-32700"},
		"another JSON-RPC":              {legacy, `{"jsonrpc":"` + canary + `","id":1,"method":"ping"}`, "", 400, "-32600"},
		"a method of another type":      {legacy, `{"jsonrpc":"2.0","id":1,"method":["` + canary + `"]}`, "", 400, "-32600"},
		"a fractional id":               {legacy, `{"jsonrpc":"2.0","id":1.5,"method":"ping"}`, "", 400, "-32600"},
		"an object as id":               {legacy, `{"jsonrpc":"2.0","id":{"x":"` + canary + `"},"method":"ping"}`, "", 400, "-32600"},
		"an id beyond 2^53":             {legacy, `{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}`, "", 400, "-32600"},
		"null as id":                    {legacy, `{"jsonrpc":"2.0","id":null,"method":"ping"}`, "", 400, "-32600"},
		"neither method nor result":     {legacy, `{"jsonrpc":"2.0","id":1}`, "", 400, "-32600"},
		"an unknown method":             {legacy, `{"jsonrpc":"2.0","id":1,"method":"` + canary + `"}`, "", 200, "-32601"},
		"an unknown method, modern":     {modern, `{"jsonrpc":"2.0","id":1,"method":"` + canary + `","params":{` + meta("") + `}}`, "Mcp-Method: " + canary, 404, "-32601"},
		"params that are a list":        {legacy, `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":["` + canary + `"]}`, "", 200, "-32602"},
		"no params":                     {legacy, `{"jsonrpc":"2.0","id":1,"method":"tools/call"}`, "", 200, "-32602"},
		"params null":                   {legacy, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":null}`, "", 200, "-32602"},
		"a name of another type":        {legacy, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":["` + canary + `"]}}`, "", 200, "-32602"},
		"a cursor of another type":      {legacy, `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":["` + canary + `"]}}`, "", 200, "-32602"},
		"a cursor that is none":         {legacy, `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":"` + canary + `!"}}`, "", 200, "-32602"},
		"a cursor of resources":         {legacy, `{"jsonrpc":"2.0","id":1,"method":"resources/list","params":{"cursor":"` + canary + `!"}}`, "", 200, "-32602"},
		"a prompt's argument":           {legacy, `{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":"summarize_room","arguments":{"room_id":["` + canary + `"]}}}`, "", 200, "-32602"},
		"a prompt's unknown argument":   {legacy, `{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":"catch_up","arguments":{"` + canary + `":"x"}}}`, "", 200, "-32602"},
		"an unknown prompt":             {legacy, `{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":"` + canary + `"}}`, "", 200, "-32602"},
		"a reference of another type":   {legacy, `{"jsonrpc":"2.0","id":1,"method":"completion/complete","params":{"ref":{"type":"` + canary + `"},"argument":{"name":"x","value":"y"}}}`, "", 200, "-32602"},
		"a completion of nothing":       {legacy, `{"jsonrpc":"2.0","id":1,"method":"completion/complete","params":{}}`, "", 200, "-32602"},
		"a level of another type":       {legacy, `{"jsonrpc":"2.0","id":1,"method":"logging/setLevel","params":{"level":["` + canary + `"]}}`, "", 200, "-32602"},
		"an unknown tool":               {legacy, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + canary + `"}}`, "", 200, "-32602"},
		"arguments that are text":       {legacy, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"messenger.send","arguments":"` + canary + `"}}`, "", 200, "-32602"},
		"an argument too many":          {legacy, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"messenger.stream_room","arguments":{"room_id":"r:general","` + canary + `.x":1}}}`, "", 200, `"validation_error"`},
		"an argument of another type":   {legacy, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"messenger.stream_room","arguments":{"room_id":["` + canary + `"]}}}`, "", 200, `"validation_error"`},
		"a subscription to nothing":     {legacy, `{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":["` + canary + `"]}}`, "", 200, "-32602"},
		"_meta of another type":         {modern, `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":["` + canary + `"]}}`, "Mcp-Method: tools/list", 400, "-32602"},
		"a version of another type":     {modern, `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":["` + canary + `"]}}}`, "Mcp-Method: tools/list", 400, "-32602"},
		"a client of another type":      {modern, `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{` + meta(`,"io.modelcontextprotocol/clientInfo":["`+canary+`"]`) + `}}`, "Mcp-Method: tools/list", 400, "-32602"},
		"another method in the header":  {modern, `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{` + meta("") + `}}`, "Mcp-Method: " + canary, 400, "-32020"},
		"listening to something else":   {modern, `{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":["` + canary + `"],` + meta("") + `}}`, "Mcp-Method: subscriptions/listen", 400, "-32602"},
		"listening to nothing at all":   {modern, `{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{` + meta("") + `}}`, "Mcp-Method: subscriptions/listen", 400, "-32602"},
		"an empty batch":                {"2025-03-26", `[]`, "", 400, "-32700"},
		"a batch of something else":     {"2025-03-26", `["` + canary + `"]`, "", 400, "-32600"},
		"a batch in a later version":    {legacy, `[{"jsonrpc":"2.0","id":1,"method":"` + canary + `"}]`, "", 400, "-32600"},
		"Accept of JSON alone":          {legacy, `{"jsonrpc":"2.0","id":1,"method":"ping"}`, "Accept: application/json", 400, "-32602"},
		"another Content-Type":          {legacy, `{"jsonrpc":"2.0","id":1,"method":"ping"}`, "Content-Type: text/" + canary, 415, "-32015"},
		"Last-Event-ID":                 {legacy, `{"jsonrpc":"2.0","id":1,"method":"ping"}`, "Last-Event-ID: " + canary, 400, "-32602"},
		"a version that never was":      {"2020-" + canary, `{"jsonrpc":"2.0","id":1,"method":"ping"}`, "", 400, "-32022"},
		"initialize without parameters": {legacy, `{"jsonrpc":"2.0","id":1,"method":"initialize"}`, "", 200, "-32602"},
		"initialize by another type":    {legacy, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":["` + canary + `"]}}`, "", 200, "-32602"},
	} {
		t.Run(name, func(t *testing.T) {
			for way, w := range ways {
				session := ""
				if c.version == legacy {
					session = w.begin(t, w.url+"/mcp", "ana", "test")
				}
				headers := []string{"MCP-Protocol-Version", c.version, "Mcp-Session-Id", session}
				if name, value, ok := strings.Cut(c.more, ": "); ok {
					headers = append(headers, name, value)
				}
				a := w.do(t, "POST", w.url+"/mcp", "ana", c.body, headers...)
				if a.status != c.status || !strings.Contains(a.body, `"code":`+c.code+`,`) {
					t.Errorf("%s: %d %s, want %d and %s", way, a.status, a.body, c.status, c.code)
				}
				requested := c.code == "-32022" // whose answer the protocol wants to repeat it
				if strings.Contains(a.body, canary) && !requested {
					t.Errorf("%s repeats what was sent: %s", way, a.body)
				}
			}
		})
	}
}

func TestOrigin(t *testing.T) {
	ping := `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	strict := newWorld(t)
	allowing := newWorld(t, func(o *mcp.Options) {
		o.Foreign = func(r *http.Request) bool { return r.Header.Get("Origin") == "https://evil.example" }
	})
	for _, method := range []string{"GET", "POST", "DELETE"} {
		for _, path := range []string{"/mcp", "/portal/mcp"} {
			a := strict.do(t, method, strict.url+path, "ana", ping, "Origin", "https://any.example")
			b := allowing.do(t, method, allowing.url+path, "ana", ping, "Origin", "https://evil.example")
			if a.status != 403 || b.status != 403 || !strings.Contains(a.body, "origin_not_allowed") {
				t.Errorf("%s %s = %d and %d %s", method, path, a.status, b.status, a.body)
			}
		}
	}
	if a := allowing.do(t, "POST", allowing.url+"/mcp", "ana", ping, "Origin", "https://good.example"); a.status != 200 {
		t.Errorf("an allowed origin = %d %s", a.status, a.body)
	}
}

func TestBodyLimit(t *testing.T) {
	w := newWorld(t, func(o *mcp.Options) { o.Limits.Body = 100 })
	body := `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	if a := w.do(t, "POST", w.url+"/mcp", "ana", body+strings.Repeat(" ", 100-len(body))); a.status != 200 {
		t.Errorf("100 bytes = %d %s", a.status, a.body)
	}
	if a := w.do(t, "POST", w.url+"/mcp", "ana", body+strings.Repeat(" ", 101-len(body))); a.status != 413 || !strings.Contains(a.body, "-32013") {
		t.Errorf("101 bytes = %d %s", a.status, a.body)
	}
}

func TestWhoIsTurnedAwayLearnsWhomToAsk(t *testing.T) {
	w := newWorld(t, func(o *mcp.Options) {
		o.Issuers, o.PublicURL, o.Authorizes = []string{"https://id.example"}, "https://ubl.example/", true
	})
	for path, want := range map[string]string{
		"/mcp?sets=messenger,office&readonly=true":   `Bearer resource_metadata="https://ubl.example/.well-known/oauth-protected-resource/mcp?sets=messenger,office&readonly=true", scope="mcp"`,
		"/portal/mcp?schemas=output&sets=%20sea%2Cx": `Bearer resource_metadata="https://ubl.example/.well-known/oauth-protected-resource/portal/mcp?schemas=output&sets=%20sea%2Cx", scope="mcp"`,
		"/mcp":        `Bearer resource_metadata="https://ubl.example/.well-known/oauth-protected-resource/mcp", scope="mcp"`,
		"/portal/mcp": `Bearer resource_metadata="https://ubl.example/.well-known/oauth-protected-resource/portal/mcp", scope="mcp"`,
	} {
		a := w.do(t, "POST", w.url+path, "nobody", `{}`)
		if got := a.header.Get("WWW-Authenticate"); a.status != 401 || got != want || !strings.Contains(a.body, `{"code":-32001,`) {
			t.Errorf("%s = %d, %s %s", path, a.status, got, a.body)
		}
		m := w.do(t, "GET", w.url+mcp.MetadataPath+path, "nobody", "")
		var got struct {
			Resource string
			Servers  []string `json:"authorization_servers"`
		}
		if err := json.Unmarshal([]byte(m.body), &got); err != nil || got.Resource != "https://ubl.example"+path ||
			!slices.Equal(got.Servers, []string{"https://ubl.example", "https://id.example"}) { // the first is asked
			t.Errorf("metadata of %s = %d %s", path, m.status, m.body)
		}
	}
	if a := w.do(t, "POST", w.url+"/mcp", "ana", `{"jsonrpc":"2.0","id":1,"method":"ping"}`); a.status != 200 || a.header.Get("WWW-Authenticate") != "" {
		t.Errorf("who may come in = %d, %q", a.status, a.header.Get("WWW-Authenticate"))
	}
	here := newWorld(t, func(o *mcp.Options) { o.Authorizes = true })
	for _, base := range []string{here.url, strings.Replace(here.url, "127.0.0.1", "localhost", 1)} {
		for path, name := range map[string]string{"": "UBL", "/mcp": "UBL", "/mcp/messenger": "UBL (messenger)", "/portal/mcp/weather,sea/readonly": "UBL portal (weather,sea, readonly)"} {
			m := here.do(t, "GET", base+mcp.MetadataPath+path, "nobody", "")
			resource := base + cmp.Or(path, "/mcp")
			if want := `{"resource":"` + resource + `","resource_name":"` + name + `","authorization_servers":["` + base + `"],`; m.status != 200 || !strings.HasPrefix(m.body, want) {
				t.Errorf("metadata of %s under %s = %d %s, want %s", path, base, m.status, m.body, want)
			}
		}
		for _, query := range []string{"?secret=x", "?sets=a&secret=x", "?sets", "?", "?sets=%22%22%zz", `?sets="`, "?sets=a&", "?sets=" + strings.Repeat("a", 1100)} {
			if m := here.do(t, "GET", base+mcp.MetadataPath+"/mcp"+query, "nobody", ""); m.status != 200 || !strings.HasPrefix(m.body, `{"resource":"`+base+`/mcp",`) {
				t.Errorf("metadata with %s = %d %s", query, m.status, m.body)
			}
		}
		for _, path := range []string{"/", "/api", "/mcp/", "/mcp/a/b/c", "/portal", `/mcp/%22`} {
			if m := here.do(t, "GET", base+mcp.MetadataPath+path, "nobody", ""); m.status != 404 {
				t.Errorf("metadata of %s = %d %s", path, m.status, m.body)
			}
		}
	}
	without := newWorld(t)
	if a := without.do(t, "GET", without.url+mcp.MetadataPath+"/mcp", "nobody", ""); a.status != 404 {
		t.Errorf("without an issuer = %d %s", a.status, a.body)
	}
}

// wrong is a tool that does what tools must not.
func wrong(do func() (json.RawMessage, error)) envelope.Act {
	return envelope.Act{Name: "test.wrong", Description: "Goes wrong.", Input: json.RawMessage(`{"type":"object","additionalProperties":false}`),
		Do: func(context.Context, json.RawMessage) (json.RawMessage, error) { return do() }}
}

func TestWhatAToolDoesWrong(t *testing.T) {
	var tool atomic.Pointer[func() (json.RawMessage, error)]
	act := wrong(func() (json.RawMessage, error) { return (*tool.Load())() })
	one := func(o *mcp.Options) { o.Acts = []envelope.Act{act} }
	ways := map[string]*world{"direct": newWorld(t, one), "sdk": newWorld(t, one)}
	ways["sdk"].LeaveToSDK()
	for name, c := range map[string]struct {
		do   func() (json.RawMessage, error)
		want string
	}{
		"panics":               {func() (json.RawMessage, error) { panic(canary) }, `"code":-32603`},
		"fails without a code": {func() (json.RawMessage, error) { return nil, http.ErrAbortHandler }, `"code":-32603`},
		"answers no UTF-8":     {func() (json.RawMessage, error) { return json.RawMessage("\"\xff\""), nil }, `"code":-32603`},
		"is overloaded":        {func() (json.RawMessage, error) { return nil, ubl.Errorf(ubl.CodeOverloaded, "too much") }, `"code":"overloaded"`},
		"is limited":           {func() (json.RawMessage, error) { return nil, ubl.Errorf(ubl.CodeRateLimited, "too often") }, `"code":"rate_limited"`},
		"is refused":           {func() (json.RawMessage, error) { return nil, ubl.Errorf(ubl.CodeNotAMember, "not yours") }, `"code":"not_a_member"`},
		"lost its caller":      {func() (json.RawMessage, error) { return nil, ubl.Errorf(ubl.CodeUnauthorized, "gone") }, `"code":-32001`},
	} {
		for way, w := range ways {
			tool.Store(&c.do)
			a := w.modern(t, "ana", "tools/call", "test.wrong", `"name":"test.wrong"`)
			if !strings.Contains(a.body, c.want) || strings.Contains(a.body, canary) {
				t.Errorf("a tool that %s, %s: %d %s", name, way, a.status, a.body)
			}
			if again := w.modern(t, "ana", "tools/list", "", ""); again.status != 200 {
				t.Errorf("after a tool that %s: %d %s", name, again.status, again.body)
			}
		}
	}
}

func TestActsThatCanBeNoTools(t *testing.T) {
	good := wrong(func() (json.RawMessage, error) { return nil, nil })
	for name, change := range map[string]func(*envelope.Act){
		"no name":            func(a *envelope.Act) { a.Name = "" },
		"a blank in it":      func(a *envelope.Act) { a.Name = "a b" },
		"too long a name":    func(a *envelope.Act) { a.Name = strings.Repeat("a", 49) },
		"no description":     func(a *envelope.Act) { a.Description = "" },
		"nothing to do":      func(a *envelope.Act) { a.Do = nil },
		"no schema":          func(a *envelope.Act) { a.Input = nil },
		"a schema of a list": func(a *envelope.Act) { a.Input = json.RawMessage(`{"type":"array"}`) },
		"an open schema":     func(a *envelope.Act) { a.Input = json.RawMessage(`{"type":"object"}`) },
		"a list as answer":   func(a *envelope.Act) { a.Output = json.RawMessage(`{"type":"array"}`) },
		"a name of ours":     func(a *envelope.Act) { a.Name = "messenger_stream.room" },
	} {
		act := good
		change(&act)
		if _, err := mcp.New(mcp.Options{Acts: []envelope.Act{act}}); err == nil {
			t.Errorf("an act with %s became a tool", name)
		}
	}
	if _, err := mcp.New(mcp.Options{Acts: []envelope.Act{good}}); err != nil {
		t.Error(err)
	}
}

// TestHandlersWantACaller: wired without authentication they let nobody in.
func TestHandlersWantACaller(t *testing.T) {
	s, err := mcp.New(mcp.Options{})
	if err != nil {
		t.Fatal(err)
	}
	rec := httptest.NewRecorder()
	s.Handler().ServeHTTP(rec, httptest.NewRequest("POST", "/mcp", strings.NewReader("{}")))
	if rec.Code != 401 || !strings.Contains(rec.Body.String(), "-32001") {
		t.Errorf("nobody = %d %s", rec.Code, rec.Body)
	}
}
