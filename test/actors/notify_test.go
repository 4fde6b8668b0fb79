package actors_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"ubl"
	"ubl/actors/person"
	"ubl/portal"
	"ubl/push"
	"ubl/test/harness"
	"ubl/test/poll"
	"ubl/test/webpush"
)

// reached is a tenant of two, whose people are reached by a push service that decrypts.
type reached struct {
	*harness.House
	t        *testing.T
	service  *webpush.Service
	ana, bob ubl.Identity
	general  ubl.Name
}

func openReached(t *testing.T, o harness.Options) *reached {
	w := &reached{t: t, service: webpush.New(t), ana: harness.User("ana@example.com"), bob: harness.User("bob@example.com")}
	key := []byte(strings.Repeat("k", 32))
	o.Push = push.New(push.Options{
		Sealer:  portal.NewKeeper("push key", func() [][]byte { return [][]byte{key} }, rand.Reader),
		Client:  func(ubl.TenantID) *http.Client { return w.service.Client() },
		Contact: "ops@example.com",
	})
	w.House = harness.Open(t, o)
	w.Enter(w.ana)
	w.Enter(w.bob)
	w.general = ubl.RoomName(w.ana.TenantID, ubl.GeneralRoom)
	return w
}

func personOf(who ubl.Identity) ubl.Name { return ubl.PersonName(who.TenantID, who.UserID) }

// device has a browser of somebody's reached.
func (w *reached) device(who ubl.Identity, path string) *ubl.Device {
	w.t.Helper()
	key := harness.Must[*ubl.PushKey](w.House, personOf(who), ubl.MakePushKey{Request: w.Request(who)})
	return harness.Must[*ubl.Device](w.House, personOf(who), ubl.AddDevice{
		Request: w.Request(who), Name: path, Subscription: w.service.Subscribe(w.t, path, key.Key),
	})
}

func (w *reached) say(who ubl.Identity, text string, mentions ...ubl.Mention) int64 {
	w.t.Helper()
	return harness.Must[*ubl.Sent](w.House, w.general, ubl.SendMessage{Request: w.Request(who), Text: text, Mentions: mentions}).RoomSeq
}

func (w *reached) person(who ubl.Identity) *ubl.Person {
	w.t.Helper()
	return harness.Must[*ubl.Person](w.House, personOf(who), ubl.GetPerson{Who: who})
}

// waits polls until so many messages wait in the general room.
func (w *reached) waits(who ubl.Identity, count int64) {
	w.t.Helper()
	poll.Until(w.t, "what waits is counted", func() bool {
		var now int64
		for _, x := range w.person(who).Waiting {
			now += x.Count
		}
		return now == count
	})
}

// pushed waits for so many pushes, and decodes them.
func (w *reached) pushed(count int) (list []person.Notification) {
	w.t.Helper()
	poll.Until(w.t, "pushes have come", func() bool {
		for _, p := range w.service.Take() {
			var n person.Notification
			if err := json.Unmarshal(p.Payload, &n); err != nil || len(p.Topic) != 32 {
				w.t.Fatalf("a push is %+v, %v", p, err)
			}
			list = append(list, n)
		}
		return len(list) >= count
	})
	w.Alarms()
	for _, p := range w.service.Take() {
		w.t.Errorf("more was pushed: %s", p.Payload)
	}
	return list
}

// TestNotificationsReachWhomTheyAreFor: a mention reaches every device of who is mentioned, and
// tells who wrote what where; what is said to all reaches nobody who hasn't asked for it.
func TestNotificationsReachWhomTheyAreFor(t *testing.T) {
	w := openReached(t, harness.Options{})
	phone, laptop := w.device(w.bob, "phone"), w.device(w.bob, "laptop")
	w.device(w.ana, "desk")
	w.say(w.ana, "good morning all")
	seq := w.say(w.ana, "can you look,\n\nBob?", ubl.Mention(w.bob.UserID))
	for _, n := range w.pushed(2) {
		if n.What != "message" || n.Room != ubl.GeneralRoom || n.Seq != seq || n.Count != 1 || n.Text != "can you look, Bob?" || n.Author != w.ana.Email || n.Title != "general" {
			t.Errorf("bob is told %+v", n)
		}
	}
	w.waits(w.bob, 1)
	w.waits(w.ana, 0)

	// Read on one device, closed on both.
	harness.Must[*ubl.ReadState](w.House, w.general, ubl.MarkRead{Request: w.Request(w.bob), Seq: seq})
	for _, n := range w.pushed(2) {
		if n.What != "close" || n.Seq != seq || n.Text != "" || n.Author != "" {
			t.Errorf("bob's devices are told %+v", n)
		}
	}
	w.waits(w.bob, 0)

	// A keyword, on the one device that is left.
	keywords := ubl.WordList{Words: []string{"invoice"}}
	harness.Must[*ubl.Preferences](w.House, personOf(w.bob), ubl.SetPreferences{Request: w.Request(w.bob), Patch: ubl.PreferencesPatch{Keywords: &keywords}})
	harness.Must[*ubl.Device](w.House, personOf(w.bob), ubl.RemoveDevice{Request: w.Request(w.bob), DeviceID: phone.DeviceID})
	none := ubl.PreviewNone
	harness.Must[*ubl.Preferences](w.House, personOf(w.bob), ubl.SetPreferences{Request: w.Request(w.bob), Patch: ubl.PreferencesPatch{Preview: &none}})
	w.say(w.ana, "invoices are late")
	w.say(w.ana, "the INVOICE is here")
	if n := w.pushed(1)[0]; n.Text != "" || n.Author != "" || n.Title != "" || n.Count != 1 {
		t.Errorf("without a preview bob is told %+v", n)
	}
	if p := w.person(w.bob); len(p.Devices) != 1 || p.Devices[0].DeviceID != laptop.DeviceID || p.Devices[0].Subscription != nil {
		t.Errorf("bob's devices are %+v", p.Devices)
	}
	w.VerifyLedger(w.ana.TenantID)
	if export, _, err := harness.Export(t.Context(), w.House, w.ana.TenantID); err != nil || strings.Contains(export, "nvoice") || strings.Contains(export, w.service.URL) {
		t.Errorf("the ledger tells of keywords, texts or push services: %v", err)
	}
}

