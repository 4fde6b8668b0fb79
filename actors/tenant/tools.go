package tenant

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"unicode"
	"unicode/utf8"

	"ubl"
	"ubl/actors"
)

// access is what a ToolAccess record says, as it is stored. Its canonical JSON
// is what an act's terms_hash is of.
type access struct {
	Tool      string       `json:"tool"`
	Allowed   bool         `json:"allowed"`
	Users     []ubl.UserID `json:"users"`
	Groups    []string     `json:"groups"`
	PerMinute int          `json:"per_minute"`
	Confirm   ubl.Confirm  `json:"confirm,omitempty"`
}

// tool is a ToolAccess record in memory.
type tool struct {
	access
	Agreement ubl.Agreement
	// N is the event that wrote it last, where the receipt is.
	N int64
}

// version is the record's, "" where there is none.
func (t tool) version() string {
	if t.Agreement.ID == "" {
		return ""
	}
	return ubl.RecordVersion(t.Agreement.Hash(), nil)
}

// setAccess writes or ends a record. An ended one lets nobody use the tool.
func (s *State) setAccess(e event) {
	r := s.Tools[e.Access.Tool]
	r.access, r.N = *e.Access, e.N
	switch {
	case e.Did == ubl.DidAgreementEnd:
		r.Agreement.Status, r.Agreement.EndedAt = ubl.AgreementEnded, &e.At
	case r.Agreement.ID == "":
		r.Agreement = ubl.Agreement{
			ID: ubl.ToolAgreement(r.Tool), Type: ubl.ToolAccessType, TenantID: s.Tenant.TenantID,
			CreatedAt: e.At, CreatedBy: e.By, Status: ubl.AgreementInForce,
		}
	}
	r.Agreement.Terms = r.terms()
	s.Tools[r.Tool] = r
}

// terms are those of the record.
func (a access) terms() *ubl.Terms {
	return (&ubl.ToolAccess{Tool: a.Tool, Allowed: a.Allowed, Users: a.Users, Groups: a.Groups, PerMinute: a.PerMinute}).Terms()
}

// toolAccess is the record as a stored event left it.
func (e event) toolAccess() *ubl.ToolAccess {
	return &ubl.ToolAccess{
		AgreementID: ubl.ToolAgreement(e.Access.Tool), Tool: e.Access.Tool, Allowed: e.Access.Allowed,
		Users: e.Access.Users, Groups: e.Access.Groups, PerMinute: e.Access.PerMinute, Confirm: e.Access.Confirm,
		UpdatedAt: e.At, UpdatedBy: e.By, Receipt: e.Receipt,
	}
}

// termsOf are what a record is to say.
func termsOf(c ubl.SetToolAccess) access {
	return access{Tool: c.Tool, Allowed: c.Allowed, Users: distinct(c.Users), Groups: distinct(c.Groups), PerMinute: c.PerMinute, Confirm: c.Confirm.Kept()}
}

// distinct is the list in order, each once, and never nil.
func distinct[S ~string](list []S) []S {
	out := append([]S{}, list...)
	slices.Sort(out)
	return slices.Compact(out)
}

// text is the JSON form.
func (a access) text() string {
	b, err := json.Marshal(a)
	if err != nil { // it holds only strings and numbers
		panic(fmt.Sprintf("tenant: couldn't encode a tool's access: %v", err))
	}
	return string(b)
}

// decideAccess writes a record.
func (with makers) decideAccess(s *State, c ubl.SetToolAccess, _ actors.Moment) (*plan, error) {
	terms := termsOf(c)
	if err := s.permits(ubl.DidToolAccess, c.Who); err != nil {
		return nil, err
	}
	if err := terms.check(); err != nil {
		return nil, err
	}
	r, known := s.Tools[terms.Tool]
	if known {
		if err := r.Agreement.InForce(); err != nil {
			return nil, err
		}
	} else if err := with.quota.Within(ubl.QuotaTools, len(s.Tools)); err != nil {
		return nil, err
	}
	if err := s.mayName(r.access, terms); err != nil {
		return nil, err
	}
	p, err := accessPlan(terms)
	if err == nil {
		p.Frees = !terms.Allowed && (r.Allowed || !known)
	}
	return p, err
}

// mayName refuses terms that add strangers to those that were there, or that let all
// records name too many: each stays in memory and in the event. A record is always
// shortened or closed, also where members that it names have left.
func (s *State) mayName(was, now access) error {
	for _, u := range now.Users {
		if _, member := s.License.Members[u]; !member && !slices.Contains(was.Users, u) {
			return ubl.Errorf(ubl.CodeValidation, "one of the users is no member of the tenant")
		}
	}
	grows := now.names() - was.names()
	if grows <= 0 {
		return nil
	}
	for _, r := range s.Tools {
		grows += r.names()
	}
	if grows > ubl.MaxToolNames {
		return ubl.Errorf(ubl.CodeConflict, "the tenant's records would name more than %d users and groups together: name groups in place of users, or shorten another record", ubl.MaxToolNames)
	}
	return nil
}

