package api

import "ubl"

// routes is the table of all operations. Each is a tool as well, named like its
// act where it is one, but for those that a tool can't be. A write says by which rate it
// is counted.
func (a *API) routes() {
	a.tenantRoutes()
	a.invitationRoutes()
	a.domainRoutes()
	a.roomRoutes()
	a.memberRoutes()
	a.messageRoutes()
	a.callRoutes()
	a.ledgerRoutes()
	a.tokenRoutes()
	a.passkeyRoutes()
	a.clusterRoutes()
	a.deadLetterRoutes()
	a.workspaceRoutes()
	a.documentRoutes()
	a.fileRoutes()
	a.roomFileRoutes()
	a.containerRoutes()
	a.serverRoutes()
	a.toolRoutes()
}

func (a *API) tenantRoutes() {
	handle(a, operation{method: "GET", path: "/whoami", id: "whoami", tool: "user.whoami", tag: "identity", answers: "ubl.api.whoami.v1",
		summary: "Who the caller is, and what in their tenant"}, a.whoami)
	handle(a, operation{method: "GET", path: "/tenant", id: "get-tenant", tool: "tenant.get", tag: "tenant", answers: "ubl.api.tenant.v1",
		summary: "The caller's tenant"}, a.getTenant)
	handle(a, operation{method: "PATCH", path: "/tenant/defaults", id: "set-defaults", asks: sometimes, counts: ubl.Creations, tool: "tenant.update", tag: "tenant", answers: "ubl.api.tenant.v1",
		summary: "Change the defaults of rooms to come", more: "Owners of the tenant."}, a.setDefaults)
	handle(a, operation{method: "GET", path: "/tenant/members", id: "list-tenant-members", tool: "tenant.member.list", tag: "tenant", answers: "ubl.api.members.v1",
		summary: "The tenant's members"}, a.listTenantMembers)
	handle(a, operation{method: "POST", path: "/me/presence", id: "set-presence", asks: nothing, counts: ubl.Sends, tool: "tenant.member.present", tag: "tenant", answers: "ubl.api.presence.v1",
		summary: "Say that the caller is there", more: "People alone. It holds for 150 seconds: who is there says so each minute. Members see it; it is not kept, and there is no receipt. Who never says so is never shown as present."}, a.setPresent)
	handle(a, operation{method: "GET", path: "/tenant/presence", id: "list-present", tool: "tenant.member.presence", tag: "tenant", answers: "ubl.api.present.v1",
		summary: "Who of the tenant is there", more: "Those whose screens said so in the last 150 seconds, by id. After a server has started they are known again within a minute."}, a.listPresent)
	handle(a, operation{method: "PATCH", path: "/tenant/members/{userId}", id: "set-tenant-member", asks: sometimes, counts: ubl.Creations, tool: "tenant.member.update", tag: "tenant", answers: "ubl.api.member.v1",
		summary: "Change a member's role or name in the tenant",
		more: "Owners of the tenant; anyone their own name. Give at least one of the two. A name decides nothing: ids are what receipts hold. " +
			"The services of an owner who becomes a member do so too: a service is an owner only while the person who keeps it is one. unconfirmed_domains are as in the answer to a removal."}, a.setTenantMember)
	handle(a, operation{method: "DELETE", path: "/tenant/members/{userId}", id: "remove-tenant-member", asks: proof, counts: ubl.Sends, tool: "tenant.member.remove", tag: "tenant", answers: "ubl.api.member.v1",
		summary: "Shut a member out of the tenant", more: "Owners of the tenant; anyone themselves, which is leaving. Their services, tokens, sessions and passkeys end with them. What the member alone owned passes to the heir whom its owners named, if they are inside, or to its oldest entry that is a person; without one it is sealed where it is private, until there is an heir. " +
			"Answers the entry as it was, and in unconfirmed_domains the mail domains that they stood for: new people of these join again once another owner has verified them, or never if one releases them."}, a.removeTenantMember)
	handle(a, operation{method: "GET", path: "/agreements", id: "list-agreements", tool: "agreement.list", tag: "agreements", answers: "ubl.api.agreements.v1",
		summary: "The Agreements that the caller may read", more: "Of the tenant, of rooms, containers and tools. By id, without histories; next_cursor is null on the last page."}, a.listAgreements)
	handle(a, operation{method: "GET", path: "/agreements/{agreementId}", id: "get-agreement", tool: "agreement.get", tag: "agreements", answers: "ubl.api.agreement.v1",
		summary: "An Agreement with its history", more: "Of the history a page, oldest first; next_cursor reads on, and is null on the last page. " + asOfMore, also: []ubl.Code{ubl.CodeNotAMember}}, a.getAgreement)
	handle(a, operation{method: "POST", path: "/agreements/{agreementId}/heir", id: "name-heir", asks: proof, counts: ubl.Creations, tool: "agreement.heir", destroys: true, tag: "agreements", answers: "ubl.api.member.v1",
		summary: "Give a sealed room or container an owner",
		more: "Owners of the tenant. A private room or container is sealed when the last person in it is removed from the tenant: nobody gets in, and its ledger entry says agreement.seal. " +
			"The heir owns it from now on; messages and documents from before stay closed, credits are theirs."}, a.nameHeir)
	handle(a, operation{method: "PUT", path: "/agreements/{agreementId}/heir", id: "set-heir", asks: proof, counts: ubl.Creations, tool: "agreement.heir.set", tag: "agreements", answers: "ubl.api.heir.v1",
		summary: "Name who owns a room or container once its last owner is gone",
		more: "Its owners that are people; its members see the name. Somebody inside becomes its owner. Somebody else has it where no person is left, " +
			"and nothing that was there before, if it is private. Who has left the tenant doesn't count.", also: []ubl.Code{ubl.CodeNotAMember}}, a.setHeir)
	handle(a, operation{method: "GET", path: "/sealed", id: "list-sealed", tool: "tenant.sealed.list", tag: "agreements", answers: "ubl.api.sealed.v1",
		summary: "Sealed rooms and containers", more: "Owners of the tenant. Those that can take an heir, by Agreement, without what is inside; next_cursor is null on the last page."}, a.listSealed)
	handle(a, operation{method: "PUT", path: "/agreements/{agreementId}/proposal", id: "propose-terms", asks: proof, counts: ubl.Creations, tool: "agreement.propose", tag: "agreements", answers: "ubl.api.agreement.v1",
		summary: "Propose other terms of an Agreement, or amend the open proposal",
		more: "Whom the terms in force permit it, as owners; the tenant's those that are people. The proposal waits for those who have to accept it, and is in force at once where nobody has to. " +
			"Terms say what is permitted to whom, limits, from when until when, and obligations. They can't go beyond the physics: tenant is for what is open, anyone for what is public. tool.access sets those of tools.", also: []ubl.Code{ubl.CodeNotAMember}}, a.proposeTerms)
	handle(a, operation{method: "POST", path: "/agreements/{agreementId}/proposal/accept", id: "accept-terms", asks: proof, counts: ubl.Sends, tool: "agreement.accept", tag: "agreements", answers: "ubl.api.agreement.v1",
		summary: "Accept the open proposal", more: "Those who have to, as the terms in force say, read them first: obligations are among them. The last one brings them into force.", also: []ubl.Code{ubl.CodeNotAMember}}, a.acceptTerms)
	handle(a, operation{method: "DELETE", path: "/agreements/{agreementId}/proposal", id: "withdraw-terms", asks: nothing, counts: ubl.Sends, tool: "agreement.withdraw", tag: "agreements", answers: "ubl.api.agreement.v1",
		summary: "Take the open proposal away", more: "Who made it, who has to accept it, and owners.", also: []ubl.Code{ubl.CodeNotAMember}}, a.withdrawTerms)
	handle(a, operation{method: "POST", path: "/agreements/{agreementId}/end", id: "end-agreement", asks: proof, counts: ubl.Sends, tool: "agreement.end", destroys: true, tag: "agreements", answers: "ubl.api.agreement.v1",
		summary: "End an Agreement for good", more: "Its owners; the tenant's those that are people. Acts under it are refused from then on; the record stays readable. The record about a tool of the server's own can't be ended: tool.access closes it."}, a.endAgreement)
}

