package actors_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"ubl"
	"ubl/test/harness"
)

// BenchmarkSend measures sends from many callers to one room, in process.
func BenchmarkSend(b *testing.B) {
	h := harness.Open(b, harness.Options{})
	ana := harness.User("ana@example.com")
	h.Enter(ana)
	room := ubl.RoomName(ana.TenantID, ubl.GeneralRoom)
	var failed atomic.Int64
	b.SetParallelism(32)
	b.ReportAllocs()
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if _, err := h.Ask(context.Background(), room, ubl.SendMessage{Request: h.Request(ana), Text: "hello"}); err != nil {
				failed.Add(1)
			}
		}
	})
	if failed.Load() > 0 {
		b.Fatalf("%d sends failed", failed.Load())
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "sends/s")
}

// BenchmarkCreateDocument measures documents made by as many callers in one workspace.
func BenchmarkCreateDocument(b *testing.B) {
	h := harness.Open(b, harness.Options{})
	ana := harness.User("ana@example.com")
	h.Enter(ana)
	general := ubl.ContainerName(ana.TenantID, ubl.GeneralWorkspace)
	var failed atomic.Int64
	b.SetParallelism(32)
	b.ReportAllocs()
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			h.Clock.Add(50 * time.Microsecond) // ids of documents follow it
			create := ubl.CreateDocument{Request: h.Request(ana), Title: "greeting", Content: "hello"}
			if _, err := h.Ask(context.Background(), general, create); err != nil {
				failed.Add(1)
			}
		}
	})
	if failed.Load() > 0 {
		b.Fatalf("%d documents failed", failed.Load())
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "documents/s")
}
