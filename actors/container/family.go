package container

import (
	"encoding/binary"
	"fmt"
	"strconv"

	"ubl"
	"ubl/actors"
	"ubl/actors/agreement"
)

// plan is what a decision about a container leads to.
type plan = actors.Plan[event]

// kind is the family: all but what it reads.
func kind() *actors.Kind[State, event] {
	return &actors.Kind[State, event]{
		Spaces: "Fdnorsvxy",
		Name:   "container", Version: eventVersion, Place: place, Unknown: func() error { return errUnknown() },
		Apply: (*State).apply, Under: (*State).under, Record: func(s *State, id ubl.AgreementID) string { return s.Agreement.HashOf(id) },
		Stands: func(s *State, p actors.Proposal) error { return s.Agreement.Stands(p) }, Counts: func(s *State, p actors.Proposal) { s.Agreement.Counts(p) },
		Newest: (*State).newest, Hash: hash, Pointers: (*State).pointers, Index: index, Tell: tell,
		Snapshot: snapshots(), Earlier: earlier, Adopt: (*State).adopt,
		Rules: []actors.Rule[State, event]{
			actors.On(ubl.DidAgreementPropose, agreement.ProposeContent, (*State).decidePropose),
			actors.On(ubl.DidAgreementAccept, agreement.AcceptContent, (*State).decideAccept),
			actors.On(ubl.DidAgreementWithdraw, agreement.WithdrawContent, (*State).decideWithdraw).Frees(),
			actors.On(ubl.DidAgreementEnd, nil, (*State).decideEnd).Frees(),
			actors.On(ubl.DidContainerInvite, agreement.AddContent, (*State).decideAdd),
			actors.On(ubl.DidContainerMemberUpdate, agreement.RoleContent, (*State).decideRole),
			actors.OnNamed(removal, agreement.RemoveContent, (*State).decideRemove).Frees(),
			actors.On(ubl.DidHeirSet, agreement.SetHeirContent, (*State).decideSetHeir),
			actors.On(ubl.DidAgreementHeir, agreement.InheritContent, (*State).decideHeir).Frees(),
			actors.On(ubl.DidCreditsIssue, creditContent, (*State).decideCredit),
			actors.On(ubl.DidDocumentCreate, createContent, (*State).decideCreate),
			actors.On(ubl.DidDocumentUpdate, updateContent, (*State).decideUpdate),
			actors.On(ubl.DidDocumentDelete, deleteContent, (*State).decideDelete).Frees(),
			actors.On(ubl.DidDocumentPublish, publishContent, (*State).decidePublish),
			actors.On(ubl.DidFilePut, putFileContent, (*State).decidePutFile),
			actors.On(ubl.DidFileRemove, removeFileContent, (*State).decideRemoveFile).Frees(),
			actors.On(ubl.DidTransfer, departContent, (*State).decideTransfer),
		},
	}
}

// newest is the version of what a command changes: a document's number, or the Agreement.
func (s *State) newest(cmd ubl.Command) string {
	switch c := cmd.(type) {
	case ubl.UpdateDocument:
		return strconv.FormatInt(s.Documents[c.DocumentID].Version, 10)
	case ubl.DeleteDocument:
		return strconv.FormatInt(s.Documents[c.DocumentID].Version, 10)
	}
	return s.Agreement.Version()
}

// What tells one command from another under the same key.

func creditContent(c Credit) []string { return []string{fmt.Sprint(c.Amount)} }
func createContent(c ubl.CreateDocument) []string {
	return c.ImportedFrom.Content([]string{c.Title, c.Content})
}
func deleteContent(c ubl.DeleteDocument) []string { return []string{string(c.DocumentID)} }
func departContent(c depart) []string             { return transferContent(c.Transfer) }

// updateContent keeps what is not set apart from what is empty.
func updateContent(c ubl.UpdateDocument) []string {
	content := []string{string(c.DocumentID), fmt.Sprint(c.IfVersion)}
	for _, s := range []*string{c.Title, c.Content} {
		if s == nil {
			content = append(content, "unset")
		} else {
			content = append(content, "set", *s)
		}
	}
	return c.ImportedFrom.Content(content)
}

// pointers name the Agreement that governs the container, whatever an act was decided
// under.
func (s *State) pointers() ubl.Fields { return pointers(s.Agreement.ID, s.Summary.ContainerID) }

func pointers(governing ubl.AgreementID, id ubl.ContainerID) ubl.Fields {
	return ubl.Fields{ubl.Str("agreement_id", governing), ubl.Str("container_id", id)}
}

// hash is that of the Agreement after a step of its history.
func hash(s *State, e event) string {
	if !e.step() {
		return ""
	}
	return s.Agreement.Hash()
}

// index is what an event changes besides: versions, newest documents, files, and ends of
// transfers.
func index(s *State, e event, act *actors.Act) (records []actors.Record) {
	id := s.Summary.ContainerID
	for _, f := range e.gone {
		records = append(records, unindexFile(id, f)...)
	}
	if e.Did == ubl.DidFilePut {
		return indexFile(id, *e.File, act)
	}
	if e.Did == ubl.DidReceive {
		for _, f := range e.Files {
			records = append(records, indexFile(id, f, act)...)
		}
	}
	for _, d := range e.changed() {
		stored := encode(version{Form: recordVersion, Document: *d.document})
		if e.Did != ubl.DidTransfer && !d.gone {
			records = append(records, act.Sealed(versionKey(id, d.ID, d.Version), stored))
		}
		if d.gone && !d.Deleted { // it has moved elsewhere
			stored = nil
		}
		records = append(records, actors.Record{Key: newestKey(id, d.ID), Value: stored})
	}
	if e.Transfer == nil {
		return records
	}
	if departs := e.Did == ubl.DidTransfer && e.Action == nil; !departs {
		n := binary.BigEndian.AppendUint64(nil, uint64(e.N))
		records = append(records, actors.Record{Key: endKey(id, e.Transfer.ID), Value: n})
	}
	if e.Did == ubl.DidTransfer && e.Action != nil && e.Refused == nil && e.Transfer.Op == ubl.OpTransfer {
		for _, f := range e.Transfer.Files { // they have arrived, and are kept there
			records = append(records, unindexFile(id, f)...)
		}
	}
	return records
}

// tell publishes that a document has changed, if one has, and of a public container that
// anything has: copies of what anyone was shown are checked again.
func tell(s *State, e event) (events []ubl.Event) {
	id := s.Summary.ContainerID
	if s.Summary.Physics.Permeability == ubl.Public {
		events = append(events, ubl.Event{Kind: ubl.EventContainerChanged, UserID: e.By, Payload: ubl.ContainerPayload(id)})
	}
	for _, d := range e.changed() {
		events = append(events, ubl.Event{
			Kind: ubl.EventDocumentChanged, UserID: e.By, Payload: ubl.DocumentPayload(id, d.ID, d.Version),
		})
	}
	return events
}