func (a *API) invitationRoutes() {
	handle(a, operation{method: "GET", path: "/invitations", id: "list-invitations", tool: "tenant.invitation.list", tag: "tenant", answers: "ubl.api.invitations.v1",
		summary: "Invitations into the tenant", more: "Owners of the tenant. Those that are open, and the newest that have ended; the oldest first."}, a.listInvitations)
	handle(a, operation{method: "POST", path: "/invitations", id: "create-invitation", asks: proof, counts: ubl.Creations, tool: "tenant.invitation.create", people: true, tag: "tenant", answers: "ubl.api.invitation_created.v1", creates: true,
		summary: "Invite a person into the tenant",
		more: "Owners of the tenant that are people. Whoever opens the link and confirms, once, is a member. They have an id of their own and are shown as unproven: the link says nothing about the address. " +
			"The link is in this answer and nowhere else: a repetition under the same key answers the same invitation with a null link. " +
			"The address of a member, or one with an open invitation, is a 409. As a tool it invites members only."}, a.createInvitation)
	handle(a, operation{method: "DELETE", path: "/invitations/{invitationId}", id: "revoke-invitation", asks: nothing, counts: ubl.Sends, tool: "tenant.invitation.revoke", tag: "tenant", answers: "ubl.api.invitation.v1",
		summary: "Take an open invitation back", more: "Owners of the tenant."}, a.revokeInvitation)
}

