package forward

import (
	"time"

	"ubl"
)

// deadLetters: an alarm of the room has failed for good, and is redriven or discarded.
func (w *world) deadLetters() {
	w.deadLetter(ubl.Redrive{Request: w.h.Request(w.ana), Owner: true, Letter: "retention"})
	w.deadLetter(ubl.Discard{Request: w.h.Request(w.ana), Owner: true, Subject: "r:general", Letter: "retention"})
}

func (w *world) deadLetter(ask ubl.Command) {
	w.h.Alarms() // none writes in the meantime, and the letter has no other alarm beside it
	w.h.Reload()
	g := w.general.Group()
	lease, head, err := w.h.Engine.Begin(w.t.Context(), g)
	if err != nil {
		w.t.Fatal(err)
	}
	settled := make(chan error, 1)
	w.h.Engine.Submit(&ubl.Batch{Group: g, Lease: lease, Head: head, Next: head, Records: []ubl.Record{
		{Key: []byte("i\x01r:general\x00retention"), Value: []byte(`{"v":1,"due":"2026-01-02T00:00:00.000Z","for":"2026-01-01T00:00:00.000Z","attempts":20,"failed":true,"code":"conflict"}`)},
		{Key: []byte("i\x02r:general\x00retention"), Value: []byte{1}},
	}}, func(err error) { settled <- err })
	if err := <-settled; err != nil {
		w.t.Fatal(err)
	}
	want := ubl.DeadLetter{TenantID: w.ana.TenantID, Kind: ubl.DeadAlarm, Subject: "r:general", Key: "retention", Attempts: 20, Code: ubl.CodeConflict,
		Since: ubl.TimeOf(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))}
	list := func() []ubl.DeadLetter {
		return must[[]ubl.DeadLetter](w.forwarder, ubl.LedgerName(w.ana.TenantID), ubl.ListDeadLetters{})
	}
	if got := list(); len(got) != 1 || got[0] != want {
		w.t.Errorf("the dead letters are %+v", got)
	}
	nothing(w.forwarder, w.general, ask)
	if got := list(); len(got) != 0 {
		w.t.Errorf("the dead letters are %+v", got)
	}
}
