package mcp

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"strconv"
	"strings"
	"time"

	"ubl"
)

// A state is what a client of 2026-07-28 brings back with its reply. It is, in base64url:
//
//	's', version 1                                 2 bytes
//	number of the call, big-endian                 8 bytes
//	number of the question                         4 bytes
//	issued at, seconds since 1970                  4 bytes
//	SHA-256 of tool and arguments, the first      16 bytes
//	HMAC-SHA256 over all that and the identity    16 bytes, the first of 32
//
// It opens for its caller alone, with the same call, and not for long. A second try with the same
// finds the question answered, and gets what came of it.
const (
	stateHead = 2 + 8 + 4 + 4
	stateBody = stateHead + 16
	// stateAge is longer than a call waits for its caller.
	stateAge = 15 * time.Minute
)

func (s *Server) makeState(who ubl.Identity, n int64, question int, tool string, args []byte) string {
	b := make([]byte, stateHead, stateBody+sealSize)
	b[0], b[1] = 's', 1
	binary.BigEndian.PutUint64(b[2:], uint64(n))
	binary.BigEndian.PutUint32(b[10:], uint32(question))
	binary.BigEndian.PutUint32(b[14:], uint32(s.opts.Now().Unix()))
	b = append(b, digest(tool, args)...)
	return base64.RawURLEncoding.EncodeToString(append(b, seal(s.opts.SessionKeys()[0], b, who)...))
}

// openState is false for a state of another caller, another call, or too long ago.
func (s *Server) openState(state string, who ubl.Identity, tool string, args []byte) (n int64, question int, ok bool) {
	b, err := base64.RawURLEncoding.Strict().DecodeString(state)
	if err != nil || len(b) != stateBody+sealSize || b[0] != 's' || b[1] != 1 {
		return 0, 0, false
	}
	body, sent := b[:stateBody], b[stateBody:]
	age := s.opts.Now().Sub(time.Unix(int64(binary.BigEndian.Uint32(body[14:])), 0))
	if !s.sessions.sealed(body, sent, who) || !hmac.Equal(body[stateHead:], digest(tool, args)) || age > stateAge {
		return 0, 0, false
	}
	return int64(binary.BigEndian.Uint64(body[2:])), int(binary.BigEndian.Uint32(body[10:])), true
}

// digest tells one call from another. Arguments are compared as canonical JSON: a client may write
// them anew.
func digest(tool string, args []byte) []byte {
	if canonical, err := ubl.Canonical(args); err == nil {
		args = canonical
	}
	sum := sha256.Sum256(append([]byte(tool+"\x00"), args...))
	return sum[:16]
}

// readAskID reads the id of a question, which begins with [askID].
func readAskID(id string) (n int64, question int, ok bool) {
	call, number, cut := strings.Cut(strings.TrimPrefix(id, askID), "-")
	if !cut || !strings.HasPrefix(id, askID) {
		return 0, 0, false
	}
	n, err := strconv.ParseInt(call, 10, 64)
	question, bad := strconv.Atoi(number)
	return n, question, err == nil && bad == nil
}
