// Package hashes lists every hash that a ledger can have of something, by the member that has it.
// Who can guess what was hashed finds it from a bare hash, so a hash of something private is a
// commitment with a salt ([ubl.Salt]). This is where that is decided for each: the test of this
// package finds members of schemas and of code that are missing here.
package hashes

import "strings"

// Member is a hash of an action, of an effect or of what is around them.
type Member struct {
	Name string
	// Of are what begins the acts that have it, all where there are none. A longer one counts
	// before a shorter one.
	Of []string
	// Why says of a commitment where its salt is told, and of a bare hash why it needs none.
	Why string
}

// Salted are commitments to what not everybody may know.
var Salted = []Member{
	{Name: "asked_hash", Why: "with the call's answer, as for input_hash"},
	{Name: "attachments_hash", Why: "with the entry, until it is redacted"},
	{Name: "body_hash", Why: "with the entry, until it is redacted"},
	{Name: "client_hash", Why: "client_salt of the service token, to who may list it"},
	{Name: "content_hash", Why: "with the document or the file, until it is deleted; in the answer to an act of a person's own"},
	{Name: "forwarded_hash", Why: "with the entry, until it is redacted"},
	{Name: "imported_hash", Why: "with the entry, the document or the file that was imported"},
	{Name: "input_hash", Why: "in the answer to the call or the completion"},
	{Name: "mandate_hash", Why: "with the service token and with the Agreement of the mandate, to who may read them"},
	{Name: "name_hash", Why: "with the file, until it is removed"},
	{Name: "output_hash", Why: "in the answer to the call or the completion"},
	{Name: "prompt_hash", Why: "in the answer to the completion"},
	{Name: "published_hash", Why: "with the document, until it is deleted"},
	{Name: "query_hash", Why: "in the answer to the search"},
	{Name: "terms_hash", Of: []string{"portal.server."}, Why: "with the server, of the newest act on its terms"},
	{Name: "title_hash", Why: "with the document, until it is deleted"},
	{Name: "url_hash", Why: "with the server, of the newest act on its terms"},
}

// Bare are hashes of what all members may know, of random secrets, and of atoms.
var Bare = []Member{
	{Name: "agreement_hash", Why: "the Agreement's record: terms are no place for secrets, and a mandate's record has a salt itself"},
	{Name: "definition_hash", Why: "a tool's definition, which portal.tool.list tells every member"},
	{Name: "files_hash", Why: "commitments that the ledger has itself"},
	{Name: "head_hash", Why: "the chain's: it covers the atoms up to one"},
	{Name: "kind_hash", Why: "a kind, which kind.list tells every member"},
	{Name: "link_hash", Why: "a secret of 128 random bits: nobody guesses it, and nobody is to open it"},
	{Name: "prev_hash", Why: "the chain's: it is the head before an atom"},
	{Name: "terms_hash", Why: "terms of an Agreement, which are no place for secrets, or of who may use a tool, which every member may know"},
	{Name: "value_hash", Why: "a record that stands in the public DNS"},
}

// Find is the member of an act in a list, false where the list has none.
func Find(list []Member, act, name string) (found Member, depth int, ok bool) {
	depth = -1
	for _, m := range list {
		if m.Name != name {
			continue
		}
		if len(m.Of) == 0 && depth < 0 {
			found, depth, ok = m, 0, true
		}
		for _, of := range m.Of {
			if strings.HasPrefix(act, of) && len(of) > depth {
				found, depth, ok = m, len(of), true
			}
		}
	}
	return found, depth, ok
}

// IsSalted says whether a member of an act is a commitment.
func IsSalted(act, name string) bool {
	_, salted, ok := Find(Salted, act, name)
	_, bare, _ := Find(Bare, act, name)
	return ok && salted > bare
}
