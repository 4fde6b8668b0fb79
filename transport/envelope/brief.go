package envelope

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"ubl"
)

// Brief is how an answer is told to a model, which pays for each byte: what was said, by whom, when,
// under which numbers, and nothing that only checks it. A brief answer has the members of the whole
// one, under the same names, and fewer of them:
//
//   - hashes, salts, the tenant and the request are left out ([spared]), and what Drops names;
//   - of a receipt the seq is left, by which receipt.get has all of it;
//   - times are cut to seconds, and always UTC;
//   - null and empty lists are left out, but at the top, where a null cursor ends a list.
//
// What people and programs wrote ([asWritten]) is never cut.
type Brief struct {
	// Drops are more members to leave out, such as the id that the caller has asked by.
	Drops []string
	// Names are members with a user's id, each with the member that says beside it what to call them.
	// Where another member of the tenant looks the same, or nobody has proven who they are, one more
	// says so (see alikeSuffix and unprovenSuffix).
	Names map[string]string
	// Parts says that what is told are parts of an answer, as single messages.
	Parts bool
}

// alikeSuffix ends the member that stands beside a name which looks like another member's.
const alikeSuffix = "_alike"

// unprovenSuffix ends the member that stands beside the name of an unproven member.
const unprovenSuffix = "_unproven"

// spared are members that a brief answer has nowhere.
var spared = []string{
	"agreement_hash", "body_hash", "cid", "client_salt", "content_hash", "head_hash", "ledger_shard", "name_hash", "prev_hash", "ref_action_cid",
	"request_id", "salt", "server_time", "shard", "tenant_id", "trace",
}

// asWritten are members whose values are handed on as they are.
var asWritten = []string{"body", "content", "mandate", "name", "snippet", "terms", "title"}

const receiptMember, seqMember = "receipt", "seq"

// Tell is the brief form of answers, for a caller whom their tenant has let in. Who has left it has
// no name any more.
func (b *Brief) Tell(ctx context.Context, ask ubl.Asker, who ubl.Identity, answers ...json.RawMessage) ([]json.RawMessage, error) {
	names, err := called(ctx, ask, who, b.ids(answers))
	out := make([]json.RawMessage, 0, len(answers))
	for _, whole := range answers {
		var short []byte
		if err == nil && whole != nil {
			short, err = b.tell(whole, names)
		}
		out = append(out, short)
	}
	return out, err
}

// called is what to call members of a tenant, and whether another looks the same.
func called(ctx context.Context, ask ubl.Asker, who ubl.Identity, ids []ubl.UserID) (map[ubl.UserID]ubl.Member, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	members, err := ubl.Ask[[]ubl.Member](ctx, ask, ubl.TenantName(who.TenantID), ubl.ListMembers{Who: who, Only: ids})
	names := make(map[ubl.UserID]ubl.Member, len(members))
	for _, m := range members {
		m.Name = cmp.Or(m.Name, m.Email)
		names[m.UserID] = m
	}
	return names, err
}

// ids are the users whose names the answers want, each once.
func (b *Brief) ids(answers []json.RawMessage) (ids []ubl.UserID) {
	if len(b.Names) == 0 {
		return nil
	}
	for _, answer := range answers {
		for _, found := range userMember.FindAllSubmatch(answer, -1) {
			id := ubl.UserID(found[2])
			if b.Names[string(found[1])] != "" && !slices.Contains(ids, id) {
				ids = append(ids, id)
			}
		}
	}
	return ids
}

// userMember is a member with a user's id. In a text its quotes would be escaped.
var userMember = regexp.MustCompile(`"([a-z_]+)":"(u:[A-Za-z0-9._-]+)"`)

// tell is the brief form of an answer.
func (b *Brief) tell(answer []byte, names map[ubl.UserID]ubl.Member) ([]byte, error) {
	return b.value(nil, "", answer, names, !b.Parts)
}

// value writes the value of a member.
func (b *Brief) value(dst []byte, member string, v jsontext.Value, names map[ubl.UserID]ubl.Member, top bool) ([]byte, error) {
	switch kind := v.Kind(); {
	case slices.Contains(asWritten, member):
	case kind == '"' && isMoment(member):
		return append(dst, fraction.ReplaceAll(v, []byte(`Z"`))...), nil
	case kind == '{':
		return b.object(dst, member, v, names, top)
	case kind == '[':
		return b.list(dst, member, v, names)
	}
	return append(dst, v...), nil
}

