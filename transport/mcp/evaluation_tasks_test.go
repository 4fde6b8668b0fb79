package mcp_test

// task is what somebody wants, in their words, and the tools of which each is right
// to begin with.
type task struct {
	said  string
	tools []string
}

// tasks were written before anything was measured by them. When one isn't found, mend
// what the tool says of itself, not the task.
var tasks = []task{
	// Rooms and messages.
	{"Tell the team in general that the deploy is done", []string{"messenger.send"}},
	{"Post the release notes in the product room", []string{"messenger.send"}},
	{"Reply to Bob's question from this morning", []string{"messenger.send"}},
	{"What did people say in the support room since yesterday?", []string{"messenger.history", "messenger.entries"}},
	{"Catch me up on the conversation in r:design", []string{"messenger.history", "messenger.entries"}},
	{"Which rooms am I in?", []string{"messenger.list_rooms"}},
	{"Find a channel I could join about hiring", []string{"messenger.list_rooms"}},
	{"Wait until somebody answers in the incident room", []string{"messenger.stream_room"}},
	{"Fix the typo in the message I sent", []string{"messenger.edit"}},
	{"Give Carol's message a thumbs up", []string{"messenger.react"}},
	{"Pin the announcement so that everybody sees it", []string{"messenger.pin"}},
	{"I pasted a password into the chat, get rid of it", []string{"messenger.redact"}},
	{"Show the edit history of that message", []string{"messenger.entries", "messenger.entry"}},
	{"Open a new private room for the merger", []string{"room.create"}},
	{"Add dave@acme.com to the launch room", []string{"room.invite"}},
	{"Kick the contractor out of the finance room", []string{"room.remove"}},
	{"Who is in the engineering room?", []string{"room.member.list"}},
	{"Make Erin an owner of the design room", []string{"room.member.update"}},
	{"Join the random room", []string{"room.join"}},
	{"Get me out of the noisy alerts room", []string{"room.leave"}},
	{"Keep messages in this room for 30 days only", []string{"room.update"}},
	{"What are the settings of the general room, is it open to everybody?", []string{"room.get"}},

	// Documents, files, workspaces.
	{"Who changed the price document last week?", []string{"office.document.versions"}},
	{"Find the document about our travel policy", []string{"office.document.search"}},
	{"Read me the onboarding checklist", []string{"office.document.get", "office.document.search"}},
	{"Write up the meeting notes as a new document", []string{"office.document.create"}},
	{"Add a paragraph on refunds to the terms document", []string{"office.document.update"}},
	{"What did the contract say before the last change?", []string{"office.document.get", "office.document.versions"}},
	{"Throw away the old draft", []string{"office.document.delete"}},
	{"List everything written in the legal workspace", []string{"office.document.list"}},
	{"Set up a workspace for the tax audit", []string{"office.workspace.create", "container.create"}},
	{"Which workspaces can I look into?", []string{"office.workspace.list", "container.list"}},
	{"Let Frank read the documents in the legal workspace", []string{"container.invite"}},
	{"Who has access to the board workspace?", []string{"container.member.list"}},
	{"Save this CSV as a file in the reports workspace", []string{"office.file.put"}},
	{"Which files are stored in the reports workspace?", []string{"office.file.list"}},
	{"Upload a video of two gigabytes", []string{"office.upload.begin"}},
	{"Have a language model summarise these notes for me", []string{"office.llm.complete"}},
	{"Move twenty credits from petty cash to the travel container", []string{"container.transfer"}},
	{"How much money is left in petty cash?", []string{"container.get"}},

	// People, rights and what was agreed.
	{"Who am I logged in as?", []string{"user.whoami"}},
	{"Invite grace@acme.com to our organisation", []string{"tenant.invitation.create"}},
	{"Heidi has left the company, take away her access", []string{"tenant.member.remove"}},
	{"Show all people in the company and their roles", []string{"tenant.member.list"}},
	{"Stop the intern's bot from deleting documents", []string{"tool.access", "agreement.propose"}},
	{"Only owners should be allowed to use the weather tool", []string{"tool.access", "agreement.propose"}},
	{"Which rules apply in this room, who may do what?", []string{"agreement.get", "agreement.list"}},
	{"Suggest that guests may post at most ten messages an hour", []string{"agreement.propose"}},
	{"I agree to the new terms", []string{"agreement.accept"}},
	{"Make it so that everyone with an @acme.com address joins by themselves", []string{"tenant.domain.claim"}},
	{"Give our build robot an API key", []string{"token.create"}},
	{"Our bot's secret leaked, make it useless", []string{"token.revoke"}},
	{"Log me out on all devices", []string{"platform.token.revoke_all"}},

	// Other servers' tools, budget, the record.
	{"Connect the Jira MCP server so that we can use its tools", []string{"portal.server.add"}},
	{"Which outside tools do we have, and who may use them?", []string{"portal.tool.list"}},
	{"The weather server changed a tool; take over the new definition", []string{"portal.tool.approve"}},
	{"How much have we spent on AI today?", []string{"portal.budget.get"}},
	{"Show me the last calls that the agents made", []string{"portal.log.list"}},
	{"Prove that the payment message was really sent: get its receipt", []string{"receipt.get"}},
	{"Go through the audit log from the start", []string{"ledger.atoms"}},
}

// fresh were written once the tools had their words, and no word was mended for them: they
// tell how much of the first figure is fitted.
var fresh = []task{
	{"Announce in r:sales that we won the customer", []string{"messenger.send"}},
	{"Correct what I wrote a minute ago", []string{"messenger.edit"}},
	{"Has anybody mentioned the outage in the ops room?", []string{"messenger.history", "messenger.entries"}},
	{"Start a channel for the office party", []string{"room.create"}},
	{"Ivan should be able to see the finance room", []string{"room.invite"}},
	{"List the people in r:board", []string{"room.member.list"}},
	{"Draft a one-page proposal and store it in the sales workspace", []string{"office.document.create"}},
	{"Where did we write down the holiday rules?", []string{"office.document.search"}},
	{"Restore the wording from version 3 of the handbook", []string{"office.document.get", "office.document.update", "office.document.versions"}},
	{"Get rid of last year's budget document", []string{"office.document.delete"}},
	{"Attach the logo picture to the marketing workspace", []string{"office.file.put"}},
	{"Pay Judy's wallet fifty credits", []string{"container.transfer"}},
	{"Promote Mallory to owner of the whole company", []string{"tenant.member.update"}},
	{"Has Niaj accepted his invitation yet?", []string{"tenant.invitation.list", "tenant.member.list"}},
	{"I lost my phone, sign it out", []string{"platform.token.revoke", "platform.token.list", "platform.token.revoke_all"}},
	{"Limit what models may cost us per day", []string{"portal.budget.update"}},
	{"Which MCP servers are connected?", []string{"portal.server.list"}},
	{"Nobody but Olivia may use the bank's transfer tool", []string{"tool.access", "agreement.propose"}},
	{"When was our newest entry written into the ledger?", []string{"ledger.head", "ledger.atoms"}},
	{"Reject the proposed rules for r:legal", []string{"agreement.withdraw"}},
}
