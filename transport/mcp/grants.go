package mcp

import (
	"slices"
	"strings"

	"ubl"
)

// Grant is what a person lets an agent use, all of it or nothing.
type Grant struct {
	// Name is the set that the agent is shown with it, where there is one. No other grant has it.
	// Says is what it lets an agent do, in words that follow "It can".
	Name, Says string
	// Tools are as in [ubl.Mandate].
	Tools []string
	// Chosen says that it is chosen unless the person says otherwise.
	Chosen bool
}

// ownGrants are our tools as people choose among them. They are no sets, though most have the name
// of one: they leave out what agents aren't let do, and some share a tool.
var ownGrants = []Grant{
	{Name: "messenger", Says: "Read and send messages, and see who is in a room", Tools: []string{"messenger.*", "room.get", "room.join", "room.leave", "room.member.list"}, Chosen: true},
	{Name: "office", Says: "Read and write documents, and search them", Tools: []string{"office.document.*", "office.workspace.*"}, Chosen: true},
	{Name: "files", Says: "Read and store files", Tools: []string{"office.file.*", "office.upload.*"}},
	{Name: "rooms", Says: "Make rooms, and set the rules of those it made", Tools: []string{"room.*"}},
	{Name: "containers", Says: "Use workspaces, wallets and other containers", Tools: []string{"container.*", "kind.list"}},
	{Name: "agreements", Says: "Read Agreements and receipts, and answer proposals", Tools: []string{"agreement.*", "ledger.*", "receipt.get"}},
	{Name: "models", Says: "Ask language models, at the expense of your organisation", Tools: []string{"office.llm.complete", "office.tool.call"}},
}

// Grants are what a person may let an agent use at the MCP server at a path, as [PathOf] has it.
// Those of the sets that it names are chosen; "all" chooses what is usual, as more is for the
// person to give. Servers are those of the person's tenant, which are behind the portal alone.
func Grants(path string, servers func() ([]*ubl.Server, error)) ([]Grant, error) {
	mount := mountOf(path)
	inPath, _, err := choiceInPath(strings.TrimPrefix(path, mount))
	if err != nil {
		return nil, err
	}
	named, err := setsIn(inPath, "path")
	if err != nil {
		return nil, err
	}
	usual := named == nil || slices.Contains(named, setDefault) || slices.Contains(named, setAll)
	out := slices.Clone(ownGrants)
	for i := range out {
		out[i].Chosen = usual && out[i].Chosen || slices.Contains(named, out[i].Name)
	}
	if mount != portalPath {
		return out, nil
	}
	list, err := servers()
	for _, s := range list {
		out = append(out, serverGrant(s, named))
	}
	return out, err
}

// serverGrant is all tools of a server.
func serverGrant(s *ubl.Server, named []string) Grant {
	name := s.ServerID
	if setOfOurs(name) || slices.ContainsFunc(ownGrants, func(g Grant) bool { return g.Name == name }) {
		name = ubl.ServerSet + name
	}
	return Grant{
		Name: name, Says: "Use those tools of " + s.Name + " (" + s.ServerID + ") that you may use", Tools: []string{s.ServerID + ".*"},
		Chosen: slices.ContainsFunc(named, func(set string) bool {
			id, ok := isServerSet(set)
			return ok && id == s.ServerID
		}),
	}
}
