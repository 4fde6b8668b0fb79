package portal_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"ubl"
	"ubl/portal"
	"ubl/test/harness"
)

// ways are the forms in which a server may show what it was sent.
func ways(key string) map[string]string {
	turned := []rune(key)
	slices.Reverse(turned)
	out := map[string]string{
		"plain": key, "reversed": string(turned), "hex": hex.EncodeToString([]byte(key)), "HEX": strings.ToUpper(hex.EncodeToString([]byte(key))),
		"query": url.QueryEscape(key), "path": url.PathEscape(key), "small": strings.ToLower(url.QueryEscape(key)),
		"JSON in text": fmt.Sprintf("%q", key),
	}
	for _, between := range []string{" 0x", ", 0x", ",0X", "\\x", "|", "/", ";", "_", " | ", ">\n<", "\\n"} {
		out["hex between "+between] = strings.TrimLeft(between, " ,") + grouped(out["hex"], 2, between)
		out["HEX between "+between] = grouped(out["HEX"], 2, between)
	}
	out["hex of both cases"] = strings.ReplaceAll(strings.ToUpper(out["hex"][:9])+out["hex"][9:], "E", "e")
	for _, between := range []string{" ", ":", "-", ", ", "\n", "."} {
		out["hex between "+between] = grouped(out["hex"], 2, between)
		out["HEX between "+between] = grouped(out["HEX"], 4, between)
	}
	all := ""
	for _, b := range []byte(key) {
		all += fmt.Sprintf("%%%02x", b)
	}
	out["all escaped"] = all
	for name, enc := range map[string]*base64.Encoding{"std": base64.StdEncoding, "url": base64.URLEncoding, "raw std": base64.RawStdEncoding, "raw url": base64.RawURLEncoding} {
		for shift := range 4 {
			out[fmt.Sprint(name, shift)] = enc.EncodeToString([]byte("user"[:shift] + key + "?x"[:shift%3]))
			for _, line := range []string{"\n", "\r\n"} {
				out[fmt.Sprintf("%s%d wrapped by %q", name, shift, line)] = grouped(enc.EncodeToString([]byte("user"[:shift]+key)), 6, line)
			}
			out[fmt.Sprint("escaped ", name, shift)] = url.QueryEscape(enc.EncodeToString([]byte("user"[:shift] + key)))
		}
	}
	return out
}

// grouped is a text with something between groups of n characters.
func grouped(text string, n int, between string) string {
	var out []string
	for group := range slices.Chunk([]byte(text), n) {
		out = append(out, string(group))
	}
	return strings.Join(out, between)
}

// TestEveryForm: a secret isn't shown in any form that it comes by in passing; what is
// left of it are a few bits at the edges.
func TestEveryForm(t *testing.T) {
	for _, key := range []string{"abcdefgh", `k=abc&x=<1>"/é ~`, strings.Repeat("ÿ>?", 5), "sk-0123456789abcdef0123456789"} {
		for name, shown := range ways(key) {
			got := portal.Redact(key, "before "+shown+" after")
			if !strings.Contains(got, "[secret]") || !strings.HasPrefix(got, "before") || !strings.HasSuffix(got, "after") {
				t.Errorf("%s of %q is shown as %q", name, key, got)
			}
			if left := len(got) - len("before [secret] after"); left > 9 { // the bytes beside it, and what pads
				t.Errorf("%s of %q is shown as %q", name, key, got)
			}
			quoted, err := json.Marshal(map[string]any{shown: shown})
			if err != nil {
				t.Fatal(err)
			}
			if out := portal.RedactJSON(t, key, quoted); strings.Count(string(out), "[secret]") != 2 {
				t.Errorf("%s of %q is shown in JSON as %s", name, key, out)
			}
		}
	}
	for _, harmless := range []string{"100% of abcdefg", "%zz%", "%", "YWJj", ""} {
		if got := portal.Redact("abcdefgh", harmless); got != harmless {
			t.Errorf("%q became %q", harmless, got)
		}
	}
}

