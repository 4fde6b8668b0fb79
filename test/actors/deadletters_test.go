package actors_test

import (
	"strings"
	"testing"
	"time"

	"ubl"
	"ubl/test/harness"
)

// letterBox is a tenant in whose store alarms have failed, or are tried again.
type letterBox struct {
	*harness.House
	t   *testing.T
	ana ubl.Identity
}

func openLetterBox(t *testing.T) *letterBox {
	h := harness.Open(t, harness.Options{})
	b := &letterBox{h, t, harness.User("ana@example.com")}
	h.Enter(b.ana)
	return b
}

// put writes an alarm as it is stored, while no actor is in memory.
func (b *letterBox) put(subject, alarm string, failed bool) {
	b.t.Helper()
	b.Reload()
	g := ubl.TenantName(b.ana.TenantID).Group()
	lease, head, err := b.Engine.Begin(b.t.Context(), g)
	if err != nil {
		b.t.Fatal(err)
	}
	records := []ubl.Record{{Key: []byte("i\x01" + subject + "\x00job"), Value: []byte(alarm)}}
	if failed {
		records = append(records, ubl.Record{Key: []byte("i\x02" + subject + "\x00job"), Value: []byte{1}})
	}
	settled := make(chan error, 1)
	b.Engine.Submit(&ubl.Batch{Group: g, Lease: lease, Head: head, Next: head, Records: records}, func(err error) { settled <- err })
	if err := <-settled; err != nil {
		b.t.Fatal(err)
	}
}

// listed are the subjects that are listed.
func (b *letterBox) listed(pending bool) string {
	var subjects []string
	for _, l := range harness.Must[[]ubl.DeadLetter](b.House, ubl.LedgerName(b.ana.TenantID), ubl.ListDeadLetters{Pending: pending}) {
		if pending != (l.Next != nil) {
			b.t.Errorf("%+v has a next attempt, or none", l)
		}
		subjects = append(subjects, l.Subject)
	}
	return strings.Join(subjects, " ")
}

const failedAlarm = `{"v":1,"due":"2026-01-02T00:00:00.000Z","for":"2026-01-01T00:00:00.000Z","attempts":20,"failed":true,"code":"conflict"}`

// TestDiscard gives a dead letter up, with a receipt and once: of an actor that is there, and of
// one whose family is gone, which nothing can redrive.
func TestDiscard(t *testing.T) {
	for _, subject := range []string{"r:general", "", "fax:7"} {
		t.Run("subject "+subject, func(t *testing.T) {
			b := openLetterBox(t)
			b.put(subject, failedAlarm, true)
			to := ubl.TenantName(b.ana.TenantID)
			if subject != "" {
				to += ubl.Name("|" + subject)
			}
			if subject == "fax:7" {
				b.Refused(ubl.CodeConflict, to, ubl.Redrive{Request: b.Request(b.ana), Owner: true, Letter: "job"})
			}
			ask := ubl.Discard{Request: b.Request(b.ana), Owner: true, Subject: subject, Letter: "job"}
			other := ask
			other.Owner, other.Request = false, b.Request(b.ana)
			b.Refused(ubl.CodeForbidden, to, other)
			if got := b.listed(false); got != subject {
				t.Fatalf("listed is %q", got)
			}
			before := harness.Must[ubl.LedgerHead](b.House, ubl.LedgerName(b.ana.TenantID), ubl.GetLedgerHead{})
			for range 2 {
				if _, err := b.Ask(t.Context(), to, ask); err != nil {
					t.Fatal(err)
				}
			}
			other.Owner = true
			b.Refused(ubl.CodeNotFound, to, other)
			b.Reload()
			if got := harness.Must[[]ubl.DeadLetter](b.House, ubl.LedgerName(b.ana.TenantID), ubl.ListDeadLetters{}); len(got) > 0 {
				t.Errorf("listed is %+v", got)
			}
			b.Refused(ubl.CodeNotFound, to, ubl.Discard{Request: b.Request(b.ana), Owner: true, Subject: subject, Letter: "job"})
			after := harness.Must[ubl.LedgerHead](b.House, ubl.LedgerName(b.ana.TenantID), ubl.GetLedgerHead{})
			if after.Seq != before.Seq+2 { // an action and its effect
				t.Errorf("the ledger went from %d to %d", before.Seq, after.Seq)
			}
			b.VerifyLedger(b.ana.TenantID)
		})
	}
}

// TestLettersComeByTheSeat: what is done about a dead letter is judged as any act is. An agent that
// may only read can't redrive or discard one, whomever it acts for. A refusal changes nothing, and
// leaves the key free.
func TestLettersComeByTheSeat(t *testing.T) {
	for name, cmd := range map[string]func(ubl.Request) ubl.Command{
		"redrive": func(r ubl.Request) ubl.Command { return ubl.Redrive{Request: r, Owner: true, Letter: "job"} },
		"discard": func(r ubl.Request) ubl.Command {
			return ubl.Discard{Request: r, Owner: true, Subject: "r:general", Letter: "job"}
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := openLetterBox(t)
			b.put("r:general", failedAlarm, true)
			room, ledger := ubl.RoomName(b.ana.TenantID, ubl.GeneralRoom), ubl.LedgerName(b.ana.TenantID)
			before := harness.Must[ubl.LedgerHead](b.House, ledger, ubl.GetLedgerHead{})
			owner := b.Request(b.ana)
			agent := owner
			agent.Who.Mandate = &ubl.Mandate{ReadOnly: true}
			b.Refused(ubl.CodeForbidden, room, cmd(agent))
			if got := b.listed(false); got != "r:general" {
				t.Errorf("after a refusal %q is listed", got)
			}
			if now := harness.Must[ubl.LedgerHead](b.House, ledger, ubl.GetLedgerHead{}); now != before {
				t.Errorf("a refusal led from %d to %d", before.Seq, now.Seq)
			}
			if _, err := b.Ask(t.Context(), room, cmd(owner)); err != nil {
				t.Errorf("allowed, it is answered %v", err)
			}
		})
	}
}

// TestPending lists what has failed so far and is tried again, and what is late.
func TestPending(t *testing.T) {
	b := openLetterBox(t)
	at := func(d time.Duration) string { return ubl.TimeOf(b.Clock.Now().Add(d)).String() }
	for subject, alarm := range map[string]string{
		"r:failed": `{"v":1,"due":"` + at(time.Hour) + `","for":"` + at(-time.Hour) + `","attempts":3,"code":"conflict"}`,
		"r:late":   `{"v":1,"due":"` + at(-time.Hour) + `","for":"` + at(-time.Hour) + `"}`,
		"r:well":   `{"v":1,"due":"` + at(time.Hour) + `","for":"` + at(time.Hour) + `"}`,
		"r:dead":   failedAlarm,
	} {
		b.put(subject, alarm, subject == "r:dead")
	}
	if got := b.listed(true); got != "r:failed r:late" {
		t.Errorf("pending are %q", got)
	}
	if got := b.listed(false); got != "r:dead" {
		t.Errorf("dead are %q", got)
	}
}
