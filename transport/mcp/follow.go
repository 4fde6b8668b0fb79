package mcp

import (
	"encoding/json"
	"sync"

	"ubl"
)

// follow is what the channels of one tenant on this node listen to: its ledger,
// and the portal where there is one. The hub's lock guards its fields.
type follow struct {
	hub    *hub
	tenant ubl.TenantID
	once   sync.Once
	cancel []func() // set by start, used by stop

	last     int64 // seq of the newest commit heard of, 0 for none
	channels map[*channel]struct{}
	// interested are the channels by the key of a resource.
	interested map[string]map[*channel]struct{}
}

func newFollow(h *hub, tenant ubl.TenantID) *follow {
	return &follow{hub: h, tenant: tenant, channels: make(map[*channel]struct{}), interested: make(map[string]map[*channel]struct{})}
}

// start listens. Whoever calls it returns when somebody has.
func (f *follow) start() {
	f.once.Do(func() {
		o := &f.hub.server.opts
		f.cancel = append(f.cancel, o.Feed.Subscribe(ubl.LedgerName(f.tenant), f.heard))
		if o.Portal != nil {
			f.cancel = append(f.cancel, o.Portal.Watch(f.tenant, f.toolsChanged))
		}
	})
}

func (f *follow) stop() {
	for _, cancel := range f.cancel {
		cancel()
	}
}

func (f *follow) join(c *channel) {
	c.follow = f
	f.channels[c] = struct{}{}
	for key := range c.interests {
		f.add(c, key)
	}
}

// leave reports whether others are left.
func (f *follow) leave(c *channel) bool {
	delete(f.channels, c)
	for key := range c.interests {
		f.drop(c, key)
	}
	return len(f.channels) > 0
}

func (f *follow) add(c *channel, key string) {
	if f.interested[key] == nil {
		f.interested[key] = make(map[*channel]struct{})
	}
	f.interested[key][c] = struct{}{}
}

func (f *follow) drop(c *channel, key string) {
	delete(f.interested[key], c)
	if len(f.interested[key]) == 0 {
		delete(f.interested, key)
	}
}

// heard takes what the tenant's ledger publishes. It is called by the feed and
// does not block.
func (f *follow) heard(p ubl.Publication) {
	f.hub.mu.Lock()
	defer f.hub.mu.Unlock()
	if p.Last == 0 || f.last != 0 && p.First > f.last+1 {
		f.missed()
	}
	f.last = p.Last
	for i := range p.Events {
		f.tell(&p.Events[i])
	}
}

// missed tells everybody everything: nobody knows what happened meanwhile.
func (f *follow) missed() {
	for c := range f.channels {
		c.notice.tools, c.notice.prompts, c.notice.resources = true, true, true
		for key, in := range c.interests {
			in.checked = never
			c.notice.add(key)
		}
		c.poke()
	}
}

func (f *follow) tell(ev *ubl.Event) {
	switch ev.Kind {
	case ubl.EventMessageCreated, ubl.EventEntryCreated:
		f.updated(roomURI + string(ev.RoomID))
	case ubl.EventDocumentChanged:
		var d struct {
			Workspace string `json:"workspace_id"`
			Document  string `json:"document_id"`
		}
		if json.Unmarshal(ev.Payload, &d) == nil {
			f.updated(documentURI + d.Workspace + "/" + d.Document)
		}
	case ubl.EventToolsChanged:
		f.tools()
	case ubl.EventMemberJoined, ubl.EventMemberLeft, ubl.EventRoomCreated:
		f.member(ev)
	}
}

func (f *follow) updated(key string) {
	for c := range f.interested[key] {
		c.notice.add(key)
		c.poke()
	}
}

func (f *follow) tools() {
	for c := range f.channels {
		c.notice.tools, c.notice.prompts = true, true // prompts come and go with the tools that stand for them
		c.poke()
	}
}

// toolsChanged is what the portal calls.
func (f *follow) toolsChanged() {
	f.hub.mu.Lock()
	defer f.hub.mu.Unlock()
	f.tools()
}

// member takes a change of what someone belongs to. Who leaves the tenant, which
// is no room, loses their channels.
func (f *follow) member(ev *ubl.Event) {
	for c := range f.channels {
		if c.visit.who().UserID != ev.UserID {
			continue
		}
		if ev.Kind == ubl.EventMemberLeft && ev.RoomID == "" {
			c.end()
			continue
		}
		for _, in := range c.interests {
			in.checked = never
		}
		c.notice.resources = true
		c.poke()
	}
}
