package web

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// sky is a server with a tool that reads, and one that may delete.
func sky(t *testing.T, deleted *[]string) string {
	t.Helper()
	server := mcp.NewServer(&mcp.Implementation{Name: "sky", Version: "1"}, nil)
	type place struct {
		City string `json:"city" jsonschema:"The city it is about"`
	}
	mcp.AddTool(server, &mcp.Tool{Name: "forecast", Title: "Forecast", Description: "Tomorrow's weather", Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true}},
		func(_ context.Context, _ *mcp.CallToolRequest, in place) (*mcp.CallToolResult, any, error) {
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "rain in " + in.City + " <b>[now](https://evil.example)</b>"}}}, nil, nil
		})
	mcp.AddTool(server, &mcp.Tool{Name: "forget", Title: "Forget a city"}, func(_ context.Context, _ *mcp.CallToolRequest, in place) (*mcp.CallToolResult, any, error) {
		*deleted = append(*deleted, in.City)
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "forgot " + in.City}}}, nil, nil
	})
	h := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, nil))
	t.Cleanup(func() { h.CloseClientConnections(); h.Close() })
	return h.URL
}

// TestSlashTools: who isn't an owner finds the tools that they may use where they write, sees what
// may destroy something before it is called, and the room is told the answer with its receipt.
func TestSlashTools(t *testing.T) {
	needAxe(t)
	onScreen(t, phone, func(t *testing.T, v view) {
		s := oneNode(t)
		c := s.client(owner)
		var deleted []string
		c.ask("POST", "/api/portal/servers", map[string]string{"server_id": "sky", "name": "Sky", "url": sky(t, &deleted), "auth": "none"}, nil)
		for _, tool := range []string{"sky.forecast", "sky.forget"} {
			c.ask("PUT", "/api/portal/tools/"+tool+"/access", map[string]any{"allowed": true}, nil)
		}
		bob := guest(t, s, v, "bob@elsewhere.example")
		bob.enter("general")
		bob.until("the composer is whole", func() bool { return bob.has("button", "Add") })

		bob.focus("textbox", "Message to general")
		bob.write("/fore")
		bob.find("option", "/sky.forecast…")
		bob.examine("slash-list")
		bob.key(kb.Escape)
		bob.lacks("option", "/sky.forecast…")
		bob.write("c")
		bob.key(kb.Enter)
		bob.write("Lisbon")
		bob.press("button", "Send")
		bob.find("dialog", "Forecast")
		bob.sees("sky.forecast, a tool of Sky", "Tomorrow's weather")
		bob.misses("may change or delete")
		bob.examine("slash-tool")
		bob.press("button", "Call the tool")
		bob.sees("Sky: Forecast", "city=Lisbon", "rain in Lisbon <b>[now](https://evil.example)</b>")
		bob.examine("slash-told")

		bob.fill("Message to general", "/sky.forget Rome")
		bob.press("button", "Send")
		bob.find("dialog", "Forget a city")
		bob.sees("may change or delete something at Sky")
		bob.press("button", "Cancel")
		if got := eval[string](bob, `document.querySelector('.composer textarea').value`); got != "/sky.forget Rome" || len(deleted) > 0 {
			t.Errorf("nothing was confirmed: the field has %q, and %q were forgotten", got, deleted)
		}
		bob.press("button", "Send")
		bob.press("switch", "Post the answer to the room")
		bob.press("button", "Call the tool")
		bob.sees("forgot Rome")
		bob.find("link", "Receipt of the call…")
		bob.examine("slash-answer")
		bob.press("button", "Close")
		for _, m := range c.history(general) {
			if strings.Contains(m.Body.Text, "forgot Rome") {
				t.Error("the room is told what wasn't to be posted")
			}
		}

		bob.press("link", "Receipt of the call")
		bob.until("the receipt is shown", func() bool { return strings.HasPrefix(bob.at(), "/ui/ledger/") })
		bob.sees("office.tool.call")
	})
}

// TestSlashCommands: what is no command is a message only once one has said so, and two slashes are one.
func TestSlashCommands(t *testing.T) {
	needAxe(t)
	onScreen(t, phone, func(t *testing.T, v view) {
		s := oneNode(t)
		c := s.client(owner)
		m := c.send(general, "High water at 18:40.")
		ana := newcomer(t, s, v)
		ana.enter("general")
		ana.hears("High water at 18:40.")
		ana.until("the composer is whole", func() bool { return ana.has("button", "Add") })
		say := func(text string) {
			ana.fill("Message to general", text)
			ana.press("button", "Send")
		}

		say("/remind the tide")
		ana.find("dialog", "Remind me")
		ana.press("button", "Remind me")
		ana.sees("You will be reminded")
		var me struct {
			Reminders []struct {
				MsgID string `json:"msg_id"`
				Note  string `json:"note"`
			} `json:"reminders"`
		}
		c.ask("GET", "/api/me/notifications", nil, &me)
		if len(me.Reminders) != 1 || me.Reminders[0].Note != "the tide" || me.Reminders[0].MsgID != m.MsgID {
			t.Errorf("the reminders are %+v", me.Reminders)
		}

		say("/nothing here")
		ana.find("dialog", "There is no command /nothing")
		ana.examine("slash-unknown")
		ana.press("button", "Cancel")
		if n := len(c.history(general)); n != 1 {
			t.Errorf("%d messages, want the first alone", n)
		}
		ana.press("button", "Send")
		ana.press("button", "Send as message")
		ana.hears("/nothing here")
		say("//poll is a command")
		ana.hears("/poll is a command")

		say("/schedule Cast off")
		ana.find("dialog", "Send later")
		ana.press("button", "Schedule")
		ana.until("the field is empty", func() bool { return eval[string](ana, `document.querySelector('.composer textarea').value`) == "" })
		var later struct {
			Scheduled []struct {
				Text string `json:"text"`
			} `json:"scheduled"`
		}
		c.ask("GET", "/api/me/scheduled", nil, &later)
		if len(later.Scheduled) != 1 || later.Scheduled[0].Text != "Cast off" {
			t.Errorf("scheduled are %+v", later.Scheduled)
		}

		say("/mute")
		ana.sees("The room is muted")
		say("/archive")
		ana.find("dialog", "Archive “general”?")
	})
}
