package sse

import (
	"context"
	"net/http"
	"time"

	"ubl"
	"ubl/transport/envelope"
)

// callsQueue is how many events a client of the live log may lag behind.
const callsQueue = 256

// Calls serves GET /api/portal/logs/live: each call through the tenant's portal as
// it begins and as it ends. Owners of the tenant see all, others their own. The
// stream has neither ids nor history: what a client missed is in the log, and a
// client that lags too far behind is cut off, so that it knows.
func (h *Hub) Calls(w http.ResponseWriter, r *http.Request) {
	caller, err := callerOf(r, envelope.ToolLog)
	if err == nil && r.URL.RawQuery != "" {
		err = ubl.Errorf(ubl.CodeValidation, "there are no query parameters here")
	}
	if err != nil {
		envelope.WriteError(w, r, err)
		return
	}
	c := &calls{frames: make(chan []byte, callsQueue)}
	c.listener = &listener{hub: h, caller: caller, tool: envelope.ToolLog, presence: c, wake: make(chan struct{}, 1)}
	if c.role, err = caller.Enter(r.Context()); err == nil {
		err = h.admit(c.listener)
	}
	if err != nil {
		envelope.WriteError(w, r, err)
		return
	}
	var why Reason // stays empty where no stream came about
	defer func() { h.dismiss(c.listener, why) }()
	defer h.feed.Subscribe(ubl.LedgerName(caller.Identity.TenantID), c.sink,
		ubl.EventMemberLeft, ubl.EventMemberDemoted, ubl.EventPortalCall)()
	if err = c.may(r.Context()); err == nil { // what ends a membership from here on is told
		c.out, err = newOutput(w, r, h.now, h.limits.WriteTimeout)
	}
	if err != nil {
		envelope.WriteError(w, r, err)
		return
	}
	why = c.carry(r.Context(), nil, c.step)
}

// calls is one stream of the live log.
type calls struct {
	*listener
	role   ubl.Role
	frames chan []byte
}

// sink takes a publication of the tenant, on the publisher's goroutine.
func (c *calls) sink(p ubl.Publication) {
	me := c.caller.Identity.UserID
	for i := range p.Events {
		ev := &p.Events[i]
		switch {
		case ev.Kind == ubl.EventMemberLeft && ev.RoomID == "" && ev.UserID == me:
			c.end(EndedMembership)
		case ev.Kind == ubl.EventMemberDemoted && ev.UserID == me && c.role == ubl.RoleOwner:
			c.end(EndedMembership)
		case ev.Kind == ubl.EventPortalCall && (c.role == ubl.RoleOwner || ev.UserID == me):
			select {
			case c.frames <- callFrame(ev):
				c.poke()
			default:
				c.end(EndedSlow)
			}
		}
	}
}

// step sends one event. What came behind the end of a membership is not for the
// caller any more.
func (c *calls) step(ctx context.Context, _ time.Time) (moved bool, err error) {
	select {
	case frame := <-c.frames:
		if c.ended.Load() != nil {
			return true, nil
		}
		c.hub.frames.Add(1)
		return true, c.write(ctx, frame)
	default:
		return false, nil
	}
}

// check ends the stream of who is another than at the start: they begin again.
func (c *calls) check(_ context.Context, role ubl.Role) error {
	if role != c.role {
		return ubl.Errorf(ubl.CodeForbidden, "the caller's role has changed")
	}
	return nil
}

func (c *calls) idle(int64) []byte { return []byte(keepaliveFrame) }

// callFrame is an event as ubl.sse.portal_event.v1.
func callFrame(ev *ubl.Event) []byte {
	b := append(make([]byte, 0, len(ev.Payload)+160), "event: "...)
	b = append(b, ev.Kind...)
	b = append(b, "\ndata: {\"event\":\""...)
	b = append(b, ev.Kind...)
	b = append(b, `","payload":`...)
	b = append(b, ev.Payload...)
	b = append(b, `,"tenant_id":"`...)
	b = append(b, ev.TenantID...)
	b = append(b, `","ts":"`...)
	b = append(b, ev.TS.String()...)
	return append(b, "\"}\n\n"...)
}
