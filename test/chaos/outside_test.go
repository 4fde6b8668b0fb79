//go:build linux

package chaos

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// outside is a server of tools beside the nodes, which tenant 0 uses through
// its portal, and all that its callers learned.
type outside struct {
	owner *client
	witness

	mu    sync.Mutex
	ran   map[int]int     // how often each call came here
	calls map[int]*errand // those that callers learned the end of
}

// errand is a call as its caller knows it: done, or only begun, once and for all.
type errand struct{ done bool }

// newOutside serves the tool, and has the portal know and allow it.
func newOutside(ctx context.Context, t *testing.T, w *world) *outside {
	t.Helper()
	o := &outside{witness: witness{world: w}, owner: w.operator(), ran: make(map[int]int), calls: make(map[int]*errand)}
	server := mcp.NewServer(&mcp.Implementation{Name: "outside", Version: "1"}, nil)
	mcp.AddTool(server, &mcp.Tool{Name: "note"}, o.note)
	listeners, at, err := w.net.listen(len(w.all()))
	must(t, err)
	h := &http.Server{Handler: mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, &mcp.StreamableHTTPOptions{Stateless: true})}
	for _, ln := range listeners {
		go func() { _ = h.Serve(ln) }() // until it is closed
	}
	t.Cleanup(func() { _ = h.Close() })
	must(t, o.owner.ask(ctx, "POST", "/api/portal/servers", "add-outside",
		map[string]string{"server_id": "outside", "name": "outside", "url": "http://" + at}, nil))
	must(t, o.owner.ask(ctx, "POST", "/api/portal/servers/outside/sync", "sync-outside", nil, nil))
	must(t, o.owner.ask(ctx, "PUT", "/api/portal/tools/"+noteTool+"/access", "allow-outside", map[string]bool{"allowed": true}, nil))
	return o
}

const noteTool = "outside.note"

type noted struct {
	N int `json:"n"`
}

// note is the tool. It takes a while, so that nodes die meanwhile.
func (o *outside) note(ctx context.Context, _ *mcp.CallToolRequest, in noted) (*mcp.CallToolResult, noted, error) {
	o.mu.Lock()
	o.ran[in.N]++
	o.mu.Unlock()
	pause(ctx, time.Duration(in.N%5)*50*time.Millisecond)
	return nil, in, nil
}

// caller calls the tool until told to stop, each call under a key.
func (o *outside) caller(ctx context.Context, who int, draw *rand.Rand, pace time.Duration) {
	agent := o.owner.agent(2*who + 1) // at the portal
	for i := 0; ctx.Err() == nil; i++ {
		o.call(agent, 1000*who+i)
		pause(ctx, between(draw, pace/2, pace))
	}
}

// noteKey is the key of call n, and the name of its session: what it says is in the ledger
// as a commitment alone.
func noteKey(n int) string { return fmt.Sprintf("note-%d", n) }

// call makes one call. A second try under the key is told that the first was
// begun, and is not made.
func (o *outside) call(a *agent, n int) {
	ctx, cancel := context.WithTimeout(o.owner.world.life, deadline)
	defer cancel()
	var out noted
	err := a.use(ctx, noteTool, noteKey(n), noted{n}, &out)
	s, _ := errors.AsType[*statusError](err)
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case err == nil && out.N == n:
		o.calls[n] = &errand{done: true}
	case s != nil && s.status == http.StatusConflict, err != nil && strings.Contains(err.Error(), "status: intended"):
		o.calls[n] = &errand{} // begun before, and ended or, where its node died, still to be ended by the keeper
	default:
		o.blame("call %d answered %d: %v", n, out.N, err)
	}
}
