// Package receipt builds what one send leaves behind: a message and two
// hash-chained atoms, in the very form UBL's ledger keeps them. The bare
// program and the bare loop use it, so that they hash and store the same bytes
// as UBL without sharing a line of code with it.
//
// The format: an atom's cid is "c:" + hex(sha256(canonical atom without cid)),
// the head after it is "h:" + hex(sha256(previous head + ":" + cid)), and
// canonical means RFC 8785 (JCS).
package receipt

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/gowebpki/jcs"
)

// Genesis is the head of a ledger with no atoms.
const Genesis = "h:genesis"

// Action is the atom that says who did what.
type Action struct {
	AgreementID string `json:"agreement_id"`
	CID         string `json:"cid,omitempty"`
	DID         string `json:"did"`
	Kind        string `json:"kind"`
	PrevHash    string `json:"prev_hash"`
	Status      string `json:"status"`
	TenantID    string `json:"tenant_id"`
	This        This   `json:"this"`
	Trace       Trace  `json:"trace"`
	When        string `json:"when"`
	Who         Who    `json:"who"`
}

// This points from an action to the message it made.
type This struct {
	BodyHash string `json:"body_hash"`
	MsgID    string `json:"msg_id"`
	RoomID   string `json:"room_id"`
	RoomSeq  uint64 `json:"room_seq"`
}

// Trace ties an action to the request that caused it.
type Trace struct {
	RequestID string `json:"request_id"`
}

// Who is the author of an action.
type Who struct {
	Email     string `json:"email"`
	IsService bool   `json:"is_service"`
	UserID    string `json:"user_id"`
}

// Effect is the atom that says what came of an action.
type Effect struct {
	CID          string            `json:"cid,omitempty"`
	Effects      []Op              `json:"effects"`
	Kind         string            `json:"kind"`
	Outcome      string            `json:"outcome"`
	Pointers     map[string]string `json:"pointers"`
	PrevHash     string            `json:"prev_hash"`
	RefActionCID string            `json:"ref_action_cid"`
	TenantID     string            `json:"tenant_id"`
	When         string            `json:"when"`
}

// Op is one change inside an effect.
type Op struct {
	Op      string `json:"op"`
	RoomID  string `json:"room_id"`
	RoomSeq uint64 `json:"room_seq"`
}

// Message is what a reader of the room gets.
type Message struct {
	Attachments []string        `json:"attachments"`
	Body        json.RawMessage `json:"body"`
	MsgID       string          `json:"msg_id"`
	Receipt     Receipt         `json:"receipt"`
	ReplyTo     *string         `json:"reply_to"`
	RoomID      string          `json:"room_id"`
	RoomSeq     uint64          `json:"room_seq"`
	SenderID    string          `json:"sender_id"`
	SentAt      string          `json:"sent_at"`
	TenantID    string          `json:"tenant_id"`
	Type        string          `json:"type"`
}

// Receipt is the action's place in the ledger, carried by its message.
type Receipt struct {
	CID         string `json:"cid"`
	HeadHash    string `json:"head_hash"`
	LedgerShard string `json:"ledger_shard"`
	Seq         uint64 `json:"seq"`
	Time        string `json:"time"`
}

// BodyHash is "b:" and the hex SHA-256 of the canonical body.
func BodyHash(body []byte) (string, error) {
	canonical, err := jcs.Transform(body)
	if err != nil {
		return "", fmt.Errorf("couldn't make the body canonical: %w", err)
	}
	return "b:" + digest(canonical), nil
}

// atomID is the cid of an atom that has none yet.
func atomID(atom any) (string, error) {
	plain, err := json.Marshal(atom)
	if err != nil {
		return "", fmt.Errorf("couldn't encode an atom: %w", err)
	}
	canonical, err := jcs.Transform(plain)
	if err != nil {
		return "", fmt.Errorf("couldn't make an atom canonical: %w", err)
	}
	return "c:" + digest(canonical), nil
}

// nextHead is the ledger's head after the atom cid.
func nextHead(head, cid string) string {
	return "h:" + digest([]byte(head+":"+cid))
}

func digest(p []byte) string {
	sum := sha256.Sum256(p)
	return hex.EncodeToString(sum[:])
}
