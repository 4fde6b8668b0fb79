package schemas

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"ubl"
)

// TestEveryAct seals an action and its effect for each act of the table, in
// the form that its family writes.
func TestEveryAct(t *testing.T) {
	room, tenant, user := ubl.Str("room_id", "r:general"), ubl.Str("tenant_id", "t:acme.com"), ubl.Str("user_id", "u:bob")
	role, token, agreement := ubl.Str("role", ubl.RoleMember), ubl.Str("token_id", "k1"), ubl.Str("agreement_id", "a:room:r:general")
	kind := ubl.Fields{ubl.Str("kind", "case"), ubl.Str("kind_hash", ubl.BodyHash(nil)), tenant}
	invitation, terms := ubl.Str("invitation_id", "i:1"), ubl.Str("terms_hash", ubl.BodyHash(nil))
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
	letter := ubl.Fields{ubl.Str("key", "retention"), ubl.Str("subject", "r:general")}
	budget := ubl.Fields{ubl.Int("requests_per_minute", 60), ubl.Int("tokens_per_day", 100_000)}
	call := ubl.Fields{ubl.Int("call", 1), ubl.Str("capability", "files.read"), ubl.Str("deadline", now.String()), definition,
		ubl.Str("input_hash", ubl.BodyHash(nil)), server}
	called := op("portal.called", ubl.Int("call", 1), ubl.Int("duration_ms", 12), ubl.Str("output_hash", ubl.BodyHash(nil)))
	usage := ubl.Fields{ubl.Bool("cached", false), ubl.Int("completion_tokens", 5), ubl.Int("cost_micros", 70), ubl.Bool("estimated", true),
		ubl.Str("model", "m"), ubl.Int("prompt_tokens", 9), ubl.Str("provider", "p"), ubl.Bool("pii_detected", false)}
	onCall := ubl.Fields{agreement, ubl.Int("call", 1)}
	inside, workspace, transfer := ubl.Str("container_id", "w:a"), ubl.Str("workspace_id", "w:a"), ubl.Str("transfer_id", "x:1")
	content, document, version := ubl.Str("content_hash", ubl.Salt{1}.CommitText("content", "")), ubl.Str("document_id", "d:1"), ubl.Int("version", 1)
	file := ubl.Str("file_id", "f:1")
	refused := ubl.Fields{ubl.Int("bytes", 68), ubl.Str("found", "Eicar-Test-Signature"), ubl.Str("node_id", "n1"), user}
	imported, importedHash := ubl.Str("imported_from", "c:"+strings.Repeat("0", 64)), ubl.Str("imported_hash", ubl.BodyHash(nil))
	founding := ubl.Fields{inside, ubl.Str("kind", "workspace"), ubl.Str("name", "a"), ubl.WorkspaceKind().Physics.Field()}
	product := ubl.Str("imported_product", ubl.Slack)
	written := ubl.Fields{content, document, imported, importedHash, product, ubl.Str("title_hash", ubl.BodyHash(nil)), version, workspace}
	moved := slices.Clip(ubl.Fields{ubl.Str("from", "w:a"), ubl.Str("op", ubl.OpTransfer), ubl.Str("to", "k:b"), transfer})
	mandate := ubl.Fields{agreement, ubl.Str("mandate_hash", ubl.BodyHash(nil)), ubl.Int("per_minute", 60), ubl.Int("places", 1), ubl.Bool("read_only", true), ubl.Int("tools", 0)}
	onContainer := ubl.Fields{agreement, inside}
	key := ubl.Str("passkey_id", ubl.PasskeyIDOf(nil))
	passkey := func(did ubl.Did) act {
		return act{ubl.Fields{key, tenant, user}, op(string(did), key), onTenant}
	}
	domain := ubl.Str("domain", "example.com")
	domainAct := func(did ubl.Did) act {
		return act{ubl.Fields{domain, tenant, ubl.Str("value_hash", ubl.BodyHash(nil))}, op(string(did), domain, tenant), onTenant}
	}
	about := act{ubl.Fields{imported, importedHash, product, ubl.Str("body_hash", ubl.BodyHash(nil)), ubl.Str("content_type", ubl.ContentText), ubl.Str("msg_id", "m:2"), room,
		ubl.Int("room_seq", 2), ubl.Str("target", "m:1")}, op("room.append", room, ubl.Int("room_seq", 2)), ubl.Fields{ubl.Str("msg_id", "m:2")}}
	inRoomCall := act{ubl.Fields{ubl.Str("call_id", "7"), room}, op("room.append", ubl.Str("body_hash", ubl.BodyHash(nil)), ubl.Str("content_type", ubl.ContentCall),
		ubl.Str("msg_id", "m:7"), room, ubl.Int("room_seq", 7)), onRoom}
	acts := map[ubl.Did]act{
		ubl.DidTenantCreate:       {ubl.Fields{tenant}, op("tenant.create", tenant), onTenant},
		ubl.DidTenantJoin:         {ubl.Fields{ubl.Str("name", "Bob"), role, tenant, user}, set, onTenant},
		ubl.DidTenantUpdate:       {ubl.Fields{bytes, days, tenant}, op("policy.set", tenant), onTenant},
		ubl.DidTenantMemberUpdate: {ubl.Fields{ubl.Str("name", ""), role, tenant, user}, set, onTenant},
		ubl.DidTenantMemberRemove: {ubl.Fields{tenant, user}, remove, onTenant},
		ubl.DidInvitationCreate: {ubl.Fields{ubl.Str("expires_at", now.String()), invitation, role, tenant, user},
			op("tenant.invitation.create", invitation, tenant, user), onTenant},
		ubl.DidInvitationRevoke: {ubl.Fields{invitation, tenant, user}, op("tenant.invitation.revoke", invitation, tenant, user), onTenant},
		ubl.DidDomainClaim:      domainAct(ubl.DidDomainClaim),
		ubl.DidDomainVerify:     domainAct(ubl.DidDomainVerify),
		ubl.DidDomainRelease:    domainAct(ubl.DidDomainRelease),
		ubl.DidInvitationAccept: {ubl.Fields{invitation, role, tenant, user}, set, onTenant},
		ubl.DidTokenCreate:      {ubl.Fields{ubl.Str("name", "bot"), token, user}, op("token.create", token, user), onTenant},
		ubl.DidTokenRenew:       {ubl.Fields{ubl.Str("expires_at", now.String()), token, user}, op("token.renew", token, user), onTenant},
		ubl.DidTokenRevoke:      {ubl.Fields{token, user}, op("token.revoke", token), onTenant},
		ubl.DidMandateSet:       {append(ubl.Fields{token, user}, mandate...), op("token.mandate", token), ubl.Fields{agreement}},
		ubl.DidAgentConnect: {append(ubl.Fields{ubl.Str("client_hash", ubl.BodyHash(nil)), ubl.Str("expires_at", now.String()), ubl.Str("name", "bot"), token, user}, mandate...),
			op("tenant.agent.connect", token, user), ubl.Fields{agreement}},
		ubl.DidAgentRedeem:       {ubl.Fields{token, user}, op("tenant.agent.redeem", token), ubl.Fields{agreement}},
		ubl.DidAgentRefresh:      {ubl.Fields{token, user}, op("tenant.agent.refresh", token), ubl.Fields{agreement}},
		ubl.DidRoomCreate:        {ubl.Fields{ubl.Str("name", "general"), room}, op("room.create", room), onRoom},
		ubl.DidRoomJoin:          {ubl.Fields{role, room, user}, set, onRoom},
		ubl.DidRoomInvite:        {ubl.Fields{role, room, user}, set, onRoom},
		ubl.DidRoomMemberUpdate:  {ubl.Fields{role, room, user}, set, onRoom},
		ubl.DidRoomRemove:        {ubl.Fields{room, user}, remove, onRoom},
		ubl.DidRoomLeave:         {ubl.Fields{room, user}, remove, onRoom},
		ubl.DidRoomUpdate:        {ubl.Fields{ubl.Str("join", ubl.JoinTenant), bytes, days, room}, op("policy.set", room), onRoom},
		ubl.DidRoomDescribe:      {ubl.Fields{room}, op("room.describe", room), onRoom},
		ubl.DidDirectOpen:        {ubl.Fields{room, user}, op("room.show", room, user), onRoom},
		ubl.DidRoomTrim:          {ubl.Fields{ubl.Int("available_from", 7), room}, op("room.trim", ubl.Int("available_from", 7), ubl.Int("removed", 6), room), onRoom},
		ubl.DidTenantMemberProve: {ubl.Fields{role, tenant, user}, set, onTenant},
		ubl.DidPlatformHomeSet:   {ubl.Fields{tenant, user}, op("platform.home.set", tenant, user), onTenant},
		ubl.DidSend: {ubl.Fields{ubl.Str("body_hash", ubl.BodyHash(nil)), ubl.Str("msg_id", "m:1"), room, ubl.Int("room_seq", 1)},
			op("room.append", room, ubl.Int("room_seq", 1)), ubl.Fields{ubl.Str("msg_id", "m:1")}},
		ubl.DidEdit:       about,
		ubl.DidReact:      about,
		ubl.DidPin:        about,
		ubl.DidPollVote:   about,
		ubl.DidPollEnd:    about,
		ubl.DidFormAnswer: about,
		ubl.DidCallBegin:  inRoomCall,
		ubl.DidCallEnd:    inRoomCall,
		ubl.DidFormCreate: {ubl.Fields{ubl.Str("body_hash", ubl.BodyHash(nil)), ubl.Str("content_type", ubl.ContentForm), ubl.Str("msg_id", "m:1"), room, ubl.Int("room_seq", 1)},
			op("room.append", room, ubl.Int("room_seq", 1)), ubl.Fields{ubl.Str("msg_id", "m:1")}},
		ubl.DidPollCreate: {ubl.Fields{ubl.Str("body_hash", ubl.BodyHash(nil)), ubl.Str("content_type", ubl.ContentPoll), ubl.Str("msg_id", "m:1"), room, ubl.Int("room_seq", 1)},
			op("room.append", room, ubl.Int("room_seq", 1)), ubl.Fields{ubl.Str("msg_id", "m:1")}},
		ubl.DidRedact:            {about.this, op("room.redact", room, ubl.Int("room_seq", 1)), about.pointers},
		ubl.DidAgreementHeir:     {ubl.Fields{agreement, user}, set, onRoom},
		ubl.DidHeirSet:           {ubl.Fields{agreement, user}, op("agreement.heir.set", agreement, user), onRoom},
		ubl.DidAgreementPropose:  {ubl.Fields{agreement, terms}, op("agreement.amend", agreement, terms), onRoom},
		ubl.DidAgreementAccept:   {ubl.Fields{agreement, terms}, op("agreement.accept", agreement, terms), onRoom},
		ubl.DidAgreementWithdraw: {ubl.Fields{agreement, terms}, op("agreement.withdraw", agreement, terms), onRoom},
		ubl.DidAgreementEnd:      {ubl.Fields{agreement}, op("agreement.end", agreement), onTenant},
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
		ubl.DidDiscard:               {letter, append(op("deadletter.discard"), letter...), onTenant},
		ubl.DidRedrive:               {letter, append(op("deadletter.redrive"), letter...), onTenant},
		ubl.DidPortalCall:            {call, called, onCall},
		ubl.DidToolCall:              {append(slices.Clone(call), ubl.Str("parent", "req:1234")), called, onCall},
		ubl.DidComplete:              {append(slices.Clone(call), ubl.Int("tokens", 1000), ubl.Str("workspace_id", "w:general")), append(slices.Clone(called), usage...), onCall},
		ubl.DidWorkspaceCreate:       {founding, op("container.create", inside), onContainer},
		ubl.DidKindSet:               {kind, append(op("kind.set"), kind...), onTenant},
		ubl.DidKindRemove:            {kind, append(op("kind.remove"), kind...), onTenant},
		ubl.DidContainerCreate:       {founding, op("container.create", inside), onContainer},
		ubl.DidContainerInvite:       {ubl.Fields{inside, role, user}, set, onContainer},
		ubl.DidContainerMemberUpdate: {ubl.Fields{inside, role, user}, set, onContainer},
		ubl.DidContainerRemove:       {ubl.Fields{inside, user}, remove, onContainer},
		ubl.DidContainerLeave:        {ubl.Fields{inside, user}, remove, onContainer},
		ubl.DidContainerRedact:       {ubl.Fields{inside, ubl.Int("records", 3)}, op("container.redact", inside, ubl.Int("records", 3)), onContainer},
		ubl.DidContainerJoin:         {ubl.Fields{inside, role, user}, set, onContainer},
		ubl.DidDocumentCreate:        {written, op("document.put", content, document, version, workspace), onContainer},
		ubl.DidDocumentUpdate:        {written, op("document.put", content, document, version, workspace), onContainer},
		ubl.DidDocumentPublish: {ubl.Fields{ubl.Str("commit", strings.Repeat("0", 40)), ubl.Int("documents", 2), ubl.Int("removed", 1), workspace},
			op("document.put", content, document, ubl.Str("published_hash", ubl.BodyHash(nil)), ubl.Str("title_hash", ubl.BodyHash(nil)), version, workspace), onContainer},
		ubl.DidDocumentDelete:    {ubl.Fields{document, version, workspace}, op("document.delete", document, version, workspace), onContainer},
		ubl.DidDocumentGet:       {ubl.Fields{document, version, workspace}, op("document.read", workspace), onContainer},
		ubl.DidDocumentVersions:  {ubl.Fields{document, workspace}, op("document.read", workspace), onContainer},
		ubl.DidDocumentList:      {ubl.Fields{workspace}, op("document.read", workspace), onContainer},
		ubl.DidDocumentSearch:    {ubl.Fields{ubl.Str("query_hash", ubl.BodyHash(nil)), workspace}, op("document.read", workspace), onContainer},
		ubl.DidMessageSearch:     {ubl.Fields{ubl.Str("query_hash", ubl.BodyHash(nil)), tenant}, op("messenger.search", tenant), onTenant},
		ubl.DidFilePut:           {ubl.Fields{content, file, ubl.Str("name_hash", ubl.BodyHash(nil)), workspace}, op("file.put", content, document, file, workspace), onContainer},
		ubl.DidFileGet:           {ubl.Fields{file, workspace}, op("file.read", workspace), onContainer},
		ubl.DidFileList:          {ubl.Fields{document, workspace}, op("file.read", workspace), onContainer},
		ubl.DidFileRemove:        {ubl.Fields{document, file, workspace}, op("file.remove", document, file, workspace), onContainer},
		ubl.DidFileCollect:       {ubl.Fields{ubl.Int("blobs", 2), ubl.Int("bytes", 70), ubl.Str("node_id", "n1")}, op("file.collect", ubl.Int("blobs", 2), ubl.Int("bytes", 70), ubl.Str("node_id", "n1")), onTenant},
		ubl.DidFileRefuse:        {refused, op("file.refuse", refused...), onTenant},
		ubl.DidTransfer:          {append(moved, ubl.Int("amount", 5)), op("transfer.arrived", ubl.Int("amount", 5), ubl.Str("to", "k:b"), transfer), onContainer},
		ubl.DidReceive:           {append(moved, content, document, ubl.Int("files", 2), ubl.Str("files_hash", ubl.BodyHash(nil)), version), op("transfer.received", document, ubl.Str("from", "w:a"), transfer, version), onContainer},
		ubl.DidCreditsIssue:      {ubl.Fields{ubl.Int("amount", 5), inside}, op("credits.issue", ubl.Int("amount", 5), inside), onContainer},
		ubl.DidPasskeyRegister:   passkey(ubl.DidPasskeyRegister),
		ubl.DidPasskeyUse:        passkey(ubl.DidPasskeyUse),
		ubl.DidPasskeyRemove:     passkey(ubl.DidPasskeyRemove),
		ubl.DidPlatformStart:     platform(ubl.DidPlatformStart),
		ubl.DidPlatformStop:      platform(ubl.DidPlatformStop),
		ubl.DidPlatformKeyCreate: platform(ubl.DidPlatformKeyCreate),
		ubl.DidPlatformKeyRotate: platform(ubl.DidPlatformKeyRotate),
		ubl.DidPlatformBackup:    platform(ubl.DidPlatformBackup),
		ubl.DidPlatformRestore:   platform(ubl.DidPlatformRestore),
		ubl.DidPlatformJournalLoss: {ubl.Fields{ubl.Str("node_id", "n1"), ubl.Int("partition", 3), ubl.Int("record_from", 7), ubl.Int("record_to", 9), ubl.Str("tenants", "t:a|0"),
			ubl.Str("lost", "t:a|0 keeps its atoms up to 20 and lost 21 to 24"), ubl.Int("atoms_lost", 4), ubl.Int("records_unread", 1), ubl.Str("may_be_of", "t:b|0 (kept up to atom 3)")},
			op(string(ubl.DidPlatformJournalLoss)), announced},
		ubl.DidPlatformNodeJoin:     platform(ubl.DidPlatformNodeJoin),
		ubl.DidPlatformNodeRemove:   platform(ubl.DidPlatformNodeRemove),
		ubl.DidPlatformSecretRotate: platform(ubl.DidPlatformSecretRotate),
		ubl.DidPlatformTokenCreate:  {ubl.Fields{tenant, token, user}, op("token.create", token), onTenant},
		ubl.DidPlatformTokenRevoke:  {ubl.Fields{tenant, token, user}, op("token.revoke", token), onTenant},
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
			action := ubl.Action{Shard: "0", TenantID: "t:acme.com", AgreementID: "a:room:r:general", Did: did, PrevHash: ubl.Genesis,
				RequestID: "req:1234", Status: ubl.StatusExecuted, This: a.this, When: now, Who: who}
			atom, cid := action.Seal()
			valid(t, all, "ubl.ledger.action.v2", atom)
			effect := ubl.Effect{Shard: "0", TenantID: "t:acme.com", Effects: []ubl.Fields{a.effect}, Outcome: ubl.OutcomeOK, Pointers: a.pointers,
				PrevHash: ubl.NextHead(ubl.Genesis, cid), RefActionCID: cid, When: now}
			atom, _ = effect.Seal()
			valid(t, all, "ubl.ledger.effect.v2", atom)
		}
	}
}

