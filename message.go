package ubl

import (
	"crypto/sha256"
	"encoding/json"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxMessageBytes is the largest message text, in bytes of UTF-8. A tenant or
// a room may set a smaller limit, never a larger one.
const MaxMessageBytes = 8000

// Message types. Clients send text; system messages come from the acts that
// cause them.
const (
	TypeText   = "text"
	TypeSystem = "system"
)

// Receipt proves an act: its place in the ledger and the head after it. The
// receipt of a message is that of its action atom.
type Receipt struct {
	Shard    string `json:"ledger_shard"`
	Seq      int64  `json:"seq"`
	CID      string `json:"cid"`
	HeadHash string `json:"head_hash"`
	Time     Time   `json:"time"`
}

func (r *Receipt) append(dst []byte) []byte {
	dst = append(dst, `{"cid":"`...)
	dst = append(dst, r.CID...)
	dst = append(dst, `","head_hash":"`...)
	dst = append(dst, r.HeadHash...)
	dst = append(dst, `","ledger_shard":`...)
	dst = appendString(dst, r.Shard)
	dst = append(dst, `,"seq":`...)
	dst = strconv.AppendInt(dst, r.Seq, 10)
	dst = append(dst, `,"time":"`...)
	dst = r.Time.append(dst)
	return append(dst, `"}`...)
}

// Body is what a message says.
type Body struct {
	Text string `json:"text"`
}

// Canonical is the body as it is hashed.
func (b Body) Canonical() []byte { return namedText("text", b.Text) }

// Message is an entry of a room's timeline.
type Message struct {
	MsgID       MessageID         `json:"msg_id"`
	TenantID    TenantID          `json:"tenant_id"`
	RoomID      RoomID            `json:"room_id"`
	RoomSeq     int64             `json:"room_seq"`
	SenderID    UserID            `json:"sender_id"`
	SentAt      Time              `json:"sent_at"`
	Type        string            `json:"type"`
	Body        Body              `json:"body"`
	ReplyTo     *MessageID        `json:"reply_to"`
	Attachments []json.RawMessage `json:"attachments"`
	Receipt     Receipt           `json:"receipt"`
}

// AppendJSON writes the message as canonical JSON. Attachments are always
// empty in this version.
func (m *Message) AppendJSON(dst []byte) []byte {
	dst = append(dst, `{"attachments":[],"body":{"text":`...)
	dst = appendString(dst, m.Body.Text)
	dst = append(dst, `},"msg_id":"`...)
	dst = append(dst, m.MsgID...)
	dst = append(dst, `","receipt":`...)
	dst = m.Receipt.append(dst)
	dst = append(dst, `,"reply_to":`...)
	if m.ReplyTo == nil {
		dst = append(dst, "null"...)
	} else {
		dst = appendString(dst, string(*m.ReplyTo))
	}
	dst = append(dst, `,"room_id":"`...)
	dst = append(dst, m.RoomID...)
	dst = append(dst, `","room_seq":`...)
	dst = strconv.AppendInt(dst, m.RoomSeq, 10)
	dst = append(dst, `,"sender_id":"`...)
	dst = append(dst, m.SenderID...)
	dst = append(dst, `","sent_at":"`...)
	dst = m.SentAt.append(dst)
	dst = append(dst, `","tenant_id":"`...)
	dst = append(dst, m.TenantID...)
	dst = append(dst, `","type":"`...)
	dst = append(dst, m.Type...)
	return append(dst, `"}`...)
}

// CheckText refuses a text that is empty, not UTF-8, or longer than max bytes.
func CheckText(text string, max int) error {
	switch {
	case len(text) > max:
		return Errorf(CodeTooLarge, "the message text is longer than %d bytes of UTF-8", max)
	case !utf8.ValidString(text):
		return Errorf(CodeValidation, "the message text is not valid UTF-8")
	case !seen(text):
		return Errorf(CodeValidation, "the message text is empty, or has nothing that can be seen")
	}
	return nil
}

// seen reports whether a text has anything that can be seen.
func seen(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool {
		return r == unicode.ReplacementChar || !unicode.IsSpace(r) && !invisible(r)
	})
}

// Fingerprint tells one command's content from another's under the same
// idempotency key. Parts are length-prefixed, so that they cannot run together.
func Fingerprint(parts ...string) [16]byte {
	size := 0
	for _, p := range parts {
		size += len(p) + 8
	}
	b := make([]byte, 0, size)
	for _, p := range parts {
		b = strconv.AppendInt(b, int64(len(p)), 10)
		b = append(b, ':')
		b = append(b, p...)
	}
	sum := sha256.Sum256(b)
	return [16]byte(sum[:])
}
