package portal

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"sync"
)

// tasked are the tools of a server that can be called as tasks alone (2025-11-25, execution.taskSupport).
// The portal calls none so, and lists none. The SDK's tools don't have the member: it is read from
// the lists as they come.
type tasked struct {
	mu    sync.Mutex
	names map[string]bool
}

// note takes in what a result says, where it is a list of tools.
func (t *tasked) note(result []byte) {
	var list struct {
		Tools []struct {
			Name      string
			Execution struct {
				TaskSupport string `json:"taskSupport"`
			}
		}
	}
	if !bytes.Contains(result, []byte("taskSupport")) && t.none() || json.Unmarshal(result, &list) != nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.names == nil {
		t.names = map[string]bool{}
	}
	for _, tool := range list.Tools {
		delete(t.names, tool.Name)
		if tool.Execution.TaskSupport == "required" && len(t.names) < maxTools {
			t.names[tool.Name] = true
		}
	}
}

// none reports whether there are none so far.
func (t *tasked) none() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.names) == 0
}

func (t *tasked) has(name string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.names[name]
}

// copied is what was read of the answers to one request.
type copied struct {
	mu   sync.Mutex
	read bytes.Buffer
}

type copiedKey struct{}

// copying has the guard keep a copy of the answers to a request.
func copying(ctx context.Context) (context.Context, *copied) {
	c := new(copied)
	return context.WithValue(ctx, copiedKey{}, c), c
}

// copiedBody is the body of an answer, with a copy where somebody wants one. The guard bounds it.
func copiedBody(ctx context.Context, resp *http.Response) io.Reader {
	c, ok := ctx.Value(copiedKey{}).(*copied)
	if !ok {
		return resp.Body
	}
	return io.TeeReader(resp.Body, c)
}

// Write implements [io.Writer].
func (c *copied) Write(b []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.read.Write(b)
}

// results are those of the messages that were read: of a JSON body, or of each event of a stream.
func (c *copied) results() (out [][]byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	body := c.read.Bytes()
	var message struct{ Result json.RawMessage }
	if json.Unmarshal(body, &message) == nil {
		return [][]byte{message.Result}
	}
	for data, err := range messages(bytes.NewReader(body)) {
		message.Result = nil
		if err == nil && json.Unmarshal(data, &message) == nil {
			out = append(out, message.Result)
		}
	}
	return out
}
