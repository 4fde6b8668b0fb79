package container

import (
	"cmp"
	"maps"
	"slices"

	"ubl"
	"ubl/actors/agreement"
)

// State is what a Container decides by. It is the same after replaying the
// stored events as it was before a crash.
type State struct {
	Summary   ubl.ContainerSummary
	Agreement agreement.Kept
	// Balance is the credits inside, InTransit those that have left and not
	// arrived yet.
	Balance, InTransit int64
	// Documents holds the newest version of each document, Listed the ids in order.
	Documents map[ubl.DocumentID]document
	Listed    []ubl.DocumentID
	// Keyed finds the published ones by their keys.
	Keyed map[ubl.DocumentKey]ubl.DocumentID
	// Deleted is the last version of each document that was deleted here, and comes back no more.
	Deleted map[ubl.DocumentID]int64
	// Redacting is what was deleted and is still to be taken out of what is stored, oldest
	// first.
	Redacting []leftover
	// Content and Tools are the kind's, as of [ubl.Kind].
	Content, Tools []string
	// Files holds the files that are inside, Filed their ids in order.
	Files map[ubl.FileID]file
	Filed []ubl.FileID
	// Past holds who has left the general workspace, or was removed from it: they
	// don't join by touching it any more.
	Past map[ubl.UserID]bool
	// Hidden is when the container was sealed, 0 for never: documents from until then
	// stay closed.
	Hidden ubl.Time
	// Pending is what has left and not arrived yet.
	Pending map[ubl.TransferID]departure
	// Events counts the events; Changed is the newest that changed a document.
	Events, Changed int64
	// Steps are the numbers of the events that are the Agreement's history. It is
	// only ever appended to: parts of it are handed out.
	Steps []int64
}

// departure is a transfer under way and the number of the event that began it.
type departure struct {
	N int64 `json:"n"`
	transfer
}

// apply is the only place where events change the state.
func (s *State) apply(e event) {
	s.Events = e.N
	if len(e.changed()) > 0 {
		s.Changed = e.N
	}
	if e.step() {
		s.Steps = append(s.Steps, e.N)
		s.Agreement.Changed()
	}
	if e.Kind != nil {
		s.found(e)
		return
	}
	switch e.Did {
	case ubl.DidContainerJoin, ubl.DidContainerInvite, ubl.DidContainerMemberUpdate:
		s.set(*e.Member)
	case ubl.DidContainerLeave, ubl.DidContainerRemove:
		s.Agreement.Remove(e.Member.UserID)
		if e.Sealed {
			s.seal(e.At)
		}
		if e.Heir != nil {
			s.open(*e.Heir)
		}
		if s.general() && !e.Expelled && e.Version > 1 { // before, an entry more or less let nobody in
			s.Past[e.Member.UserID] = true
		}
	case ubl.DidAgreementHeir:
		s.open(*e.Member)
	case ubl.DidHeirSet:
		s.Agreement.NamedHeir = e.Member.UserID
	case ubl.DidDocumentCreate, ubl.DidDocumentUpdate:
		s.put(*e.Document)
	case ubl.DidDocumentDelete, ubl.DidDocumentPublish:
		for _, d := range e.changed() {
			s.put(*d.document)
			if d.gone {
				s.leave(leftover{Document: d.ID, From: d.First})
			}
		}
		s.dropFiles(e.Files)
		for _, f := range e.Files {
			s.leave(f.leftover())
		}
	case ubl.DidFilePut:
		s.putFile(*e.File)
	case ubl.DidFileRemove:
		s.dropFile(e.File.ID)
		s.leave(e.File.leftover())
	case ubl.DidContainerRedact:
		s.redacted(e.Redacted)
	case ubl.DidCreditsIssue:
		s.Balance += e.Amount
	case ubl.DidTransfer:
		if e.Action == nil {
			s.depart(e)
		} else {
			s.settle(e)
		}
	case ubl.DidReceive:
		s.arrive(e)
	case ubl.DidAgreementPropose, ubl.DidAgreementAccept, ubl.DidAgreementWithdraw:
		s.Agreement.Amend(e.N, e.Amendment)
	case ubl.DidAgreementEnd:
		s.Agreement.Restore(e.Ended, s.usual())
		if e.Version == 1 { // nobody joins any more, and all could read
			s.reopen()
		}
	}
}

func (s *State) found(e event) {
	s.Summary = *e.Container
	if e.Version == 1 {
		s.Summary.Physics = s.Summary.Physics.AsPromised(s.Summary.ContainerID)
	}
	physics := s.Summary.Physics
	s.empty()
	s.Agreement.Agreement = ubl.Agreement{
		ID: e.Kind.GovernedBy(e.Container.ContainerID), Type: e.Kind.Agreement, TenantID: e.Tenant,
		CreatedAt: e.At, CreatedBy: e.By, Status: ubl.AgreementInForce,
		Physics: &physics, Terms: s.usual(), Members: make(map[ubl.UserID]ubl.Member),
	}
	s.Content, s.Tools = e.Kind.Content, e.Kind.Tools
	if e.Kind.Terms != nil {
		s.Agreement.Terms = e.Kind.Terms
	}
	s.set(*e.Member)
}

