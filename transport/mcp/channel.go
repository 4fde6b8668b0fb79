package mcp

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"ubl"
	"ubl/transport/envelope"
)

// channel is one stream of notifications: a session's GET, or a
// subscriptions/listen. Its goroutine owns out and the times; wake and ended are
// anyone's; the rest is guarded by the hub's lock.
type channel struct {
	hub    *hub
	visit  *visit
	follow *follow
	user   *user
	out    *output
	wake   chan struct{} // one slot
	ended  atomic.Bool
	// id is that of the subscriptions/listen, nil for a GET.
	id jsontext.Value

	wants     wants
	interests map[string]*interest
	notice    notice
	// quiet is until when nothing more is told, however much happens.
	quiet time.Time
}

// wants are the lists whose changes a channel is told of.
type wants struct{ tools, prompts, resources bool }

// notice is what a channel has yet to be told.
type notice struct {
	tools, prompts, resources bool
	updated                   map[string]struct{}
}

func (n *notice) add(key string) {
	if n.updated == nil {
		n.updated = make(map[string]struct{})
	}
	n.updated[key] = struct{}{}
}

var never time.Time

// fresh is how old a session may be for its first channel to be just that: later
// ones begin where something may have been missed.
const fresh = time.Minute

// openChannel answers a session's GET.
func (s *Server) openChannel(w http.ResponseWriter, r *http.Request, v *visit) {
	if _, asStream := accepts(r.Header.Values("Accept")); !asStream {
		s.refuse(w, r, nil, invalid("header Accept", "expected text/event-stream"))
		return
	}
	if v.session.id == "" {
		s.refuse(w, r, nil, noSession())
		return
	}
	c := &channel{hub: s.hub, visit: v, wants: wants{tools: true, prompts: v.portal, resources: true}}
	if s.opts.Now().Sub(v.session.issued) > fresh {
		c.notice.tools, c.notice.prompts, c.notice.resources = true, true, true
	}
	s.serveChannel(w, r, c, []byte(": ok\n\n"))
}

// serveChannel opens a channel and runs it to its end.
func (s *Server) serveChannel(w http.ResponseWriter, r *http.Request, c *channel, first []byte) {
	// The caller's tenant lets them in now, and not only at the first event.
	if _, err := c.visit.caller.Anew(false, "").Enter(r.Context()); err != nil {
		s.refuse(w, r, c.id, err)
		return
	}
	release, err := c.visit.caller.Stream()
	if err != nil {
		s.refuse(w, r, c.id, err)
		return
	}
	defer release()
	c.wake = make(chan struct{}, 1)
	c.out = newOutput(w, r, s.opts.Now, s.limits.WriteTimeout)
	if err := s.hub.admit(c); err != nil {
		s.refuse(w, r, c.id, err)
		return
	}
	defer s.hub.dismiss(c)
	if c.out.startStream(first) != nil {
		return // the client has gone
	}
	if c.run(r.Context()) && c.id != nil {
		// Bytes that a client which has gone doesn't get are no error of ours.
		_ = c.out.send(appendEvent(nil, c.goodbye()))
	}
}

// end makes the channel end. Anyone may call it.
func (c *channel) end() {
	c.ended.Store(true)
	c.poke()
}

func (c *channel) poke() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// run tells the client until something ends the channel, and whether it was not
// the client.
func (c *channel) run(ctx context.Context) bool {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		now := c.hub.server.opts.Now()
		if c.over(now) {
			return true
		}
		due, err := c.tell(ctx, now)
		if err != nil {
			return false
		}
		timer.Reset(due.Sub(now))
		select {
		case <-c.wake:
		case <-timer.C:
		case <-ctx.Done():
			return false
		case <-c.visit.caller.Revoked:
			return true
		}
	}
}

// over reports whether the channel has to end now.
func (c *channel) over(now time.Time) bool {
	return c.ended.Load() || c.visit.caller.Over(ubl.TimeOf(now))
}

