package portal

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"ubl"
)

// maxConfirmed is how many characters of a call's arguments a person is shown.
const maxConfirmed = 2000

// Confirms reports whether an agent's person is asked before it uses a tool: by the tool's record, that
// of what it is a part of, or the agent's mandate. Own says that it is a tool of ours, and destroys
// what that does; of another server's the pinned definition says it. The Tenant decides for each use;
// this is so that a call goes the way on which its caller can be asked.
func (p *Portal) Confirms(ctx context.Context, who ubl.Identity, tool string, own, destroys bool) bool {
	if !who.IsService {
		return false
	}
	cat, err := p.catalogue(ctx, who)
	if err != nil {
		return false
	}
	destroys = own && destroys || !own && cat.destroys(tool)
	asks := func(tool string) bool {
		r := cat.access[tool]
		return r != nil && r.Confirm.Asks(destroys)
	}
	return who.Mandate.Asks(destroys) || asks(tool) || asks(ubl.ToolPart(tool))
}

// destroys reports whether another server's tool replaces or takes away something, or may: where its pinned
// definition doesn't say, as the protocol has it. What isn't known may.
func (c *catalogue) destroys(tool string) bool {
	t := c.byName[tool]
	if t == nil {
		return true
	}
	known, ok := c.destructive.Load(tool)
	if !ok { // reading the definition takes longer than all else of it
		known = mayDestroy(t)
		c.destructive.Store(tool, known)
	}
	return known.(bool)
}

func mayDestroy(t *ubl.PortalTool) bool {
	if o := t.Offered(); o != nil { // prompts and resources are read
		return false
	}
	var d struct {
		Annotations *mcp.ToolAnnotations `json:"annotations"`
	}
	if json.Unmarshal(t.Definition, &d) != nil || d.Annotations == nil {
		return true
	}
	a := d.Annotations
	return !a.ReadOnlyHint && (a.DestructiveHint == nil || *a.DestructiveHint)
}

// confirmed asks the caller's person whether the call may be made, where they are to be asked. The Tenant
// is asked once more when they have let it: an owner may have closed the tool meanwhile.
func (f *Flight) confirmed() error {
	c := f.c
	if !c.confirm {
		return nil
	}
	params, err := f.p.confirmation(f.ctx, c)
	if err != nil {
		return err
	}
	raw, err := f.ask(f.ctx, ubl.QuestionForm, params)
	if err != nil {
		c.note(params, "cancel")
		switch cause := context.Cause(f.ctx); {
		case cause == errGone:
			return ubl.Errorf(ubl.CodeCancelled, "the caller gave the call up before a person had confirmed it; nothing was done")
		case cause == nil && errors.Is(err, context.DeadlineExceeded):
			return ubl.Errorf(ubl.CodeConfirmation, "no person has confirmed the call within %d minutes; nothing was done", int(askTime.Minutes()))
		}
		return ubl.Errorf(ubl.CodeUnavailable, "no person could be asked to confirm the call; nothing was done").Because(err)
	}
	reply := readReply(raw)
	c.note(params, reply.Action)
	if reply.Action != "accept" {
		return ubl.Errorf(ubl.CodeDeclined, "a person was asked whether the agent may do this, and did not let it; nothing was done")
	}
	return f.p.still(f.ctx, c)
}

// still asks the Tenant whether the caller may use the tool yet, which counts nothing.
func (p *Portal) still(ctx context.Context, c *call) error {
	req, err := p.request(c.req.Who)
	if err != nil {
		return err
	}
	req.Parent = c.req.ID
	_, err = ubl.Ask[*ubl.Entered](ctx, p.asker, ubl.TenantName(req.Who.TenantID), ubl.Enter{
		Request: req, Tool: c.tool, External: c.own == nil, Still: true, NoFounding: true,
	})
	return err
}

// confirmation is the question whether an agent may make a call: a form without fields, which clients show
// as a choice. What the agent wrote comes last, on one line.
func (p *Portal) confirmation(ctx context.Context, c *call) (json.RawMessage, error) {
	args, left := shownArguments(c.args)
	more := ""
	if left > 0 {
		more = fmt.Sprintf(" (%d more characters are not shown)", left)
	}
	var q question
	q.Message = fmt.Sprintf("The agent %q is about to use %s. If you accept, it does; if you decline, nothing is done. The arguments that it gives%s: %s",
		p.agentName(ctx, c.req.Who), c.tool, more, args)
	q.Schema.Type, q.Schema.Properties = "object", map[string]field{}
	raw, err := json.Marshal(q)
	if err != nil {
		return nil, err
	}
	return ubl.Canonical(raw)
}

// agentName is what the tenant calls an agent, else its id.
func (p *Portal) agentName(ctx context.Context, who ubl.Identity) string {
	members, err := ubl.Ask[[]ubl.Member](ctx, p.asker, ubl.TenantName(who.TenantID), ubl.ListMembers{Who: who, Only: []ubl.UserID{who.UserID}})
	if err != nil || len(members) != 1 {
		return string(who.UserID)
	}
	return ubl.PlainLine(cmp.Or(members[0].Name, string(who.UserID)))
}

// shownArguments are arguments as a person is shown them: on one line, without what can't be seen and
// what is called a secret, and cut off; left is how many characters are left out.
func shownArguments(args json.RawMessage) (text string, left int) {
	var v any
	if json.Unmarshal(args, &v) == nil {
		if raw, err := json.Marshal(withoutSecrets(v)); err == nil {
			args = raw
		}
	}
	text = ubl.PlainLine(string(ubl.PlainJSON(args)))
	if left = utf8.RuneCountInString(text) - maxConfirmed; left <= 0 {
		return text, 0
	}
	return string([]rune(text)[:maxConfirmed]) + "…", left
}

// withoutSecrets blanks the values whose names say that they are credentials.
func withoutSecrets(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for name, value := range v {
			if _, text := value.(string); text && (isNamed(name, secretNames) || isNamed(name, argumentNames)) {
				v[name] = blank
				continue
			}
			v[name] = withoutSecrets(value)
		}
	case []any:
		for i := range v {
			v[i] = withoutSecrets(v[i])
		}
	}
	return v
}

// argumentNames are parts of the names that secrets go by in arguments, beside secretNames.
var argumentNames = []string{"passphrase", "api_key", "apikey", "authorization", "private_key"}
