package portal

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// plays are the programs that this executable plays.
var plays = map[string]func(){"honest": honest, "hostile": hostile, "brief": func() {}, "silent": func() { _, _ = io.Copy(io.Discard, os.Stdin) }}

// honest is a server of the SDK.
func honest() {
	s := mcp.NewServer(&mcp.Implementation{Name: "honest", Version: "1"}, nil)
	add := func(name string, fn func(text string) (string, error)) {
		s.AddTool(&mcp.Tool{Name: name, InputSchema: json.RawMessage(`{"type":"object","properties":{"text":{"type":"string"}}}`)},
			func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				var in struct{ Text string }
				if err := json.Unmarshal(r.Params.Arguments, &in); err != nil {
					return nil, err
				}
				out, err := fn(in.Text)
				return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: out}}}, err
			})
	}
	seen := ""
	add("echo", func(text string) (string, error) { return text, nil })
	add("remember", func(text string) (string, error) { seen, text = text, seen; return text, nil })
	add("tell", func(string) (string, error) {
		token := os.Getenv("TOKEN")
		return strings.Join([]string{token, os.Getenv("KEY"), base64.StdEncoding.EncodeToString([]byte(token)), fmt.Sprintf("%x", token)}, " "), nil
	})
	add("crash", func(string) (string, error) {
		fmt.Fprintln(os.Stderr, "crashing with "+os.Getenv("TOKEN"))
		os.Exit(3)
		return "", nil
	})
	add("wait", func(string) (string, error) { time.Sleep(time.Hour); return "", nil })
	add("grow", func(string) (string, error) {
		add("new", func(text string) (string, error) { return text, nil })
		return "", nil
	})
	s.AddTool(&mcp.Tool{Name: "ask", InputSchema: json.RawMessage(`{"type":"object"}`)}, func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		got, ok := r.Params.InputResponses["q"].(*mcp.ElicitResult) // as in 2026-07-28, which programs of the SDK speak
		if !ok {
			question := &mcp.ElicitParams{Message: "Who are you, " + os.Getenv("TOKEN") + "?", RequestedSchema: json.RawMessage(`{"type":"object","properties":{"name":{"type":"string"}}}`)}
			return &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{"q": question}, RequestState: "theirs"}, nil
		}
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: fmt.Sprint(got.Action, " ", got.Content["name"])}}}, nil
	})
	s.AddPrompt(&mcp.Prompt{Name: "greet"}, func(context.Context, *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		return &mcp.GetPromptResult{Messages: []*mcp.PromptMessage{{Role: "user", Content: &mcp.TextContent{Text: "olá " + os.Getenv("TOKEN")}}}}, nil
	})
	_ = s.Run(context.Background(), &mcp.StdioTransport{})
}

// hostile speaks the protocol until a tool is called, and then does what the tool's name says.
func hostile() {
	signal.Ignore(syscall.SIGTERM, syscall.SIGPIPE)
	lines := bufio.NewReader(os.Stdin)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			select {} // it doesn't care
		}
		var m struct {
			ID     json.RawMessage
			Method string
			Params struct{ Name string }
		}
		_ = json.Unmarshal(line, &m)
		answer := func(result string) { fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", m.ID, result) }
		switch m.Method {
		case "server/discover":
			fmt.Printf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no"}}`+"\n", m.ID)
		case "initialize":
			answer(`{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"hostile","version":"1"}}`)
		case "tools/list":
			var all []string
			for name := range misdeeds {
				all = append(all, fmt.Sprintf(`{"name":%q,"inputSchema":{"type":"object"}}`, name))
			}
			answer(`{"tools":[` + strings.Join(all, ",") + `]}`)
		case "tools/call":
			misdeeds[m.Params.Name](answer)
		}
	}
}

// misdeeds are a hostile program's tools.
var misdeeds = map[string]func(answer func(result string)){
	"fine": func(answer func(string)) { answer(`{"content":[]}`) },
	"flood": func(func(string)) {
		forever(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"x"}}` + "\n")
	},
	"ask": func(func(string)) {
		n := 0
		for {
			n++
			fmt.Printf(`{"jsonrpc":"2.0","id":%d,"method":"ping"}`+"\n", n)
		}
	},
	"forge": func(func(string)) {
		n := 1000
		for {
			n++
			fmt.Printf(`{"jsonrpc":"2.0","id":%d,"result":{}}`+"\n", n)
		}
	},
	"endless": func(func(string)) { forever(strings.Repeat("x", 1<<16)) },
	"large": func(answer func(string)) {
		answer(`{"content":[{"type":"text","text":"` + strings.Repeat("x", maxAnswer) + `"}]}`)
	},
	"garbage": func(func(string)) { fmt.Println("ready to serve") },
	"batch":   func(func(string)) { fmt.Println(`[{"jsonrpc":"2.0","id":1,"method":"ping"}]`) },
	"deep":    func(func(string)) { fmt.Println(strings.Repeat("[", 1<<20)) },
	"never":   func(func(string)) {},
	"sleep":   func(func(string)) { time.Sleep(time.Hour) },
	"exit":    func(func(string)) { os.Exit(1) },
	"close":   func(func(string)) { os.Stdout.Close() },
	"shout": func(answer func(string)) {
		_, _ = os.Stderr.Write(bytes.Repeat([]byte("noise\n"), 1<<20))
		answer(`{"content":[]}`)
	},
}

func forever(text string) {
	for {
		if _, err := os.Stdout.WriteString(text); err != nil {
			select {}
		}
	}
}
