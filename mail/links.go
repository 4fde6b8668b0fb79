package mail

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"net/url"
	"strings"

	"ubl"
)

// StopPath begins the paths of the links by which mails end.
const StopPath = "/unsubscribe/"

// maxToken is far above any token, in bytes.
const maxToken = 1024

// Links are the ways to end mails, without signing in. A link says whose mails, and a MAC that this
// server has made it. It holds for as long as a key does that the server keeps, and does nothing else.
type Links struct {
	// At is where browsers reach the server.
	At string
	// Keys make and check links, newest first; none while the node has no key yet.
	Keys func() [][]byte
}

// To is the link for somebody, whose page is in a language.
func (l Links) To(of ubl.Name, language string) (string, error) {
	keys := l.Keys()
	if len(keys) == 0 {
		return "", ubl.Errorf(ubl.CodeUnavailable, "the node has no key yet")
	}
	link := l.At + StopPath + encode([]byte(of)) + "." + encode(mac(keys[0], of))
	if language != "" {
		link += "?" + url.Values{"lang": {language}}.Encode()
	}
	return link, nil
}

// Read is whose mails a token is about, and whether a key of this server has made it.
func (l Links) Read(token string) (of ubl.Name, ok bool) {
	if len(token) > maxToken {
		return "", false
	}
	name, sum, _ := strings.Cut(token, ".")
	plain, err := base64.RawURLEncoding.Strict().DecodeString(name)
	if err != nil {
		return "", false
	}
	given, err := base64.RawURLEncoding.Strict().DecodeString(sum)
	if err != nil {
		return "", false
	}
	of = ubl.Name(plain)
	for _, key := range l.Keys() {
		if hmac.Equal(given, mac(key, of)) {
			return of, true
		}
	}
	return "", false
}

func encode(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

func mac(key []byte, of ubl.Name) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte("unsubscribe\x00" + of))
	return h.Sum(nil)
}
