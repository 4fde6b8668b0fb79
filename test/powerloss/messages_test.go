//go:build powerloss

package powerloss

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"sync"
	"testing"

	"ubl"
	"ubl/test/harness"
)

// said is what 32 writers say to a room of real actors, and what was answered.
type said struct {
	mu    sync.Mutex
	sends []ubl.SendMessage
	acked map[string]string // message as JSON by text
}

// cut is a power cut: what the disk held, and what had been acknowledged.
type cut struct {
	dir   string
	acked map[string]string
}

// TestMessagesOverPowerLoss: 32 writers send to one room while the power goes
// at random syncs. Whatever part of the unsynced pages reached the disk, a house
// opened over it has every acknowledged message as it was acknowledged, takes
// every send again under its key without a double or a gap, and its ledger
// verifies.
func TestMessagesOverPowerLoss(t *testing.T) {
	r := newRig(t, 7)
	r.quiet = true
	h := harness.Open(t, harness.Options{Dir: r.dir, Storage: r.options()})
	ana := harness.User("ana@example.com")
	h.Enter(ana)
	s := &said{acked: make(map[string]string)}
	for i := range 32 * 12 {
		s.sends = append(s.sends, ubl.SendMessage{Request: h.Request(ana), Text: fmt.Sprint("message ", i)})
	}
	var cuts []cut
	r.mu.Lock()
	r.fail = func(int, string) error { // the commit of this sync is not settled yet
		if len(cuts) < 5 || len(cuts) < 20 && r.random.IntN(3) == 0 {
			s.mu.Lock()
			acked := maps.Clone(s.acked)
			s.mu.Unlock()
			dir, err := r.layOut(r.someOf(r.current()))
			if err != nil {
				t.Error(err)
			}
			cuts = append(cuts, cut{dir, acked})
		}
		return nil
	}
	r.mu.Unlock()
	var writers sync.WaitGroup
	for w := range 32 {
		writers.Go(func() {
			for i := w; i < len(s.sends); i += 32 {
				s.send(t, h, i)
			}
		})
	}
	writers.Wait()
	h.Close()
	if len(cuts) < 5 {
		t.Fatalf("only %d power cuts", len(cuts))
	}
	for i, c := range cuts {
		t.Run(fmt.Sprint("cut ", i), func(t *testing.T) { s.check(t, c, ana) })
	}
}

func (s *said) send(t *testing.T, h *harness.House, i int) {
	c := s.sends[i]
	sent, err := ubl.Ask[*ubl.Sent](context.Background(), h, ubl.RoomName(c.Who.TenantID, ubl.GeneralRoom), c)
	if err != nil {
		t.Errorf("%s: %v", c.Text, err)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.acked[c.Text] = string(sent.Message)
}

// check opens a house over what a cut left.
func (s *said) check(t *testing.T, c cut, ana ubl.Identity) {
	h := harness.Open(t, harness.Options{Dir: c.dir})
	room := ubl.RoomName(ana.TenantID, ubl.GeneralRoom)
	h.Enter(ana)
	stored := history(t, h, room, ana)
	for text, message := range c.acked {
		if stored[text] != message {
			t.Errorf("%q was acknowledged as\n%s\nand is now\n%s", text, message, stored[text])
		}
	}
	for _, send := range s.sends {
		sent := harness.Must[*ubl.Sent](h, room, send)
		if was, ok := stored[send.Text]; ok && was != string(sent.Message) {
			t.Errorf("the retry of %q made another message", send.Text)
		}
	}
	if after := history(t, h, room, ana); len(after) != len(s.sends)+1 {
		t.Errorf("%d messages after all retries, want %d and the system message", len(after), len(s.sends))
	}
	h.VerifyLedger(ana.TenantID)
}

// history is the room's messages by text; it wants no gap and no double.
func history(t *testing.T, h *harness.House, room ubl.Name, who ubl.Identity) map[string]string {
	t.Helper()
	byText := make(map[string]string)
	for after := int64(0); ; {
		page := harness.Must[*ubl.HistoryPage](h, room, ubl.ReadHistory{Who: who, After: &after, Limit: 200})
		for _, raw := range page.Messages {
			var m ubl.Message
			if err := json.Unmarshal(raw, &m); err != nil {
				t.Fatal(err)
			}
			after++
			if _, twice := byText[m.Body.Text]; twice || m.RoomSeq != after {
				t.Errorf("%q is message %d at place %d, seen before: %v", m.Body.Text, m.RoomSeq, after, twice)
			}
			byText[m.Body.Text] = string(raw)
		}
		if after >= page.Head.LastSeq || len(page.Messages) == 0 {
			return byText
		}
	}
}
