package mcp

import (
	"context"
	"net/http"

	"github.com/go-json-experiment/json"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"ubl"
	"ubl/transport/envelope"
)

// subscribe answers a session's resources/subscribe and resources/unsubscribe.
func (s *Server) subscribe(w http.ResponseWriter, r *http.Request, v *visit, m *message) {
	err := s.changeInterest(r.Context(), v, m)
	if err != nil {
		s.blame(r.Context(), "couldn't subscribe", err)
		s.answerError(r.Context(), w, v, m.ID, err)
		return
	}
	answerNothing(w, m.ID)
}

func (s *Server) changeInterest(ctx context.Context, v *visit, m *message) error {
	if v.session.id == "" {
		return noSession()
	}
	if _, _, ok := cutOffer(m.URI); ok {
		return invalid("params.uri", "names another server's resource, which can't be subscribed to here")
	}
	in, ok := parseURI(m.URI)
	if !ok && s.opts.Extra == nil {
		return noResource(m.URI, nil)
	}
	if m.Method == methodUnsubscribe {
		s.hub.unsubscribe(v.session.id, in.key())
		return nil
	}
	if err := s.maySee(reading(ctx, in.tool()), v.who(), in); err != nil {
		return err
	}
	return s.hub.subscribe(v.session.id, v.who(), &interest{resource: in, checked: s.opts.Now()})
}

func tooMany(limit int) error {
	return ubl.Errorf(ubl.CodeConflict, "there can be no more than %d subscriptions", limit)
}

func (r resource) tool() string {
	tool, _ := r.act()
	return tool
}

// maySee asks whether the caller may look at a resource that can change. Receipts and files
// never do.
func (s *Server) maySee(ctx context.Context, who ubl.Identity, r resource) error {
	var err error
	switch {
	case r.seq != 0:
		return invalid("params.uri", "names a receipt, which never changes")
	case r.file != "":
		return invalid("params.uri", "names a file, which never changes")
	case r.room != "":
		_, err = s.opts.Asker.Ask(ctx, ubl.RoomName(who.TenantID, r.room), ubl.GetRoom{Who: who})
	case r.document != "":
		_, err = s.opts.Asker.Ask(ctx, ubl.ContainerName(who.TenantID, r.workspace), ubl.Authorize{Request: ubl.Request{Who: who}, Op: ubl.OpRead})
	default:
		_, err = envelope.CallerOf(ctx).Enter(ctx)
	}
	if ubl.CodeOf(err) == ubl.CodeNotFound {
		return noResource(r.uri, err)
	}
	return err
}

// listen answers a subscriptions/listen: first what was agreed to, then what
// happens, until somebody ends it.
func (s *Server) listen(w http.ResponseWriter, r *http.Request, v *visit, m *message) {
	c, agreed, err := s.agree(r.Context(), v, m)
	if err != nil {
		s.blame(r.Context(), "couldn't begin to listen", err)
		s.answerError(r.Context(), w, v, m.ID, err)
		return
	}
	first := appendEvent(nil, note{Version: "2.0", Method: "notifications/subscriptions/acknowledged",
		Params: &noteParams{Meta: c.tag(), Notifications: agreed}})
	if c.wants == (wants{}) && len(c.interests) == 0 {
		c.ended.Store(true) // nothing will ever come
	}
	s.serveChannel(w, r, c, first)
}

// agree makes the channel of what the client wants and can have. What it may not
// see is left out. Prompts change at the portal alone: ours never do.
func (s *Server) agree(ctx context.Context, v *visit, m *message) (*channel, *sdk.NotificationSubscriptions, error) {
	var p sdk.SubscriptionsListenParams
	if err := json.Unmarshal(m.Params, &p); err != nil {
		return nil, nil, wrongType("params", err)
	}
	want := p.Notifications
	if want == nil {
		return nil, nil, invalid("params.notifications", "is missing")
	}
	if len(want.ResourceSubscriptions) > s.limits.Subscriptions {
		return nil, nil, tooMany(s.limits.Subscriptions)
	}
	c := &channel{hub: s.hub, visit: v, id: m.ID, interests: make(map[string]*interest),
		wants: wants{tools: want.ToolsListChanged, prompts: want.PromptsListChanged && v.portal, resources: want.ResourcesListChanged}}
	agreed := &sdk.NotificationSubscriptions{
		ToolsListChanged: c.wants.tools, PromptsListChanged: c.wants.prompts, ResourcesListChanged: c.wants.resources,
	}
	for _, uri := range want.ResourceSubscriptions {
		in, ok := parseURI(uri)
		if !ok || s.maySee(reading(ctx, in.tool()), v.who(), in) != nil {
			continue
		}
		c.interests[in.key()] = &interest{resource: in, checked: s.opts.Now()}
		agreed.ResourceSubscriptions = append(agreed.ResourceSubscriptions, uri)
	}
	return c, agreed, nil
}
