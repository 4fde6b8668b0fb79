package main

import (
	"bytes"
	"crypto/ed25519"
	"strings"
	"testing"
	"time"
)

// TestBackupOfAnEndedKey: a backup that a key signed which has ended is taken, since it may
// be old, and the operator is told.
func TestBackupOfAnEndedKey(t *testing.T) {
	p := &program{random: &counter64{}}
	old := testKey(t, p)
	leaked, err := old.Rotate(p.random, testNow(), 0)
	if err != nil {
		t.Fatal(err)
	}
	kept, err := old.Rotate(p.random, testNow(), time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	signer := old.Signer().Public().(ed25519.PublicKey)
	var out bytes.Buffer
	if err := mustBeSigned(&out, signer, leaked, testNow()); err != nil || !strings.Contains(out.String(), old.ID()+" signed the backup, and ended at 2026-01-07T12:00:00Z") {
		t.Errorf("of an ended key it says %q, %v", out.String(), err)
	}
	out.Reset()
	for _, now := range []time.Time{testNow(), testNow().Add(time.Hour - 1)} {
		if err := mustBeSigned(&out, signer, kept, now); err != nil || out.Len() > 0 {
			t.Errorf("of one that is accepted it says %q, %v", out.String(), err)
		}
	}
}
