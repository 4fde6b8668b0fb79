package actors_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"ubl"
	"ubl/test/harness"
)

// aging is a room of ana's, whose messages grow old.
type aging struct {
	*harness.House
	t    *testing.T
	ana  ubl.Identity
	room ubl.Name
}

func openAging(t *testing.T, opts harness.Options) *aging {
	x := &aging{House: harness.Open(t, opts), t: t, ana: harness.User("ana@example.com")}
	x.Enter(x.ana)
	made := harness.Must[*ubl.RoomSummary](x.House, ubl.TenantName(x.ana.TenantID), ubl.CreateRoom{Request: x.Request(x.ana), Name: "plans"})
	x.room = ubl.RoomName(x.ana.TenantID, made.RoomID)
	return x
}

func (x *aging) keep(days int) {
	x.t.Helper()
	harness.Must[*ubl.Room](x.House, x.room, ubl.SetRoomPolicy{Request: x.Request(x.ana), Patch: ubl.RoomPolicyPatch{RetentionDays: &days}})
}

func (x *aging) send(n int) {
	x.t.Helper()
	for range n {
		harness.Must[*ubl.Sent](x.House, x.room, ubl.SendMessage{Request: x.Request(x.ana), Text: "hello"})
	}
}

// pass lets time pass, and fires what is due then.
func (x *aging) pass(d time.Duration) {
	x.t.Helper()
	x.Clock.Add(d)
	x.Alarms()
}

// from is the oldest message that is kept.
func (x *aging) from(want int64) {
	x.t.Helper()
	if head := harness.Must[ubl.Head](x.House, x.room, ubl.RoomHead{}); head.AvailableFrom != want {
		x.t.Errorf("the room is kept from %d, want %d", head.AvailableFrom, want)
	}
}

// trims counts the acts that removed messages.
func (x *aging) trims() (n int) {
	x.t.Helper()
	page := harness.Must[*ubl.AtomPage](x.House, ubl.LedgerName(x.ana.TenantID), ubl.ReadAtoms{From: 1, Limit: 500})
	for _, atom := range page.Atoms {
		n += strings.Count(string(atom), `"did":"room.trim"`)
	}
	return n
}

// armed counts the alarms that the tenant has.
func (x *aging) armed(want int) {
	x.t.Helper()
	n := 0
	err := x.Engine.View(x.t.Context(), x.room.Group(), func(snap ubl.Snapshot) error {
		return snap.Ascend([]byte("i"), []byte{'i', 1}, func(_, _ []byte) bool { n++; return true })
	})
	if err != nil || n != want {
		x.t.Errorf("%d alarms are armed (%v), want %d", n, err, want)
	}
}

// TestRetentionWakes: a message goes when it is as old as the policy says, although
// nobody asks for it, after a restart too; what is younger stays. The alarm follows the
// policy, and there is none while nothing is to grow old. The Agreement's end stops nothing.
func TestRetentionWakes(t *testing.T) {
	x := openAging(t, harness.Options{}) // entry 1 tells of the room, and each change of the policy is one
	x.send(2)
	x.armed(0)
	x.keep(2)
	x.armed(1)
	x.pass(24 * time.Hour)
	x.send(2)
	x.pass(24*time.Hour - time.Millisecond)
	x.from(1)
	x.Restart()
	x.pass(time.Millisecond)
	x.from(5)
	x.keep(1) // what is left has been there for a day, but for the entry that says so
	x.Alarms()
	x.from(7)
	x.send(1)
	x.armed(1)
	x.keep(0)
	x.armed(0)
	x.pass(100 * time.Hour)
	x.from(7)
	x.keep(3)
	x.Alarms()
	x.from(10)
	x.send(1)
	harness.Must[*ubl.AgreementView](x.House, x.room, ubl.EndAgreement{Request: x.Request(x.ana)})
	x.armed(1)
	x.Restart()
	x.pass(100 * time.Hour)
	x.from(13) // the end is an entry, too
	x.armed(0)
	x.VerifyLedger(x.ana.TenantID)
}

