package actors_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"ubl"
	"ubl/mail"
	"ubl/push"
	"ubl/test/harness"
	"ubl/test/mailserver"
	"ubl/test/poll"
	"ubl/test/webpush"
)

// mailed is a tenant of two with a mail server. Bob's app has told his language.
type mailed struct {
	*reached
	server *mailserver.Server
}

func openMailed(t *testing.T) *mailed {
	w := &mailed{server: mailserver.New(t, mailserver.Options{})}
	w.reached = &reached{t: t, service: webpush.New(t), ana: harness.User("ana@example.com"), bob: harness.User("bob@example.com")}
	key := func() [][]byte { return [][]byte{[]byte(strings.Repeat("k", 32))} }
	w.House = harness.Open(t, harness.Options{
		Push: push.New(push.Options{
			Sealer: unsealed{}, Client: func(ubl.TenantID) *http.Client { return w.service.Client() }, Contact: "ops@example.com",
		}),
		Mail: mail.New(mail.Options{
			Server: w.server.Addr, TLS: mail.StartTLS, Roots: w.server.Roots, From: "ubl@example.com", At: "https://ubl.example",
			Links: mail.Links{At: "https://ubl.example", Keys: key}, Now: func() time.Time { return w.Clock.Now() },
		}),
	})
	w.Enter(w.ana)
	w.Enter(w.bob)
	w.general = ubl.RoomName(w.ana.TenantID, ubl.GeneralRoom)
	language := "en"
	w.prefer(ubl.PreferencesPatch{Language: &language})
	return w
}

// unsealed keeps keys as they are.
type unsealed struct{}

func (unsealed) Seal(_ ubl.Name, plain []byte) ([]byte, error)  { return plain, nil }
func (unsealed) Open(_ ubl.Name, sealed []byte) ([]byte, error) { return sealed, nil }

func (w *mailed) prefer(patch ubl.PreferencesPatch) {
	w.t.Helper()
	harness.Must[*ubl.Preferences](w.House, personOf(w.bob), ubl.SetPreferences{Request: w.Request(w.bob), Patch: patch})
}

// level has mails tell bob of something else.
func (w *mailed) level(l ubl.MailLevel) {
	w.t.Helper()
	w.prefer(ubl.PreferencesPatch{Mail: &l})
}

// mention has ana write to bob, until so many messages wait for him.
func (w *mailed) mention(text string, waiting int64) int64 {
	w.t.Helper()
	seq := w.say(w.ana, text, ubl.Mention(w.bob.UserID))
	w.waits(w.bob, waiting)
	return seq
}

// after lets a time go by, and takes what was mailed until then.
func (w *mailed) after(wait time.Duration) []mailserver.Got {
	w.t.Helper()
	w.Clock.Add(wait)
	w.Alarms()
	return w.server.Take()
}

// mails wants so many mails once a time has gone by.
func (w *mailed) mails(count int, wait time.Duration) []mailserver.Got {
	w.t.Helper()
	got := w.after(wait)
	if len(got) != count {
		w.t.Fatalf("after %s there are %d mails, want %d", wait, len(got), count)
	}
	return got
}