func (s *State) set(m ubl.Member) {
	s.Agreement.Set(m)
	delete(s.Past, m.UserID)
}

// seal closes the container, and its documents and files for good. The heir gets its credits.
func (s *State) seal(at ubl.Time) {
	s.Agreement.Seal(at)
	s.Hidden, s.Listed, s.Filed = at, nil, nil
	clear(s.Documents)
	clear(s.Keyed)
	clear(s.Files)
	clear(s.Deleted)
}

func (s *State) open(heir ubl.Member) {
	s.Agreement.Open(heir)
	delete(s.Past, heir.UserID)
}

// reopen lets everyone of the tenant in where collaborative did.
func (s *State) reopen() {
	if s.Summary.Physics.Permeability == ubl.Collaborative {
		s.Summary.Physics.Permeability = ubl.Open
	}
	physics := s.Summary.Physics
	s.Agreement.Physics, s.Agreement.Terms = &physics, s.usual()
	s.Agreement.Changed()
}

// empty makes a container with nothing inside.
func (s *State) empty() {
	s.Documents = make(map[ubl.DocumentID]document)
	s.Keyed = make(map[ubl.DocumentKey]ubl.DocumentID)
	s.Deleted = make(map[ubl.DocumentID]int64)
	s.Files = make(map[ubl.FileID]file)
	s.Pending = make(map[ubl.TransferID]departure)
	s.Past = make(map[ubl.UserID]bool)
}

// put takes in a version, or what is left of a deleted document.
func (s *State) put(d document) {
	if d.UpdatedAt <= s.Hidden {
		return
	}
	if d.Deleted {
		s.Deleted[d.ID] = d.Version
		s.drop(d.ID)
		return
	}
	if at, listed := slices.BinarySearch(s.Listed, d.ID); !listed {
		s.Listed = slices.Insert(s.Listed, at, d.ID)
	}
	s.Documents[d.ID] = d
	if d.Published != nil {
		s.Keyed[d.Published.DocumentKey] = d.ID
	}
}

// drop takes a document out.
func (s *State) drop(id ubl.DocumentID) {
	if d := s.Documents[id]; d.Published != nil {
		delete(s.Keyed, d.Published.DocumentKey)
	}
	delete(s.Documents, id)
	if at, listed := slices.BinarySearch(s.Listed, id); listed {
		s.Listed = slices.Delete(s.Listed, at, at+1)
	}
}

// depart lets an amount or a strict document leave. It is in transit then:
// counted here, and out of everyone's reach.
func (s *State) depart(e event) {
	s.Pending[e.Transfer.ID] = departure{e.N, *e.Transfer}
	s.Balance -= e.Transfer.Amount
	s.InTransit += e.Transfer.Amount
	for _, d := range e.changed() {
		s.drop(d.ID)
		s.dropFiles(e.Transfer.Files)
	}
}

// underWay lists what is pending, oldest first.
func (s *State) underWay() []departure {
	return slices.SortedFunc(maps.Values(s.Pending), func(a, b departure) int { return cmp.Compare(a.N, b.N) })
}

// settle ends a transfer: what the target refused comes back.
func (s *State) settle(e event) {
	delete(s.Pending, e.Transfer.ID)
	s.InTransit -= e.Transfer.Amount
	if e.Refused == nil {
		return
	}
	s.Balance += e.Transfer.Amount
	for _, d := range e.changed() {
		s.put(*d.document)
		for _, f := range e.Transfer.Files {
			s.putFile(f)
		}
	}
}

// arrive takes in what another container sent. What was refused, or passes
// through a container that keeps nothing, leaves nothing.
func (s *State) arrive(e event) {
	if e.Refused != nil {
		return
	}
	s.Balance += e.Transfer.Amount
	if e.Document != nil {
		s.put(*e.Document)
	}
	for _, f := range e.Files {
		s.putFile(f)
	}
}

// shared reports whether every member of the tenant looks in and writes, or anyone looks in.
func (s *State) shared() bool { return agreement.ContainerReach(s.Summary.Physics).Tenant }

// general reports whether it is the workspace that everyone of the tenant joins by
// touching it.
func (s *State) general() bool { return s.Summary.ContainerID == ubl.GeneralWorkspace }

// keeps reports whether documents can be inside: not among credits, and not where
// everything only passes through.
func (s *State) keeps() bool {
	return s.Summary.Physics.Topology != ubl.Values && s.Summary.Physics.Fungibility != ubl.Transient
}

// container is the configuration as it is served to someone.
func (s *State) container(who ubl.UserID) *ubl.Container {
	_, member := s.Agreement.Members[who]
	return &ubl.Container{
		ContainerSummary: s.Summary, TenantID: s.Agreement.TenantID, AgreementID: s.Agreement.ID, Heir: s.Agreement.NamedHeir,
		Balance: s.Balance, InTransit: s.InTransit, Documents: int64(len(s.Listed)),
		Content: s.Content, Tools: s.Tools, Member: member,
	}
}
