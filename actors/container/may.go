package container

import (
	"ubl"
	"ubl/actors"
	"ubl/actors/agreement"
)

// errUnknown is the answer to who may not look into a container: that of one that
// never was, since names of private ones must not be guessed.
func errUnknown() *ubl.Error { return ubl.Errorf(ubl.CodeNotFound, "there is no such container") }

// look refuses who may not look into the container.
func (s *State) look(who ubl.Identity) error {
	_, entry := s.Agreement.Members[who.UserID]
	if who.TenantID != s.Agreement.TenantID || !entry && !s.shared() && !s.joinable(who) {
		return errUnknown()
	}
	return nil
}

// joinable reports whether somebody joins by touching the container: everyone of the
// tenant the general workspace, unless they left it or were removed.
func (s *State) joinable(who ubl.Identity) bool {
	return s.general() && !s.Past[who.UserID] && !who.IsPlatform() && s.Agreement.May(ubl.OpWrite) == nil
}

// under names the record that authorises what somebody does: the container's own
// where they are an entry of it. Who acts as one of the tenant does so under the
// TenantLicense, where their standing is.
func (s *State) under(who ubl.Identity) ubl.AgreementID {
	if _, entry := s.Agreement.Members[who.UserID]; !entry {
		return ubl.TenantAgreement(s.Agreement.TenantID)
	}
	return s.inForce()
}

// stands refuses an act under a record in which its author is no entry.
func (s *State) stands(p actors.Proposal) error {
	return agreement.Stands(&s.Agreement.Agreement, p, ubl.DidContainerJoin)
}

// may refuses an operation: to who may not do it, after the Agreement's end, and
// where the physics rule it out.
func (s *State) may(who ubl.Identity, op ubl.Operation) error {
	var err error
	switch op {
	case ubl.OpRead: // goes on after the end
		return s.look(who)
	case ubl.OpWrite, ubl.OpCreate, ubl.OpDelete, ubl.OpExecute:
		err = s.look(who)
	case ubl.OpDeposit: // a gift needs no look inside
		if who.TenantID != s.Agreement.TenantID {
			err = errUnknown()
		}
	case ubl.OpWithdraw, ubl.OpTransfer, ubl.OpCopy, ubl.OpMove, ubl.OpPass:
		err = s.carriesOut(who)
	default:
		err = ubl.Errorf(ubl.CodeValidation, "there is no such operation")
	}
	if err != nil {
		return err
	}
	return s.Agreement.May(op)
}

// inForce names the record that authorises what is decided now: the container's own
// or, after its end, the TenantLicense, under which documents are read and arrivals
// refused. An act needs a record that may still be in force.
func (s *State) inForce() ubl.AgreementID {
	if s.Agreement.InForce() != nil {
		return ubl.TenantAgreement(s.Agreement.TenantID)
	}
	return s.Agreement.ID
}

// carriesOut refuses who may not take things out of the container: anyone but
// owners, where it is gated.
func (s *State) carriesOut(who ubl.Identity) error {
	if err := s.look(who); err != nil {
		return err
	}
	if s.Summary.Physics.Permeability == ubl.Gated && s.Agreement.Members[who.UserID].Role != ubl.RoleOwner {
		return ubl.Errorf(ubl.CodeForbidden, "only an owner carries anything out of this container")
	}
	return nil
}

// own refuses everyone but owners, and owners too once the Agreement has ended.
func (s *State) own(who ubl.Identity) error {
	if err := s.look(who); err != nil {
		return err
	}
	return s.Agreement.OwnedBy(who, ubl.CodeForbidden)
}

// mayHold refuses who may not put documents into the container, and everyone where
// none can be inside.
func (s *State) mayHold(who ubl.Identity, op ubl.Operation) error {
	if err := s.may(who, op); err != nil {
		return err
	}
	if !s.keeps() {
		return ubl.Errorf(ubl.CodeForbidden, "the container keeps no documents: it is %s", s.Summary.Physics)
	}
	return nil
}

// governs refuses an Agreement that is not the container's own.
func (s *State) governs(id ubl.AgreementID) error {
	if id != "" && id != s.Agreement.ID {
		return ubl.Errorf(ubl.CodeNotFound, "there is no such Agreement")
	}
	return nil
}
