package person

import (
	"encoding/json"
	"testing"

	"ubl"
)

// TestStoredForm: events and snapshots are stored byte for byte as all versions of the program
// have, so that an older one reads them too.
func TestStoredForm(t *testing.T) {
	const stamp = `{"v":1,"n":3,"did":"person.notify","at":"2026-01-07T12:34:56.000Z","by":"u:ana","salt":"01000000000000000000000000000000",`
	for _, stored := range []string{
		stamp + `"preferences":{"rooms":[{"room_id":"r:a","level":"all","muted_until":"2026-01-07T12:34:56.000Z","favourite":true,"section":"Work"}],` +
			`"sections":["Work"],"keywords":["x"],"quiet":{"from":"22:00","to":"07:00","zone":"UTC","days":["mon"]},"disturb_at":"2026-01-07T12:34:56.000Z","preview":"none","mail":"daily","mail_text":true,"language":"de"}}`,
		stamp + `"room":{"room_id":"r:a"},"key":{"public":"k","sealed":"AA=="}}`,
		stamp + `"device":{"device_id":"v:1","name":"x","added_at":"2026-01-07T12:34:56.000Z","subscription":{"endpoint":"https://a","p256dh":"b","auth":"c"}}}`,
		stamp + `"reminder":{"reminder_id":"n:1","room_id":"r:a","msg_id":"m:1","at":"2026-01-07T12:34:56.000Z","note":"x","due":true}}`,
		stamp + `"scheduled":{"scheduled_id":"q:1","room_id":"r:a","text":"x","mentions":["@room"],"reply_to":"m:1","thread":"m:2","at":"2026-01-07T12:34:56.000Z",` +
			`"zone":"UTC","rule":"FREQ=DAILY","start":"2026-01-07T12:34:56.000Z","sending":true,"last":{"msg_id":"m:3","at":"2026-01-07T12:34:56.000Z"},` +
			`"failed":{"code":"forbidden","message":"no","at":"2026-01-07T12:34:56.000Z"},"as":{"email":"a@b","domain":"b","groups":["g"],"issuer":"i","subject":"s"}},"gone":true}`,
		stamp + `"waiting":{"room_id":"r:a","count":2,"first_seq":1,"last_seq":4,"held":true,"on":["v:1"],"since":"2026-01-07T12:34:56.000Z","told":3,"newest":[3,4]},"released":true,` +
			`"mail":{"at":"2026-01-07T12:34:56.000Z","after":"2026-01-07T12:34:56.000Z","failed":{"address":"a@b","message":"no","at":"2026-01-07T12:34:56.000Z"}},` +
			`"told":[{"room_id":"r:a","seq":3,"since":"2026-01-07T12:34:56.000Z"}],"begins":{"key":"message:v:1:r:a","seq":4},"ends":"x"}`,
	} {
		var e event
		if err := json.Unmarshal([]byte(stored), &e); err != nil {
			t.Fatal(err)
		}
		if got, err := json.Marshal(e); string(got) != stored {
			t.Errorf("stored\n%s, before\n%s, %v", got, stored, err)
		}
	}
	const snapshot = `{"Tenant":"t:a","User":"u:ana","Preferences":{"keywords":["x"]},"Key":{"public":"k","sealed":"AA=="},` +
		`"Devices":[{"device_id":"v:1","name":"x","added_at":"2026-01-07T12:34:56.000Z"}],"Reminders":null,` +
		`"Waiting":[{"room_id":"r:a","count":2,"first_seq":1,"last_seq":4,"on":["v:1"]}],"Open":[{"key":"k","seq":4}]}`
	s, err := snapshots().Decode([]byte(snapshot))
	if got := string(s.encode()); err != nil || got != snapshot {
		t.Errorf("a snapshot is stored\n%s, before\n%s, %v", got, snapshot, err)
	}
}

// TestWhatWaitedBeforeIsMailed: what an earlier version has stored as waiting says neither since when,
// nor which messages. Once its person is mailed, a mail is due of it.
func TestWhatWaitedBeforeIsMailed(t *testing.T) {
	s, err := snapshots().Decode([]byte(`{"Tenant":"t:a","User":"u:ana","Preferences":{},"Key":null,"Devices":null,"Reminders":null,` +
		`"Waiting":[{"room_id":"r:a","count":2,"first_seq":1,"last_seq":4}],"Open":null}`))
	if err != nil || s.mailDue() != 0 {
		t.Fatalf("who hasn't chosen mails has one due at %s, %v", s.mailDue(), err)
	}
	s.Preferences.Mail = ubl.MailMentions
	now := ubl.Time(1 << 42)
	if due := s.mailDue(); due == 0 || due > now {
		t.Errorf("a mail is due at %s", due)
	}
	if l := s.letter(now); len(l.rooms) != 1 || l.rooms[0].LastSeq != 4 {
		t.Errorf("a mail is to tell of %+v", l.rooms)
	}
}
