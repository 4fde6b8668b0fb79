package ubl_test

import (
	"crypto/rand"
	"testing"

	"ubl"
)

// TestDocumentIDsRise with time, and within a millisecond with the events of their container.
func TestDocumentIDsRise(t *testing.T) {
	at := ubl.Time(1_767_789_296_000)
	var last ubl.DocumentID
	for i := range int64(5000) {
		id, err := ubl.NewDocumentID(at+ubl.Time(i/2000), i, rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		if !id.Valid() || id[16] != '7' {
			t.Fatalf("%s is no id with a UUID of version 7", id)
		}
		if id <= last && i%4096 != 0 {
			t.Errorf("document %d has %s, the one before it %s", i, id, last)
		}
		last = id
	}
}