// TestMailTellsWhatIsUnread: what is for somebody and unread for a quarter of an hour is mailed once,
// with where, how much and by whom, and not with what was said; the next mail is an hour later.
func TestMailTellsWhatIsUnread(t *testing.T) {
	w := openMailed(t)
	w.say(w.ana, "good morning all")
	w.mention("can you look, Bob?", 1)
	w.mails(0, 14*time.Minute)
	got := w.mails(1, time.Minute)[0]
	text := got.Parts(t)["text/plain"]
	if got.To != w.bob.Email || !strings.Contains(text, "general") || !strings.Contains(text, ": 1") || !strings.Contains(text, w.ana.Email) || strings.Contains(text, "can you look") {
		t.Errorf("bob is mailed at %s:\n%s", got.To, text)
	}
	w.mails(0, 3*time.Hour)

	// A person may have more of it, and an hour lies between.
	yes, german := true, "de"
	w.prefer(ubl.PreferencesPatch{MailText: &yes, Language: &german})
	w.mention("and\n\nnow?", 2)
	again := w.mails(1, 15*time.Minute)[0]
	if text := again.Parts(t)["text/plain"]; !strings.Contains(text, "and now?") || !strings.Contains(text, ": 2") || !strings.Contains(text, "Ungelesene") {
		t.Errorf("bob is mailed:\n%s", text)
	}
	if again.Header.Get("Message-Id") == got.Header.Get("Message-Id") {
		t.Error("two mails have one Message-ID")
	}
	seq := w.mention("really", 3)
	w.mails(0, 50*time.Minute)
	harness.Must[*ubl.ReadState](w.House, w.general, ubl.MarkRead{Request: w.Request(w.bob), Seq: seq})
	w.waits(w.bob, 0)
	w.mails(0, 24*time.Hour)
	w.VerifyLedger(w.ana.TenantID)
	if export, _, err := harness.Export(t.Context(), w.House, w.ana.TenantID); err != nil || strings.Contains(export, "now?") || strings.Contains(export, w.server.Addr) {
		t.Errorf("the ledger tells of texts or mail servers: %v", err)
	}
}

// TestWhomNoMailIsFor: nobody is mailed who is reached by a device, wants none, has never been here,
// hasn't proven an address, or has left.
func TestWhomNoMailIsFor(t *testing.T) {
	w := openMailed(t)
	w.say(w.bob, "ana has never opened the app", ubl.Mention(w.ana.UserID))
	w.mails(0, time.Hour)

	device := w.device(w.bob, "phone")
	w.mention("by push", 1)
	w.pushed(1)
	w.mails(0, time.Hour)
	w.level(ubl.MailAlways)
	w.mails(1, 15*time.Minute)
	w.level(ubl.MailMentions)
	harness.Must[*ubl.Device](w.House, personOf(w.bob), ubl.RemoveDevice{Request: w.Request(w.bob), DeviceID: device.DeviceID})
	w.mention("by mail", 2)
	w.mails(1, time.Hour)
	w.mention("by nothing", 3)
	w.level(ubl.MailOff)
	w.mails(0, 24*time.Hour)

	p := &party{House: w.House, t: t, tenant: ubl.TenantName(w.ana.TenantID), ana: w.ana, bob: w.bob}
	boss, always := p.guest(w.ana, "boss@example.com", ubl.RoleMember), ubl.MailAlways
	harness.Must[*ubl.Preferences](w.House, personOf(boss), ubl.SetPreferences{Request: w.Request(boss), Patch: ubl.PreferencesPatch{Mail: &always}})
	w.say(w.ana, "is this yours?", ubl.Mention(boss.UserID))
	w.waits(boss, 1)
	w.mails(0, time.Hour)
	if m := w.person(boss).Mail; m == nil || m.Address != "" {
		t.Errorf("who is unproven is mailed at %+v", m)
	}

	w.level(ubl.MailAlways)
	w.mails(1, 0)
	w.mention("goodbye", 4)
	harness.Must[*ubl.Member](w.House, p.tenant, ubl.RemoveTenantMember{Request: w.Request(w.ana), UserID: w.bob.UserID})
	w.mails(0, 24*time.Hour)
	w.VerifyLedger(w.ana.TenantID)
}

// TestWhoIsUnprovenIsMailedAsThat: a mail never gives the address of somebody who came by a link as
// theirs.
func TestWhoIsUnprovenIsMailedAsThat(t *testing.T) {
	w := openMailed(t)
	p := &party{House: w.House, t: t, tenant: ubl.TenantName(w.ana.TenantID), ana: w.ana, bob: w.bob}
	boss := p.guest(w.ana, "boss@example.com", ubl.RoleMember)
	w.say(boss, "send me the keys", ubl.Mention(w.bob.UserID))
	w.waits(w.bob, 1)
	if text := w.mails(1, 15*time.Minute)[0].Parts(t)["text/plain"]; strings.Contains(text, boss.Email) || !strings.Contains(text, "(unproven)") {
		t.Errorf("bob is mailed:\n%s", text)
	}
}

