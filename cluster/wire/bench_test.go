package wire_test

import (
	"encoding/json"
	"strings"
	"testing"

	"ubl"
)

// BenchmarkSend carries a message of 100 bytes to another node and the answer
// back: four codings.
func BenchmarkSend(b *testing.B) {
	r := registry(b)
	cmd := ubl.SendMessage{Text: strings.Repeat("hello ", 17), Request: ubl.Request{ID: "req:6b2f1c9e-7a0b-4c57-9e55-0d7c2f0f8a11", Key: "req:6b2f1c9e-7a0b-4c57-9e55-0d7c2f0f8a11",
		Who: ubl.Identity{UserID: "u:0123456789abcdef0123456789abcdef", Email: "ana@example.com", EmailDomain: "example.com", Groups: []string{"staff", "builders"},
			TenantID: "t:example.com", Issuer: "https://id.example.com", Subject: "ana"}}}
	answer := &ubl.Sent{Message: json.RawMessage(strings.Repeat("x", 740)), RoomSeq: 123456}
	var out []byte
	b.ReportAllocs()
	for b.Loop() {
		var err error
		if out, err = r.EncodeCommand(out[:0], cmd); err != nil {
			b.Fatal(err)
		}
		if _, err = r.DecodeCommand(out); err != nil {
			b.Fatal(err)
		}
		if out, err = r.EncodeAnswer(out[:0], answer); err != nil {
			b.Fatal(err)
		}
		if _, err = r.DecodeAnswer(out); err != nil {
			b.Fatal(err)
		}
	}
}
