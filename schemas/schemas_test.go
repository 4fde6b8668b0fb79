package schemas

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"ubl"
)

const base = "https://ubl.invalid/schemas/"

func compiled(t *testing.T) map[string]*jsonschema.Schema {
	t.Helper()
	return compiledOf(t, With())
}

func compiledOf(t *testing.T, set *Set) map[string]*jsonschema.Schema {
	t.Helper()
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	for _, id := range set.List() {
		data, _ := set.Read(id)
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
		if err != nil {
			t.Fatalf("%s: %v", id, err)
		}
		if got := doc.(map[string]any)["$id"]; got != id {
			t.Errorf("%s.json has the $id %v", id, got)
		}
		if err := c.AddResource(base+id, doc); err != nil {
			t.Fatal(err)
		}
	}
	out := map[string]*jsonschema.Schema{}
	for _, id := range set.List() {
		s, err := c.Compile(base + id)
		if err != nil {
			t.Fatalf("%s doesn't compile: %v", id, err)
		}
		out[id] = s
	}
	return out
}

// good reads testdata/good.json: one valid document per schema.
func good(t *testing.T) map[string]any {
	t.Helper()
	data, err := os.ReadFile("testdata/good.json")
	if err != nil {
		t.Fatal(err)
	}
	return parse(t, data).(map[string]any)
}

func parse(t *testing.T, data []byte) any {
	t.Helper()
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		t.Fatalf("%s: %v", data, err)
	}
	return v
}

func TestGoodDocuments(t *testing.T) {
	all := compiled(t)
	docs := good(t)
	for id, schema := range all {
		if id == "ubl.common.v1" { // parts only
			continue
		}
		if docs[id] == nil {
			t.Errorf("%s has no good document", id)
		} else if err := schema.Validate(docs[id]); err != nil {
			t.Errorf("%s refuses its good document: %v", id, err)
		}
	}
}

