package ubl

import "slices"

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

	DidRoomCreate       Did = "room.create"
	DidRoomJoin         Did = "room.join"
	DidRoomInvite       Did = "room.invite"
	DidRoomMemberUpdate Did = "room.member.update"
	DidRoomRemove       Did = "room.remove"
	DidRoomLeave        Did = "room.leave"
	DidRoomUpdate       Did = "room.update"
	DidRoomTrim         Did = "room.trim"
	DidSend             Did = "messenger.send"

	DidAgreementEnd  Did = "agreement.end"
	DidAgreementHeir Did = "agreement.heir"
	DidHeirSet       Did = "agreement.heir.set"

	DidPasskeyRegister Did = "passkey.register"
	DidPasskeyUse      Did = "passkey.use"
	DidPasskeyRemove   Did = "passkey.remove"

	DidWorkspaceCreate  Did = "office.workspace.create"
	DidWorkspaceList    Did = "office.workspace.list"
	DidDocumentCreate   Did = "office.document.create"
	DidDocumentGet      Did = "office.document.get"
	DidDocumentUpdate   Did = "office.document.update"
	DidDocumentDelete   Did = "office.document.delete"
	DidDocumentList     Did = "office.document.list"
	DidDocumentVersions Did = "office.document.versions"
	DidDocumentSearch   Did = "office.document.search"
	DidComplete         Did = "office.llm.complete"
	DidToolCall         Did = "office.tool.call"

	DidContainerCreate       Did = "container.create"
	DidContainerJoin         Did = "container.join"
	DidContainerInvite       Did = "container.invite"
	DidContainerMemberUpdate Did = "container.member.update"
	DidContainerRemove       Did = "container.remove"
	DidContainerLeave        Did = "container.leave"
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
	DidTokenCreate, DidTokenRenew, DidTokenRevoke,
	DidRoomCreate, DidRoomJoin, DidRoomInvite, DidRoomMemberUpdate, DidRoomRemove, DidRoomLeave,
	DidRoomUpdate, DidRoomTrim, DidSend,
	DidAgreementEnd, DidAgreementHeir, DidHeirSet,
	DidPasskeyRegister, DidPasskeyUse, DidPasskeyRemove,
	DidWorkspaceCreate, DidWorkspaceList, DidDocumentCreate, DidDocumentGet, DidDocumentUpdate, DidDocumentDelete,
	DidDocumentList, DidDocumentVersions, DidDocumentSearch, DidComplete, DidToolCall,
	DidContainerCreate, DidContainerJoin, DidContainerInvite, DidContainerMemberUpdate, DidContainerRemove, DidContainerLeave,
	DidTransfer, DidReceive, DidCreditsIssue,
	DidToolAccess, DidServerAdd, DidServerUpdate, DidServerRemove, DidServerSync, DidServerConnect,
	DidToolApprove, DidToolDeny, DidPortalCall, DidBudgetUpdate, DidRedrive,
	DidPlatformStart, DidPlatformStop, DidPlatformKeyCreate, DidPlatformKeyRotate, DidPlatformTokenCreate,
	DidPlatformTokenRevoke, DidPlatformTokenRenew, DidPlatformTokenRevokeAll, DidPlatformLinkCreate, DidPlatformBackup, DidPlatformRestore,
	DidPlatformJournalLoss,
	DidPlatformHomeSet,
	DidPlatformNodeJoin, DidPlatformNodeRemove, DidPlatformSecretRotate,
}

// Dids lists every act of the table.
func Dids() []Did { return slices.Clone(dids) }
