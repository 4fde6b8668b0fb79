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

// builders are what somebody asks for who builds agents, and knows other messengers and servers. Words
// were mended for them.
var builders = []task{
	{"post an update to the team channel", []string{"messenger.send"}},
	{"read recent chat", []string{"messenger.history"}},
	{"get unread messages", []string{"messenger.history", "messenger.list_rooms", "messenger.entries"}},
	{"subscribe to new messages", []string{"messenger.stream_room"}},
	{"poll for replies", []string{"messenger.stream_room", "messenger.history"}},
	{"list channels", []string{"messenger.list_rooms"}},
	{"reply in thread", []string{"messenger.send"}},
	{"delete my last message", []string{"messenger.redact"}},
	{"add emoji reaction", []string{"messenger.react"}},
	{"look up a user by email", []string{"tenant.member.list"}},
	{"who are the admins", []string{"tenant.member.list"}},
	{"create a private channel and invite people", []string{"room.create", "room.invite"}},
	{"set channel retention", []string{"room.update"}},
	{"make the channel public", []string{"room.update"}},
	{"save notes", []string{"office.document.create"}},
	{"append text to a document", []string{"office.document.update"}},
	{"full text search", []string{"office.document.search", "messenger.search"}},
	{"download an attachment", []string{"office.file.read"}},
	{"read the contents of a PDF", []string{"office.file.read"}},
	{"upload an image", []string{"office.file.put", "office.upload.begin", "messenger.upload"}},
	{"list attachments", []string{"office.file.list"}},
	{"version history of a wiki page", []string{"office.document.versions"}},
	{"restore an old version", []string{"office.document.update", "office.document.get", "office.document.versions"}},
	{"check my permissions", []string{"user.whoami", "agreement.get"}},
	{"what am I allowed to do", []string{"user.whoami", "agreement.get"}},
	{"audit trail of actions", []string{"ledger.atoms"}},
	{"prove that a message was sent", []string{"receipt.get"}},
	{"verify a receipt", []string{"receipt.get"}},
	{"check wallet balance", []string{"container.get"}},
	{"send money to another wallet", []string{"container.transfer"}},
	{"ask GPT to summarize", []string{"office.llm.complete"}},
	{"call an external API", []string{"office.tool.call", "tool.call"}},
	{"run javascript code", []string{"tool.run"}},
	{"batch several calls", []string{"tool.run"}},
	{"see which integrations are available", []string{"portal.server.list", "portal.discover"}},
	{"register a new MCP server", []string{"portal.server.add"}},
	{"rotate an API key", []string{"token.renew"}},
	{"create an agent account", []string{"token.create"}},
	{"disable an agent", []string{"token.revoke", "token.mandate"}},
	{"limit how many calls a bot may make", []string{"token.mandate", "tool.access"}},
	{"log in with OAuth to a tool server", []string{"portal.server.connect"}},
	{"usage and costs", []string{"portal.budget.get"}},
	{"error log of tool calls", []string{"portal.log.list"}},
	{"list my sessions", []string{"platform.token.list"}},
	{"approve changed tool", []string{"portal.tool.approve"}},
	{"leave the channel", []string{"room.leave"}},
	{"grant access to a workspace", []string{"container.invite"}},
	{"make a folder", []string{"office.workspace.create"}},
	{"accept terms", []string{"agreement.accept"}},
	{"which tools are open to whom", []string{"portal.tool.list", "tool.access"}},
}

// own are for the tools of families that bring their own: what reaches somebody, and webhooks. Each tool
// has a task.
var own = []task{
	{"Publish what our handbook repository has as documents", []string{"office.document.publish"}},
	{"What notifications do I get, and on which devices?", []string{"person.get"}},
	{"Don't disturb me for two hours", []string{"person.preferences.update"}},
	{"Mute the alerts room until tomorrow", []string{"person.room.update"}},
	{"Get the key by which this browser subscribes to push notifications", []string{"person.key.create"}},
	{"Show my notifications in this browser, too", []string{"person.device.add"}},
	{"I sold my old tablet, no more notifications there", []string{"person.device.remove"}},
	{"Remind me of this message tomorrow morning", []string{"person.reminder.add"}},
	{"I don't need that reminder any more", []string{"person.reminder.remove"}},
	{"Which of my messages are still scheduled?", []string{"person.scheduled.list"}},
	{"Say good morning in general every Monday at nine", []string{"person.scheduled.add"}},
	{"Send the scheduled message an hour later", []string{"person.scheduled.update"}},
	{"Cancel the message that I planned for Friday", []string{"person.scheduled.remove"}},
	{"Which webhooks do we have, and which of them fail?", []string{"webhook.list"}},
	{"Have our build server told of new messages in r:releases", []string{"webhook.create"}},
	{"Pause the webhook to the old server", []string{"webhook.update"}},
	{"Delete the webhook to the CRM", []string{"webhook.remove"}},
	{"The webhook's signing secret leaked, give it a new one", []string{"webhook.rotate"}},
	{"Send a test event to the webhook", []string{"webhook.test"}},
	{"Why did the last deliveries of the webhook fail?", []string{"webhook.deliveries"}},
	{"Send that failed delivery again", []string{"webhook.redeliver"}},
}

// terse are queries of a word or three, as clients make them of a task. Words were mended for them.
var terse = []task{
	{"dead letters", []string{"deadletter.list"}},
	{"list dead letters", []string{"deadletter.list"}},
	{"retry dead letter", []string{"deadletter.redrive"}},
	{"staff", []string{"tenant.member.list"}},
	{"list all employees", []string{"tenant.member.list"}},
	{"search messages", []string{"messenger.history", "messenger.entries"}},
	{"keep a secret", []string{"room.create", "office.workspace.create", "container.create"}},
	{"anything new", []string{"messenger.list_rooms", "messenger.history"}},
	{"what's new", []string{"messenger.list_rooms", "messenger.history"}},
}

// elsewhere is what no tool of ours does.
var elsewhere = []string{
	"book a flight to Paris", "order a pizza", "weather forecast tomorrow", "play some jazz", "buy bitcoin", "turn on the lights", "square root of two",
	"navigate home", "recipe for lasagne", "compile C++ code", "train a neural network", "stock price of Apple", "flight status LH400", "scan a barcode",
	"convert euros to dollars", "set an alarm for seven", "resize a photo", "deploy to kubernetes", "git push", "query a postgres database",
	"send an sms", "print a label", "draw a cat", "measure blood pressure", "open the garage door", "xylophone", "merge a pull request",
	"issue a passport", "hire a carpenter", "mow the lawn",
}
