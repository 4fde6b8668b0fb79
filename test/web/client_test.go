package web

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"testing"
	"time"
)

// client speaks REST beside the browsers: as another device, an agent, or to look up
// what the screens claim. It is safe for concurrent use.
type client struct {
	t     *testing.T
	url   string
	token string
	http  *http.Client
}

func newClient(t *testing.T, url, token string) *client {
	transport := &http.Transport{MaxIdleConnsPerHost: 16}
	t.Cleanup(transport.CloseIdleConnections)
	return &client{t: t, url: url, token: token, http: &http.Client{Timeout: patience, Transport: transport}}
}

// try sends a request and decodes a good answer into out.
func (c *client) try(method, path, key string, in, out any) error {
	var body io.Reader
	if in != nil {
		data, err := json.Marshal(in)
		if err != nil {
			return err
		}
		body = bytes.NewReader(data)
	}
	req, err := http.NewRequestWithContext(context.Background(), method, c.url+path, body)
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+c.token)
	req.Header.Set("Content-Type", "application/json")
	if key != "" {
		req.Header.Set("Idempotency-Key", key)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	if resp.StatusCode/100 != 2 {
		return fmt.Errorf("%s %s is answered %d %s", method, path, resp.StatusCode, answer)
	}
	if out == nil || len(answer) == 0 {
		return nil
	}
	return json.Unmarshal(answer, out)
}

// ask is try for what must work; against a node that was just killed, again.
func (c *client) ask(method, path string, in, out any) {
	c.t.Helper()
	key := fmt.Sprintf("key-%d", time.Now().UnixNano())
	var err error
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if err = c.try(method, path, key, in, out); err == nil {
			return
		}
	}
	c.t.Fatal(err)
}

// message is what the tests look at in a message.
type message struct {
	MsgID   string `json:"msg_id"`
	RoomSeq int64  `json:"room_seq"`
	Sender  string `json:"sender_id"`
	Type    string `json:"type"`
	Body    struct {
		Text string `json:"text"`
	} `json:"body"`
	ReplyTo *string `json:"reply_to"`
	Receipt struct {
		Seq      int64  `json:"seq"`
		CID      string `json:"cid"`
		HeadHash string `json:"head_hash"`
		Time     string `json:"time"`
	} `json:"receipt"`
}

const general = "r:general"

func (c *client) send(room, text string) message {
	c.t.Helper()
	return c.post(room, map[string]any{"type": "text", "body": map[string]string{"text": text}})
}

func (c *client) reply(room, to, text string) message {
	c.t.Helper()
	return c.post(room, map[string]any{"type": "text", "body": map[string]string{"text": text}, "reply_to": to})
}

func (c *client) post(room string, body any) message {
	c.t.Helper()
	var out struct{ Message message }
	c.ask("POST", "/api/rooms/"+room+"/messages", body, &out)
	return out.Message
}

// history is what people wrote in a room, oldest first.
func (c *client) history(room string) (all []message) {
	c.t.Helper()
	for cursor := ""; ; {
		var page struct {
			Messages   []message
			NextCursor *int64 `json:"next_cursor"`
		}
		c.ask("GET", "/api/rooms/"+room+"/history?limit=200"+cursor, nil, &page)
		all = append(page.Messages, all...)
		if page.NextCursor == nil {
			return texts(all)
		}
		cursor = fmt.Sprintf("&cursor=%d", *page.NextCursor)
	}
}

// texts leaves out what the system says.
func texts(all []message) []message {
	kept := all[:0]
	for _, m := range all {
		if m.Type == "text" {
			kept = append(kept, m)
		}
	}
	return kept
}

// said wants a room to hold a text exactly once, and answers the message.
func (c *client) said(room, text string) message {
	c.t.Helper()
	var found []message
	for _, m := range c.history(room) {
		if m.Body.Text == text {
			found = append(found, m)
		}
	}
	if len(found) != 1 {
		c.t.Fatalf("%q is in %s %d times", text, room, len(found))
	}
	return found[0]
}

// named gives the caller a name.
func (c *client) named(name string) {
	c.t.Helper()
	var who struct {
		Identity struct {
			UserID string `json:"user_id"`
		}
	}
	c.ask("GET", "/api/whoami", nil, &who)
	c.ask("PATCH", "/api/tenant/members/"+who.Identity.UserID, map[string]string{"name": name}, nil)
}

// idOf is the member of the tenant who came under an address.
func (c *client) idOf(email string) string {
	c.t.Helper()
	var list struct {
		Members []struct {
			UserID string `json:"user_id"`
			Email  string `json:"email"`
		} `json:"members"`
	}
	c.ask("GET", "/api/tenant/members", nil, &list)
	for _, m := range list.Members {
		if m.Email == email {
			return m.UserID
		}
	}
	c.t.Fatalf("%s is no member", email)
	return ""
}

// invite is the link of an invitation for somebody.
func (c *client) invite(email string) string {
	c.t.Helper()
	var out struct{ Link string }
	c.ask("POST", "/api/invitations", map[string]string{"email": email}, &out)
	return out.Link
}
