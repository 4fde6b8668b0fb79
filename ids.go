package ubl

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Ids carry their kind as a prefix, so that a mistaken one is seen at a glance
// and refused at the border. Each type's pattern stands beside it; Valid
// methods check it without a regular expression because every request does.
type (
	// TenantID matches ^t:[A-Za-z0-9._-]{1,128}$.
	TenantID string
	// RoomID matches ^r:[A-Za-z0-9._-]{1,128}$.
	RoomID string
	// UserID matches ^u:[A-Za-z0-9._-]{1,256}$.
	UserID string
	// MessageID matches ^m:[A-Za-z0-9._-]{1,256}$.
	MessageID string
	// AgreementID matches ^a:[A-Za-z0-9._:-]{1,256}$: it quotes the id it governs.
	// It is unique within a tenant.
	AgreementID string
)

// Well-known ids.
const (
	// CoreTenant is tenant 0: the operators' own, where the platform's acts are receipted.
	CoreTenant TenantID = "t:ubl_core"
	// GeneralRoom exists in every tenant and is joined on first touch.
	GeneralRoom RoomID = "r:general"
	// OpsRoom, AuditRoom and CeremonyRoom are tenant 0's rooms for what the platform does.
	OpsRoom      RoomID = "r:platform-ops"
	AuditRoom    RoomID = "r:security-audit"
	CeremonyRoom RoomID = "r:key-ceremony"
)

// PlatformRooms are the rooms that tenant 0 begins with and keeps.
func PlatformRooms() []RoomID {
	return []RoomID{GeneralRoom, OpsRoom, AuditRoom, CeremonyRoom}
}

// Valid reports whether the id has its pattern.
func (id TenantID) Valid() bool { return validID(string(id), "t:", 128, "") }

// Valid reports whether the id has its pattern.
func (id RoomID) Valid() bool { return validID(string(id), "r:", 128, "") }

// Valid reports whether the id has its pattern.
func (id UserID) Valid() bool { return validID(string(id), "u:", 256, "") }

// Valid reports whether the id has its pattern.
func (id MessageID) Valid() bool { return validID(string(id), "m:", 256, "") }

// Valid reports whether the id has its pattern.
func (id AgreementID) Valid() bool { return validID(string(id), "a:", 256, ":") }

func validID(s, prefix string, max int, extra string) bool {
	rest, ok := strings.CutPrefix(s, prefix)
	if !ok || rest == "" || len(rest) > max {
		return false
	}
	for i := range len(rest) {
		c := rest[i]
		if !isIDByte(c) && strings.IndexByte(extra, c) < 0 {
			return false
		}
	}
	return true
}

func isIDByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '.' || c == '_' || c == '-'
}

// ValidKey reports whether s may serve as an idempotency key: 1 to 128
// characters of UTF-8, none of them a control character.
func ValidKey(s string) bool {
	return s != "" && utf8.ValidString(s) && utf8.RuneCountInString(s) <= 128 && !strings.ContainsFunc(s, unicode.IsControl)
}

// ValidRequestID reports whether s may serve as a request id: 6 to 128 of
// [A-Za-z0-9._:-].
func ValidRequestID(s string) bool {
	if len(s) < 6 || len(s) > 128 {
		return false
	}
	for i := range len(s) {
		if !isIDByte(s[i]) && s[i] != ':' {
			return false
		}
	}
	return true
}

// ValidSession reports whether s may name a session: ^s:[A-Za-z0-9._-]{1,128}$.
func ValidSession(s string) bool { return validID(s, "s:", 128, "") }

// TenantAgreement names the TenantLicense of a tenant.
func TenantAgreement(t TenantID) AgreementID { return AgreementID("a:tenant:" + string(t)) }

// RoomAgreement names the RoomGovernance of a room, within its tenant.
func RoomAgreement(r RoomID) AgreementID { return AgreementID("a:room:" + string(r)) }

// maxSlug is how many characters of a name its room id keeps.
const maxSlug = 50