// TestMailKeepsQuiet: what is quiet, and a room that is mute, holds mails back until that ends.
func TestMailKeepsQuiet(t *testing.T) {
	w := openMailed(t)
	hour, two := int64(3600), int64(2*3600)
	w.prefer(ubl.PreferencesPatch{DoNotDisturbSeconds: &hour})
	w.mention("one", 1)
	w.mails(0, 59*time.Minute)
	w.mails(1, time.Minute)
	w.mention("two", 2)
	harness.Must[*ubl.RoomPreference](w.House, personOf(w.bob), ubl.SetRoomPreference{
		Request: w.Request(w.bob), RoomID: ubl.GeneralRoom, Patch: ubl.RoomPreferencePatch{MuteSeconds: &two},
	})
	w.mails(0, 119*time.Minute)
	w.mails(1, time.Minute)
	none := ubl.NotifyNothing
	w.mention("three", 3)
	harness.Must[*ubl.RoomPreference](w.House, personOf(w.bob), ubl.SetRoomPreference{
		Request: w.Request(w.bob), RoomID: ubl.GeneralRoom, Patch: ubl.RoomPreferencePatch{Level: &none},
	})
	w.mails(0, 24*time.Hour)
}

// TestDailyMail: everything unread once a day, whomever it is for, and nothing where nothing is.
func TestDailyMail(t *testing.T) {
	w := openMailed(t)
	w.level(ubl.MailDaily)
	w.say(w.ana, "for nobody in particular")
	seq := w.say(w.ana, "nor this")
	w.mails(0, 23*time.Hour)
	text := w.mails(1, time.Hour)[0].Parts(t)["text/plain"]
	if !strings.Contains(text, "general") || !strings.Contains(text, ": 2") || !strings.Contains(text, w.ana.Email) {
		t.Errorf("bob is mailed:\n%s", text)
	}
	harness.Must[*ubl.ReadState](w.House, w.general, ubl.MarkRead{Request: w.Request(w.bob), Seq: seq})
	w.mails(0, 24*time.Hour)
	w.say(w.ana, "tomorrow's")
	w.mails(1, 24*time.Hour)
}

// TestRefusedAddress: what may pass is tried again; an address that is refused for good is shown, and
// tried again when its owner says so.
func TestRefusedAddress(t *testing.T) {
	w := openMailed(t)
	refuse := func(code int) {
		w.server.Refuse(func(step mailserver.Step, _ string) int {
			if step == mailserver.To {
				return code
			}
			return 0
		})
	}
	refuse(450)
	w.mention("one", 1)
	w.mails(0, 15*time.Minute)
	poll.Until(t, "the attempt has failed", func() bool { return w.OutboxStats().Waiting == 1 })
	refuse(0)
	w.mails(1, time.Minute)

	refuse(550)
	w.mention("two", 2)
	w.mails(0, time.Hour)
	m := w.person(w.bob).Mail
	if m == nil || m.Failed == nil || m.Failed.Address != w.bob.Email || !strings.Contains(m.Failed.Message, "550") {
		t.Fatalf("bob's mail is %+v", m)
	}
	refuse(0)
	w.mention("three", 3)
	w.mails(0, 48*time.Hour)
	w.level(ubl.MailMentions)
	if m := w.person(w.bob).Mail; m.Failed != nil {
		t.Errorf("once he has chosen again bob's mail is %+v", m)
	}
	w.mention("four", 4)
	w.mails(1, time.Hour)
	w.VerifyLedger(w.ana.TenantID)
}