// TestOtherStatuses are acts that were refused, and effects that failed.
func TestOtherStatuses(t *testing.T) {
	all := compiled(t)
	for _, this := range []ubl.Fields{{}, {ubl.Str("room_id", "r:general")}} {
		denied := ubl.Action{Shard: "0", TenantID: "t:acme.com", AgreementID: "a:room:r:general", Did: ubl.DidSend, PrevHash: ubl.Genesis,
			RequestID: "req:1234", Status: ubl.StatusDenied, This: this, When: now, Who: person}
		atom, _ := denied.Seal()
		valid(t, all, "ubl.ledger.action.v2", atom)
	}
	for _, code := range []ubl.Code{ubl.CodeForbidden, ubl.CodeRateLimited} {
		denied := ubl.Action{Shard: "0", TenantID: "t:acme.com", AgreementID: "a:tool:files.read", Did: ubl.DidToolDeny, PrevHash: ubl.Genesis,
			RequestID: "req:1234", Status: ubl.StatusDenied, When: now, Who: person,
			This: ubl.Fields{ubl.Str("code", code), ubl.Str("tool", "files.read"), ubl.Str("user_id", "u:ana")}}
		atom, _ := denied.Seal()
		valid(t, all, "ubl.ledger.action.v2", atom)
		denied.Status = ubl.StatusExecuted
		atom, _ = denied.Seal()
		if all["ubl.ledger.action.v2"].Validate(parse(t, atom)) == nil {
			t.Error("a refusal passes as executed")
		}
	}
	copied := ubl.Action{Shard: "0", TenantID: "t:acme.com", AgreementID: "a:tenant:t:acme.com", Did: ubl.DidPasskeyUse, PrevHash: ubl.Genesis,
		RequestID: "req:1234", Status: ubl.StatusDenied, When: now, Who: node,
		This: ubl.Fields{ubl.Str("code", ubl.CodeForbidden), ubl.Str("passkey_id", ubl.PasskeyIDOf(nil)), ubl.Str("tenant_id", "t:acme.com"), ubl.Str("user_id", "u:bob")}}
	atom, _ := copied.Seal()
	valid(t, all, "ubl.ledger.action.v2", atom)
	refused := ubl.Action{Shard: "0", TenantID: "t:acme.com", AgreementID: "a:tool:files.read", Did: ubl.DidPortalCall, PrevHash: ubl.Genesis,
		RequestID: "req:1234", Status: ubl.StatusDenied, When: now, Who: person,
		This: ubl.Fields{ubl.Int("call", 2), ubl.Str("capability", "files.read"), ubl.Str("deadline", now.String()),
			ubl.Str("input_hash", ubl.BodyHash(nil)), ubl.Str("server", "files")}}
	atom, _ = refused.Seal()
	valid(t, all, "ubl.ledger.action.v2", atom)
	turned := ubl.Action{Shard: "0", TenantID: "t:acme.com", AgreementID: "a:wallet:k:b", Did: ubl.DidReceive, PrevHash: ubl.Genesis,
		RequestID: "req:1234", Status: ubl.StatusDenied, When: now, Who: person,
		This: ubl.Fields{ubl.Int("amount", 5), ubl.Str("from", "k:a"), ubl.Str("op", ubl.OpTransfer), ubl.Str("to", "k:b"), ubl.Str("transfer_id", "x:1")}}
	atom, _ = turned.Seal()
	valid(t, all, "ubl.ledger.action.v2", atom)
	failed := ubl.Effect{Shard: "0", TenantID: "t:acme.com", Outcome: ubl.OutcomeError, Error: &ubl.AtomError{Code: ubl.CodeUnavailable, Message: "no answer"},
		PrevHash: ubl.Genesis, RefActionCID: ubl.CID(nil), When: now}
	atom, _ = failed.Seal()
	valid(t, all, "ubl.ledger.effect.v2", atom)
}