// TestFormsOnTheWay: so it is in results, descriptions, progress and errors, and none of
// them is in the log. What can't be seen is left out before.
func TestFormsOnTheWay(t *testing.T) {
	const key = "sk-0123456789-abcdef"
	coded := base64.StdEncoding.EncodeToString([]byte("user:" + key))
	hidden := key[:6] + "\u200b" + key[6:] + " \u202e\x1b"
	var logged lines
	for _, e := range eras {
		w := newWorld(t, func(o *portal.Options) { o.Log = slog.New(slog.NewTextHandler(&logged, nil)) })
		s, inner := tools(t, e)
		s.AddTool(&mcp.Tool{Name: "tell", Description: "knows " + coded + hidden, InputSchema: json.RawMessage(schema)}, func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			if token := r.Params.GetProgressToken(); token != nil {
				_ = r.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: token, Progress: 1, Message: hidden + coded})
			}
			if strings.Contains(string(r.Params.Arguments), "fail") {
				return nil, fmt.Errorf("with %s and %s", key, coded)
			}
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: hidden + coded}}, StructuredContent: map[string]any{hidden: coded}}, nil
		})
		address := gate(t, inner, func(h http.Header) bool { return h.Get("X-Api-Key") == key }, nil)
		w.add(ubl.Server{ServerID: "ev", URL: address, Auth: ubl.AuthHeader, Header: "X-Api-Key"}, key)
		w.allow("ev.tell")
		var mu sync.Mutex
		var seen []string
		look := func(what string) {
			mu.Lock()
			defer mu.Unlock()
			seen = append(seen, what)
		}
		list, err := w.Tools(t.Context(), w.bob)
		if err != nil || len(list) != 1 {
			t.Fatal(list, err)
		}
		look(string(list[0].Definition))
		for _, args := range []string{`{"text":"a"}`, `{"text":"fail"}`} {
			for _, progress := range []func(float64, float64, string){nil, func(_, _ float64, message string) { look(message) }} {
				r, err := w.Call(t.Context(), w.house.Request(w.bob), "ev.tell", json.RawMessage(args), "", progress)
				if err != nil {
					look(ubl.AsError(err).Message)
				} else {
					look(string(r.Content) + string(r.Structured))
					if r.Foreign != "ev" {
						t.Errorf("%s: the result is from %q", e.name, r.Foreign)
					}
				}
			}
		}
		mu.Lock()
		for _, what := range append(seen, logged.String()) {
			for _, bad := range []string{key, coded[8 : len(coded)-4], "\u200b", "\u202e", `\u001b`, "0123456789"} {
				if strings.Contains(what, bad) {
					t.Errorf("%s: %q holds %q", e.name, what, bad)
				}
			}
		}
		mu.Unlock()
	}
}

// TestListedPlain: definitions that earlier versions pinned are listed without what can't
// be seen, to owners who look at them and who approve them.
func TestListedPlain(t *testing.T) {
	w := newWorld(t)
	s, inner := tools(t, eras[0])
	s.AddTool(&mcp.Tool{Name: "tell", InputSchema: json.RawMessage(schema)}, nil)
	w.add(ubl.Server{ServerID: "ev", URL: inner, Auth: ubl.AuthNone}, "")
	var hash string
	for _, text := range []string{"one", "two"} {
		definition, err := ubl.Canonical([]byte(`{"name":"old","description":"` + text + `\u202e","inputSchema":{"type":"object"}}`))
		if err != nil {
			t.Fatal(err)
		}
		hash = ubl.BodyHash(definition)
		harness.Must[*ubl.Server](w.house, ubl.PortalName(w.owner.TenantID), ubl.RecordSync{Request: w.house.Request(ubl.Platform()), ServerID: "ev",
			Tools: []ubl.ToolDefinition{{Name: "old", Definition: definition}}})
	}
	listed := func(l []*ubl.ToolListing, err error) *ubl.PortalTool {
		for _, tool := range l {
			if tool.Tool == "ev.old" {
				return &tool.PortalTool
			}
		}
		t.Fatal(l, err)
		return nil
	}(w.Listing(t.Context(), w.owner, true))
	approved, err := w.Approve(t.Context(), w.house.Request(w.owner), true, "ev.old", hash)
	if err != nil {
		t.Fatal(err)
	}
	for _, shown := range []json.RawMessage{listed.Definition, listed.Held, approved.Definition} {
		if len(shown) == 0 || bytes.Contains(shown, []byte("\u202e")) {
			t.Errorf("a definition is shown as %q", shown)
		}
	}
}

// lines is a log that may be read while it is written.
type lines struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(b)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// BenchmarkRedact: the largest answer and as many secrets as are looked for.
func BenchmarkRedact(b *testing.B) {
	for name, piece := range map[string]string{"plain": "The weather will be fine. ", "escaped": "100%25 of the weather "} {
		b.Run(name, func(b *testing.B) {
			raw, _ := json.Marshal([]string{strings.Repeat(piece, 8<<20/len(piece))})
			b.SetBytes(int64(len(raw)))
			for b.Loop() {
				portal.RedactMany(raw)
			}
		})
	}
}