// names is how many users and groups a record names.
func (a access) names() int { return len(a.Users) + len(a.Groups) }

// check refuses terms that can't be: of the tool that decides access, too, since
// whoever closed it could never open it again.
func (a access) check() error {
	switch {
	case !ubl.ValidToolName(a.Tool):
		return ubl.Errorf(ubl.CodeValidation, "the tool's name is not 1 to %d of A-Z, a-z, 0-9, _, - and .", ubl.MaxToolName)
	case a.Tool == string(ubl.DidToolAccess):
		return ubl.Errorf(ubl.CodeConflict, "the tool that decides access stays as it is")
	case len(a.Users) > ubl.MaxToolUsers:
		return ubl.Errorf(ubl.CodeValidation, "there are more than %d users", ubl.MaxToolUsers)
	case len(a.Groups) > ubl.MaxToolGroups:
		return ubl.Errorf(ubl.CodeValidation, "there are more than %d groups", ubl.MaxToolGroups)
	case slices.ContainsFunc(a.Users, func(u ubl.UserID) bool { return !u.Valid() }):
		return ubl.Errorf(ubl.CodeValidation, "one of the users is no user id")
	case slices.ContainsFunc(a.Groups, badGroup):
		return ubl.Errorf(ubl.CodeValidation, "one of the groups is empty, longer than 128 characters, or not plain text")
	case !a.Confirm.Valid():
		return ubl.Errorf(ubl.CodeValidation, "confirm is none of never, destructive and always")
	case a.PerMinute < 0 || a.PerMinute > ubl.MaxPerMinute:
		return ubl.Errorf(ubl.CodeValidation, "per_minute is not between 0 and %d", ubl.MaxPerMinute)
	}
	return nil
}

func badGroup(g string) bool {
	return g == "" || !utf8.ValidString(g) || utf8.RuneCountInString(g) > 128 || slices.ContainsFunc([]rune(g), unicode.IsControl)
}

func accessPlan(terms access) (*plan, error) {
	canonical, err := ubl.Canonical([]byte(terms.text()))
	if err != nil {
		return nil, err
	}
	id, name := ubl.Str("agreement_id", ubl.ToolAgreement(terms.Tool)), ubl.Str("tool", terms.Tool)
	p := &plan{Event: event{Access: &terms}}
	var confirm ubl.Fields
	if terms.Confirm != "" {
		confirm = ubl.Fields{ubl.Str("confirm", terms.Confirm)}
	}
	p.Act = act(append(confirm, ubl.Fields{
		id, ubl.Bool("allowed", terms.Allowed), ubl.Int("groups", int64(len(terms.Groups))),
		ubl.Int("per_minute", int64(terms.PerMinute)), ubl.Str("terms_hash", ubl.BodyHash(canonical)),
		name, ubl.Int("users", int64(len(terms.Users))),
	}...), ubl.Fields{id, ubl.Str("op", ubl.DidToolAccess), name})
	p.Pointers = ubl.Fields{id}
	return p, nil
}

// listToolAccess answers the records by tool, with their receipts from the
// events that wrote them.
func (x *Tenant) listToolAccess(t *actors.Turn, c ubl.ListToolAccess) {
	if _, err := x.State.member(c.Who); err != nil && !c.Who.IsPlatform() {
		t.Fail(err)
		return
	}
	names := slices.Sorted(maps.Keys(x.State.Tools))
	if len(c.Only) > 0 {
		names = slices.DeleteFunc(distinct(c.Only), func(name string) bool { _, known := x.State.Tools[name]; return !known })
	}
	if c.Brief {
		t.Later(func() (any, error) { return brief(names), nil })
		return
	}
	var events []int64
	for _, name := range names {
		events = append(events, x.State.Tools[name].N)
	}
	t.Read(nil, func(ctx context.Context) (any, error) { return x.readAccess(ctx, events) })
}

// brief are records with their names alone.
func brief(names []string) []*ubl.ToolAccess {
	list := make([]*ubl.ToolAccess, len(names))
	for i, name := range names {
		list[i] = &ubl.ToolAccess{Tool: name, AgreementID: ubl.ToolAgreement(name)}
	}
	return list
}

func (x *Tenant) readAccess(ctx context.Context, events []int64) ([]*ubl.ToolAccess, error) {
	list := []*ubl.ToolAccess{}
	err := x.Read.View(ctx, x.Name.Group(), func(snap ubl.Snapshot) error {
		for _, n := range events {
			err := actors.EachEvent(snap, eventKey(n), eventKey(n+1), eventVersion, func(e event) {
				list = append(list, e.toolAccess())
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	return list, err
}