// TestWhoIsUnprovenIsToldAsThat: a notification never gives the address of somebody who came by a
// link as theirs.
func TestWhoIsUnprovenIsToldAsThat(t *testing.T) {
	w := openReached(t, harness.Options{})
	w.device(w.bob, "phone")
	p := &party{House: w.House, t: t, tenant: ubl.TenantName(w.ana.TenantID), ana: w.ana, bob: w.bob}
	boss := p.guest(w.ana, "boss@example.com", ubl.RoleMember)
	w.say(boss, "send me the keys", ubl.Mention(w.bob.UserID))
	if n := w.pushed(1)[0]; n.Author != string(boss.UserID)+" (unproven)" {
		t.Errorf("bob is told %+v", n)
	}
}

// TestDirectMessagesAreNamedAfterTheOthers: what comes in direct messages is told under the names of
// the others, never under the room's id.
func TestDirectMessagesAreNamedAfterTheOthers(t *testing.T) {
	w := openReached(t, harness.Options{})
	eve := harness.User("eve@example.com")
	w.Enter(eve)
	w.device(w.bob, "phone")
	home := ubl.TenantName(w.ana.TenantID)
	for _, c := range []struct {
		with  []ubl.UserID
		title string
	}{
		{[]ubl.UserID{w.bob.UserID}, w.ana.Email},
		{[]ubl.UserID{w.bob.UserID, eve.UserID}, w.ana.Email + ", " + eve.Email},
	} {
		r := harness.Must[*ubl.RoomSummary](w.House, home, ubl.OpenDirect{Request: w.Request(w.ana), With: c.with})
		harness.Must[*ubl.Sent](w.House, ubl.RoomName(w.ana.TenantID, r.RoomID), ubl.SendMessage{Request: w.Request(w.ana), Text: "psst"})
		n := w.pushed(1)[0]
		if title := strings.Split(n.Title, ", "); n.Author != w.ana.Email || n.Text != "psst" || !slices.Equal(slices.Sorted(slices.Values(title)), strings.Split(c.title, ", ")) {
			t.Errorf("bob is told %+v, not under %q", n, c.title)
		}
	}
}

// TestQuietHoldsBack: what comes while it is quiet is told once, and grouped, when that ends; a
// reminder rings whenever it is due.
func TestQuietHoldsBack(t *testing.T) {
	w := openReached(t, harness.Options{})
	w.device(w.bob, "phone")
	hour := int64(3600)
	harness.Must[*ubl.Preferences](w.House, personOf(w.bob), ubl.SetPreferences{Request: w.Request(w.bob), Patch: ubl.PreferencesPatch{DoNotDisturbSeconds: &hour}})
	w.say(w.ana, "one", ubl.MentionRoom)
	last := w.say(w.ana, "two", ubl.Mention(w.bob.UserID))
	w.waits(w.bob, 2)
	at := ubl.TimeOf(w.Clock.Now()).Add(10 * time.Minute)
	harness.Must[*ubl.Reminder](w.House, personOf(w.bob), ubl.AddReminder{Request: w.Request(w.bob), RoomID: ubl.GeneralRoom, MsgID: "m:1", At: at, Note: "call back"})
	w.Clock.Add(10 * time.Minute)
	w.Alarms()
	if n := w.pushed(1)[0]; n.What != "reminder" || n.Text != "call back" || n.MsgID != "m:1" {
		t.Errorf("bob is reminded by %+v", n)
	}
	if p := w.person(w.bob); !p.Reminders[0].Due || !p.Waiting[0].Held || p.QuietUntil == 0 {
		t.Errorf("in the quiet bob sees %+v", p)
	}
	w.Clock.Add(50 * time.Minute)
	w.Alarms()
	if n := w.pushed(1)[0]; n.What != "message" || n.Seq != last || n.Count != 2 || n.Text != "two" {
		t.Errorf("behind the quiet bob is told %+v", n)
	}
}

