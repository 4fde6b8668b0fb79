package mcp_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"ubl/transport/mcp"
)

var update = flag.Bool("update", false, "write the answers into testdata")

// TestTranscripts plays the conversations in testdata and compares the answers,
// once with tools/call answered directly and once by the SDK.
func TestTranscripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no transcripts: %v", err)
	}
	for _, file := range files {
		for _, way := range []string{"direct", "sdk"} {
			t.Run(filepath.Base(file)+"/"+way, func(t *testing.T) {
				w := newWorld(t, func(o *mcp.Options) { o.Visible = onlyMessenger })
				if way == "sdk" {
					w.LeaveToSDK()
				}
				play(t, w, file, *update && way == "direct")
			})
		}
	}
}

func play(t *testing.T, w *world, file string, write bool) {
	archive, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	session := ""
	var out []txtar.File
	for _, f := range archive.Files {
		name, isAnswer := strings.CutSuffix(f.Name, " →")
		if isAnswer {
			continue
		}
		a := w.line(t, string(f.Data), session)
		if id := a.header.Get("Mcp-Session-Id"); id != "" {
			session = id
		}
		got := a.text(t)
		if want := answerIn(archive, name); !write && got != want {
			t.Errorf("%s:\n%s\nwant\n%s", f.Name, got, want)
		}
		out = append(out, f, txtar.File{Name: f.Name + " →", Data: []byte(got)})
	}
	if write {
		if err := os.WriteFile(file, txtar.Format(&txtar.Archive{Comment: archive.Comment, Files: out}), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func answerIn(a *txtar.Archive, name string) string {
	i := slices.IndexFunc(a.Files, func(f txtar.File) bool { return f.Name == name+" →" })
	if i < 0 {
		return ""
	}
	return string(a.Files[i].Data)
}

// line sends a request as a transcript writes it: METHOD PATH PERSON, headers,
// an empty line, the body. META and SESSION stand for what every request has.
func (w *world) line(t *testing.T, text, session string) answer {
	t.Helper()
	head, body, _ := strings.Cut(text, "\n\n")
	lines := strings.Split(strings.TrimSpace(head), "\n")
	var headers []string
	for _, line := range lines[1:] {
		name, value, _ := strings.Cut(line, ":")
		headers = append(headers, name, strings.ReplaceAll(strings.TrimSpace(value), "SESSION", session))
	}
	var method, path, who string
	if _, err := fmt.Sscan(lines[0], &method, &path, &who); err != nil {
		t.Fatalf("not METHOD PATH PERSON: %s", lines[0])
	}
	body = strings.ReplaceAll(strings.TrimSpace(body), "META", meta(""))
	return w.do(t, method, w.url+path, who, body, headers...)
}

// volatile is what differs from run to run.
var volatile = regexp.MustCompile(`"(m|d):[0-9a-f-]{36}|(c|h|b):[0-9a-f]{64}|salt\\?": ?\\?"[0-9a-f]{32}`)

// text is an answer as a transcript writes it.
func (a answer) text(t *testing.T) string {
	var b strings.Builder
	fmt.Fprintln(&b, a.status)
	for _, name := range []string{"Allow", "Mcp-Session-Id", "WWW-Authenticate"} {
		switch v := a.header.Get(name); {
		case v != "" && name == "Mcp-Session-Id":
			fmt.Fprintf(&b, "%s: SESSION\n", name)
		case v != "":
			fmt.Fprintf(&b, "%s: %s\n", name, v)
		}
	}
	for line := range strings.Lines(a.body) {
		var v any
		if err := json.Unmarshal([]byte(line), &v); err != nil {
			t.Fatalf("not JSON: %s", line)
		}
		b.WriteByte('\n')
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		if err := enc.Encode(tidy(v)); err != nil {
			t.Fatal(err)
		}
	}
	return volatile.ReplaceAllStringFunc(b.String(), func(s string) string {
		kind, _, _ := strings.Cut(s, ":")
		return kind + ":…"
	})
}

// tidy writes text that repeats structured content as such, and schemas short.
func tidy(v any) any {
	m, ok := v.(map[string]any)
	if !ok {
		if list, ok := v.([]any); ok {
			for i := range list {
				list[i] = tidy(list[i])
			}
		}
		return v
	}
	for name, member := range m {
		switch name {
		case "inputSchema", "outputSchema":
			m[name] = "…"
		case "text":
			var inner any
			if s, ok := member.(string); ok && json.Unmarshal([]byte(s), &inner) == nil {
				m["text"] = map[string]any{"JSON": inner}
			}
		default:
			m[name] = tidy(member)
		}
	}
	return m
}

// onlyMessenger keeps listings short: the seed's tools.
func onlyMessenger(context.Context) (func(string) bool, error) {
	return func(tool string) bool {
		return slices.Contains([]string{"messenger.history", "messenger.list_rooms", "messenger.send", "messenger.stream_room"}, tool)
	}, nil
}
