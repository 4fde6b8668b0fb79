//go:build linux

package chaos

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"path/filepath"
	"time"

	bolt "go.etcd.io/bbolt"
)

// hashOf is a hash over anything that JSON can tell.
func hashOf(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err) // the checks hand in structs of strings and numbers
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:8])
}

// hashData is a hash over the keys and values, in order, of what a partition's
// file holds of its groups.
func hashData(path string) (string, error) {
	db, err := bolt.Open(path, 0o600, &bolt.Options{ReadOnly: true, Timeout: 5 * time.Second})
	if err != nil {
		return "", fmt.Errorf("couldn't open %s: %w", path, err)
	}
	defer db.Close()
	h := sha256.New()
	keys := 0
	err = db.View(func(tx *bolt.Tx) error {
		data := tx.Bucket([]byte("data"))
		if data == nil {
			return fmt.Errorf("%s has no data", path)
		}
		return data.ForEach(func(k, v []byte) error {
			keys++
			var sizes [8]byte // so that no other split of the bytes gives the same hash
			binary.BigEndian.PutUint32(sizes[:4], uint32(len(k)))
			binary.BigEndian.PutUint32(sizes[4:], uint32(len(v)))
			h.Write(sizes[:])
			h.Write(k)
			h.Write(v)
			return nil
		})
	})
	return fmt.Sprintf("%x of %d keys", h.Sum(nil)[:8], keys), err
}

// checkReplicas stops all nodes at once and compares their files. They are
// killed, not asked: a node that stops gracefully writes that it does, which
// those that stopped before it no longer learn. What is written between the
// look and the kill makes another attempt right.
func (w *world) checkReplicas(ctx context.Context) (wrong []string) {
	for again := range 4 {
		if err := w.wholeWithin(ctx, atRest); err != nil {
			return []string{err.Error()}
		}
		// What is applied reaches the file a moment later; and a node that has just
		// started says so in a ledger.
		pause(ctx, time.Duration(1+again)*time.Second)
		all, err := w.picture(ctx)
		if err != nil {
			return []string{err.Error()}
		}
		for _, n := range w.all() {
			n.kill()
		}
		if wrong = all.compare(); len(wrong) == 0 {
			return nil
		}
		w.t.Logf("replicas differ, perhaps for what was just written: %s", wrong)
		if err := w.start(w.members()...); err != nil {
			return []string{err.Error()}
		}
	}
	return wrong
}

// compare hashes each partition where it has a replica.
func (p picture) compare() (wrong []string) {
	for i, replicas := range p {
		by := make(map[string]string)
		for n := range replicas {
			hash, err := hashData(filepath.Join(n.data(), "store", fmt.Sprintf("partition-%d.db", i)))
			if err != nil {
				return []string{err.Error()}
			}
			by[n.id] = hash
		}
		wrong = append(wrong, checkEqual(fmt.Sprintf("partition %d", i), by)...)
	}
	return wrong
}
