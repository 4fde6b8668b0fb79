package actors_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"ubl"
	"ubl/test/harness"
)

// TestKeyWindow: a key counts for 24 hours, however many came after it and
// wherever it is kept by then, and the newest 2,000 count for longer.
func TestKeyWindow(t *testing.T) {
	h := harness.Open(t, harness.Options{})
	ana := harness.User("ana@example.com")
	h.Enter(ana)
	name := ubl.RoomName(ana.TenantID, ubl.GeneralRoom)
	send := func(i int) (int64, error) {
		req := ubl.Request{Who: ana, ID: "req:keys", Key: fmt.Sprint("key ", i)}
		sent, err := ubl.Ask[*ubl.Sent](context.Background(), h, name, ubl.SendMessage{Request: req, Text: fmt.Sprint("text ", i)})
		if err != nil {
			return 0, err
		}
		return sent.RoomSeq, nil
	}
	seqs := make([]int64, 14_000)
	sendAll := func(from, to int) {
		var writers sync.WaitGroup
		for w := range 64 {
			writers.Go(func() {
				for i := from + w; i < to; i += 64 {
					var err error
					if seqs[i], err = send(i); err != nil {
						t.Errorf("send %d: %v", i, err)
						return
					}
				}
			})
		}
		writers.Wait()
	}
	again := func(when string, i int, same bool) {
		t.Helper()
		seq, err := send(i)
		if err != nil {
			t.Fatal(err)
		}
		if (seq == seqs[i]) != same {
			t.Errorf("%s, key %d led to message %d, first to %d; want the same: %v", when, i, seq, seqs[i], same)
		}
	}

	sendAll(0, 10_000) // more than memory holds
	for _, when := range []string{"within the window", "loaded anew"} {
		for _, i := range []int{0, 1, 1000, 5000, 9999} {
			again(when, i, true)
		}
		h.Reload()
	}
	h.Clock.Add(25 * time.Hour)
	again("a day later, loaded anew", 0, false)
	again("a day later, loaded anew, among the newest", 9_999, true)
	sendAll(10_000, 14_000) // each lets old keys go
	again("a day later, among the newest", 12_500, true)
	again("a day later, long gone", 2, false)
	h.Reload()
	again("loaded anew", 13_999, true)
	again("loaded anew, long gone", 1, false)
}

// TestBusyRoomDayAfterDay: an actor that never leaves memory drops each day's
// keys on the next, from the store, from memory and across the two.
func TestBusyRoomDayAfterDay(t *testing.T) {
	h := harness.Open(t, harness.Options{})
	ana := harness.User("ana@example.com")
	h.Enter(ana)
	general := ubl.RoomName(ana.TenantID, ubl.GeneralRoom)
	day := func(n int) error {
		var wg sync.WaitGroup
		errs := make(chan error, n)
		for range 64 {
			wg.Go(func() {
				for range n / 64 {
					if err := askPatiently(h, general, ubl.SendMessage{Request: h.Request(ana), Text: "hello"}); err != nil {
						errs <- err
					}
				}
			})
		}
		wg.Wait()
		close(errs)
		return <-errs
	}
	for d := range 3 {
		if err := day(10_048); err != nil {
			t.Fatalf("day %d: %v", d+1, err)
		}
		h.Clock.Add(25 * time.Hour)
	}
	if err := day(640); err != nil {
		t.Fatalf("last day: %v", err)
	}
}

// askPatiently asks again what a busy machine has refused for load, as clients do.
func askPatiently(h *harness.House, to ubl.Name, cmd ubl.Command) error {
	for {
		_, err := h.Ask(context.Background(), to, cmd)
		if ubl.CodeOf(err) != ubl.CodeOverloaded {
			return err
		}
		<-time.After(10 * time.Millisecond)
	}
}
