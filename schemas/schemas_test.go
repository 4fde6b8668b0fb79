package schemas

import (
	"bytes"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"ubl"
)

const base = "https://ubl.invalid/schemas/"

func compiled(t *testing.T) map[string]*jsonschema.Schema {
	t.Helper()
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	for _, id := range List() {
		data, _ := Read(id)
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
	for _, id := range List() {
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
		{"ubl.message.v1", "an attachment", "attachments", `[{}]`},
		{"ubl.message.v1", "another type", "type", `"image"`},
		{"ubl.message.v1", "a room id of another kind", "room_id", `"u:general"`},
		{"ubl.message.v1", "a time without milliseconds", "sent_at", `"2026-11-21T09:00:00Z"`},
		{"ubl.message.v1", "a time on no day", "sent_at", `"2026-02-30T09:00:00.000Z"`},
		{"ubl.member.v1", "a third role", "role", `"guest"`},
		{"ubl.agreement.v1", "ended without a time", "ended_at", gone},
		{"ubl.agreement.v1", "in force with an end", "status", `"in_force"`},
		{"ubl.agreement.v1", "an act outside the table in its history", "history.0.did", `"room.destroy"`},
		{"ubl.room.v1", "a limit beyond the largest", "policy.max_message_bytes", `8001`},
		{"ubl.service_token.v1", "a secret", "client_secret", `"s"`},
		{"ubl.invitation.v1", "a secret", "secret_hash", `"s"`},
		{"ubl.invitation.v1", "a third role", "role", `"guest"`},

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

		{"ubl.sse.room_event.v1", "an event outside the list", "event", `"room.burnt"`},
		{"ubl.sse.room_event.v1", "the payload of another event", "event", `"room.gap"`},
		{"ubl.sse.room_event.v1", "the bare message", "payload", `{"msg_id":"m:1"}`},
		{"ubl.export.header.v1", "another format", "format", `"ubl.export.v2"`},
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

// TestEveryAct seals an action and its effect for each act of the table, in
// the form that its family writes.
func TestEveryAct(t *testing.T) {
	room, tenant, user := ubl.Str("room_id", "r:general"), ubl.Str("tenant_id", "t:acme.com"), ubl.Str("user_id", "u:bob")
	role, token, agreement := ubl.Str("role", ubl.RoleMember), ubl.Str("token_id", "k1"), ubl.Str("agreement_id", "a:room:r:general")
	invitation := ubl.Str("invitation_id", "i:1")
	linkHash := strings.Repeat("a", 64)
	op := func(name string, more ...ubl.Field) ubl.Fields {
		return append(ubl.Fields{ubl.Str("op", name)}, more...)
	}
	onRoom, onTenant, announced := ubl.Fields{agreement, room}, ubl.Fields{agreement}, ubl.Fields{ubl.Str("msg_id", "m:1"), room}
	set, remove := op("agreement.set", agreement, role, user), op("agreement.remove", agreement, user)
	type act struct{ this, effect, pointers ubl.Fields }
	platform := func(did ubl.Did) act {
		return act{ubl.Fields{ubl.Str("node_id", "n1"), ubl.Str("version", "1.0")}, op(string(did)), announced}
	}
	bytes, days := ubl.Int("max_message_bytes", 8000), ubl.Int("retention_days", 0)
	server, tool, definition := ubl.Str("server", "files"), ubl.Str("tool", "files.read"), ubl.Str("definition_hash", ubl.BodyHash(nil))
	budget := ubl.Fields{ubl.Int("requests_per_minute", 60), ubl.Int("tokens_per_day", 100_000)}
	call := ubl.Fields{ubl.Int("call", 1), ubl.Str("capability", "files.read"), ubl.Str("deadline", now.String()), definition,
		ubl.Str("input_hash", ubl.BodyHash(nil)), server}
	called := op("portal.called", ubl.Int("call", 1), ubl.Int("duration_ms", 12), ubl.Str("output_hash", ubl.BodyHash(nil)))
	usage := ubl.Fields{ubl.Bool("cached", false), ubl.Int("completion_tokens", 5), ubl.Int("cost_micros", 70), ubl.Bool("estimated", true),
		ubl.Str("model", "m"), ubl.Int("prompt_tokens", 9), ubl.Str("provider", "p"), ubl.Bool("pii_detected", false)}
	onCall := ubl.Fields{agreement, ubl.Int("call", 1)}
	inside, workspace, transfer := ubl.Str("container_id", "w:a"), ubl.Str("workspace_id", "w:a"), ubl.Str("transfer_id", "x:1")
	content, document, version := ubl.Str("content_hash", ubl.TextHash("content", "")), ubl.Str("document_id", "d:1"), ubl.Int("version", 1)
	founding := ubl.Fields{inside, ubl.Str("kind", "workspace"), ubl.Str("name", "a"), ubl.WorkspaceKind().Physics.Field()}
	written := ubl.Fields{content, document, ubl.Str("title_hash", ubl.BodyHash(nil)), version, workspace}
	moved := slices.Clip(ubl.Fields{ubl.Str("from", "w:a"), ubl.Str("op", ubl.OpTransfer), ubl.Str("to", "k:b"), transfer})
	onContainer := ubl.Fields{agreement, inside}
	key := ubl.Str("passkey_id", ubl.PasskeyIDOf(nil))
	passkey := func(did ubl.Did) act {
		return act{ubl.Fields{key, tenant, user}, op(string(did), key), onTenant}
	}
	acts := map[ubl.Did]act{
		ubl.DidTenantCreate:       {ubl.Fields{tenant}, op("tenant.create", tenant), onTenant},
		ubl.DidTenantJoin:         {ubl.Fields{role, tenant, user}, set, onTenant},
		ubl.DidTenantUpdate:       {ubl.Fields{bytes, days, tenant}, op("policy.set", tenant), onTenant},
		ubl.DidTenantMemberUpdate: {ubl.Fields{role, tenant, user}, set, onTenant},
		ubl.DidTenantMemberRemove: {ubl.Fields{tenant, user}, remove, onTenant},
		ubl.DidInvitationCreate: {ubl.Fields{ubl.Str("expires_at", now.String()), invitation, role, tenant, user},
			op("tenant.invitation.create", invitation, tenant, user), onTenant},
		ubl.DidInvitationRevoke: {ubl.Fields{invitation, tenant, user}, op("tenant.invitation.revoke", invitation, tenant, user), onTenant},
		ubl.DidInvitationAccept: {ubl.Fields{invitation, role, tenant, user}, set, onTenant},
		ubl.DidTokenCreate:      {ubl.Fields{ubl.Str("name", "bot"), token, user}, op("token.create", token, user), onTenant},
		ubl.DidTokenRevoke:      {ubl.Fields{token, user}, op("token.revoke", token), onTenant},
		ubl.DidRoomCreate:       {ubl.Fields{ubl.Str("name", "general"), room}, op("room.create", room), onRoom},
		ubl.DidRoomJoin:         {ubl.Fields{role, room, user}, set, onRoom},
		ubl.DidRoomInvite:       {ubl.Fields{role, room, user}, set, onRoom},
		ubl.DidRoomMemberUpdate: {ubl.Fields{role, room, user}, set, onRoom},
		ubl.DidRoomRemove:       {ubl.Fields{room, user}, remove, onRoom},
		ubl.DidRoomLeave:        {ubl.Fields{room, user}, remove, onRoom},
		ubl.DidRoomUpdate:       {ubl.Fields{ubl.Str("join", ubl.JoinTenant), bytes, days, room}, op("policy.set", room), onRoom},
		ubl.DidRoomTrim:         {ubl.Fields{ubl.Int("available_from", 7), room}, op("room.trim", ubl.Int("available_from", 7), ubl.Int("removed", 6), room), onRoom},
		ubl.DidSend: {ubl.Fields{ubl.Str("body_hash", ubl.BodyHash(nil)), ubl.Str("msg_id", "m:1"), room, ubl.Int("room_seq", 1)},
			op("room.append", room, ubl.Int("room_seq", 1)), ubl.Fields{ubl.Str("msg_id", "m:1")}},
		ubl.DidAgreementEnd: {ubl.Fields{agreement}, op("agreement.end", agreement), onTenant},
		ubl.DidToolAccess: {ubl.Fields{ubl.Str("agreement_id", ubl.ToolAgreement("messenger.send")), ubl.Bool("allowed", true), ubl.Int("groups", 0),
			ubl.Int("per_minute", 60), ubl.Str("terms_hash", ubl.BodyHash(nil)), ubl.Str("tool", "messenger.send"), ubl.Int("users", 2)},
			op("tool.access", ubl.Str("agreement_id", ubl.ToolAgreement("messenger.send")), ubl.Str("tool", "messenger.send")), onTenant},
		ubl.DidWorkspaceList: {ubl.Fields{ubl.Str("kind", "workspace"), tenant}, op("office.workspace.list", tenant), onTenant},
		ubl.DidServerAdd: {ubl.Fields{ubl.Str("auth", ubl.AuthHeader), ubl.Str("name", "Files"), server, ubl.Str("url_hash", ubl.BodyHash(nil))},
			op("portal.server.add", server), onTenant},
		ubl.DidServerUpdate: {ubl.Fields{ubl.Str("changed", "name,url"), ubl.Bool("disabled", false), ubl.Str("name", "Files"), server, ubl.Str("url_hash", ubl.BodyHash(nil))},
			op("portal.server.update", server), onTenant},
		ubl.DidServerRemove: {ubl.Fields{server}, op("portal.server.remove", server, ubl.Int("tools", 3)), onTenant},
		ubl.DidServerSync: {ubl.Fields{server},
			op("portal.server.sync", ubl.Int("changed", 1), ubl.Int("held", 1), server, ubl.Str("status", ubl.ServerUp), ubl.Int("tools", 3)), onTenant},
		ubl.DidServerConnect:         {ubl.Fields{ubl.Bool("connected", true), server, user}, op("portal.server.connect", ubl.Bool("connected", true), server, user), onTenant},
		ubl.DidToolApprove:           {ubl.Fields{definition, tool}, op("portal.tool.approve", definition, tool), onTenant},
		ubl.DidBudgetUpdate:          {budget, append(op("portal.budget.update"), budget...), onTenant},
		ubl.DidPortalCall:            {call, called, onCall},
		ubl.DidToolCall:              {append(slices.Clone(call), ubl.Str("parent", "req:1234")), called, onCall},
		ubl.DidComplete:              {append(slices.Clone(call), ubl.Int("tokens", 1000), ubl.Str("workspace_id", "w:general")), append(slices.Clone(called), usage...), onCall},
		ubl.DidWorkspaceCreate:       {founding, op("container.create", inside), onContainer},
		ubl.DidContainerCreate:       {founding, op("container.create", inside), onContainer},
		ubl.DidContainerInvite:       {ubl.Fields{inside, role, user}, set, onContainer},
		ubl.DidContainerMemberUpdate: {ubl.Fields{inside, role, user}, set, onContainer},
		ubl.DidContainerRemove:       {ubl.Fields{inside, user}, remove, onContainer},
		ubl.DidContainerLeave:        {ubl.Fields{inside, user}, remove, onContainer},
		ubl.DidDocumentCreate:        {written, op("document.put", content, document, version, workspace), onContainer},
		ubl.DidDocumentUpdate:        {written, op("document.put", content, document, version, workspace), onContainer},
		ubl.DidDocumentDelete:        {ubl.Fields{document, version, workspace}, op("document.delete", document, version, workspace), onContainer},
		ubl.DidDocumentGet:           {ubl.Fields{document, version, workspace}, op("document.read", workspace), onContainer},
		ubl.DidDocumentVersions:      {ubl.Fields{document, workspace}, op("document.read", workspace), onContainer},
		ubl.DidDocumentList:          {ubl.Fields{workspace}, op("document.read", workspace), onContainer},
		ubl.DidDocumentSearch:        {ubl.Fields{ubl.Str("query_hash", ubl.BodyHash(nil)), workspace}, op("document.read", workspace), onContainer},
		ubl.DidTransfer:              {append(moved, ubl.Int("amount", 5)), op("transfer.arrived", ubl.Int("amount", 5), ubl.Str("to", "k:b"), transfer), onContainer},
		ubl.DidReceive:               {append(moved, content, document, version), op("transfer.received", document, ubl.Str("from", "w:a"), transfer, version), onContainer},
		ubl.DidCreditsIssue:          {ubl.Fields{ubl.Int("amount", 5), inside}, op("credits.issue", ubl.Int("amount", 5), inside), onContainer},
		ubl.DidPasskeyRegister:       passkey(ubl.DidPasskeyRegister),
		ubl.DidPasskeyUse:            passkey(ubl.DidPasskeyUse),
		ubl.DidPasskeyRemove:         passkey(ubl.DidPasskeyRemove),
		ubl.DidPlatformStart:         platform(ubl.DidPlatformStart),
		ubl.DidPlatformStop:          platform(ubl.DidPlatformStop),
		ubl.DidPlatformKeyCreate:     platform(ubl.DidPlatformKeyCreate),
		ubl.DidPlatformBackup:        platform(ubl.DidPlatformBackup),
		ubl.DidPlatformRestore:       platform(ubl.DidPlatformRestore),
		ubl.DidPlatformNodeJoin:      platform(ubl.DidPlatformNodeJoin),
		ubl.DidPlatformNodeRemove:    platform(ubl.DidPlatformNodeRemove),
		ubl.DidPlatformTokenCreate:   {ubl.Fields{tenant, token, user}, op("token.create", token), onTenant},
		ubl.DidPlatformTokenRevoke:   {ubl.Fields{tenant, token, user}, op("token.revoke", token), onTenant},
		ubl.DidPlatformTokenRenew: {ubl.Fields{ubl.Str("kind", ubl.TokenSession), ubl.Str("link_hash", linkHash), ubl.Str("method", ubl.SignInLink), tenant, token, user},
			op("platform.token.renew", token), onTenant},
		ubl.DidPlatformTokenRevokeAll: {ubl.Fields{ubl.Int("count", 2), ubl.Int("passkeys", 1), tenant, user}, op("platform.token.revoke_all", user), onTenant},
		ubl.DidPlatformLinkCreate: {ubl.Fields{ubl.Str("expires_at", now.String()), ubl.Str("link_hash", linkHash), tenant, user},
			op("platform.link.create", ubl.Str("link_hash", linkHash)), onTenant},
	}
	all := compiled(t)
	for _, did := range ubl.Dids() {
		if did == ubl.DidToolDeny { // never executed: see TestOtherStatuses
			continue
		}
		a, ok := acts[did]
		if !ok {
			t.Errorf("%s has no form", did)
			continue
		}
		for _, who := range []ubl.Who{person, node} {
			action := ubl.Action{TenantID: "t:acme.com", AgreementID: "a:room:r:general", Did: did, PrevHash: ubl.Genesis,
				RequestID: "req:1234", Status: ubl.StatusExecuted, This: a.this, When: now, Who: who}
			atom, cid := action.Seal()
			valid(t, all, "ubl.ledger.action.v1", atom)
			effect := ubl.Effect{TenantID: "t:acme.com", Effects: []ubl.Fields{a.effect}, Outcome: ubl.OutcomeOK, Pointers: a.pointers,
				PrevHash: ubl.NextHead(ubl.Genesis, cid), RefActionCID: cid, When: now}
			atom, _ = effect.Seal()
			valid(t, all, "ubl.ledger.effect.v1", atom)
		}
	}
}

// TestOtherStatuses are acts that were refused, and effects that failed.
func TestOtherStatuses(t *testing.T) {
	all := compiled(t)
	for _, this := range []ubl.Fields{{}, {ubl.Str("room_id", "r:general")}} {
		denied := ubl.Action{TenantID: "t:acme.com", AgreementID: "a:room:r:general", Did: ubl.DidSend, PrevHash: ubl.Genesis,
			RequestID: "req:1234", Status: ubl.StatusDenied, This: this, When: now, Who: person}
		atom, _ := denied.Seal()
		valid(t, all, "ubl.ledger.action.v1", atom)
	}
	for _, code := range []ubl.Code{ubl.CodeForbidden, ubl.CodeRateLimited} {
		denied := ubl.Action{TenantID: "t:acme.com", AgreementID: "a:tool:files.read", Did: ubl.DidToolDeny, PrevHash: ubl.Genesis,
			RequestID: "req:1234", Status: ubl.StatusDenied, When: now, Who: person,
			This: ubl.Fields{ubl.Str("code", code), ubl.Str("tool", "files.read"), ubl.Str("user_id", "u:ana")}}
		atom, _ := denied.Seal()
		valid(t, all, "ubl.ledger.action.v1", atom)
		denied.Status = ubl.StatusExecuted
		atom, _ = denied.Seal()
		if all["ubl.ledger.action.v1"].Validate(parse(t, atom)) == nil {
			t.Error("a refusal passes as executed")
		}
	}
	copied := ubl.Action{TenantID: "t:acme.com", AgreementID: "a:tenant:t:acme.com", Did: ubl.DidPasskeyUse, PrevHash: ubl.Genesis,
		RequestID: "req:1234", Status: ubl.StatusDenied, When: now, Who: node,
		This: ubl.Fields{ubl.Str("code", ubl.CodeForbidden), ubl.Str("passkey_id", ubl.PasskeyIDOf(nil)), ubl.Str("tenant_id", "t:acme.com"), ubl.Str("user_id", "u:bob")}}
	atom, _ := copied.Seal()
	valid(t, all, "ubl.ledger.action.v1", atom)
	refused := ubl.Action{TenantID: "t:acme.com", AgreementID: "a:tool:files.read", Did: ubl.DidPortalCall, PrevHash: ubl.Genesis,
		RequestID: "req:1234", Status: ubl.StatusDenied, When: now, Who: person,
		This: ubl.Fields{ubl.Int("call", 2), ubl.Str("capability", "files.read"), ubl.Str("deadline", now.String()),
			ubl.Str("input_hash", ubl.BodyHash(nil)), ubl.Str("server", "files")}}
	atom, _ = refused.Seal()
	valid(t, all, "ubl.ledger.action.v1", atom)
	turned := ubl.Action{TenantID: "t:acme.com", AgreementID: "a:wallet:k:b", Did: ubl.DidReceive, PrevHash: ubl.Genesis,
		RequestID: "req:1234", Status: ubl.StatusDenied, When: now, Who: person,
		This: ubl.Fields{ubl.Int("amount", 5), ubl.Str("from", "k:a"), ubl.Str("op", ubl.OpTransfer), ubl.Str("to", "k:b"), ubl.Str("transfer_id", "x:1")}}
	atom, _ = turned.Seal()
	valid(t, all, "ubl.ledger.action.v1", atom)
	failed := ubl.Effect{TenantID: "t:acme.com", Outcome: ubl.OutcomeError, Error: &ubl.AtomError{Code: ubl.CodeUnavailable, Message: "no answer"},
		PrevHash: ubl.Genesis, RefActionCID: ubl.CID(nil), When: now}
	atom, _ = failed.Seal()
	valid(t, all, "ubl.ledger.effect.v1", atom)
}

func TestEveryEvent(t *testing.T) {
	all := compiled(t)
	m := ubl.Message{MsgID: "m:1", TenantID: "t:acme.com", RoomID: "r:general", RoomSeq: 1, SenderID: "u:ana", SentAt: now, Type: ubl.TypeSystem,
		Body: ubl.Body{Text: "Room created: general"}, Receipt: ubl.Receipt{Shard: "0", Seq: 1, CID: ubl.CID(nil), HeadHash: ubl.NextHead("", ""), Time: now}}
	for kind, payload := range map[string]json.RawMessage{
		ubl.EventMessageCreated: m.AppendJSON(nil),
		ubl.EventRoomCreated:    ubl.RoomCreatedPayload(ubl.RoomSummary{RoomID: "r:general", Name: "general", Mode: ubl.ModeInternal, CreatedAt: now}),
		ubl.EventMemberJoined:   ubl.MemberPayload("u:bob", ubl.RoleMember),
		ubl.EventGap:            ubl.GapPayload(0, 120),
	} {
		e := ubl.Event{Kind: kind, TenantID: "t:acme.com", RoomID: "r:general", TS: now, Payload: payload}
		valid(t, all, "ubl.sse.room_event.v1", e.AppendData(nil))
	}
}

func valid(t *testing.T, all map[string]*jsonschema.Schema, id string, data []byte) {
	t.Helper()
	if err := all[id].Validate(parse(t, data)); err != nil {
		t.Errorf("%s is no %s: %v", data, id, err)
	}
}

// TestTables compares the list of acts with the domain's.
func TestTables(t *testing.T) {
	data, _ := Read("ubl.common.v1")
	var common struct {
		Defs struct{ Did struct{ Enum []ubl.Did } } `json:"$defs"`
	}
	if err := json.Unmarshal(data, &common); err != nil {
		t.Fatal(err)
	}
	want := map[ubl.Did]bool{}
	for _, did := range ubl.Dids() {
		want[did] = true
	}
	for _, did := range common.Defs.Did.Enum {
		if !want[did] {
			t.Errorf("%s is not in the table of acts", did)
		}
		delete(want, did)
	}
	for did := range want {
		t.Errorf("the schema lacks the act %s", did)
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