// TestBadDocuments spoils a good document in one place at a time: it puts a
// value there, or takes the member away.
func TestBadDocuments(t *testing.T) {
	const gone = "(gone)"
	all := compiled(t)
	for _, test := range []struct {
		schema, what, at, value string
	}{
		{"ubl.receipt.v1", "a seq of 0", "seq", `0`},
		{"ubl.receipt.v1", "a hash in capitals", "cid", `"c:` + strings.Repeat("A", 64) + `"`},
		{"ubl.message.v1", "an empty text", "body.text", `""`},
		{"ubl.message.v1", "no reply_to, not even null", "reply_to", gone},
		{"ubl.message.v1", "an attachment of nothing", "attachments", `[{}]`},
		{"ubl.message.v1", "an attachment without a name", "attachments", `[{"file_id":"f:1.0","content_type":"image/png","bytes":9,"sha256":"` + strings.Repeat("0", 64) + `"}]`},
		{"ubl.upload.v1", "two places", "room_id", `"r:general"`},
		{"ubl.upload.v1", "no place", "workspace_id", gone},
		{"ubl.message.v1", "another type", "type", `"image"`},
		{"ubl.message.v1", "a room id of another kind", "room_id", `"u:general"`},
		{"ubl.message.v1", "a time without milliseconds", "sent_at", `"2026-11-21T09:00:00Z"`},
		{"ubl.message.v1", "a time on no day", "sent_at", `"2026-02-30T09:00:00.000Z"`},
		{"ubl.member.v1", "a third role", "role", `"guest"`},
		{"ubl.member.v1", "an empty name", "name", `""`},
		{"ubl.member.v1", "a name of two lines", "name", `"Bob\nBoss"`},
		{"ubl.member.v1", "a name without end", "name", `"` + strings.Repeat("b", 65) + `"`},
		{"ubl.agreement.v1", "ended without a time", "ended_at", gone},
		{"ubl.agreement.v1", "in force with an end", "status", `"in_force"`},
		{"ubl.agreement.v1", "an act outside the table in its history", "history.0.did", `"room.destroy"`},
		{"ubl.terms.v1", "a permit to nobody", "permits.0.to", `[]`},
		{"ubl.terms.v1", "a limit of nothing a minute", "limits.0.per_minute", `0`},
		{"ubl.terms.v1", "acceptance by a king", "accept", `"king"`},
		{"ubl.terms.v1", "another form", "form", `"terms.v2"`},
		{"ubl.kind.v1", "no physics", "physics", gone},
		{"ubl.kind.v1", "pictures", "content", `["image/png"]`},
		{"ubl.room.v1", "a limit beyond the largest", "policy.max_message_bytes", `8001`},
		{"ubl.mandate.v1", "a tool with * inside", "tools", `["messenger.*.send"]`},
		{"ubl.mandate.v1", "a person as a place", "places", `["u:ana"]`},
		{"ubl.mandate.v1", "less than no limit", "per_minute", `-1`},
		{"ubl.mandate.v1", "something else to permit", "owner", `true`},
		{"ubl.service_token.v1", "a secret", "client_secret", `"s"`},
		{"ubl.invitation.v1", "a secret", "secret_hash", `"s"`},
		{"ubl.invitation.v1", "a third role", "role", `"guest"`},

		{"ubl.public.document.v1", "an author", "created_by", `"u:ana"`},
		{"ubl.public.document.v1", "a receipt", "receipt", `{}`},
		{"ubl.public.error.v1", "the id of a request", "request_id", `"req:1234"`},

		{"ubl.ledger.action.v1", "no Agreement", "agreement_id", gone},
		{"ubl.ledger.action.v1", "a null Agreement", "agreement_id", `null`},
		{"ubl.ledger.action.v1", "an act outside the table", "did", `"room.destroy"`},
		{"ubl.ledger.action.v1", "the form of another act", "did", `"room.create"`},
		{"ubl.ledger.action.v1", "a form with something more", "this.more", `1`},
		{"ubl.ledger.action.v1", "a form with something less", "this.body_hash", gone},
		{"ubl.ledger.action.v1", "another status", "status", `"done"`},
		{"ubl.ledger.action.v1", "a person without an address", "who.email", `null`},
		{"ubl.ledger.action.v1", "no address at all", "who.email", gone},
		{"ubl.ledger.action.v1", "no trace", "trace", gone},
		{"ubl.ledger.action.v1", "no prev_hash", "prev_hash", gone},
		{"ubl.ledger.action.v1", "the kind of the other atom", "kind", `"effect.v1"`},
		{"ubl.ledger.effect.v1", "no prev_hash", "prev_hash", gone},
		{"ubl.ledger.effect.v1", "no effects where all went well", "effects", `[]`},
		{"ubl.ledger.effect.v1", "an op outside the table", "effects.0.op", `"room.destroy"`},
		{"ubl.ledger.effect.v1", "a message that is not pointed at", "pointers", `{"agreement_id":"a:room:r:general"}`},
		{"ubl.ledger.effect.v1", "an error without one", "outcome", `"error"`},
		{"ubl.ledger.effect.v1", "an error where all went well", "error", `{"code":"internal","message":"no"}`},

		{"ubl.ledger.action.v2", "no shard", "shard", gone},
		{"ubl.ledger.action.v2", "another shard", "shard", `"1"`},
		{"ubl.ledger.action.v2", "a hash of something else", "agreement_hash", `"b:` + strings.Repeat("0", 64) + `"`},
		{"ubl.ledger.action.v2", "a session that is none", "session", `"run-1"`},
		{"ubl.ledger.action.v2", "a decision that is none", "policy.decision", `"maybe"`},
		{"ubl.ledger.action.v2", "a signature that is none", "author.sig", `"x"`},
		{"ubl.ledger.action.v2", "the kind of version 1", "kind", `"action.v1"`},
		{"ubl.ledger.action.v2", "the form of another act", "did", `"room.create"`},
		{"ubl.ledger.effect.v2", "no shard", "shard", gone},
		{"ubl.ledger.effect.v2", "an op outside the table", "effects.0.op", `"room.destroy"`},

		{"ubl.entry.v2", "a type that is none", "type", `"poll"`},
		{"ubl.entry.v2", "a reaction to nothing", "target", gone},
		{"ubl.entry.v2", "no body and not redacted", "body", `null`},
		{"ubl.entry.v2", "a reaction without a key", "body.json", `{}`},
		{"ubl.entry.v2", "a content type with a parameter", "body.content_type", `"text/plain; charset=utf-8"`},
		{"ubl.entry.v2", "a short salt", "salt", `"00"`},
		{"ubl.entry.v2", "redacted, with its body", "redacted", `{"at":"2026-01-07T12:34:56.789Z","by":"u:ana","room_seq":3}`},

		{"ubl.sse.room_event.v1", "an event outside the list", "event", `"room.burnt"`},
		{"ubl.sse.room_event.v1", "the payload of another event", "event", `"room.gap"`},
		{"ubl.sse.room_event.v1", "the bare message", "payload", `{"msg_id":"m:1"}`},
		{"ubl.sse.effect_event.v1", "a room of no name", "room_id", `"r:"`},
		{"ubl.sse.effect_event.v1", "no op", "payload", `{}`},
		{"ubl.export.header.v1", "another format", "format", `"ubl.export.v2"`},
		{"ubl.export.hole.v1", "no end", "to_seq", gone},
		{"ubl.export.lost.v1", "no place", "after_seq", gone},
		{"ubl.export.line.v1", "no atom", "atom", `{}`},

		{"ubl.api.error.v1", "a code outside the table", "error.code", `"oops"`},
		{"ubl.api.error.v1", "a value in the details", "error.details.x", `{"value":1}`},
		{"ubl.api.whoami.v1", "a person without an address", "identity.email", `null`},
		{"ubl.api.tenant.v1", "another type", "tenant.type", `"free"`},
		{"ubl.api.members.v1", "null", "members", `null`},
		{"ubl.api.member.v1", "no member", "member", gone},
		{"ubl.api.rooms.v1", "a last message without its seq", "rooms.0.last_seq", gone},
		{"ubl.api.room.v1", "no policy", "room.policy", gone},
		{"ubl.api.room_created.v1", "no id", "room_id", gone},
		{"ubl.api.message.v1", "no receipt", "message.receipt", gone},
		{"ubl.api.history.v1", "no cursor, not even null", "next_cursor", gone},
		{"ubl.api.agreements.v1", "a cursor that is a number", "next_cursor", `7`},
		{"ubl.api.agreement.v1", "no status", "agreement.status", gone},
		{"ubl.api.receipt_lookup.v1", "no atoms", "atoms", `[]`},
		{"ubl.api.ledger_head.v1", "a head that is no hash", "head_hash", `"h:x"`},
		{"ubl.api.atoms.v1", "an atom of no kind", "atoms.0.kind", gone},
		{"ubl.api.invitations.v1", "null", "invitations", `null`},
		{"ubl.api.invitation.v1", "a link", "link", `"https://ubl.example.com"`},
		{"ubl.api.invitation_created.v1", "no link, not even null", "link", gone},
		{"ubl.api.service_tokens.v1", "null", "service_tokens", `null`},
		{"ubl.api.service_token.v1", "a secret", "client_secret", `"s"`},
		{"ubl.api.service_token_created.v1", "an empty secret", "client_secret", `""`},
		{"ubl.passkey.v1", "a public key", "public_key", `"AA"`},
		{"ubl.passkey.v1", "no last use, not even null", "last_used_at", gone},
		{"ubl.passkey.v1", "the credential's own id", "id", `"3q2-7w"`},
		{"ubl.api.passkey.v1", "no passkey", "passkey", gone},
		{"ubl.api.passkeys.v1", "null", "passkeys", `null`},
		{"ubl.api.token_revoked.v1", "a token that was not", "revoked", `false`},
		{"ubl.api.tokens.v1", "null", "tokens", `null`},
		{"ubl.api.tokens_revoked.v1", "fewer than none", "revoked", `-1`},
		{"ubl.platform_token.v1", "a third kind", "kind", `"cookie"`},
		{"ubl.platform_token.v1", "a password", "method", `"password"`},
		{"ubl.platform_token.v1", "the tenant", "tenant_id", `"t:acme.com"`},
		{"ubl.cluster.status.v1", "a fifth state", "nodes.0.state", `"tired"`},
		{"ubl.cluster.status.v1", "a node of no name", "nodes.0.node_id", `""`},
		{"ubl.cluster.status.v1", "a partition of no number", "partitions.0.partition", gone},
		{"ubl.cluster.status.v1", "a leader that is null", "partitions.0.leader", `null`},
		{"ubl.cluster.status.v1", "learners that are null", "partitions.0.learners", `null`},
		{"ubl.cluster.status.v1", "a copy ahead of its log", "partitions.0.replicas.0.lag", `-1`},
		{"ubl.api.cluster.v1", "no status", "cluster", gone},
		{"ubl.api.node_removed.v1", "a node that was not", "removed", `false`},
		{"ubl.container.v1", "a balance below nothing", "balance", `-1`},
		{"ubl.container.v1", "a fifth axis", "physics.colour", `"red"`},
		{"ubl.container.v1", "no Agreement", "agreement_id", gone},
		{"ubl.document.v1", "version 0", "version", `0`},
		{"ubl.document.v1", "no receipt", "receipt", gone},
		{"ubl.document.v1", "a title of nothing", "title", `""`},
		{"ubl.tool_access.v1", "users that are null", "users", `null`},
		{"ubl.server.v1", "a secret", "secret", `"s"`},
		{"ubl.server.v1", "another status", "status", `"tired"`},
		{"ubl.portal_tool.v1", "no definition, not even null", "definition", gone},
		{"ubl.call.v1", "another status", "status", `"maybe"`},
		{"ubl.call.v1", "no number", "n", gone},
		{"ubl.sse.portal_event.v1", "a room", "room_id", `"r:general"`},
		{"ubl.sse.completion_event.v1", "no text", "delta", `null`},
		{"ubl.api.workspaces.v1", "no receipt", "receipt", gone},
		{"ubl.api.workspace_created.v1", "no id", "workspace_id", gone},
		{"ubl.api.document.v1", "no document, not even null", "document", gone},
		{"ubl.api.document.v1", "no receipt", "receipt", gone},
		{"ubl.api.documents.v1", "no cursor, not even null", "next_cursor", gone},
		{"ubl.api.document_versions.v1", "null", "versions", `null`},
		{"ubl.api.document_versions.v1", "a cursor that is no number", "next_cursor", `"d:1"`},
		{"ubl.api.document_hits.v1", "a hit without a score", "documents.0.score", gone},
		{"ubl.api.containers.v1", "null", "containers", `null`},
		{"ubl.api.container_created.v1", "no receipt", "receipt", gone},
		{"ubl.api.container.v1", "a container without physics", "container.physics", gone},
		{"ubl.api.transfer.v1", "an operation that moves nothing", "op", `"read"`},
		{"ubl.api.balance.v1", "nothing issued", "amount", `0`},
		{"ubl.api.servers.v1", "null", "servers", `null`},
		{"ubl.api.server.v1", "a secret", "server.secret", `"s"`},
		{"ubl.api.connect.v1", "no URL", "url", `""`},
		{"ubl.api.discovered.v1", "a server without an address", "servers.0.url", gone},
		{"ubl.api.tools.v1", "no access, not even null", "tools.0.access", gone},
		{"ubl.api.portal_tool.v1", "a hash of another kind", "tool.hash", `"c:x"`},
		{"ubl.api.tool_access.v1", "no Agreement", "access.agreement_id", gone},
		{"ubl.api.tool_result.v1", "content that is a text", "content", `"sunny"`},
		{"ubl.api.calls.v1", "no cursor, not even null", "next_before", gone},
		{"ubl.api.budget.v1", "nothing of today", "budget.used_today", gone},
		{"ubl.api.completion.v1", "a score beyond 100", "checks.before.injection_score", `101`},
		{"ubl.api.completion.v1", "no receipt", "receipt", gone},
		{"ubl.api.rooms.v1", "a cursor that is a number", "next_cursor", `7`},
		{"ubl.api.message.v1", "no request id", "request_id", gone},
		{"ubl.api.message.v1", "no time", "server_time", gone},
	} {
		doc := good(t)[test.schema]
		var value any
		if test.value != gone {
			value = parse(t, []byte(test.value))
		}
		spoil(t, doc, strings.Split(test.at, "."), value, test.value == gone)
		if all[test.schema].Validate(doc) == nil {
			t.Errorf("%s accepts %s", test.schema, test.what)
		}
	}
}