// TestRetentionIsAnActAnHour: however steadily messages grow old, a room removes some at
// most once an hour, and so none is kept for more than an hour too long.
func TestRetentionIsAnActAnHour(t *testing.T) {
	x := openAging(t, harness.Options{})
	x.keep(1)
	for range 120 { // a message a minute
		x.pass(time.Minute)
		x.send(1)
	}
	x.pass(22 * time.Hour)
	for minute := range 180 {
		x.pass(time.Minute)
		old := int64(minute - 60)
		if head := harness.Must[ubl.Head](x.House, x.room, ubl.RoomHead{}); old > 0 && head.AvailableFrom < min(old, 122) {
			t.Fatalf("after %d minutes the room is kept from %d", minute, head.AvailableFrom)
		}
	}
	x.from(123)
	if n := x.trims(); n < 2 || n > 4 {
		t.Errorf("in three hours messages were removed %d times", n)
	}
	x.armed(0)
}

// TestMessagesDisappear: where messages are kept for hours, each goes within a minute of its time, and
// none before. What goes in a minute goes together: an act a minute at most.
func TestMessagesDisappear(t *testing.T) {
	x := openAging(t, harness.Options{})
	hour := 1
	harness.Must[*ubl.Room](x.House, x.room, ubl.SetRoomPolicy{Request: x.Request(x.ana), Patch: ubl.RoomPolicyPatch{RetentionHours: &hour}})
	said, began := int64(2), x.Clock.Now() // what tells of the room, and of how long it keeps messages
	times := []time.Time{{}, began, began}
	for range 150 { // one each 20 seconds, for 50 minutes
		x.send(1)
		times = append(times, x.Clock.Now())
		said++
		x.pass(20 * time.Second)
	}
	x.Restart()
	for x.Clock.Now().Before(began.Add(115 * time.Minute)) {
		x.pass(10 * time.Second)
		kept := harness.Must[ubl.Head](x.House, x.room, ubl.RoomHead{}).AvailableFrom
		if kept <= said && x.Clock.Now().Sub(times[kept]) > time.Hour+time.Minute {
			t.Fatalf("message %d is %s old", kept, x.Clock.Now().Sub(times[kept]))
		}
		if kept > 1 && x.Clock.Now().Sub(times[kept-1]) < time.Hour {
			t.Fatalf("message %d went after %s", kept-1, x.Clock.Now().Sub(times[kept-1]))
		}
	}
	x.from(said + 1)
	if n := x.trims(); n < 40 || n > 56 {
		t.Errorf("in 55 minutes messages were removed %d times", n)
	}
	x.armed(0)
	x.VerifyLedger(x.ana.TenantID)
}

// TestRetentionIsAnEntry: all who read a room see when its messages are kept for another time, and by
// whose act. Whoever knows of days alone takes the hours away, and what changes neither tells nothing.
func TestRetentionIsAnEntry(t *testing.T) {
	x := openAging(t, harness.Options{})
	set := func(patch ubl.RoomPolicyPatch, want string) {
		t.Helper()
		room := harness.Must[*ubl.Room](x.House, x.room, ubl.SetRoomPolicy{Request: x.Request(x.ana), Patch: patch})
		page := harness.Must[*ubl.HistoryPage](x.House, x.room, ubl.ReadHistory{Who: x.ana, Limit: 1, Entries: true})
		var e ubl.Entry
		if err := json.Unmarshal(page.Entries[0], &e); err != nil {
			t.Fatal(err)
		}
		if e.Type != ubl.EntryRoom || string(e.Body.JSON) != `{"retention":`+want+`}` || e.AuthorID != x.ana.UserID {
			t.Errorf("the entry is %s, want %s of a room with %+v", page.Entries[0], want, room.Policy)
		}
	}
	days, hours, bytes, none := 1, 8, 100, 0
	set(ubl.RoomPolicyPatch{RetentionHours: &hours}, `{"days":0,"hours":8}`)
	x.armed(1)
	set(ubl.RoomPolicyPatch{MaxMessageBytes: &bytes}, `{"days":0,"hours":8}`)
	if head := harness.Must[ubl.Head](x.House, x.room, ubl.RoomHead{}); head.LastSeq != 2 {
		t.Errorf("the timeline has %d entries, want the room's beginning and one", head.LastSeq)
	}
	set(ubl.RoomPolicyPatch{RetentionDays: &days, RetentionHours: &hours}, `{"days":1,"hours":8}`)
	set(ubl.RoomPolicyPatch{RetentionDays: &days}, `{"days":1,"hours":0}`)
	set(ubl.RoomPolicyPatch{RetentionDays: &none}, `{"days":0,"hours":0}`)
	x.armed(0)
	x.VerifyLedger(x.ana.TenantID)
}