// RoomSlug makes the room id of a name: lower case, blanks to "-", only
// [a-z0-9-], at most 50 characters. A name that leaves nothing gets the first
// ten hex digits of its hash, so that 会議 and встреча are rooms too.
func RoomSlug(name string) RoomID {
	var b strings.Builder
	for _, c := range strings.ToLower(strings.TrimSpace(name)) {
		switch {
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9', c == '-':
			b.WriteRune(c)
		case c == ' ' || c == '\t':
			b.WriteByte('-')
		}
		if b.Len() == maxSlug {
			break
		}
	}
	slug := b.String()
	if strings.Trim(slug, "-") == "" {
		slug = hexHash(name)[:10]
	}
	return RoomID("r:" + slug)
}

// UserIDFor maps who an issuer says a caller is to a user id. A subject of the
// first configured issuer that fits the pattern is kept readable; every other
// pair becomes a hash, so that two issuers can never name the same user.
func UserIDFor(issuer, subject string, firstIssuer bool) UserID {
	if id := UserID("u:" + subject); firstIssuer && id.Valid() && !looksHashed(subject) {
		return id
	}
	return UserID("u:" + hexHash(issuer + "|" + subject)[:32])
}

// looksHashed keeps a readable subject from posing as another issuer's hash.
func looksHashed(subject string) bool {
	if len(subject) != 32 {
		return false
	}
	_, err := hex.DecodeString(subject)
	return err == nil
}

// PersonalTenant is the tenant of one person alone, whose domain nobody has claimed.
func PersonalTenant(u UserID) TenantID { return TenantID("t:u." + hexHash(string(u))[:16]) }

// isPersonal reports whether a mail domain would name a [PersonalTenant].
func isPersonal(domain string) bool {
	digits, ok := strings.CutPrefix(domain, "u.")
	_, err := hex.DecodeString(digits)
	return ok && len(digits) == 16 && err == nil
}

func hexHash(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}

// NewMessageID makes the id of the message at seq: "m:" and a UUID of version
// 8 whose first 48 bits are the sequence number and whose other 74 free bits
// come from random. The number lets a room find a message by its id without an
// index; the random bits keep ids of different rooms apart and unguessable.
func NewMessageID(seq int64, random io.Reader) (MessageID, error) {
	var u [16]byte
	if _, err := io.ReadFull(random, u[6:]); err != nil {
		return "", fmt.Errorf("couldn't draw a message id: %w", err)
	}
	var n [8]byte
	binary.BigEndian.PutUint64(n[:], uint64(seq))
	copy(u[:6], n[2:])
	u[6] = u[6]&0x0f | 0x80
	u[8] = u[8]&0x3f | 0x80
	return MessageID("m:" + formatUUID(u)), nil
}

// Seq is the sequence number inside an id made by [NewMessageID].
func (id MessageID) Seq() (int64, bool) {
	s := string(id)
	if len(s) != 2+36 || s[2+8] != '-' {
		return 0, false
	}
	var n [8]byte
	if _, err := hex.Decode(n[2:], []byte(s[2:10]+s[11:15])); err != nil {
		return 0, false
	}
	return int64(binary.BigEndian.Uint64(n[:])), true
}

// NewRequestID makes a request id, "req:" and a random UUID.
func NewRequestID(random io.Reader) (string, error) {
	u, err := newUUID(random)
	if err != nil {
		return "", fmt.Errorf("couldn't draw a request id: %w", err)
	}
	return "req:" + u, nil
}

func newUUID(random io.Reader) (string, error) {
	var u [16]byte
	if _, err := io.ReadFull(random, u[:]); err != nil {
		return "", err
	}
	u[6] = u[6]&0x0f | 0x40
	u[8] = u[8]&0x3f | 0x80
	return formatUUID(u), nil
}

// newOrderedUUID is of version 7: 48 bits of time, 12 of n, and 62 random ones.
func newOrderedUUID(at Time, n int64, random io.Reader) (string, error) {
	var u [16]byte
	if _, err := io.ReadFull(random, u[8:]); err != nil {
		return "", err
	}
	binary.BigEndian.PutUint64(u[:8], uint64(at)<<16|7<<12|uint64(n)&0xfff)
	u[8] = u[8]&0x3f | 0x80
	return formatUUID(u), nil
}