// TestMailOutlivesTheNode: a mail that is due while nothing runs leaves at the next start. One that the
// server has taken, and whose answer was lost, leaves again with its Message-ID, and never a third time.
func TestMailOutlivesTheNode(t *testing.T) {
	w := openMailed(t)
	w.mention("one", 1)
	w.Clock.Add(5 * time.Minute)
	w.Restart()
	w.mails(1, 10*time.Minute)

	w.server.Lose(1)
	w.mention("two", 2)
	first := w.mails(1, time.Hour)[0]
	w.Restart()
	second := w.mails(1, time.Hour)[0]
	if id := first.Header.Get("Message-Id"); id == "" || id != second.Header.Get("Message-Id") {
		t.Errorf("the mails have the ids %q and %q", id, second.Header.Get("Message-Id"))
	}
	w.Restart()
	w.mails(0, 24*time.Hour)
	w.VerifyLedger(w.ana.TenantID)
}

// TestMailsEndByTheirLink: the platform ends those of the one person, once, with a receipt.
func TestMailsEndByTheirLink(t *testing.T) {
	w := openMailed(t)
	always := ubl.MailAlways
	harness.Must[*ubl.Preferences](w.House, personOf(w.ana), ubl.SetPreferences{Request: w.Request(w.ana), Patch: ubl.PreferencesPatch{Mail: &always}})
	w.mention("one", 1)
	for range 2 {
		if _, err := w.Ask(t.Context(), personOf(w.bob), ubl.StopMail{Request: w.Request(ubl.Platform())}); err != nil {
			t.Fatal(err)
		}
	}
	w.mails(0, 24*time.Hour)
	if got := w.person(w.bob).Preferences.Mail; got != ubl.MailOff {
		t.Errorf("bob's mails are %q", got)
	}
	if got := w.person(w.ana).Preferences.Mail; got != always {
		t.Errorf("ana's mails are %q", got)
	}
	w.Refused(ubl.CodeForbidden, personOf(w.bob), ubl.StopMail{Request: w.Request(w.ana)})
	export, _, err := harness.Export(t.Context(), w.House, w.ana.TenantID)
	if n := strings.Count(export, `"did":"person.mail.stop"`); err != nil || n != 1 {
		t.Errorf("the ledger has the end %d times, %v", n, err)
	}
	w.VerifyLedger(w.ana.TenantID)
}

// TestManyUnread: a mail says something of ten rooms and counts the others, however many messages there are.
func TestManyUnread(t *testing.T) {
	w := openMailed(t)
	at := personOf(w.bob)
	for i := range int64(12) {
		room := harness.Must[*ubl.RoomSummary](w.House, ubl.TenantName(w.ana.TenantID), ubl.OpenDirect{
			Request: w.Request(w.ana), With: []ubl.UserID{w.bob.UserID, w.joins(i)},
		})
		name := ubl.RoomName(w.ana.TenantID, room.RoomID)
		for range 3 {
			harness.Must[*ubl.Sent](w.House, name, ubl.SendMessage{Request: w.Request(w.ana), Text: "psst"})
		}
	}
	w.waits(w.bob, 36)
	text := w.mails(1, 15*time.Minute)[0].Parts(t)["text/plain"]
	if strings.Count(text, "\n- ") != 10 || !strings.Contains(text, ": 3 · ") || !strings.Contains(text, "unread messages: 2") {
		t.Errorf("bob is mailed:\n%s", text)
	}
	w.mails(0, 24*time.Hour)
	if p := harness.Must[*ubl.Person](w.House, at, ubl.GetPerson{Who: w.bob}); len(p.Waiting) != 12 {
		t.Errorf("%d rooms wait", len(p.Waiting))
	}
}

// joins has one more person in the tenant.
func (w *mailed) joins(i int64) ubl.UserID {
	who := harness.User(string(rune('c'+i)) + "@example.com")
	w.Enter(who)
	return who.UserID
}