func (a *API) domainRoutes() {
	handle(a, operation{method: "GET", path: "/domains", id: "list-domains", tool: "tenant.domain.list", tag: "tenant", answers: "ubl.api.domains.v1",
		summary: "Mail domains of the tenant", more: "Owners of the tenant; in tenant 0 those of all tenants. State is configured (by the server's operator), verified (by DNS), " +
			"pending, or unconfirmed: verified by DNS, and the owner who stands for it is none any more, so that nobody new joins by it until another owner verifies it. " +
			"New people with verified addresses of a configured or verified domain join the tenant."}, a.listDomains)
	handle(a, operation{method: "POST", path: "/domains", id: "claim-domain", asks: proof, counts: ubl.Creations, tool: "tenant.domain.claim", people: true, tag: "tenant", answers: "ubl.api.domain.v1", creates: true,
		summary: "Claim a mail domain for the tenant",
		more: "Owners of the tenant that are people. The answer has the TXT record to publish; a pending claim gives nothing and ends after 7 days. " +
			"A claim is of that very domain, without those below it."}, a.claimDomain)
	handle(a, operation{method: "POST", path: "/domains/{domain}/verify", id: "verify-domain", asks: proof, counts: ubl.Creations, tool: "tenant.domain.verify", people: true, tag: "tenant", answers: "ubl.api.domain.v1",
		summary: "Look for a claim's TXT record",
		more: "Owners of the tenant that are people, ten times a minute. A 409 says what is missing; DNS that doesn't answer is a 503. " +
			"The first tenant to be verified has the domain until it is released, also when the record goes. " +
			"An unconfirmed domain is confirmed by this, without its record, and the caller stands for it from then on."}, a.verifyDomain)
	handle(a, operation{method: "DELETE", path: "/domains/{domain}", id: "release-domain", asks: proof, counts: ubl.Sends, tool: "tenant.domain.release", tag: "tenant", answers: "ubl.api.domain.v1",
		summary: "Release a claimed domain", more: "Owners of the tenant; owners of tenant 0 any verified one. Members stay; newcomers of the domain don't join any more. Answers the claim as it was."}, a.releaseDomain)
}

