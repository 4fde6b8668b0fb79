package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"ubl"
	"ubl/transport/envelope"
)

// serverURI begins the URIs of other servers' resources: behind it stand the server's id, a slash
// and the server's own URI or template as it is. All of that is a URI again (RFC 3986, 3.3), and
// what a client fills into a template is what the server wants filled in.
const serverURI = "ubl://servers/"

// cutOffer reports whether a URI is one that other servers' resources have here, and
// answers the tool that reads it and the server's own URI.
func cutOffer(uri string) (tool, own string, ok bool) {
	rest, ok := strings.CutPrefix(uri, serverURI)
	if !ok {
		return "", "", false
	}
	server, own, _ := strings.Cut(rest, "/")
	return server + "." + ubl.ToolResources, own, ubl.ValidServerID(server) && ubl.ValidResourceURI(own)
}

// offerURI is another server's URI as clients see it.
func offerURI(server, own string) string { return serverURI + server + "/" + own }

// offer is what a server offers to a caller beside tools.
type offer struct {
	*ubl.Offer
	tool, server string
}

// offered are the offers of one kind that the caller may use, by the servers' ids. It asks no
// server: it is what is pinned.
func (s *Server) offered(ctx context.Context, v *visit, stands string) ([]offer, error) {
	if !v.portal || s.opts.Portal == nil {
		return nil, nil
	}
	x, err := s.look(ctx, v)
	if err != nil {
		return nil, err
	}
	var out []offer
	for _, t := range x.others {
		if o := s.offers.of(t); o != nil && o.Stands == stands && x.showsOther(t) {
			out = append(out, offer{o, t.Tool, serverOf(t)})
		}
	}
	return out, nil
}

// otherPrompts are the prompts of other servers, each by its server's id and its own name.
func (s *Server) otherPrompts(ctx context.Context, v *visit) ([]*sdk.Prompt, error) {
	offers, err := s.offered(ctx, v, ubl.ToolPrompts)
	var out []*sdk.Prompt
	for _, o := range offers {
		for _, p := range o.Prompts {
			shown := &sdk.Prompt{
				Meta: sdk.Meta{ubl.MetaForeign: foreign{o.server}},
				Name: v.names().spell(o.server + "." + p.Name), Title: p.Title, Description: ubl.ForeignPrompt(o.server, p.Description),
			}
			for _, a := range p.Arguments {
				shown.Arguments = append(shown.Arguments, argumentOf(a))
			}
			out = append(out, shown)
		}
	}
	return out, err
}

func argumentOf(a ubl.OfferedArgument) *sdk.PromptArgument {
	return &sdk.PromptArgument{Name: a.Name, Title: a.Title, Description: a.Description, Required: a.Required}
}

// otherPrompt is the prompt that a client means by a name, nil for none that the caller may use.
func (s *Server) otherPrompt(ctx context.Context, v *visit, name string) (*offer, *ubl.OfferedPrompt, error) {
	offers, err := s.offered(ctx, v, ubl.ToolPrompts)
	for _, o := range offers {
		i := slices.IndexFunc(o.Prompts, func(p ubl.OfferedPrompt) bool { return means(name, o.server+"."+p.Name) })
		if i >= 0 {
			return &o, &o.Prompts[i], nil
		}
	}
	return nil, nil, err
}

// writeOther writes another server's prompt out, by a call of the tool that stands for it.
func (s *Server) writeOther(ctx context.Context, v *visit, o *offer, p *ubl.OfferedPrompt, args map[string]string) (sdk.Result, error) {
	var declared []*sdk.PromptArgument
	for _, a := range p.Arguments {
		declared = append(declared, argumentOf(a))
	}
	if err := checkDeclared(declared, args); err != nil {
		return nil, err
	}
	if args == nil {
		args = map[string]string{}
	}
	asked, err := json.Marshal(map[string]any{"name": p.Name, "arguments": args})
	if err != nil {
		return nil, err
	}
	answer, err := s.attempt(ctx, v, o.tool, asked, nil, nil)
	if err != nil {
		return nil, err
	}
	written := new(sdk.GetPromptResult)
	if err := written.UnmarshalJSON(answer.Structured); err != nil {
		return nil, ubl.Errorf(ubl.CodeUnavailable, "the server's prompt can't be read").Because(err)
	}
	out := completed(v, new(sdk.GetPromptResult))
	out.Meta = metaOf(answer)
	out.Description = ubl.ForeignPrompt(o.server, written.Description)
	out.Messages = append([]*sdk.PromptMessage{{Role: "user", Content: &sdk.TextContent{Text: ubl.ForeignPrompt(o.server, "")}}}, written.Messages...)
	return out, nil
}

