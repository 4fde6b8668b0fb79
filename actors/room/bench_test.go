package room

import (
	"os"
	"testing"

	"ubl"
	"ubl/actors"
)

// BenchmarkPlan measures what a room does itself for a message: its plan, and the state after it.
func BenchmarkPlan(b *testing.B) {
	stored, err := os.ReadFile("testdata/snapshot.v1.json")
	if err != nil {
		b.Fatal(err)
	}
	s, err := decodeState(stored)
	if err != nil {
		b.Fatal(err)
	}
	who := ubl.Identity{TenantID: s.Agreement.TenantID, UserID: "u:ana"}
	at := actors.Moment{Now: 2000, Random: zeros{}}
	c := &sending{SendMessage: ubl.SendMessage{Request: ubl.Request{Who: who}, Text: "hello"}}
	b.ReportAllocs()
	for b.Loop() {
		p, err := s.decideSend(c, at)
		if err != nil {
			b.Fatal(err)
		}
		s.take(p.Item)
	}
}

// zeros are random numbers that cost nothing.
type zeros struct{}

func (zeros) Read(b []byte) (int, error) {
	clear(b)
	return len(b), nil
}
