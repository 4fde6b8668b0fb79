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
	DidTokenCreate        Did = "token.create"
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

	DidAgreementEnd Did = "agreement.end"

	DidPlatformStart       Did = "platform.start"
	DidPlatformStop        Did = "platform.stop"
	DidPlatformKeyCreate   Did = "platform.key.create"
	DidPlatformTokenCreate Did = "platform.token.create"
	DidPlatformTokenRevoke Did = "platform.token.revoke"
	DidPlatformBackup      Did = "platform.backup"
	DidPlatformRestore     Did = "platform.restore"
	DidPlatformNodeJoin    Did = "platform.node.join"
	DidPlatformNodeRemove  Did = "platform.node.remove"
)

var dids = []Did{
	DidTenantCreate, DidTenantJoin, DidTenantUpdate, DidTenantMemberUpdate, DidTenantMemberRemove,
	DidTokenCreate, DidTokenRevoke,
	DidRoomCreate, DidRoomJoin, DidRoomInvite, DidRoomMemberUpdate, DidRoomRemove, DidRoomLeave,
	DidRoomUpdate, DidRoomTrim, DidSend,
	DidAgreementEnd,
	DidPlatformStart, DidPlatformStop, DidPlatformKeyCreate, DidPlatformTokenCreate,
	DidPlatformTokenRevoke, DidPlatformBackup, DidPlatformRestore,
	DidPlatformNodeJoin, DidPlatformNodeRemove,
}

// Dids lists every act of the table.
func Dids() []Did { return slices.Clone(dids) }
