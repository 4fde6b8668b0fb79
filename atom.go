package ubl

import (
	"bytes"
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// An act leaves two atoms in its tenant's ledger: the action (who did what,
// under which Agreement) and the effect (what came of it). Each takes a seq
// and moves the head. Their JSON Schemas are ubl.ledger.action.v2 and
// ubl.ledger.effect.v2; they are stored, served and exported as the canonical
// bytes that were hashed. Atoms of version 1, which earlier programs wrote, stay as they
// are and stay valid. Version 2 names the shard, the hash of the Agreement, and the session;
// and its hashes of private content are commitments ([Salt.Commit]).

// The kinds of atoms.
const (
	ActionV1 = "action.v1"
	EffectV1 = "effect.v1"
	ActionV2 = "action.v2"
	EffectV2 = "effect.v2"
)

// IsAction reports whether an atom of the kind is an action, of whatever version.
func IsAction(kind string) bool { return kind == ActionV1 || kind == ActionV2 }

// IsEffect reports whether an atom of the kind is an effect, of whatever version.
func IsEffect(kind string) bool { return kind == EffectV1 || kind == EffectV2 }

// Status says how far an action went.
type Status string

// Statuses of an action.
const (
	// StatusExecuted: the effect was committed together with the action.
	StatusExecuted Status = "executed"
	// StatusIntended: the effect lies outside and follows as an atom of its own.
	StatusIntended Status = "intended"
	// StatusDenied: the act was refused, and the refusal is on record.
	StatusDenied Status = "denied"
)

// Outcome says how an effect ended.
type Outcome string

// Outcomes of an effect.
const (
	OutcomeOK    Outcome = "ok"
	OutcomeError Outcome = "error"
)

// Who is the author of an action. Email is written as null where it is empty,
// which only a service may have. Unproven is written where it is true: nobody has
// verified that the address is theirs.
type Who struct {
	UserID    UserID
	Email     string
	IsService bool
	Unproven  bool
}

// Action is an action.v2 atom before it is sealed. The ledger alone fills
// PrevHash.
type Action struct {
	TenantID    TenantID
	AgreementID AgreementID
	// AgreementHash is the hash of the Agreement's record as the decision read it, "" where
	// the act makes the record, or another actor keeps it and hasn't said.
	AgreementHash string
	Did           Did
	PrevHash      string
	RequestID     string
	Parent        string // "" for none
	Session       string // that the caller named, "" for none
	Shard         string
	Status        Status
	This          Fields
	When          Time
	Who           Who
}

// Effect is an effect.v2 atom before it is sealed. The ledger alone fills
// PrevHash and RefActionCID.
type Effect struct {
	TenantID     TenantID
	Effects      []Fields
	Error        *AtomError
	Outcome      Outcome
	Pointers     Fields
	PrevHash     string
	RefActionCID string
	Shard        string
	When         Time
}

// AtomError is why an effect's outcome is "error".
type AtomError struct {
	Code    Code
	Message string // at most 500 bytes, free of submitted values
}

// Field is one member of an atom's open parts: this, effects and pointers.
type Field struct {
	Name  string
	value []byte // canonical JSON
}

// Bool is a boolean member.
func Bool(name string, value bool) Field {
	return Field{Name: name, value: strconv.AppendBool(nil, value)}
}

// Fields is an object; sealing writes its members in canonical order.
type Fields []Field

// Str is a string member. The value must be valid UTF-8.
func Str[S ~string](name string, value S) Field {
	return Field{Name: name, value: appendString(make([]byte, 0, len(value)+2), string(value))}
}

// Int is an integer member.
func Int(name string, value int64) Field {
	return Field{Name: name, value: strconv.AppendInt(nil, value, 10)}
}

// Op is the member that says what an effect is, "" where there is none.
func (f Fields) Op() string { return f.Text("op") }

// Text is a member that is an id or another name without escapes, "" where there is none.
func (f Fields) Text(name string) string {
	for _, m := range f {
		if m.Name == name {
			text, _ := strconv.Unquote(string(m.value))
			return text
		}
	}
	return ""
}

// JSON is the object as an atom has it.
func (f Fields) JSON() json.RawMessage { return f.append(nil) }

// size is how long the object is, or a little less.
func (f Fields) size() (n int) {
	for _, m := range f {
		n += len(`"":,`) + len(m.Name) + len(m.value)
	}
	return n + len("{}")
}

func (f Fields) append(dst []byte) []byte {
	if !slices.IsSortedFunc(f, byName) {
		f = slices.SortedFunc(slices.Values(f), byName)
	}
	dst = append(dst, '{')
	for i, m := range f {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendString(dst, m.Name)
		dst = append(dst, ':')
		dst = append(dst, m.value...)
	}
	return append(dst, '}')
}

// byName orders ASCII names, for which bytes and UTF-16 units agree.
func byName(a, b Field) int { return strings.Compare(a.Name, b.Name) }

// cidMember is the length of `"cid":"c:<64 hex>"` with one comma.
const cidMember = len(`"cid":"",`) + 2 + 64

// Seal writes the atom as canonical JSON with its cid, and returns both. The
// bytes are written once: the cid is computed over them without the member and
// then spliced in where canonical order wants it.
func (a *Action) Seal() (atom []byte, cid string) {
	b := make([]byte, 0, 600+a.This.size()+cidMember)
	b = append(b, '{')
	if a.AgreementHash != "" {
		b = append(b, `"agreement_hash":"`...)
		b = append(b, a.AgreementHash...)
		b = append(b, `",`...)
	}
	b = append(b, `"agreement_id":`...)
	b = appendString(b, string(a.AgreementID))
	at := len(b)
	b = append(b, `,"did":`...)
	b = appendString(b, string(a.Did))
	b = append(b, `,"kind":"`+ActionV2+`","prev_hash":"`...)
	b = append(b, a.PrevHash...)
	if a.Session != "" {
		b = append(b, `","session":"`...)
		b = append(b, a.Session...)
	}
	b = append(b, `","shard":"`...)
	b = append(b, a.Shard...)
	b = append(b, `","status":"`...)
	b = append(b, a.Status...)
	b = append(b, `","tenant_id":"`...)
	b = append(b, a.TenantID...)
	b = append(b, `","this":`...)
	b = a.This.append(b)
	b = append(b, `,"trace":{`...)
	if a.Parent != "" {
		b = append(b, `"parent":`...)
		b = appendString(b, a.Parent)
		b = append(b, ',')
	}
	b = append(b, `"request_id":`...)
	b = appendString(b, a.RequestID)
	b = append(b, `},"when":"`...)
	b = a.When.append(b)
	b = append(b, `","who":{"email":`...)
	if a.Who.Email == "" {
		b = append(b, "null"...)
	} else {
		b = appendString(b, a.Who.Email)
	}
	b = append(b, `,"is_service":`...)
	b = strconv.AppendBool(b, a.Who.IsService)
	if a.Who.Unproven {
		b = append(b, `,"unproven":true`...)
	}
	b = append(b, `,"user_id":"`...)
	b = append(b, a.Who.UserID...)
	b = append(b, `"}}`...)
	cid = CID(b)
	return slices.Insert(b, at, []byte(`,"cid":"`+cid+`"`)...), cid
}

// Seal writes the atom as canonical JSON with its cid, and returns both.
func (e *Effect) Seal() (atom []byte, cid string) {
	size := 384 + e.Pointers.size() + cidMember
	for _, f := range e.Effects {
		size += f.size() + len(",")
	}
	b := append(make([]byte, 0, size), `{"effects":[`...)
	for i, f := range e.Effects {
		if i > 0 {
			b = append(b, ',')
		}
		b = f.append(b)
	}
	b = append(b, ']')
	if e.Error != nil {
		b = append(b, `,"error":{"code":`...)
		b = appendString(b, string(e.Error.Code))
		b = append(b, `,"message":`...)
		b = appendString(b, e.Error.Message)
		b = append(b, '}')
	}
	b = append(b, `,"kind":"`+EffectV2+`","outcome":"`...)
	b = append(b, e.Outcome...)
	b = append(b, `","pointers":`...)
	b = e.Pointers.append(b)
	b = append(b, `,"prev_hash":"`...)
	b = append(b, e.PrevHash...)
	b = append(b, `","ref_action_cid":"`...)
	b = append(b, e.RefActionCID...)
	b = append(b, `","shard":"`...)
	b = append(b, e.Shard...)
	b = append(b, `","tenant_id":"`...)
	b = append(b, e.TenantID...)
	b = append(b, `","when":"`...)
	b = e.When.append(b)
	b = append(b, `"}`...)
	cid = CID(b)
	return slices.Insert(b, 1, []byte(`"cid":"`+cid+`",`)...), cid
}

// Fields travel inside commands: their values are unexported, so they bring
// their own form.
var (
	_ encoding.BinaryMarshaler   = Fields(nil)
	_ encoding.BinaryUnmarshaler = (*Fields)(nil)
)

// MarshalBinary writes the object as it stands in an atom: canonical JSON. It
// fails where it would be none, as with two members of one name.
func (f Fields) MarshalBinary() ([]byte, error) {
	data := f.append(nil)
	if err := checkCanonical(data); err != nil {
		return nil, fmt.Errorf("couldn't encode fields: %w", err)
	}
	return data, nil
}

// UnmarshalBinary reads what MarshalBinary wrote, and nothing else: the values
// go into atoms as they are. The members come in canonical order.
func (f *Fields) UnmarshalBinary(data []byte) error {
	if err := checkCanonical(data); err != nil {
		return fmt.Errorf("couldn't decode fields: %w", err)
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(data, &members); err != nil || members == nil {
		return errors.New("couldn't decode fields: not an object")
	}
	out := make(Fields, 0, len(members))
	for _, name := range slices.Sorted(maps.Keys(members)) {
		out = append(out, Field{Name: name, value: members[name]})
	}
	*f = out
	return nil
}

func checkCanonical(data []byte) error {
	canonical, err := Canonical(data)
	if err != nil {
		return err
	}
	if !bytes.Equal(canonical, data) {
		return errors.New("not canonical JSON")
	}
	return nil
}

// Did names an act. A tool of the same name does the same act.
type Did string

// The one table of acts. Each is written into action atoms as did, and is the
// operation within whose scope an idempotency key counts.
const (
	DidTenantCreate       Did = "tenant.create"
	DidTenantJoin         Did = "tenant.join"
	DidTenantUpdate       Did = "tenant.update"
	DidTenantMemberUpdate Did = "tenant.member.update"
	DidTenantMemberRemove Did = "tenant.member.remove"
	DidInvitationCreate   Did = "tenant.invitation.create"
	DidInvitationRevoke   Did = "tenant.invitation.revoke"
	DidInvitationAccept   Did = "tenant.invitation.accept"
	DidTenantMemberProve  Did = "tenant.member.prove"
	DidDomainClaim        Did = "tenant.domain.claim"
	DidDomainVerify       Did = "tenant.domain.verify"
	DidDomainRelease      Did = "tenant.domain.release"
	DidTokenCreate        Did = "token.create"
	DidTokenRenew         Did = "token.renew"
	DidTokenRevoke        Did = "token.revoke"
	DidMandateSet         Did = "token.mandate"
	DidAgentConnect       Did = "tenant.agent.connect"
	DidAgentRedeem        Did = "tenant.agent.redeem"
	DidAgentRefresh       Did = "tenant.agent.refresh"

	DidRoomCreate       Did = "room.create"
	DidRoomJoin         Did = "room.join"
	DidRoomInvite       Did = "room.invite"
	DidRoomMemberUpdate Did = "room.member.update"
	DidRoomRemove       Did = "room.remove"
	DidRoomLeave        Did = "room.leave"
	DidRoomUpdate       Did = "room.update"
	DidRoomTrim         Did = "room.trim"
	DidRoomDescribe     Did = "room.describe"
	DidSend             Did = "messenger.send"
	DidEdit             Did = "messenger.edit"
	DidReact            Did = "messenger.react"
	DidRedact           Did = "messenger.redact"
	DidDirectOpen       Did = "messenger.open_direct"
	DidPin              Did = "messenger.pin"
	DidPollCreate       Did = "messenger.poll.create"
	DidPollVote         Did = "messenger.poll.vote"
	DidPollEnd          Did = "messenger.poll.end"
	DidFormCreate       Did = "messenger.form.create"
	DidFormAnswer       Did = "messenger.form.answer"
	DidCallBegin        Did = "messenger.call.begin"
	DidCallEnd          Did = "messenger.call.end"

	DidAgreementPropose  Did = "agreement.propose"
	DidAgreementAccept   Did = "agreement.accept"
	DidAgreementWithdraw Did = "agreement.withdraw"
	DidAgreementEnd      Did = "agreement.end"
	DidAgreementHeir     Did = "agreement.heir"
	DidHeirSet           Did = "agreement.heir.set"

	DidPasskeyRegister Did = "passkey.register"
	DidPasskeyUse      Did = "passkey.use"
	DidPasskeyRemove   Did = "passkey.remove"

	DidWorkspaceCreate  Did = "office.workspace.create"
	DidWorkspaceList    Did = "office.workspace.list"
	DidDocumentCreate   Did = "office.document.create"
	DidDocumentGet      Did = "office.document.get"
	DidDocumentUpdate   Did = "office.document.update"
	DidDocumentDelete   Did = "office.document.delete"
	DidDocumentPublish  Did = "office.document.publish"
	DidDocumentList     Did = "office.document.list"
	DidDocumentVersions Did = "office.document.versions"
	DidDocumentSearch   Did = "office.document.search"
	DidMessageSearch    Did = "messenger.search"
	DidComplete         Did = "office.llm.complete"
	DidToolCall         Did = "office.tool.call"

	DidKindSet    Did = "kind.set"
	DidKindRemove Did = "kind.remove"

	DidFilePut     Did = "office.file.put"
	DidFileGet     Did = "office.file.get"
	DidFileList    Did = "office.file.list"
	DidFileRemove  Did = "office.file.remove"
	DidFileCollect Did = "office.file.collect"
	DidFileRefuse  Did = "office.file.refuse"

	DidContainerCreate       Did = "container.create"
	DidContainerJoin         Did = "container.join"
	DidContainerInvite       Did = "container.invite"
	DidContainerMemberUpdate Did = "container.member.update"
	DidContainerRemove       Did = "container.remove"
	DidContainerLeave        Did = "container.leave"
	DidContainerRedact       Did = "container.redact"
	DidTransfer              Did = "container.transfer"
	DidReceive               Did = "container.receive"
	DidCreditsIssue          Did = "credits.issue"

	DidToolAccess    Did = "tool.access"
	DidServerAdd     Did = "portal.server.add"
	DidServerUpdate  Did = "portal.server.update"
	DidServerRemove  Did = "portal.server.remove"
	DidServerSync    Did = "portal.server.sync"
	DidServerConnect Did = "portal.server.connect"
	DidToolApprove   Did = "portal.tool.approve"
	DidToolDeny      Did = "portal.tool.deny"
	DidPortalCall    Did = "portal.call"
	DidBudgetUpdate  Did = "portal.budget.update"

	DidRedrive Did = "deadletter.redrive"
	DidDiscard Did = "deadletter.discard"

	DidPlatformStart          Did = "platform.start"
	DidPlatformStop           Did = "platform.stop"
	DidPlatformKeyCreate      Did = "platform.key.create"
	DidPlatformKeyRotate      Did = "platform.key.rotate"
	DidPlatformTokenCreate    Did = "platform.token.create"
	DidPlatformTokenRevoke    Did = "platform.token.revoke"
	DidPlatformTokenRenew     Did = "platform.token.renew"
	DidPlatformTokenRevokeAll Did = "platform.token.revoke_all"
	DidPlatformLinkCreate     Did = "platform.link.create"
	DidPlatformHomeSet        Did = "platform.home.set"
	DidPlatformBackup         Did = "platform.backup"
	DidPlatformRestore        Did = "platform.restore"
	DidPlatformJournalLoss    Did = "platform.journal.loss"
	DidPlatformNodeJoin       Did = "platform.node.join"
	DidPlatformNodeRemove     Did = "platform.node.remove"
	DidPlatformSecretRotate   Did = "platform.secret.rotate"
)

var dids = []Did{
	DidTenantCreate, DidTenantJoin, DidTenantUpdate, DidTenantMemberUpdate, DidTenantMemberRemove,
	DidInvitationCreate, DidInvitationRevoke, DidInvitationAccept, DidTenantMemberProve,
	DidDomainClaim, DidDomainVerify, DidDomainRelease,
	DidTokenCreate, DidTokenRenew, DidTokenRevoke, DidMandateSet, DidAgentConnect, DidAgentRedeem, DidAgentRefresh,
	DidRoomCreate, DidRoomJoin, DidRoomInvite, DidRoomMemberUpdate, DidRoomRemove, DidRoomLeave,
	DidRoomUpdate, DidRoomTrim, DidRoomDescribe, DidSend, DidEdit, DidReact, DidRedact, DidPin, DidDirectOpen,
	DidPollCreate, DidPollVote, DidPollEnd, DidFormCreate, DidFormAnswer, DidCallBegin, DidCallEnd,
	DidAgreementPropose, DidAgreementAccept, DidAgreementWithdraw, DidAgreementEnd, DidAgreementHeir, DidHeirSet,
	DidPasskeyRegister, DidPasskeyUse, DidPasskeyRemove,
	DidWorkspaceCreate, DidWorkspaceList, DidDocumentCreate, DidDocumentGet, DidDocumentUpdate, DidDocumentDelete, DidDocumentPublish,
	DidDocumentList, DidDocumentVersions, DidDocumentSearch, DidMessageSearch, DidComplete, DidToolCall,
	DidFilePut, DidFileGet, DidFileList, DidFileRemove, DidFileCollect, DidFileRefuse,
	DidKindSet, DidKindRemove, DidContainerCreate, DidContainerJoin, DidContainerInvite, DidContainerMemberUpdate, DidContainerRemove, DidContainerLeave, DidContainerRedact,
	DidTransfer, DidReceive, DidCreditsIssue,
	DidToolAccess, DidServerAdd, DidServerUpdate, DidServerRemove, DidServerSync, DidServerConnect,
	DidToolApprove, DidToolDeny, DidPortalCall, DidBudgetUpdate, DidRedrive, DidDiscard,
	DidPlatformStart, DidPlatformStop, DidPlatformKeyCreate, DidPlatformKeyRotate, DidPlatformTokenCreate,
	DidPlatformTokenRevoke, DidPlatformTokenRenew, DidPlatformTokenRevokeAll, DidPlatformLinkCreate, DidPlatformBackup, DidPlatformRestore,
	DidPlatformJournalLoss,
	DidPlatformHomeSet,
	DidPlatformNodeJoin, DidPlatformNodeRemove, DidPlatformSecretRotate,
}

// Dids lists every act of the table.
func Dids() []Did { return slices.Clone(dids) }