// otherTemplates are the templates of other servers' resources.
func (s *Server) otherTemplates(ctx context.Context, v *visit) ([]*sdk.ResourceTemplate, error) {
	offers, err := s.offered(ctx, v, ubl.ToolResources)
	var out []*sdk.ResourceTemplate
	for _, o := range offers {
		for _, t := range o.Templates {
			out = append(out, &sdk.ResourceTemplate{
				Meta:        sdk.Meta{ubl.MetaForeign: foreign{o.server}},
				URITemplate: offerURI(o.server, t.URITemplate), Name: t.Name, Title: t.Title, MIMEType: t.MIMEType,
				Description: ubl.ForeignResource(o.server, t.Description),
			})
		}
	}
	return out, err
}

// otherResources is a page of resources: those that a server lists now. Its cursor is the id of
// the server, so only a client that turns the page has servers asked. One that can't be
// asked lists none.
func (s *Server) otherResources(ctx context.Context, v *visit, server string) ([]*sdk.Resource, error) {
	out := []*sdk.Resource{}
	offers, err := s.offered(ctx, v, ubl.ToolResources)
	i := slices.IndexFunc(offers, func(o offer) bool { return o.server == server })
	if err != nil || i < 0 { // the caller lost sight of it since
		return out, err
	}
	look := readingOther(ctx, offers[i].tool)
	if _, err := envelope.CallerOf(look).Enter(look); err != nil {
		return nil, err
	}
	if err := envelope.CallerOf(ctx).Count(ubl.Sends); err != nil {
		return nil, err
	}
	list, err := s.opts.Portal.Resources(look, v.who(), offers[i].tool)
	if err != nil {
		s.opts.Log.WarnContext(ctx, "couldn't list the resources of a server", "server", server, "error", ubl.AsError(err).Message)
	}
	for _, r := range list {
		out = append(out, &sdk.Resource{
			Meta: sdk.Meta{ubl.MetaForeign: foreign{server}},
			URI:  offerURI(server, r.URI), Name: r.Name, Title: r.Title, MIMEType: r.MIMEType, Size: r.Size,
			Description: ubl.ForeignResource(server, r.Description),
		})
	}
	return out, nil
}

// nextServer is the id of the first server with resources for the caller after one, "" for none.
func (s *Server) nextServer(ctx context.Context, v *visit, after string) (string, error) {
	offers, err := s.offered(ctx, v, ubl.ToolResources)
	for _, o := range offers {
		if o.server > after {
			return o.server, nil
		}
	}
	return "", err
}

// readOther reads another server's resource, by a call of the tool that stands for it.
func (s *Server) readOther(ctx context.Context, v *visit, uri, tool, own string) (sdk.Result, error) {
	asked, err := json.Marshal(map[string]string{"uri": own})
	if err != nil {
		return nil, err
	}
	answer, err := s.attempt(ctx, v, tool, asked, nil, nil)
	switch ubl.CodeOf(err) {
	case ubl.CodeNotFound, ubl.CodeUnknownTool:
		return nil, noResource(uri, err)
	}
	if err != nil {
		return nil, err
	}
	var blocks []struct {
		Resource *sdk.ResourceContents `json:"resource"`
	}
	if err := json.Unmarshal(answer.Content, &blocks); err != nil {
		return nil, ubl.Errorf(ubl.CodeUnavailable, "the server's resource can't be read").Because(err)
	}
	server, _, _ := strings.Cut(tool, ".")
	out := completed(v, new(sdk.ReadResourceResult))
	out.Meta, out.Cacheable, out.Contents = metaOf(answer), private, []*sdk.ResourceContents{}
	for _, b := range blocks {
		if b.Resource != nil {
			b.Resource.URI = offerURI(server, b.Resource.URI)
			b.Resource.Meta = sdk.Meta{ubl.MetaForeign: foreign{server}}
			out.Contents = append(out.Contents, b.Resource)
		}
	}
	return out, nil
}

