package deploy

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

// client speaks with one address as one user. It is safe for concurrent use.
type client struct {
	base  string
	token string
	http  *http.Client
}

func newClient(base, token string) *client {
	return &client{base: base, token: token, http: &http.Client{Timeout: 15 * time.Second}}
}

func (c *client) request(ctx context.Context, method, path string, body io.Reader) (*http.Request, error) {
	r, err := http.NewRequestWithContext(ctx, method, c.base+path, body)
	if err != nil {
		return nil, err
	}
	r.Header.Set("Authorization", "Bearer "+c.token)
	return r, nil
}

// do sends one request and decodes a good answer into out.
func (c *client) do(ctx context.Context, method, path, key string, in, out any) (status int, err error) {
	var body io.Reader
	if in != nil {
		data, err := json.Marshal(in)
		if err != nil {
			return 0, err
		}
		body = bytes.NewReader(data)
	}
	r, err := c.request(ctx, method, path, body)
	if err != nil {
		return 0, err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Idempotency-Key", key)
	resp, err := c.http.Do(r)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		return 0, err
	}
	if resp.StatusCode/100 != 2 {
		return resp.StatusCode, fmt.Errorf("%d %s", resp.StatusCode, answer)
	}
	return resp.StatusCode, json.Unmarshal(answer, out)
}

// persist is do, again under the same key as long as the outcome is unknown:
// the connection broke, or the status is 503.
func (c *client) persist(ctx context.Context, method, path, key string, in, out any) error {
	for {
		status, err := c.do(ctx, method, path, key, in, out)
		unknown := status == 0 || status == http.StatusServiceUnavailable
		if err == nil || !unknown || ctx.Err() != nil {
			return err
		}
		pause(ctx, 50*time.Millisecond)
	}
}

// message is what the test looks at in a message.
type message struct {
	RoomSeq int64 `json:"room_seq"`
	Body    struct {
		Text string `json:"text"`
	} `json:"body"`
}

func (c *client) send(ctx context.Context, room, text string) (message, error) {
	var out struct {
		Message message `json:"message"`
	}
	in := map[string]any{"type": "text", "body": map[string]string{"text": text}}
	err := c.persist(ctx, "POST", "/api/rooms/"+room+"/messages", "key-"+text, in, &out)
	return out.Message, err
}

// history reads a whole room, oldest first.
func (c *client) history(ctx context.Context, room string) (all []message, err error) {
	for cursor := ""; ; {
		var page struct {
			Messages   []message `json:"messages"`
			NextCursor *int64    `json:"next_cursor"`
		}
		path := "/api/rooms/" + room + "/history?limit=200" + cursor
		if err := c.persist(ctx, "GET", path, "", nil, &page); err != nil {
			return nil, err
		}
		all = append(page.Messages, all...)
		if page.NextCursor == nil {
			return all, nil
		}
		cursor = fmt.Sprintf("&cursor=%d", *page.NextCursor)
	}
}

// get asks once, without a token, and returns status, header and body.
func get(t *testing.T, url string) (int, http.Header, string) {
	t.Helper()
	resp, err := (&http.Client{Timeout: 10 * time.Second}).Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, resp.Header, string(body)
}

// pause waits, or less where ctx ends.
func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
