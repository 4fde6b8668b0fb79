package cluster

import (
	"context"
	"crypto/rand"
	"fmt"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"ubl"
	"ubl/actors"
	"ubl/actors/families"
	"ubl/test/poll"
)

// BenchmarkForwardedSend has many callers send to one room of a cluster of three, all
// by way of a node that doesn't lead it. What an acknowledged send costs is the CPU time
// of the three together, system's included.
func BenchmarkForwardedSend(b *testing.B) {
	w := newWorld(b, 3, steady)
	w.perform()
	partition := w.nodes[0].engine.Partition(ubl.TenantName(benchTenant).Group())
	leader, asker := w.led(partition), w.nodes[0]
	if asker == leader {
		asker = w.nodes[1]
	}
	q := aSend()
	who := q.enter.(ubl.Enter).Who
	poll.Until(b, "a member is in", func() bool {
		_, err := asker.Ask(b.Context(), ubl.TenantName(benchTenant), ubl.Enter{Request: ubl.Request{ID: "req:in", Key: "req:in", Who: who}, Act: true})
		return err == nil
	})
	var sent, failed atomic.Int64
	b.SetParallelism(32)
	b.ReportAllocs()
	b.ResetTimer()
	before := cpuTime()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			key := fmt.Sprintf("req:6b2f1c9e-7a0b-4c57-9e55-%012x", sent.Add(1))
			request := ubl.Request{ID: key, Key: key, Who: who}
			_, _, err := asker.Visit(b.Context(), ubl.Enter{Request: request, Tool: "messenger.send"},
				ubl.RoomName(benchTenant, ubl.GeneralRoom), ubl.SendMessage{Request: request, Text: strings.Repeat("hello ", 17)})
			if err != nil {
				failed.Add(1)
			}
		}
	})
	b.StopTimer()
	if failed.Load() > 0 {
		b.Fatalf("%d sends failed", failed.Load())
	}
	b.ReportMetric(float64(cpuTime()-before)/float64(b.N), "cpu-ns/op")
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "sends/s")
}

// perform gives each node its actors.
func (w *world) perform() {
	for _, n := range w.nodes {
		rt := actors.New(actors.Options{
			Families: families.All.In(families.World{Store: n.Store(), Kinds: ubl.Kinds()}),
			Now:      time.Now, Random: rand.Reader, Partition: n.engine.Partition, Elsewhere: n, Shelf: n.Store(),
		})
		n.Attach(rt)
		w.t.Cleanup(func() { _ = rt.Close(context.Background()) })
	}
}

// cpuTime is what the process has used.
func cpuTime() time.Duration {
	var r syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &r)
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}