func (a *API) roomRoutes() {
	handle(a, operation{method: "GET", path: "/rooms", id: "list-rooms", tool: "messenger.list_rooms", tag: "rooms", answers: "ubl.api.rooms.v1",
		summary: "Rooms that the caller is a member of or may join"}, a.listRooms)
	handle(a, operation{method: "POST", path: "/rooms", id: "create-room", asks: nothing, counts: ubl.Creations, tool: "room.create", tag: "rooms", answers: "ubl.api.room_created.v1", creates: true,
		summary: "Make a room, which the caller owns", more: "Its id comes from the name; a taken one is a 409."}, a.createRoom)
	handle(a, operation{method: "POST", path: "/dms", id: "open-direct", asks: nothing, counts: ubl.Creations, tool: "messenger.open_direct", tag: "rooms", answers: "ubl.api.room_created.v1", creates: true,
		summary: "Open the direct messages with people",
		more: "Between the caller and up to seven others, who are members of the tenant. The same people have the same room, whoever of them asks; it is private to them, and nobody else ever comes in. " +
			"Leaving it hides it from the caller's list until the next message, or until they open it again."}, a.openDirect)
	handle(a, operation{method: "GET", path: "/rooms/{roomId}", id: "get-room", tool: "room.get", tag: "rooms", answers: "ubl.api.room.v1",
		summary: "A room's configuration", more: asOfMore, also: []ubl.Code{ubl.CodeNotAMember}}, a.getRoom)
	handle(a, operation{method: "PATCH", path: "/rooms/{roomId}/policy", id: "set-room-policy", asks: sometimes, counts: ubl.Creations, tool: "room.update", tag: "rooms", answers: "ubl.api.room.v1",
		summary: "Change a room's policy", more: "Owners of the room. Its physics aren't policy: they are fixed when the room is made, so that nobody who came for a sealed or gated room finds it opened. For others make another room.", also: []ubl.Code{ubl.CodeNotAMember}}, a.setRoomPolicy)
	handle(a, operation{method: "PATCH", path: "/rooms/{roomId}/about", id: "describe-room", asks: nothing, counts: ubl.Sends, tool: "room.describe", tag: "rooms", answers: "ubl.api.room.v1",
		summary: "Say what a room is called and about", more: "Owners and moderators of the room. Its timeline tells of it; the id stays.", also: []ubl.Code{ubl.CodeNotAMember}}, a.describeRoom)
}

func (a *API) memberRoutes() {
	notIn := []ubl.Code{ubl.CodeNotAMember}
	handle(a, operation{method: "GET", path: "/rooms/{roomId}/members", id: "list-members", tool: "room.member.list", tag: "members", answers: "ubl.api.members.v1",
		summary: "A room's members", also: notIn}, a.listMembers)
	handle(a, operation{method: "POST", path: "/rooms/{roomId}/members", id: "invite-member", asks: sometimes, counts: ubl.Creations, tool: "room.invite", tag: "members", answers: "ubl.api.member.v1", creates: true,
		summary: "Add a member of the tenant to a room", more: "Owners of the room. Give either user_id or email; a member whose address is unproven is named by user_id.", also: notIn}, a.inviteMember)
	handle(a, operation{method: "PATCH", path: "/rooms/{roomId}/members/{userId}", id: "set-member", asks: proof, counts: ubl.Creations, tool: "room.member.update", tag: "members", answers: "ubl.api.member.v1",
		summary: "Change a member's role in a room", more: "Owners of the room. The last owner stays one.", also: notIn}, a.setMember)
	handle(a, operation{method: "DELETE", path: "/rooms/{roomId}/members/{userId}", id: "remove-member", asks: sometimes, counts: ubl.Sends, tool: "room.remove", tag: "members", answers: "ubl.api.member.v1",
		summary: "Remove a member from a room", more: "Owners of the room, moderators a plain member; anyone themselves. Answers the entry as it was.", also: notIn}, a.removeMember)
	handle(a, operation{method: "POST", path: "/rooms/{roomId}/join", id: "join-room", asks: nothing, counts: ubl.Sends, tool: "room.join", tag: "members", answers: "ubl.api.member.v1", creates: true,
		summary: "Join a room whose rule lets the caller"}, a.joinRoom)
	handle(a, operation{method: "POST", path: "/rooms/{roomId}/leave", id: "leave-room", asks: nothing, counts: ubl.Sends, tool: "room.leave", destroys: true, tag: "members", answers: "ubl.api.member.v1",
		summary: "Leave a room", more: "The last owner makes another one first. Direct messages are hidden until the next one. Answers the entry as it was.", also: notIn}, a.leaveRoom)
}