// tell writes what there is to say, if it is time to, and says when to look
// again.
func (c *channel) tell(ctx context.Context, now time.Time) (due time.Time, err error) {
	limits := &c.hub.server.limits
	if !now.Before(c.quiet) {
		if frames := c.frames(ctx, now); len(frames) > 0 {
			c.quiet = now.Add(limits.Pace)
			err = c.out.send(frames)
		}
	}
	if now.Sub(c.out.last) >= limits.Keepalive && err == nil {
		err = c.out.send([]byte(": keepalive\n\n"))
	}
	due = c.out.last.Add(limits.Keepalive)
	if c.quiet.After(now) && c.quiet.Before(due) {
		due = c.quiet
	}
	if exp := c.visit.caller.ExpiresAt; exp != 0 && exp.Std().Before(due) {
		due = exp.Std()
	}
	return due, err
}

// take empties the notice. What the channel doesn't want is thrown away.
func (c *channel) take() (n notice, updated []*interest) {
	c.hub.mu.Lock()
	defer c.hub.mu.Unlock()
	n, c.notice = c.notice, notice{}
	n.tools, n.prompts, n.resources = n.tools && c.wants.tools, n.prompts && c.wants.prompts, n.resources && c.wants.resources
	for _, key := range slices.Sorted(maps.Keys(n.updated)) {
		if in := c.interests[key]; in != nil {
			updated = append(updated, in)
		}
	}
	return n, updated
}

// frames are the events of the notice, nil for none.
func (c *channel) frames(ctx context.Context, now time.Time) []byte {
	n, updated := c.take()
	var b []byte
	if n.tools {
		b = appendEvent(b, c.notification("notifications/tools/list_changed", ""))
	}
	if n.prompts {
		b = appendEvent(b, c.notification("notifications/prompts/list_changed", ""))
	}
	if n.resources {
		b = appendEvent(b, c.notification("notifications/resources/list_changed", ""))
	}
	for _, in := range updated {
		if c.mayHear(ctx, in, now) {
			b = appendEvent(b, c.notification("notifications/resources/updated", in.uri))
		}
	}
	return b
}

// mayHear asks again whether the caller may see the resource, where the last
// answer is old. Who may not loses the subscription; an actor that can't answer
// is asked again with the next event.
func (c *channel) mayHear(ctx context.Context, in *interest, now time.Time) bool {
	s := c.hub.server
	c.hub.mu.Lock()
	known := now.Sub(in.checked) < s.limits.Recheck
	c.hub.mu.Unlock()
	if known {
		return true
	}
	err := s.maySee(envelope.WithCaller(ctx, c.visit.caller.Still(in.tool())), c.visit.who(), in.resource)
	c.hub.mu.Lock()
	defer c.hub.mu.Unlock()
	switch code := ubl.CodeOf(err); {
	case err == nil:
		in.checked = now
		return true
	case code.Status() < http.StatusInternalServerError:
		c.hub.lose(c, in.key())
	default:
		c.notice.add(in.key())
		c.quiet = now.Add(time.Second)
	}
	return false
}

// note is a notification on the wire.
type note struct {
	Version string      `json:"jsonrpc"`
	Method  string      `json:"method"`
	Params  *noteParams `json:"params,omitzero"`
}

type noteParams struct {
	Meta          map[string]jsontext.Value      `json:"_meta,omitempty"`
	URI           string                         `json:"uri,omitempty"`
	Notifications *sdk.NotificationSubscriptions `json:"notifications,omitzero"`
}

// notification tells that a list or a resource has changed.
func (c *channel) notification(method, uri string) note {
	n := note{Version: "2.0", Method: method}
	if c.id != nil || uri != "" {
		n.Params = &noteParams{URI: uri, Meta: c.tag()}
	}
	return n
}

// tag says on which of a client's subscriptions an event came.
func (c *channel) tag() map[string]jsontext.Value {
	if c.id == nil {
		return nil
	}
	return map[string]jsontext.Value{sdk.MetaKeySubscriptionID: c.id}
}

// goodbye is the answer to a subscriptions/listen that the server ends.
func (c *channel) goodbye() any {
	meta := c.tag()
	meta[sdk.MetaKeyServerInfo] = jsontext.Value(c.hub.server.info)
	return map[string]any{"jsonrpc": "2.0", "id": c.id, "result": map[string]any{"_meta": meta, "resultType": "complete"}}
}

// appendEvent writes a message as an event.
func appendEvent(b []byte, message any) []byte {
	data, err := json.Marshal(message, json.Deterministic(true))
	if err != nil { // impossible: our own types
		return b
	}
	b = append(b, "event: message\ndata: "...)
	return append(append(b, data...), "\n\n"...)
}
