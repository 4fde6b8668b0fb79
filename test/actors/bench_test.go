package actors_test

import (
	"context"
	"fmt"
	"runtime"
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

// BenchmarkIdleActors measures what an actor has in memory while nobody asks it anything: a
// new room, and a new workspace.
func BenchmarkIdleActors(b *testing.B) {
	const many = 2000
	h := harness.Open(b, harness.Options{})
	ana := harness.User("ana@example.com")
	h.Enter(ana)
	tenant := ubl.TenantName(ana.TenantID)
	var rooms, workspaces []ubl.Name
	for i := range many {
		room := harness.Must[*ubl.RoomSummary](h, tenant, ubl.CreateRoom{Request: h.Request(ana), Name: fmt.Sprint("room ", i)})
		rooms = append(rooms, ubl.RoomName(ana.TenantID, room.RoomID))
		made := harness.Must[*ubl.ContainerMade](h, tenant, ubl.CreateContainer{Request: h.Request(ana), Kind: "workspace", Name: fmt.Sprint("place ", i)})
		workspaces = append(workspaces, ubl.ContainerName(ana.TenantID, made.Container.ContainerID))
	}
	for b.Loop() {
		for _, family := range []struct {
			name string
			of   []ubl.Name
			look ubl.Command
		}{{"room", rooms, ubl.GetRoom{Who: ana}}, {"workspace", workspaces, ubl.GetContainer{Who: ana}}} {
			h.Reload()
			before := heap()
			for _, name := range family.of {
				if _, err := h.Ask(context.Background(), name, family.look); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(heap()-before)/many, "B/"+family.name)
		}
	}
	b.ReportMetric(0, "ns/op")
}

func heap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