func (a *API) messageRoutes() {
	notIn := []ubl.Code{ubl.CodeNotAMember}
	direct[sendInput](a, operation{method: "POST", path: "/rooms/{roomId}/messages", id: "send-message", asks: nothing, counts: ubl.Sends, tool: "messenger.send", fixed: map[string]string{"type": ubl.TypeText}, tag: "messages", answers: "ubl.api.message.v1", creates: true,
		summary: "Send a message",
		more: "The text is at most 8,000 bytes of UTF-8, and may be empty beside attachments or forward. A forwarded message says whose words it has; who may read them where they were written is told that by get-entry. A repetition under the same key answers the same message. " +
			"Messages of type system come from acts alone: sending one is forbidden.", also: notIn}, jsonType[0], a.send)
	direct[historyInput](a, operation{method: "GET", path: "/rooms/{roomId}/history", id: "read-history", tool: "messenger.history", tag: "messages", answers: "ubl.api.history.v1",
		summary: "Read a room's messages backwards, page by page",
		more: "Each page is oldest first; next_cursor reads the page before and is null at the beginning. Messages name their sender by id; senders tells what to call them. " +
			"Entries of other types have numbers of their own, which are left out here.", also: notIn}, jsonType[0], a.history)
	a.entryRoutes()
	a.previewRoutes()
}

