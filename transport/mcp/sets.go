package mcp

import (
	"slices"
	"strings"

	"ubl"
)

// audience is whom a tool of ours is for. Others aren't shown it, and are refused if they use it
// anyway: the actors decide that, by the same rule. What is for people alone says so itself.
type audience int

const (
	everyone  audience = iota
	owners             // of the tenant
	permitted          // for whom the terms of the TenantLicense permit it, usually its owners
	operators          // owners of tenant 0
)

// Sets that the code knows.
const (
	setDefault = "default" // those that an agent needs most
	setAll     = "all"     // all that there are
	setTools   = "tools"   // the ways to all others
	// readOnlyPath ends a path, and is no set.
	readOnlyPath = "readonly"
)

// ownSets say for each tool of ours in which one set it is, and whom it is for. The tools
// of a family that isn't here are in a set of their own: the first word of their names.
var ownSets = []struct {
	set   string
	of    audience
	tools string
}{
	{"messenger", everyone, `messenger.edit messenger.entries messenger.entry messenger.history messenger.list_rooms messenger.mark_read messenger.open_direct messenger.pin messenger.pins messenger.react
		messenger.readers messenger.redact messenger.search messenger.send messenger.stream_room messenger.thread messenger.typing room.create room.describe room.get room.invite room.join room.leave room.member.list
		room.member.update room.remove room.update`},
	{"office", everyone, `office.document.create office.document.delete office.document.get office.document.list office.document.search
		office.document.update office.document.versions office.llm.complete office.tool.call office.workspace.create office.workspace.list`},
	{"files", everyone, `office.file.get office.file.list office.file.put office.file.read office.file.remove office.upload.begin office.upload.end office.upload.get
		messenger.file messenger.files messenger.upload`},
	{"knowledge", everyone, `office.document.publish`},
	{"polls", everyone, `messenger.poll.create messenger.poll.end messenger.poll.get messenger.poll.vote`},
	{"forms", everyone, `messenger.form.answer messenger.form.get messenger.form.create`},
	{"containers", everyone, `container.create container.get container.invite container.leave container.list container.member.list
		container.member.update container.remove container.transfer kind.list`},
	{"containers", permitted, `credits.issue kind.remove kind.set`},
	{"agreements", everyone, `agreement.accept agreement.end agreement.get agreement.heir.set agreement.list agreement.propose agreement.withdraw
		ledger.atoms ledger.head receipt.get`},
	{"agreements", permitted, `agreement.heir tenant.sealed.list`},
	{"portal", everyone, `portal.budget.get portal.log.list portal.server.connect portal.server.disconnect portal.server.list`},
	{"portal", owners, `portal.budget.update portal.discover portal.server.add portal.server.remove portal.server.sync portal.server.update
		portal.tool.approve portal.tool.list tool.access`},
	{"tenant", everyone, `passkey.list passkey.remove platform.token.list platform.token.revoke platform.token.revoke_all tenant.get
		tenant.member.list tenant.member.remove tenant.member.update tenant.member.presence tenant.member.present token.list token.mandate token.revoke user.whoami`},
	{"tenant", permitted, `tenant.domain.claim tenant.domain.list tenant.domain.release tenant.domain.verify tenant.invitation.create tenant.invitation.list
		tenant.invitation.revoke tenant.update token.create token.renew`},
	{"admin", owners, `deadletter.discard deadletter.list deadletter.redrive`},
	{"admin", operators, `platform.cluster.get platform.node.remove`},
	{setTools, everyone, `tool.call tool.describe tool.run tool.search`},
}

// standard are the tools of ours that are listed where nobody chooses: what an agent needs that
// talks in rooms and works with documents, and the ways to all others. TestDefaultFits
// bounds them; servers' tools have what is left.
var standard = strings.Fields(`user.whoami messenger.list_rooms messenger.history messenger.send messenger.stream_room office.workspace.list
	office.document.search office.document.get office.document.create tool.search tool.describe tool.call tool.run`)

// also are tools that a set lists beside its own, since they go together. They stay of the set that
// the table has them in.
var also = map[string][]string{
	"knowledge": {"office.document.get", "office.document.list", "office.document.search", "office.workspace.list"},
}

// What is listed by default, of ours and of servers together. Bytes are those of the tools in the
// answer: the rest of it has room within 24,000.
const (
	maxStandard      = 15
	maxStandardBytes = 23_500
)

// placed is where the table has a tool.
type placed struct {
	set string
	of  audience
}

var placeOf = func() map[string]placed {
	out := map[string]placed{}
	for _, row := range ownSets {
		for tool := range strings.FieldsSeq(row.tools) {
			out[tool] = placed{row.set, row.of}
		}
	}
	return out
}()

// Sets are the sets of our own tools by name, in the table's order.
func Sets() []string { return slices.Clone(setNames) }

// SetOf is the set of a tool: of one of ours by the table, else its first word, which is its
// server's id or that of a family.
func SetOf(tool string) string {
	if p, ok := placeOf[tool]; ok {
		return p.set
	}
	first, _, _ := strings.Cut(tool, ".")
	if setOfOurs(first) {
		return ubl.ServerSet + first
	}
	return first
}

// setNames are the sets of the table, in its order.
var setNames = func() (out []string) {
	for _, row := range ownSets {
		if !slices.Contains(out, row.set) {
			out = append(out, row.set)
		}
	}
	return out
}()

// setOfOurs reports whether a word means something else than a server of that id.
func setOfOurs(word string) bool {
	return word == setDefault || word == setAll || word == readOnlyPath || slices.Contains(setNames, word)
}

// isServerSet is the id of the server whose set it is, if it is one's.
func isServerSet(set string) (id string, ok bool) {
	id, long := strings.CutPrefix(set, ubl.ServerSet)
	return id, ubl.ValidServerID(id) && (long || !setOfOurs(id))
}