func TestEveryEvent(t *testing.T) {
	all := compiled(t)
	m := ubl.Message{MsgID: "m:1", TenantID: "t:acme.com", RoomID: "r:general", RoomSeq: 1, SenderID: "u:ana", SentAt: now, Type: ubl.TypeSystem,
		Body: ubl.Body{Text: "Room created: general"}, Receipt: ubl.Receipt{Shard: "0", Seq: 1, CID: ubl.CID(nil), HeadHash: ubl.NextHead("", ""), Time: now}}
	for kind, payload := range map[string]json.RawMessage{
		ubl.EventMessageCreated: m.AppendJSON(nil),
		ubl.EventEntryCreated:   m.Entry(ubl.Salt{1}).Encode(),
		ubl.EventRoomCreated:    ubl.RoomCreatedPayload(ubl.RoomSummary{RoomID: "r:general", Name: "general", Mode: ubl.ModeInternal, CreatedAt: now}),
		ubl.EventMemberJoined:   ubl.MemberPayload("u:bob", ubl.RoleMember),
		ubl.EventRoomLeft:       ubl.RoomLeftPayload("u:bob"),
		ubl.EventGap:            ubl.GapPayload(0, 120),
		ubl.EventRoomTyping:     ubl.TypingPayload(ubl.Typing{UserID: "u:bob", Until: now}),
		ubl.EventRoomCall:       ubl.InCallPayload(ubl.InCall{CallID: "7", News: []string{"session-1"}, People: []ubl.Caller{{Session: "session-1", UserID: "u:bob"}}}),
	} {
		e := ubl.Event{Kind: kind, TenantID: "t:acme.com", RoomID: "r:general", TS: now, Payload: payload}
		valid(t, all, "ubl.sse.room_event.v1", e.AppendData(nil))
	}
	for _, room := range []ubl.RoomID{"", "r:general"} {
		e := ubl.Event{Kind: "counter.add", TenantID: "t:acme.com", RoomID: room, TS: now, Payload: ubl.Fields{ubl.Str("op", "counter.add"), ubl.Int("value", 7)}.JSON()}
		valid(t, all, "ubl.sse.effect_event.v1", e.AppendData(nil))
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
