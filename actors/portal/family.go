package portal

import (
	"encoding/json"

	"ubl"
	"ubl/actors"
)

// plan is what a decision of a Portal leads to.
type plan = actors.Plan[event]

// kind is the family: all but the log and what it reads.
func kind() *actors.Kind[State, event] {
	return &actors.Kind[State, event]{
		Spaces: "blpq",
		Name:   local, Version: version, Encode: func(e event) []byte { return encode(e) }, Place: place,
		Apply: (*State).apply, Under: (*State).under, Newest: (*State).newest, Stands: (*State).stands, Pointers: (*State).pointers, Index: index, Tell: tell,
		Empty: func(of ubl.Name) State { return newState(of.Group().Tenant) }, Beside: beside, Ended: (*State).ended, WakePasses: true, Adopt: (*State).adopt, Snapshot: snapshots(),
		Rules: []actors.Rule[State, event]{
			actors.On(ubl.DidServerAdd, addContent, (*State).decideAdd),
			actors.On(ubl.DidServerUpdate, updateContent, (*State).decideUpdate),
			actors.On(ubl.DidServerRemove, removeContent, (*State).decideRemove).Frees(),
			actors.On(ubl.DidToolApprove, approveContent, (*State).decideApprove),
			actors.On(ubl.DidBudgetUpdate, budgetContent, (*State).decideBudget),
			actors.OnPassing(ubl.DidServerSync, syncContent, (*State).decideSync, (*State).synced),
			actors.OnPassing(ubl.DidServerConnect, grantContent, (*State).decideGrant, nothing),
		},
	}
}

// newest is the version of the budget, which alone has one.
func (s *State) newest(ubl.Command) string {
	return s.budget(0, s.Budget).Version()
}

// What tells one command from another under the same key.

func addContent(c ubl.AddServer) []string       { return []string{content(c.Server) + c.SecretMAC} }
func removeContent(c ubl.RemoveServer) []string { return []string{c.ServerID} }
func approveContent(c ubl.ApproveTool) []string { return []string{c.Tool, c.Hash} }
func budgetContent(c ubl.SetBudget) []string    { return []string{content(limitsOf(c))} }
func syncContent(c ubl.RecordSync) []string {
	return []string{c.ServerID, c.Problem, listContent(c.Tools)}
}

// grantContent tells what was sealed twice apart: a sign-in, whose key is its state, ends once.
func grantContent(c ubl.SaveGrant) []string {
	if len(c.Sealed) == 0 {
		return []string{c.ServerID, content(false)}
	}
	return []string{c.ServerID, content(true), ubl.BodyHash(c.Sealed)}
}

// updateContent leaves the secret out, for which its MAC stands.
func updateContent(c ubl.UpdateServer) []string {
	hasSecret := c.Patch.Secret != nil
	c.Patch.Secret = nil
	return []string{c.ServerID, content(c.Patch) + content(hasSecret) + c.SecretMAC}
}

// content tells one command's content from another's under the same key.
func content(v any) string { return string(encode(v)) }

func nothing(*State, ubl.SaveGrant) func() (any, error) {
	return func() (any, error) { return nil, nil }
}

// under names the TenantLicense: calls bring the record that authorises them.
func (s *State) under(ubl.Identity) ubl.AgreementID { return ubl.TenantAgreement(s.Tenant) }

// stands refuses who isn't of the tenant. Whether somebody may use a tool, and what the terms of the
// TenantLicense permit them here, the Tenant has said when it let them in.
func (s *State) stands(p actors.Proposal) error { return s.member(p.Who) }

func (s *State) pointers() ubl.Fields {
	return ubl.Fields{ubl.Str("agreement_id", ubl.TenantAgreement(s.Tenant))}
}

// executed is an act with an effect that is named after it.
func executed(did ubl.Did, this, effect ubl.Fields) actors.Act {
	return actors.Act{This: this, Effects: []ubl.Fields{append(effect, ubl.Str("op", did))}}
}

// index is what an event changes besides: tools, what a server said, and what models used.
func index(s *State, e event, _ *actors.Act) (records []actors.Record) {
	if e.Tool != nil {
		records = append(records, toolRecord(e.Tool))
	}
	if e.sync != nil {
		records = append(records, actors.Record{Key: syncKey(e.sync.ServerID), Value: encode(e.sync)})
		for _, now := range e.tools {
			records = append(records, toolRecord(now))
		}
	}
	if c := e.call; c != nil && c.used != nil {
		records = append(records, actors.Record{Key: usageKey(), Value: encode(s.Usage)})
	}
	return records
}

func toolRecord(t *ubl.PortalTool) actors.Record {
	return actors.Record{Key: toolKey(t.ServerID, t.Upstream), Value: encode(tool{form: form{version}, PortalTool: *t})}
}

// tell has everyone who lists tools list them again: another address or secret counts
// too, since nodes hold sessions.
func tell(_ *State, e event) []ubl.Event {
	if e.Server == nil && e.Tool == nil && len(e.tools) == 0 {
		return nil
	}
	return []ubl.Event{{Kind: ubl.EventToolsChanged, Payload: json.RawMessage(`{}`)}}
}