func (b *Brief) object(dst []byte, member string, v jsontext.Value, names map[ubl.UserID]ubl.Member, top bool) ([]byte, error) {
	dec := jsontext.NewDecoder(bytes.NewReader(v), jsontext.AllowDuplicateNames(true))
	if _, err := dec.ReadToken(); err != nil {
		return nil, err
	}
	dst = append(dst, '{')
	empty := len(dst)
	add := func(name string) {
		if len(dst) > empty {
			dst = append(dst, ',')
		}
		dst = append(append(append(dst, '"'), name...), `":`...)
	}
	for dec.PeekKind() == '"' {
		token, err := dec.ReadToken()
		if err != nil {
			return nil, err
		}
		name := token.String()
		inner, err := dec.ReadValue()
		if err != nil {
			return nil, err
		}
		if b.leavesOut(member, name, inner, top) {
			continue
		}
		inner = inner.Clone()
		add(name)
		if dst, err = b.value(dst, name, inner, names, false); err != nil {
			return nil, err
		}
		if beside := b.Names[name]; beside != "" {
			if m := names[ubl.UserID(strings.Trim(string(inner), `"`))]; m.Name != "" {
				add(beside)
				if dst, err = jsontext.AppendQuote(dst, m.Name); err != nil {
					return nil, err
				}
				if m.Alike {
					add(beside + alikeSuffix)
					dst = append(dst, "true"...)
				}
				if m.Unproven {
					add(beside + unprovenSuffix)
					dst = append(dst, "true"...)
				}
			}
		}
	}
	_, err := dec.ReadToken()
	return append(dst, '}'), err
}

func (b *Brief) list(dst []byte, member string, v jsontext.Value, names map[ubl.UserID]ubl.Member) ([]byte, error) {
	dec := jsontext.NewDecoder(bytes.NewReader(v), jsontext.AllowDuplicateNames(true))
	if _, err := dec.ReadToken(); err != nil {
		return nil, err
	}
	dst = append(dst, '[')
	for first := true; dec.PeekKind() != ']'; first = false {
		inner, err := dec.ReadValue()
		if err != nil {
			return nil, err
		}
		if !first {
			dst = append(dst, ',')
		}
		if dst, err = b.value(dst, member, inner.Clone(), names, false); err != nil {
			return nil, err
		}
	}
	_, err := dec.ReadToken()
	return append(dst, ']'), err
}

// leavesOut reports whether a member of an object, which is a member's value itself, is left out.
func (b *Brief) leavesOut(of, name string, v jsontext.Value, top bool) bool {
	switch {
	case of == receiptMember:
		return name != seqMember
	case slices.Contains(spared, name) || slices.Contains(b.Drops, name):
		return true
	}
	return !top && (v.Kind() == 'n' || string(v) == "[]")
}

// isMoment reports whether a member is a time.
func isMoment(name string) bool {
	return strings.HasSuffix(name, "_at") || slices.Contains([]string{"at", "since", "time", "when"}, name)
}

// fraction ends a time: what is below a second.
var fraction = regexp.MustCompile(`\.[0-9]+Z"$`)

// Schema is that of answers, brief ones too: what those leave out is required no more.
func (b *Brief) Schema(whole json.RawMessage) (json.RawMessage, error) {
	var root map[string]any
	if err := json.Unmarshal(whole, &root); err != nil {
		return nil, err
	}
	b.loosen(root, "", !b.Parts)
	return json.Marshal(root)
}

// loosen changes the schema of a member's value, and those inside.
func (b *Brief) loosen(schema map[string]any, member string, top bool) {
	if slices.Contains(asWritten, member) {
		return
	}
	if isMoment(member) {
		delete(schema, "pattern")
	}
	properties, _ := schema["properties"].(map[string]any)
	if required, ok := schema["required"].([]any); ok {
		schema["required"] = slices.DeleteFunc(required, func(name any) bool {
			inner, _ := properties[name.(string)].(map[string]any)
			return b.mayLack(member, name.(string), inner, top)
		})
	}
	for _, name := range slices.Collect(maps.Keys(properties)) {
		if inner, ok := properties[name].(map[string]any); ok {
			b.loosen(inner, name, false)
		}
		if beside := b.Names[name]; beside != "" && properties[beside] == nil {
			properties[beside] = map[string]any{"type": "string", "description": "What to call them; in brief answers."}
			properties[beside+alikeSuffix] = map[string]any{"type": "boolean", "description": "Another member's name looks the same: tell them apart by id."}
			properties[beside+unprovenSuffix] = map[string]any{"type": "boolean", "description": "They came by a link: nobody has proven their address."}
		}
	}
	if items, ok := schema["items"].(map[string]any); ok {
		b.loosen(items, member, false)
	}
	for _, keyword := range []string{"anyOf", "oneOf", "allOf"} {
		choices, _ := schema[keyword].([]any)
		for _, choice := range choices {
			if s, ok := choice.(map[string]any); ok {
				b.loosen(s, member, top)
			}
		}
	}
}

// mayLack reports whether a brief answer may lack a member of this schema.
func (b *Brief) mayLack(of, name string, schema map[string]any, top bool) bool {
	if b.leavesOut(of, name, jsontext.Value(`0`), top) {
		return true
	}
	kind, known := schema["type"]
	return !top && (!known || kind == "array" || kind == "null")
}