func (a *API) entryRoutes() {
	notIn := []ubl.Code{ubl.CodeNotAMember}
	handle(a, operation{method: "GET", path: "/rooms/{roomId}/entries", id: "read-entries", tool: "messenger.entries", tag: "messages", answers: "ubl.api.entries.v1",
		summary: "Read all entries of a room's timeline: messages, edits, reactions, redactions, pins",
		more: "Each page is oldest first. Backwards, next_cursor is the cursor of the page before; with from, it is the from of the next page. It is null at the end. " +
			"A body's salt is what its commitment in the ledger was made with.", also: notIn}, a.readEntries)
	handle(a, operation{method: "POST", path: "/rooms/{roomId}/entries", id: "post-entry", asks: nothing, counts: ubl.Sends, uses: "messenger.send", tag: "messages", answers: "ubl.api.entry.v1", creates: true,
		summary: "Send a message with a typed body",
		more:    "For bodies that messages of text don't have, such as ciphertext. The server keeps what it doesn't know as it came. JSON is nested at most 100 levels deep.", also: notIn}, a.postEntry)
	handle(a, operation{method: "GET", path: "/rooms/{roomId}/entries/{entryId}", id: "get-entry", tool: "messenger.entry", tag: "messages", answers: "ubl.api.entry.v1",
		summary: "One entry of a room's timeline, with the salt of its body", also: notIn}, a.getEntry)
	handle(a, operation{method: "POST", path: "/rooms/{roomId}/entries/{entryId}/edits", id: "edit-message", asks: nothing, counts: ubl.Sends, tool: "messenger.edit", tag: "messages", answers: "ubl.api.entry.v1", creates: true,
		summary: "Say a message anew", more: "Its author, 100 times at most. What it said before stays in the timeline until it is redacted.", also: notIn}, a.editMessage)
	handle(a, operation{method: "POST", path: "/rooms/{roomId}/entries/{entryId}/reactions", id: "react-to-message", asks: nothing, counts: ubl.Sends, tool: "messenger.react", tag: "messages", answers: "ubl.api.entry.v1", creates: true,
		summary: "React to a message", more: "Members. Redacting the reaction takes it back. The same one twice counts once.", also: notIn}, a.react)
	handle(a, operation{method: "POST", path: "/rooms/{roomId}/entries/{entryId}/redaction", id: "redact-entry", asks: sometimes, counts: ubl.Sends, tool: "messenger.redact", destroys: true, tag: "messages", answers: "ubl.api.entry.v1", creates: true,
		summary: "Take the content of a message, an edit or a reaction away for good",
		more: "Its author, and owners of the room. A message goes with its edits. The number and the receipt stay; what the ledger says of the content can't be matched with it any more. " +
			"Backups from before still have it, and freed places of the disk until other writes take them.", also: notIn}, a.redact)
	handle(a, operation{method: "POST", path: "/rooms/{roomId}/entries/{entryId}/pin", id: "pin-message", asks: nothing, counts: ubl.Sends, tool: "messenger.pin", tag: "messages", answers: "ubl.api.entry.v1", creates: true,
		summary: "Pin a message for everyone in the room, or no longer", more: "Members.", also: notIn}, a.pin)
	handle(a, operation{method: "GET", path: "/rooms/{roomId}/pins", id: "list-pins", tool: "messenger.pins", tag: "messages", answers: "ubl.api.pins.v1",
		summary: "The messages that are pinned in a room", more: "The newest message first. A page may be short, or empty, before next_cursor is null.", also: notIn}, a.listPins)
	a.pollRoutes()
	a.formRoutes()
	handle(a, operation{method: "GET", path: "/rooms/{roomId}/entries/{entryId}/thread", id: "read-thread", tool: "messenger.thread", tag: "messages", answers: "ubl.api.thread.v1",
		summary: "Read the thread that a message began", more: "Answers are oldest first; next_cursor is the cursor of the next page, null at the end.", also: notIn}, a.readThread)
	handle(a, operation{method: "POST", path: "/rooms/{roomId}/read", id: "mark-read", asks: nothing, counts: ubl.Sends, tool: "messenger.mark_read", tag: "messages", answers: "ubl.api.read.v1",
		summary: "Say how far the caller has read a room", more: "It holds for all of their devices, which hear of it as room.read, and leaves no receipt. Who sends has read what was there.", also: notIn}, a.markRead)
	handle(a, operation{method: "POST", path: "/rooms/{roomId}/typing", id: "set-typing", asks: nothing, counts: ubl.Sends, tool: "messenger.typing", tag: "messages", answers: "ubl.api.typing.v1",
		summary: "Say that the caller is writing in a room", more: "Who may write there. It holds for 5 seconds, or until they send. Streams of the room tell of it as room.typing, which has no id and is never told again; nothing is kept, and there is no receipt. " +
			"A room tells of 20 people at a time, and of each once a second.", also: notIn}, a.setTyping)
	handle(a, operation{method: "GET", path: "/rooms/{roomId}/readers", id: "list-readers", tool: "messenger.readers", tag: "messages", answers: "ubl.api.readers.v1",
		summary: "How far the members of a room have read it", more: "Without those who haven't read anything since there are marks.", also: notIn}, a.listReaders)
	handle(a, operation{method: "GET", path: "/search", id: "search-messages", tool: "messenger.search", tag: "messages", answers: "ubl.api.message_hits.v1",
		summary: "Find messages by what they say", more: "Of the rooms that the caller is in. Words count in any form of English, German, Spanish and Arabic; the last one may be the beginning of a word. Edited messages are found by their newest text. " +
			"The look is receipted. After many messages the answer may have `indexing`: those sent after its `complete_up_to` may be missing yet."}, a.searchMessages)
}