// completeOther asks another server what an argument of its prompt or of its template may be. It
// is counted like a call, and refused to whom the tool is closed.
func (s *Server) completeOther(ctx context.Context, v *visit, what ubl.Completing) (*sdk.CompleteResult, error) {
	look := readingOther(ctx, what.Tool)
	if _, err := envelope.CallerOf(look).Enter(look); err != nil {
		return nil, err
	}
	if err := envelope.CallerOf(ctx).Count(ubl.Sends); err != nil {
		return nil, err
	}
	values, more, err := s.opts.Portal.Complete(look, v.who(), what)
	if err != nil {
		return nil, err
	}
	server, _, _ := strings.Cut(what.Tool, ".")
	out := &sdk.CompleteResult{Meta: sdk.Meta{ubl.MetaForeign: foreign{server}}}
	out.Completion = sdk.CompletionResultDetails{Values: append([]string{}, values...), HasMore: more, Total: len(values)}
	if more {
		out.Completion.Total = 0 // nobody knows
	}
	return out, nil
}

// completing is what a client wants completed of another server's, nil for what is ours.
func (s *Server) completing(ctx context.Context, v *visit, p *sdk.CompleteParams) (*ubl.Completing, error) {
	what := &ubl.Completing{Argument: p.Argument.Name, Value: p.Argument.Value}
	if p.Context != nil {
		what.Known = p.Context.Arguments
	}
	if p.Ref.Type == "ref/prompt" {
		if slices.ContainsFunc(jobs, func(j job) bool { return j.prompt.Name == p.Ref.Name }) {
			return nil, nil
		}
		o, prompt, err := s.otherPrompt(ctx, v, p.Ref.Name)
		if prompt == nil {
			return nil, err
		}
		what.Tool, what.Ref = o.tool, prompt.Name
		return what, nil
	}
	tool, own, ok := cutOffer(p.Ref.URI)
	if !ok {
		return nil, nil
	}
	offers, err := s.offered(ctx, v, ubl.ToolResources)
	for _, o := range offers {
		if o.tool == tool && slices.ContainsFunc(o.Templates, func(t ubl.OfferedTemplate) bool { return t.URITemplate == own }) {
			what.Tool, what.Ref = tool, own
			return what, nil
		}
	}
	return nil, err
}

// metaOf is the _meta of an answer: its receipt, and whose words it has.
func metaOf(r *Result) sdk.Meta {
	meta := sdk.Meta{}
	if r.Receipt != nil {
		meta[metaReceipt] = r.Receipt
	}
	if r.Foreign != "" {
		meta[ubl.MetaForeign] = foreign{r.Foreign}
	}
	if !r.Salt.IsZero() {
		meta[metaSalt] = r.Salt
	}
	if len(meta) == 0 {
		return nil
	}
	return meta
}

// linkHere writes the links to resources in what another server's tool answered as the caller can
// read them here, where they may. Links to pages of the web stay.
func (s *Server) linkHere(ctx context.Context, v *visit, r *Result) {
	if !bytes.Contains(r.Content, []byte(`"resource_link"`)) {
		return
	}
	offers, err := s.offered(ctx, v, ubl.ToolResources)
	if err != nil || !slices.ContainsFunc(offers, func(o offer) bool { return o.server == r.Foreign }) {
		return
	}
	var blocks []map[string]json.RawMessage
	if json.Unmarshal(r.Content, &blocks) != nil {
		return
	}
	for _, b := range blocks {
		var kind, uri string
		if json.Unmarshal(b["type"], &kind) != nil || kind != "resource_link" || json.Unmarshal(b["uri"], &uri) != nil {
			continue
		}
		web := strings.HasPrefix(uri, "https:") || strings.HasPrefix(uri, "http:")
		if ubl.ValidResourceURI(uri) && !web {
			b["uri"], _ = json.Marshal(offerURI(r.Foreign, uri)) // a text can be written
		}
	}
	if linked, err := json.Marshal(blocks); err == nil {
		r.Content = linked
	}
}

// offers keeps what definitions offer, by their hashes. It is safe for concurrent use.
type offers struct {
	mu    sync.Mutex
	known map[string]*ubl.Offer
}

// maxOffers bounds how many are kept; the largest is of 64 KiB.
const maxOffers = 1000

// of is what a tool's pinned definition offers, nil for a tool of the server's own.
func (c *offers) of(t *ubl.PortalTool) *ubl.Offer {
	if _, upstream, _ := strings.Cut(t.Tool, "."); upstream != ubl.ToolPrompts && upstream != ubl.ToolResources {
		return nil
	}
	c.mu.Lock()
	o, ok := c.known[t.Hash]
	c.mu.Unlock()
	if ok {
		return o
	}
	if o = t.Offered(); t.Hash == "" {
		return o
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.known == nil || len(c.known) >= maxOffers {
		c.known = make(map[string]*ubl.Offer)
	}
	c.known[t.Hash] = o
	return o
}
