package webhooks

import (
	"encoding/json"
	"testing"
)

// TestStoredForm: events, jobs and snapshots are stored byte for byte as all versions of the program
// have, so that an older one reads them too.
func TestStoredForm(t *testing.T) {
	const (
		stamp = `{"v":1,"n":3,"did":"webhook.update","at":"2026-01-07T12:34:56.000Z","by":"u:ana",`
		when  = `"2026-01-07T12:34:56.000Z"`
		hook  = `"webhook_id":"wh:1","name":"x","url":"https://a","events":["message"],"rooms":["r:a"],"made_by":"u:ana","made_at":` + when +
			`,"paused":{"at":` + when + `,"reason":"failing"},"old_secret_until":` + when
		delivery = `{"delivery_id":"msg_1","event":"message","room_id":"r:a","room_seq":2,"msg_id":"m:1","state":"failed","at":` + when + `,"ended_at":` + when +
			`,"status":500,"attempts":17,"message":"no"}`
		secrets = `"secrets":[{"sealed":"AA=="},{"sealed":"AQ==","until":` + when + `}]`
	)
	for _, stored := range []string{
		stamp + `"salt":"01000000000000000000000000000000","webhook":{` + hook + `},` + secrets + `,"gone":true}`,
		stamp + `"of":"wh:1","delivery":` + delivery + `,"asked":` + delivery + `}`,
	} {
		var e event
		if err := json.Unmarshal([]byte(stored), &e); err != nil {
			t.Fatal(err)
		}
		if got, err := json.Marshal(e); string(got) != stored {
			t.Errorf("stored\n%s, before\n%s, %v", got, stored, err)
		}
	}
	const work = `{"v":1,"what":"deliver","webhook_id":"wh:1","delivery":` + delivery + `,"reason":"failing"}`
	var j job
	if err := json.Unmarshal([]byte(work), &j); err != nil {
		t.Fatal(err)
	}
	if got, err := json.Marshal(j); string(got) != work {
		t.Errorf("a job is stored\n%s, before\n%s, %v", got, work, err)
	}
	const snapshot = `{"Tenant":"t:a","Hooks":[{` + hook + `,"last":` + delivery + `,"failing_since":` + when + `,"failures":3,"waiting":1,"since":` + when + `,` + secrets + `,"deliveries":[` + delivery + `]}]}`
	s, err := snapshots().Decode([]byte(snapshot))
	if got := string(s.encode()); err != nil || got != snapshot {
		t.Errorf("a snapshot is stored\n%s, before\n%s, %v", got, snapshot, err)
	}
}