func (a *API) ledgerRoutes() {
	handle(a, operation{method: "GET", path: "/receipts/{seq}", id: "get-receipt", tool: "receipt.get", tag: "ledger", answers: "ubl.api.receipt_lookup.v1",
		summary: "The action at a seq with its effect", more: "Either one's seq finds both; seq in the answer is the action's."}, a.getReceipt)
	handle(a, operation{method: "GET", path: "/ledger/head", id: "get-ledger-head", tool: "ledger.head", tag: "ledger", answers: "ubl.api.ledger_head.v1",
		summary: "How far the tenant's ledger is"}, a.ledgerHead)
	handle(a, operation{method: "GET", path: "/atoms", id: "read-atoms", tool: "ledger.atoms", tag: "ledger", answers: "ubl.api.atoms.v1",
		summary: "Read the ledger in order", more: "next_cursor is the from of the next page, null at the end."}, a.readAtoms)
	direct[struct{}](a, operation{method: "GET", path: "/export", id: "export-ledger", asks: proof, uses: "ledger.atoms", streamed: true, tag: "ledger", answers: "ubl.export.line.v1",
		summary: "The whole ledger as NDJSON, to be verified offline",
		more: "The first line is a header (ubl.export.header.v1), each other line one atom with its seq and the head after it " +
			"(ubl.export.line.v1), up to the head at the time of the request. A connection cut before its end means a failed export."},
		exportType, a.export)
	direct[struct{}](a, operation{method: "GET", path: "/me/export", id: "export-own-data", asks: proof, uses: "person.get", people: true, streamed: true, tag: "tenant", answers: "ubl.own_archive.v1", sendsZip: true,
		summary: "Take your own data home, as a zip file",
		more: "Your profile and settings, the conversations that you may read, your own messages wherever you sent them, documents of containers that you own, files that you brought, and the receipts of your acts. " +
			"The last file is manifest.json (ubl.own_archive.v1), with the hash of each other one. One at a time: another is a 429. A connection cut before its end means a failed download. For people alone."},
		ownType, a.exportOwn)
}

func (a *API) tokenRoutes() {
	handle(a, operation{method: "GET", path: "/service-tokens", id: "list-service-tokens", tool: "token.list", tag: "tokens", answers: "ubl.api.service_tokens.v1",
		summary: "The tenant's service tokens", more: "All to owners of the tenant, to others the agents with a mandate that they keep."}, a.listServiceTokens)
	handle(a, operation{method: "POST", path: "/service-tokens", id: "create-service-token", asks: proof, counts: ubl.Creations, tool: "token.create", tag: "tokens", answers: "ubl.api.service_token_created.v1", creates: true,
		summary: "Make a service token",
		more: "Owners of the tenant. It holds for 90 days unless expires_at says otherwise, and ends when who keeps it leaves. With a mandate it may do what that says, and no more. The secret is in this answer and nowhere else, only its hash is kept: a repetition under " +
			"the same key answers the same token with a null secret. One whose secret was lost is revoked and made anew."}, a.createServiceToken)
	handle(a, operation{method: "POST", path: "/service-tokens/{clientId}/renew", id: "renew-service-token", asks: proof, counts: ubl.Creations, tool: "token.renew", tag: "tokens", answers: "ubl.api.service_token_created.v1", destroys: true,
		summary: "Give a service token another end or secret",
		more: "Owners of the tenant; the one who renews it keeps it from then on, so that it stays when its maker leaves. " +
			"A new secret is in this answer and nowhere else; without one client_secret is null."}, a.renewServiceToken)
	handle(a, operation{method: "DELETE", path: "/service-tokens/{clientId}", id: "revoke-service-token", asks: nothing, counts: ubl.Sends, tool: "token.revoke", tag: "tokens", answers: "ubl.api.service_token.v1",
		summary: "Revoke a service token", more: "Owners of the tenant, and who keeps an agent with a mandate."}, a.revokeServiceToken)
	handle(a, operation{method: "PUT", path: "/service-tokens/{clientId}/mandate", id: "set-mandate", asks: sometimes, counts: ubl.Creations, tool: "token.mandate", tag: "tokens", answers: "ubl.api.service_token.v1",
		summary: "Say what an agent may do, and no further",
		more: "Owners of the tenant, and who keeps the agent; no agent that has a mandate itself. It replaces the mandate that was there, and ends streams that the agent has open. " +
			"Its Agreement is a:agent: and what stands before the tenant in the client id."}, a.setMandate)
	handle(a, operation{method: "GET", path: "/tokens", id: "list-tokens", tool: "platform.token.list", tag: "tokens", answers: "ubl.api.tokens.v1",
		summary: "The caller's own sessions and bearer tokens", more: "Those that were used, are not revoked and have not expired; the newest first."}, a.listTokens)
	handle(a, operation{method: "DELETE", path: "/tokens", id: "revoke-tokens", asks: proof, counts: ubl.Sends, tool: "platform.token.revoke_all", tag: "tokens", answers: "ubl.api.tokens_revoked.v1",
		summary: "Sign out everywhere", more: "Revokes all of the caller's sessions and bearer tokens, the one in use too."}, a.revokeTokens)
	handle(a, operation{method: "DELETE", path: "/tokens/{jti}", id: "revoke-token", asks: nothing, counts: ubl.Sends, tool: "platform.token.revoke", tag: "tokens", answers: "ubl.api.token_revoked.v1",
		summary: "Revoke a session or a bearer token", more: "Anyone their own; owners of tenant 0 any."}, a.revokeToken)
}