// TestPushServices: one that says that a subscription has ended ends it, with a receipt; one that
// is down is asked again, and what came meanwhile comes with it; one that hangs holds nobody else's.
func TestPushServices(t *testing.T) {
	w := openReached(t, harness.Options{})
	gone, slow := w.device(w.bob, "gone"), w.device(w.ana, "slow")
	down := true
	w.service.Refuse(func(path string) int {
		switch {
		case path == "/gone":
			return http.StatusGone
		case down:
			return http.StatusServiceUnavailable
		}
		return 0
	})
	cleo := harness.User("cleo@example.com") // whoever writes has read what is there
	w.Enter(cleo)
	w.say(cleo, "first", ubl.Mention(w.ana.UserID), ubl.Mention(w.bob.UserID))
	poll.Until(t, "the device is gone", func() bool { return len(w.person(w.bob).Devices) == 0 })
	w.waits(w.ana, 1)
	second := w.say(cleo, "second", ubl.Mention(w.ana.UserID))
	w.waits(w.ana, 2)
	w.service.Refuse(nil)
	poll.Until(t, "the push service is asked again", func() bool { w.Clock.Add(time.Minute); w.Alarms(); return w.OutboxStats().Waiting == 0 })
	n := w.pushed(1)
	if len(n) != 1 || n[0].Seq != second || n[0].Count != 2 {
		t.Errorf("once the push service is there ana is told %+v", n)
	}
	if p := w.person(w.ana); len(p.Devices) != 1 || p.Devices[0].DeviceID != slow.DeviceID || gone.DeviceID == slow.DeviceID {
		t.Errorf("ana's devices are %+v", p.Devices)
	}
	w.VerifyLedger(w.ana.TenantID)
}

// TestAPushEndsWithItsMessage: a push service keeps what a message says for a day, and no longer than its
// room does.
func TestAPushEndsWithItsMessage(t *testing.T) {
	w := openReached(t, harness.Options{})
	w.device(w.bob, "phone")
	lasts := func() (ttl string) {
		t.Helper()
		w.say(w.ana, "here", ubl.Mention(w.bob.UserID))
		poll.Until(t, "the push has come", func() bool {
			for _, p := range w.service.Take() {
				ttl = p.TTL
			}
			return ttl != ""
		})
		return ttl
	}
	if ttl := lasts(); ttl != "86400" {
		t.Errorf("a push lasts for %s seconds, want a day", ttl)
	}
	w.Alarms()
	hours := 1
	harness.Must[*ubl.Room](w.House, w.general, ubl.SetRoomPolicy{Request: w.Request(w.ana), Patch: ubl.RoomPolicyPatch{RetentionHours: &hours}})
	if ttl := lasts(); ttl != "3600" {
		t.Errorf("where messages disappear after an hour, a push lasts for %s seconds", ttl)
	}
}

// TestOnlyThePersonReads: nobody else, owner or service, reads or changes what is somebody's, of
// the tenant or of another one.
func TestOnlyThePersonReads(t *testing.T) {
	w := openReached(t, harness.Options{})
	eve := harness.User("eve@example.org")
	w.Enter(eve)
	service := w.bob
	service.IsService = true
	yes, level := true, ubl.NotifyAll
	for name, who := range map[string]ubl.Identity{"the tenant's owner": w.ana, "another tenant's": eve, "a service of that id": service} {
		for _, cmd := range []ubl.Command{
			ubl.GetPerson{Who: who}, ubl.MakePushKey{Request: w.Request(who)},
			ubl.SetRoomPreference{Request: w.Request(who), RoomID: "r:general", Patch: ubl.RoomPreferencePatch{Favourite: &yes, Level: &level}},
			ubl.Notify{Request: w.Request(who), News: ubl.News{RoomID: "r:general", Seq: 1, Mentioned: true}},
			ubl.SeenRoom{Request: w.Request(who), RoomID: "r:general", Seq: 1},
			ubl.AddReminder{Request: w.Request(who), RoomID: "r:general", MsgID: "m:1", At: ubl.TimeOf(w.Clock.Now()).Add(time.Hour)},
		} {
			if _, err := w.Ask(context.Background(), personOf(w.bob), cmd); ubl.CodeOf(err) != ubl.CodeForbidden {
				t.Errorf("%s: %T is answered %v", name, cmd, err)
			}
		}
	}
	if p := w.person(w.bob); len(p.Preferences.Rooms)+len(p.Reminders)+len(p.Waiting) != 0 {
		t.Errorf("bob has %+v", p)
	}
}
