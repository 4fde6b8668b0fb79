package auth

import (
	"bytes"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/go-jose/go-jose/v4/jwt"

	"ubl"
	"ubl/durable"
)

// acceptedUntil is the header of an earlier key's PEM block: until when what it
// signed is accepted, in RFC 3339. Without it, it is accepted until it is taken
// out of the file.
const acceptedUntil = "Accepted-Until"

// maxKeys is how many keys a file may have. One more rotation drops the oldest.
const maxKeys = 16

// earlierKey is a key from before a rotation. What it signed is accepted until it
// ends; what was sealed with it opens for as long as it is in the file.
type earlierKey struct {
	key   *Key      // without earlier ones
	until time.Time // zero: it doesn't end
}

// all are the key and those before it, newest first.
func (k *Key) all() []earlierKey {
	return append([]earlierKey{{key: k}}, k.earlier...)
}

// IDs name the key and those before it, whether accepted or not.
func (k *Key) IDs() []string {
	var ids []string
	for _, e := range k.all() {
		ids = append(ids, e.key.id)
	}
	return ids
}

// Use is a key of a file, and until when its signatures are accepted; zero for no
// end.
type Use struct {
	ID    string
	Until time.Time
}

// Uses are the key, which signs, and those before it.
func (k *Key) Uses() []Use {
	var uses []Use
	for _, e := range k.all() {
		uses = append(uses, Use{e.key.id, e.until})
	}
	return uses
}

// AcceptedIDs name the keys whose signatures are accepted at a time; the first is
// the one that signs.
func (k *Key) AcceptedIDs(now time.Time) []string {
	var ids []string
	for _, e := range k.all() {
		if e.until.IsZero() || now.Before(e.until) {
			ids = append(ids, e.key.id)
		}
	}
	return ids
}

// Derived are the 32-byte keys for another purpose, as Derive makes them, of this
// key and of those before it: seal with the first, open with any.
func (k *Key) Derived(purpose string) [][]byte {
	var keys [][]byte
	for _, e := range k.all() {
		keys = append(keys, e.key.Derive(purpose))
	}
	return keys
}

// Equal reports whether both are the same keys, used and accepted alike.
func (k *Key) Equal(other *Key) bool {
	return slices.EqualFunc(k.all(), other.all(), func(a, b earlierKey) bool {
		return a.key.private.Equal(b.key.private) && a.until.Equal(b.until)
	})
}

// Rotate draws a key to follow this one, whose signatures are accepted for as long
// as keep says, 0 for no longer.
func (k *Key) Rotate(random io.Reader, now time.Time, keep time.Duration) (*Key, error) {
	next, err := NewKey(random)
	if err != nil {
		return nil, err
	}
	for _, e := range k.all() {
		if end := now.Add(keep); e.until.IsZero() || end.Before(e.until) {
			e.until = end
		}
		next.earlier = append(next.earlier, earlierKey{alone(e.key), e.until})
	}
	next.earlier = next.earlier[:min(len(next.earlier), maxKeys-1)]
	return next, nil
}

// Using is the same keys with another one signing, for a node that waits until the
// others know the newest. It is the key itself where there is no such key.
func (k *Key) Using(id string) *Key {
	all := k.all()
	at := slices.IndexFunc(all, func(e earlierKey) bool { return e.key.id == id })
	if at <= 0 {
		return k
	}
	using := alone(all[at].key)
	for i, e := range all {
		if i != at {
			using.earlier = append(using.earlier, earlierKey{alone(e.key), e.until})
		}
	}
	return using
}

// ReplaceKey writes a key over the one that is in the file, whole or not at all.
func ReplaceKey(path string, k *Key) error {
	data, err := k.PEM()
	if err != nil {
		return err
	}
	if err := durable.Replace(path, data); err != nil {
		return fmt.Errorf("couldn't write the key: %w", err)
	}
	return nil
}

// alone is a key without those before it.
func alone(k *Key) *Key { return &Key{private: k.private, public: k.public, id: k.id} }

func parsePEM(block *pem.Block, rest []byte) (*Key, error) {
	k, err := parseBlock(block)
	if err != nil {
		return nil, err
	}
	for block, rest = pem.Decode(rest); block != nil; block, rest = pem.Decode(rest) {
		e := earlierKey{}
		if e.key, err = parseBlock(block); err != nil {
			return nil, err
		}
		if text, ok := block.Headers[acceptedUntil]; ok {
			if e.until, err = time.Parse(time.RFC3339, text); err != nil {
				return nil, errors.New("the " + acceptedUntil + " of an earlier key isn't a time of RFC 3339")
			}
		}
		if slices.Contains(k.IDs(), e.key.id) || len(k.earlier) == maxKeys-1 {
			return nil, errors.New("the PEM holds a key twice, or too many")
		}
		k.earlier = append(k.earlier, e)
	}
	if bytes.Contains(rest, []byte("-----BEGIN")) {
		return nil, errors.New("the last key of the PEM isn't whole")
	}
	return k, nil
}

// signerOf is the key that a token says it was signed with, if that is accepted
// at a time; else the key itself, whose check then fails.
func (k *Key) signerOf(token *jwt.JSONWebToken, now time.Time) earlierKey {
	for _, e := range k.all() {
		if len(token.Headers) > 0 && e.key.id == token.Headers[0].KeyID && (e.until.IsZero() || now.Before(e.until)) {
			return e
		}
	}
	return earlierKey{key: k}
}

// signedBy notes whose signature a credential stands on: it ends with that key.
func (e *entry) signedBy(s earlierKey) {
	e.signer = s.key.id
	if !s.until.IsZero() {
		e.expires = min(e.expires, ubl.TimeOf(s.until))
	}
}

// unsign ends what was signed with one of the keys: it is verified once more at
// its next use.
func (c *cache) unsign(ids []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, e := range c.entries {
		if slices.Contains(ids, e.signer) {
			c.remove(e)
		}
	}
	for _, f := range c.flights {
		if e := f.entry; e != nil && slices.Contains(ids, e.signer) {
			c.remove(e)
		}
	}
}

// SetKey has the Authenticator sign with another key from now on. Credentials of
// keys that end now or at another time than before are verified once more.
func (a *Authenticator) SetKey(k *Key) {
	before := a.keys.Swap(k)
	var changed []string
	for _, was := range before.all() {
		is := slices.IndexFunc(k.all(), func(e earlierKey) bool { return e.key.id == was.key.id })
		if is < 0 || !k.all()[is].until.Equal(was.until) {
			changed = append(changed, was.key.id)
		}
	}
	a.cache.unsign(changed)
}