func (a *API) passkeyRoutes() {
	handle(a, operation{method: "GET", path: "/passkeys", id: "list-passkeys", tool: "passkey.list", tag: "tokens", answers: "ubl.api.passkeys.v1",
		summary: "The caller's passkeys", more: "Oldest first. One is registered in a browser, by a person who is signed in there."}, a.listPasskeys)
	handle(a, operation{method: "DELETE", path: "/passkeys/{passkeyId}", id: "remove-passkey", asks: proof, counts: ubl.Sends, tool: "passkey.remove", tag: "tokens", answers: "ubl.api.passkey.v1",
		summary: "Forget a passkey", more: "Anyone their own; owners of tenant 0 any. It signs nobody in from then on; sessions that it began go on. Answers it as it was."}, a.removePasskey)
}

func (a *API) clusterRoutes() {
	handle(a, operation{method: "GET", path: "/platform/cluster", id: "get-cluster", tool: "platform.cluster.get", tag: "platform", answers: "ubl.api.cluster.v1",
		summary: "How the nodes and partitions stand",
		more:    "Owners of tenant 0. A server without a cluster answers as its only node."}, a.clusterStatus)
	handle(a, operation{method: "DELETE", path: "/platform/cluster/nodes/{nodeId}", id: "remove-node", asks: proof, counts: ubl.Sends, tool: "platform.node.remove", tag: "platform", answers: "ubl.api.node_removed.v1",
		summary: "Take a node out of the cluster for good",
		more: "Owners of tenant 0. Its partitions move to other nodes, one change at a time, which the cluster's status shows. " +
			"It is refused (`conflict`) while another node is being removed, and where fewer than three would stay, unless `keep` says how many must."}, a.removeNode)
}

func (a *API) deadLetterRoutes() {
	handle(a, operation{method: "GET", path: "/dead-letters", id: "list-dead-letters", tool: "deadletter.list", tag: "tenant", answers: "ubl.api.dead_letters.v1",
		summary: "What couldn't be done by itself, and isn't tried any more",
		more: "Owners of the tenant. As a room's retention whose alarm failed each time. The first 500. " +
			"With `pending`, what has failed so far and is tried again instead, and what is late, with the time of the next attempt."}, a.listDeadLetters)
	handle(a, operation{method: "POST", path: "/dead-letters/redrive", id: "redrive-dead-letter", asks: nothing, counts: ubl.Sends, tool: "deadletter.redrive", tag: "tenant", answers: "ubl.api.redriven.v1",
		summary: "Have a dead letter tried again", more: "Owners of the tenant. At once, and as often as at first."}, a.redrive)
	handle(a, operation{method: "POST", path: "/dead-letters/discard", id: "discard-dead-letter", asks: nothing, counts: ubl.Sends, tool: "deadletter.discard", tag: "tenant", answers: "ubl.api.discarded.v1",
		summary: "Give a dead letter up", more: "Owners of the tenant. It is listed no more, and never done. What it was to do outside ends with an error. The act has a receipt."}, a.discard)
}