func formatUUID(u [16]byte) string {
	var b [36]byte
	hex.Encode(b[:8], u[:4])
	hex.Encode(b[9:13], u[4:6])
	hex.Encode(b[14:18], u[6:8])
	hex.Encode(b[19:23], u[8:10])
	hex.Encode(b[24:], u[10:])
	b[8], b[13], b[18], b[23] = '-', '-', '-', '-'
	return string(b[:])
}

// Time is a moment in milliseconds since 1970 (UTC). On every wire and in
// every hash it is written as 2006-01-02T15:04:05.000Z; being a number inside
// keeps replayed state comparable.
type Time int64

const timeLayout = "2006-01-02T15:04:05.000Z"

// TimeOf cuts t to milliseconds.
func TimeOf(t time.Time) Time { return Time(t.UnixMilli()) }

// Std is the same moment as a time.Time in UTC.
func (t Time) Std() time.Time { return time.UnixMilli(int64(t)).UTC() }

// Add moves t by d, cut to milliseconds.
func (t Time) Add(d time.Duration) Time { return t + Time(d.Milliseconds()) }

func (t Time) String() string { return string(t.append(make([]byte, 0, len(timeLayout)))) }

// append writes the layout by hand: every atom and message has a time or three.
func (t Time) append(dst []byte) []byte {
	std := t.Std()
	year, month, day := std.Date()
	hour, minute, second := std.Clock()
	if year < 0 || year > 9999 {
		return std.AppendFormat(dst, timeLayout)
	}
	dst = append(dst, byte('0'+year/1000), byte('0'+year/100%10))
	dst = appendTwo(dst, year%100)
	dst = appendTwo(append(dst, '-'), int(month))
	dst = appendTwo(append(dst, '-'), day)
	dst = appendTwo(append(dst, 'T'), hour)
	dst = appendTwo(append(dst, ':'), minute)
	dst = appendTwo(append(dst, ':'), second)
	ms := std.Nanosecond() / int(time.Millisecond)
	dst = append(dst, '.', byte('0'+ms/100))
	return append(appendTwo(dst, ms%100), 'Z')
}

func appendTwo(dst []byte, n int) []byte { return append(dst, byte('0'+n/10), byte('0'+n%10)) }

// MarshalText writes the ISO form.
func (t Time) MarshalText() ([]byte, error) {
	return t.append(make([]byte, 0, len(timeLayout))), nil
}

// UnmarshalText reads the ISO form, and only it.
func (t *Time) UnmarshalText(text []byte) error {
	std, err := time.Parse(timeLayout, string(text))
	// Parse alone would take a comma for the point and an hour of one digit.
	if err != nil || std.Format(timeLayout) != string(text) {
		return fmt.Errorf("not a time of the form %s", timeLayout)
	}
	*t = TimeOf(std)
	return nil
}

// AsOf names a moment of a tenant's past: after an atom of its ledger, or at a time. The
// zero value is now.
type AsOf struct {
	Seq  int64 // of an atom; 0 for none
	Time Time  // 0 for none
}

// ParseAsOf reads the seq of an atom, as "4711", or a time (RFC 3339), as
// "2026-01-31T12:00:00Z". "" is now.
func ParseAsOf(s string) (AsOf, error) {
	if s == "" {
		return AsOf{}, nil
	}
	if seq, err := strconv.ParseInt(s, 10, 64); err == nil && seq > 0 {
		return AsOf{Seq: seq}, nil
	}
	if at, err := time.Parse(time.RFC3339, s); err == nil && at.UnixMilli() > 0 {
		return AsOf{Time: TimeOf(at)}, nil
	}
	return AsOf{}, Errorf(CodeValidation, "as_of is neither the seq of an atom, as 4711, nor a time, as 2026-01-31T12:00:00Z")
}

// IsNow reports whether no moment of the past is named.
func (a AsOf) IsNow() bool { return a == AsOf{} }

// Has reports whether what a receipt is about had happened by then.
func (a AsOf) Has(r Receipt) bool {
	if a.Seq > 0 {
		return r.Seq <= a.Seq
	}
	return a.IsNow() || r.Time <= a.Time
}
