package container

import (
	"encoding/json"
	"testing"

	"ubl"
	"ubl/actors"
)

// TestStoredForms: events and versions are stored byte for byte as all versions of the
// program have, so that an older one reads them too.
func TestStoredForms(t *testing.T) {
	const receipt = `"receipt":{"ledger_shard":"0","seq":7,"cid":"c:1","head_hash":"h:1","time":"2026-01-07T12:34:56.000Z"}}`
	const document = `"document":{"id":"d:1","title":"<Plan>","content_hash":"b:1","bytes":4,"version":1,"text":1,` +
		`"created_at":"2026-01-07T12:34:56.000Z","created_by":"u:ana","updated_at":"2026-01-07T12:34:56.000Z","updated_by":"u:ana"},`
	const file = `"file":{"id":"f:1","document":"d:1","name":"plan.pdf","type":"application/pdf","blob":"ed7002b439e9ac845f22357d822bac1444730fbdb6016d3ec9432297b9ec9f73",` +
		`"bytes":7,"salt":"000102030405060708090a0b0c0d0e0f","n":3,"created_at":"2026-01-07T12:34:56.000Z","created_by":"u:ana"},`
	const put = `{"v":2,"n":3,"did":"office.file.put","at":"2026-01-07T12:34:56.000Z","by":"u:ana",` + file
	const stamp = `{"v":2,"n":3,"did":"office.document.create","at":"2026-01-07T12:34:56.000Z","by":"u:ana",`
	escaped := func(s string) string {
		b, err := json.Marshal(json.RawMessage(s)) // as the encoder writes < and >
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	for _, test := range []struct {
		stored string
		into   interface{ unsealed() (any, ubl.Receipt) }
	}{
		{escaped(stamp + document + receipt), &event{}},
		{escaped(`{"v":1,` + document + receipt), &version{}},
		{put + receipt, &event{}},
		{`{"v":1,` + file + receipt, &fileRecord{}},
	} {
		if err := json.Unmarshal([]byte(test.stored), test.into); err != nil {
			t.Fatal(err)
		}
		object, receipt := test.into.unsealed()
		act := &actors.Act{}
		record := act.Sealed(nil, encode(object))
		act.Receipt = receipt
		if got := string(record.Seal()); got != test.stored {
			t.Errorf("stored\n%s, before\n%s", got, test.stored)
		}
	}
}

func (e *event) unsealed() (any, ubl.Receipt) {
	without := *e
	without.Receipt = ubl.Receipt{}
	return without, e.Receipt
}

func (r *fileRecord) unsealed() (any, ubl.Receipt) {
	return fileRecord{Form: r.Form, File: r.File}, r.Receipt
}

func (v *version) unsealed() (any, ubl.Receipt) {
	return version{Form: v.Form, Document: v.Document}, v.Receipt
}
