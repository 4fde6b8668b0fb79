//go:build linux

package chaos

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// perTry is how long a client waits for one node before it asks another.
const perTry = 2 * time.Second

// client is one user, who knows all nodes. It is safe for concurrent use.
type client struct {
	world *world
	token string
	tally *tally
}

// operator is a client that may ask about the cluster.
func (w *world) operator() *client {
	w.operatorOnce.Do(func() { w.operatorToken = w.token(operator) })
	return &client{world: w, token: w.operatorToken, tally: new(tally)}
}

// statusError is an answer other than 2xx.
type statusError struct {
	status int
	body   string
}

func (e *statusError) Error() string { return fmt.Sprintf("%d %s", e.status, e.body) }

// passing reports whether an error is a matter of time and place: no answer at
// all, or one that says so. Any other answer is what the client gets.
func passing(err error) bool {
	var s *statusError
	if !errors.As(err, &s) {
		return true
	}
	return s.status == http.StatusServiceUnavailable || s.status == http.StatusBadGateway || s.status == http.StatusGatewayTimeout
}

// try asks one node once and decodes the answer into out, if that is not nil.
func (c *client) try(ctx context.Context, n *node, method, path, key string, in, out any) error {
	ctx, cancel := context.WithTimeout(ctx, perTry)
	defer cancel()
	return c.send(ctx, n, method, path, key, in, out)
}

func (c *client) send(ctx context.Context, n *node, method, path, key string, in, out any) error {
	resp, err := c.open(ctx, n, method, path, in, func(h http.Header) {
		if key != "" {
			h.Set("Idempotency-Key", key)
		}
	})
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	if resp.StatusCode/100 != 2 {
		return &statusError{resp.StatusCode, string(data)}
	}
	if out == nil {
		return nil
	}
	return json.Unmarshal(data, out)
}

// open sends a request and gives the answer unread.
func (c *client) open(ctx context.Context, n *node, method, path string, in any, headers func(http.Header)) (*http.Response, error) {
	var body io.Reader
	if in != nil {
		data, err := json.Marshal(in)
		if err != nil {
			return nil, err
		}
		body = bytes.NewReader(data)
	}
	req, err := http.NewRequestWithContext(ctx, method, "http://"+n.addresses().api+path, body)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+c.token)
	if in != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	headers(req.Header)
	return c.world.http.Do(req)
}

// ask asks node after node until one answers. The same key makes it one act.
func (c *client) ask(ctx context.Context, method, path, key string, in, out any) error {
	return c.through(ctx, func(ctx context.Context, n *node) error { return c.try(ctx, n, method, path, key, in, out) })
}

// through tries node after node, from a random one on, until one answers. Where ctx ends
// first, its error has what was answered last: a try that was cut off says less.
func (c *client) through(ctx context.Context, try func(context.Context, *node) error) error {
	var answered error
	again := c.world.backoff()
	for i := rand.IntN(8); ; i++ { // where to begin need not be repeatable
		members := c.world.members()
		err := try(ctx, members[i%len(members)])
		if err == nil || !passing(err) {
			return err
		}
		if _, ok := errors.AsType[*statusError](err); ok {
			answered = err
		}
		c.tally.retries.Add(1)
		if again.wait(ctx); ctx.Err() != nil {
			return fmt.Errorf("%w: %w", context.Cause(ctx), cmp.Or(answered, err))
		}
	}
}

// insist asks one node until it answers.
func (c *client) insist(ctx context.Context, n *node, path string, out any) error {
	again := c.world.backoff()
	for {
		err := c.try(ctx, n, "GET", path, "", nil, out)
		if err == nil || !passing(err) {
			return err
		}
		c.tally.retries.Add(1)
		if again.wait(ctx); ctx.Err() != nil {
			return fmt.Errorf("%w: %w", context.Cause(ctx), err)
		}
	}
}

// message is what the checks look at in an entry of a room's timeline: mostly messages, and
// what acts on members leave. It is read from a message.v1 as well as from an entry.v2.
type message struct {
	MsgID    string
	RoomSeq  int64
	SenderID string
	Text     string // of what an act on members left, what it says: "added u:bo"
	Receipt  receipt
}

type receipt struct {
	Seq      int64  `json:"seq"`
	CID      string `json:"cid"`
	HeadHash string `json:"head_hash"`
}

// UnmarshalJSON implements [json.Unmarshaler].
func (m *message) UnmarshalJSON(data []byte) error {
	var in struct {
		MsgID    string `json:"msg_id"`
		EntryID  string `json:"entry_id"`
		RoomSeq  int64  `json:"room_seq"`
		SenderID string `json:"sender_id"`
		AuthorID string `json:"author_id"`
		Body     struct {
			Text string `json:"text"`
			JSON struct {
				Text    string `json:"text"`
				Changes []struct {
					Change string `json:"change"`
					UserID string `json:"user_id"`
				} `json:"changes"`
			} `json:"json"`
		} `json:"body"`
		Receipt receipt `json:"receipt"`
	}
	if err := json.Unmarshal(data, &in); err != nil {
		return err
	}
	said := in.Body.Text + in.Body.JSON.Text
	for _, c := range in.Body.JSON.Changes {
		said += c.Change + " " + c.UserID
	}
	*m = message{in.MsgID + in.EntryID, in.RoomSeq, in.SenderID + in.AuthorID, said, in.Receipt}
	return nil
}

type page struct {
	Entries    []message `json:"entries"`
	NextCursor *int64    `json:"next_cursor"`
}

type text struct {
	Type string            `json:"type"`
	Body map[string]string `json:"body"`
}

func say(s string) text { return text{Type: "text", Body: map[string]string{"text": s}} }

// history reads a whole room through one node, oldest first.
func (c *client) history(ctx context.Context, n *node, room string) ([]message, error) {
	var all []message
	for cursor := ""; ; {
		var p page
		path := "/api/rooms/" + room + "/entries?limit=200" + cursor
		if err := c.insist(ctx, n, path, &p); err != nil {
			return nil, err
		}
		all = append(p.Entries, all...)
		if p.NextCursor == nil {
			return all, nil
		}
		cursor = fmt.Sprintf("&cursor=%d", *p.NextCursor)
	}
}

// tally is what the clients of a world did, all together.
type tally struct {
	acked, retries, givenUp, reads, joins, events, reconnects atomic.Int64
	byAgents                                                  atomic.Int64 // of the acknowledged sends, those over MCP
	versions, deletions, searches                             atomic.Int64 // of documents
	payments, refusedPayments, openPayments                   atomic.Int64 // transfers and issues of credits
	additions                                                 atomic.Int64 // to counters

	mu    sync.Mutex
	worst time.Duration // from a message's first try to its acknowledgement
	when  string        // what was broken then
}

// waited notes how long a message took.
func (t *tally) waited(d time.Duration, when string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if d > t.worst {
		t.worst, t.when = d, when
	}
}

func (t *tally) longest() (time.Duration, string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.worst, t.when
}