func spoil(t *testing.T, doc any, path []string, value any, gone bool) {
	t.Helper()
	for ; len(path) > 1; path = path[1:] {
		if list, ok := doc.([]any); ok {
			doc = list[0]
		} else {
			doc = doc.(map[string]any)[path[0]]
		}
	}
	if gone {
		if _, there := doc.(map[string]any)[path[0]]; !there {
			t.Fatalf("there is no %s to take away", path[0])
		}
		delete(doc.(map[string]any), path[0])
		return
	}
	doc.(map[string]any)[path[0]] = value
}

var (
	now    = ubl.Time(1_800_000_000_000)
	person = ubl.Who{UserID: "u:ana", Email: "ana@acme.com"}
	node   = ubl.Who{UserID: "u:node", IsService: true}
)

func valid(t *testing.T, all map[string]*jsonschema.Schema, id string, data []byte) {
	t.Helper()
	if err := all[id].Validate(parse(t, data)); err != nil {
		t.Errorf("%s is no %s: %v", data, id, err)
	}
}

func TestRead(t *testing.T) {
	if _, ok := Read("ubl.ledger.action.v1.json"); !ok {
		t.Error("an $id with .json is not found")
	}
	for _, id := range []string{"", ".", "nothing", "../schemas/ubl.common.v1", "testdata/good"} {
		if _, ok := Read(id); ok {
			t.Errorf("%q is found", id)
		}
	}
}
