package container

import (
	"math"
	"slices"

	"ubl"
	"ubl/actors/agreement"
)

// errUnknown is the answer to who may not look into a container: that of one that
// never was, since names of private ones must not be guessed.
func errUnknown() *ubl.Error { return ubl.Errorf(ubl.CodeNotFound, ubl.NoContainer) }

// look refuses who may not look into the container.
func (s *State) look(who ubl.Identity) error {
	if s.looks(who) || s.joinable(who) {
		return nil
	}
	return errUnknown()
}

// looks reports whether the terms let somebody look into the container, as they do after its
// Agreement's end.
func (s *State) looks(who ubl.Identity) bool {
	return s.Agreement.Shows("container.get", s.Agreement.Standing(who), ubl.CodeNotFound) == nil
}

// joinable reports whether somebody joins by touching the container: everyone of the
// tenant the general workspace, unless they left it or were removed.
func (s *State) joinable(who ubl.Identity) bool {
	return s.general() && !s.Past[who.UserID] && !who.IsPlatform() && s.Agreement.May(ubl.OpWrite) == nil &&
		s.Agreement.Permits(ubl.DidContainerJoin, who, ubl.CodeNotFound) == nil
}

// under names the record that authorises what somebody does: the container's own where it
// lets them in. Who brings credits to what they can't look into does so under the
// TenantLicense, where their standing is.
func (s *State) under(who ubl.Identity) ubl.AgreementID {
	if !s.looks(who) {
		return ubl.TenantAgreement(s.Agreement.TenantID)
	}
	return s.inForce()
}

// may refuses an act that does an operation: to whom the terms don't permit it, after the
// Agreement's end, and where the physics rule it out.
func (s *State) may(who ubl.Identity, did ubl.Did, op ubl.Operation) error {
	if err := s.there(who, op == ubl.OpDeposit); err != nil {
		return err
	}
	if err := s.Agreement.Permits(did, who, ubl.CodeForbidden); err != nil {
		return err
	}
	return s.Agreement.May(op)
}

// authorize answers for what is done outside, or by reading alone.
func (s *State) authorize(c ubl.Authorize) error {
	switch c.Op {
	case ubl.OpRead: // goes on after the end
		return s.look(c.Who)
	case ubl.OpExecute:
		for _, tool := range c.Tools {
			if len(s.Tools) > 0 && !slices.Contains(s.Tools, tool) {
				return ubl.Errorf(ubl.CodeForbidden, "containers of this kind don't let a model use one of the tools")
			}
		}
		return s.may(c.Who, ubl.DidComplete, c.Op)
	case ubl.OpCreate:
		return s.may(c.Who, ubl.DidDocumentCreate, c.Op)
	case ubl.OpWrite:
		return s.may(c.Who, ubl.DidDocumentUpdate, c.Op)
	case ubl.OpDelete:
		return s.may(c.Who, ubl.DidDocumentDelete, c.Op)
	case ubl.OpDeposit:
		return s.may(c.Who, ubl.DidReceive, c.Op)
	case ubl.OpWithdraw, ubl.OpTransfer, ubl.OpCopy, ubl.OpMove, ubl.OpPass:
		return s.may(c.Who, ubl.DidTransfer, c.Op)
	}
	return ubl.Errorf(ubl.CodeValidation, "there is no such operation")
}

// reads refuses a look inside that the terms don't permit.
func (s *State) reads(who ubl.Identity, did ubl.Did) error {
	if err := s.look(who); err != nil {
		return err
	}
	if s.joinable(who) {
		return nil
	}
	return s.Agreement.Shows(did, s.Agreement.Standing(who), ubl.CodeForbidden)
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

// permits refuses an act on the container itself that its terms don't permit to somebody.
func (s *State) permits(did ubl.Did, who ubl.Identity) error {
	if err := s.look(who); err != nil {
		return err
	}
	return s.Agreement.Permits(did, who, ubl.CodeForbidden)
}

// mayHold refuses who may not put documents into the container, and everyone where none can
// be inside.
func (s *State) mayHold(who ubl.Identity, did ubl.Did, op ubl.Operation) error {
	if err := s.may(who, did, op); err != nil {
		return err
	}
	if !s.keeps() {
		return ubl.Errorf(ubl.CodeForbidden, "the container keeps no documents: it is %s", s.Summary.Physics)
	}
	return nil
}

// fits refuses a text that is larger than the terms let, or not of the kind's content types.
func (s *State) fits(did ubl.Did, content string) error {
	if err := s.Agreement.Terms.Fits(did, len(content)); err != nil {
		return err
	}
	return agreement.Suits(s.Content, content)
}

// fitsFile refuses a file that is larger than the terms let, or not of the kind's content types.
func (s *State) fitsFile(kind string, bytes int64) error {
	if err := s.Agreement.Terms.Fits(ubl.DidFilePut, int(min(bytes, math.MaxInt))); err != nil {
		return err
	}
	return agreement.SuitsFile(s.Content, kind)
}

// governs refuses an Agreement that is not the container's own.
func (s *State) governs(id ubl.AgreementID) error {
	if id != "" && id != s.Agreement.ID {
		return ubl.Errorf(ubl.CodeNotFound, "there is no such Agreement")
	}
	return nil
}
