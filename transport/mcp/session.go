package mcp

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"io"
	"time"

	"ubl"
)

// A session of the eras before 2026-07-28 is its id. The id is, in base64url:
//
//	version 1, or 2 with abilities                 1 byte
//	issued at, seconds since 1970, big-endian      4 bytes
//	random                                        12 bytes
//	protocol, index into protocols                 1 byte; in version 2 the two highest bits are abilities
//	client's name, at most maxClient bytes
//	HMAC-SHA256 over all that and the identity    16 bytes, the first of 32
//
// The identity (tenant, user, issuer and subject) goes into the seal and not
// into the id: another's id is as unknown as one that was made up.
const (
	sessionVersion = 1
	// ableVersion is of clients that have abilities: nodes of before don't know it.
	ableVersion  = 2
	sessionHead  = 1 + 4 + 12 + 1
	sealSize     = 16
	maxClient    = 64
	maxSessionID = 4 * (sessionHead + maxClient + sealSize) / 3
	// maxAge makes an old id worthless, whoever kept it.
	maxAge = 365 * 24 * time.Hour
)

// session is what an id tells.
type session struct {
	id       string
	issued   time.Time
	protocol string
	client   string // the name that the client program gave itself
	can      abilities
}

// The bits of abilities beside the protocol.
const (
	ableApps = 0x80
	ableForm = 0x40
	ableTo   = ableApps | ableForm
)

// bits are the abilities that a session keeps.
func (a abilities) bits() (b byte) {
	if a.apps {
		b |= ableApps
	}
	if a.form {
		b |= ableForm
	}
	return b
}

// sessions makes and reads session ids. It is safe for concurrent use.
type sessions struct{ keys func() [][]byte }

// issue makes a session for a caller.
func (s sessions) issue(who ubl.Identity, protocol, client string, can abilities, now time.Time, random io.Reader) (session, error) {
	b := make([]byte, sessionHead, sessionHead+maxClient+sealSize)
	b[0] = sessionVersion
	if can.bits() != 0 {
		b[0] = ableVersion
	}
	binary.BigEndian.PutUint32(b[1:], uint32(now.Unix()))
	if _, err := io.ReadFull(random, b[5:17]); err != nil {
		return session{}, fmt.Errorf("couldn't draw a session id: %w", err)
	}
	b[17] = protocolIndex(protocol) | can.bits()
	b = append(b, client[:min(len(client), maxClient)]...)
	b = append(b, seal(s.keys()[0], b, who)...)
	id := base64.RawURLEncoding.EncodeToString(b)
	return session{id: id, issued: now, protocol: protocol, client: client, can: can}, nil
}

// open reads an id. It is false for one that isn't this caller's.
func (s sessions) open(id string, who ubl.Identity, now time.Time) (session, bool) {
	if len(id) > maxSessionID+1 {
		return session{}, false
	}
	b, err := base64.RawURLEncoding.Strict().DecodeString(id)
	if err != nil || len(b) < sessionHead+sealSize || b[0] != sessionVersion && b[0] != ableVersion {
		return session{}, false
	}
	body, sent := b[:len(b)-sealSize], b[len(b)-sealSize:]
	var can abilities
	spoken := int(body[17])
	if b[0] == ableVersion {
		can, spoken = abilities{form: body[17]&ableForm != 0, apps: body[17]&ableApps != 0}, spoken&^ableTo
	}
	if !s.sealed(body, sent, who) || spoken >= len(protocols) {
		return session{}, false
	}
	issued := time.Unix(int64(binary.BigEndian.Uint32(body[1:])), 0)
	if now.Sub(issued) > maxAge {
		return session{}, false
	}
	return session{id: id, issued: issued, protocol: protocols[spoken], client: string(body[sessionHead:]), can: can}, true
}

// sealed reports whether one of our keys made the seal.
func (s sessions) sealed(body, sent []byte, who ubl.Identity) bool {
	for _, key := range s.keys() {
		if hmac.Equal(sent, seal(key, body, who)) {
			return true
		}
	}
	return false
}

// seal binds a session to a caller. Lengths keep the parts apart. The key is one
// of its own purpose, so that the one handed in can serve others.
func seal(key, body []byte, who ubl.Identity) []byte {
	own := hmac.New(sha256.New, key)
	_, _ = own.Write([]byte("ubl mcp session"))
	mac := hmac.New(sha256.New, own.Sum(nil))
	var n [4]byte
	for _, part := range []string{string(body), string(who.TenantID), string(who.UserID), who.Issuer, who.Subject} {
		binary.BigEndian.PutUint32(n[:], uint32(len(part)))
		_, _ = mac.Write(n[:])
		_, _ = io.WriteString(mac, part)
	}
	return mac.Sum(nil)[:sealSize]
}