// TestRetentionOfMany: more messages than one commit removes all go.
func TestRetentionOfMany(t *testing.T) {
	x := openAging(t, harness.Options{})
	x.send(1100)
	x.keep(1)
	x.pass(24 * time.Hour)
	for range 3 {
		x.pass(time.Second)
	}
	x.from(1103)
	x.armed(0)
	x.send(1)
	x.armed(1)
}

// TestRetentionCrash: the node is gone at each commit that removes messages, before and
// after it is durable. After a restart all are removed that are too old, and counted once.
func TestRetentionCrash(t *testing.T) {
	for _, durable := range []bool{false, true} {
		for commit := int64(1); commit <= 2; commit++ {
			t.Run(fmt.Sprint("durable ", durable, " commit ", commit), func(t *testing.T) {
				d := newDying(commit, durable)
				x := openAging(t, harness.Options{Wrap: d.wrap})
				x.send(600)
				x.keep(1)
				d.strikes.Store(true)
				x.Clock.Add(24 * time.Hour)
				for p := range x.Engine.Partitions() {
					x.Led(p)
				}
				deadline := time.Now().Add(time.Minute)
				for left := true; left; {
					select {
					case <-d.gone:
						left = false
					case <-time.After(time.Millisecond):
						x.Clock.Add(time.Millisecond) // the next page waits for one
						for p := range x.Engine.Partitions() {
							x.Led(p)
						}
						if time.Now().After(deadline) {
							t.Fatal("nothing was committed")
						}
					}
				}
				x.Close()
				d.strikes.Store(false)
				x.Restart()
				for range 3 {
					x.pass(time.Second)
				}
				x.from(603)
				x.armed(0)
				x.VerifyLedger(x.ana.TenantID)
			})
		}
	}
}

// dying is the store of a node that goes at a commit, before or after that is durable. It counts
// from when it strikes.
type dying struct {
	at      int64
	durable bool
	strikes atomic.Bool
	commits atomic.Int64
	gone    chan struct{}
}

func newDying(at int64, durable bool) *dying {
	return &dying{at: at, durable: durable, gone: make(chan struct{})}
}

// takes has the node go at what is due after a while, and another come.
func (d *dying) takes(t *testing.T, h *harness.House, after time.Duration) {
	t.Helper()
	d.dies(t, h, func() {
		h.Clock.Add(after)
		for p := range h.Engine.Partitions() {
			h.Led(p)
		}
	})
}

// dies has the node go at what is done, and another come.
func (d *dying) dies(t *testing.T, h *harness.House, do func()) {
	t.Helper()
	d.strikes.Store(true)
	do()
	select {
	case <-d.gone:
	case <-time.After(time.Minute):
		t.Fatal("nothing was committed")
	}
	h.Close()
	d.strikes.Store(false)
	h.Restart()
}

func (d *dying) wrap(s ubl.Store) ubl.Store {
	return submitting{s, func(b *ubl.Batch, settled func(error)) {
		n := int64(0)
		if d.strikes.Load() {
			n = d.commits.Add(1)
		}
		gone := errors.New("the node is gone")
		switch {
		case n < d.at:
			s.Submit(b, settled)
			return
		case n == d.at && d.durable:
			s.Submit(b, func(error) { settled(gone) })
		default:
			go settled(gone)
		}
		if n == d.at {
			close(d.gone)
		}
	}}
}

// submitting is a store whose commits the test carries out.
type submitting struct {
	ubl.Store
	submit func(*ubl.Batch, func(error))
}

func (s submitting) Submit(b *ubl.Batch, settled func(error)) { s.submit(b, settled) }
