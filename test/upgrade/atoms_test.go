package upgrade

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"ubl"
	"ubl/test/harness"
)

// TestAtomsOfVersion2: testdata/atoms-v2 is what a node left that was killed, whose ledger has atoms of
// version 2 alone, with the export that it answered just before. It had done each act with a
// commitment once. This version has all of it, exports the same bytes, and goes on with the same chain.
func TestAtomsOfVersion2(t *testing.T) {
	kept, err := os.ReadFile("testdata/atoms-v2/ledger.ndjson")
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(kept), `.v1","outcome"`) || strings.Count(string(kept), `"kind":"action.v2"`) < 100 {
		t.Error("the ledger has atoms of another version, or few")
	}
	verified, err := ubl.Verify(strings.NewReader(string(kept)), ubl.VerifyOptions{})
	if err != nil {
		t.Fatal(err)
	}
	h := harness.Open(t, harness.Options{Dir: harness.Fixture(t, "testdata/atoms-v2/data.tar.gz"), From: time.Date(2026, 11, 29, 14, 30, 0, 0, time.UTC)})
	owner := local("owner@localhost")
	export, head, err := harness.Export(t.Context(), h.Runtime, owner.TenantID)
	if err != nil || export != string(kept) {
		t.Errorf("%v: the export, up to %d, isn't the one that was answered then, up to %d", err, head.Seq, verified.Atoms)
	}

	harbour := ubl.RoomName(owner.TenantID, "r:harbour")
	page := harness.Must[*ubl.HistoryPage](h, harbour, ubl.ReadHistory{Who: owner, Limit: 200, Now: true, Entries: true})
	kinds := map[ubl.EntryType]int{}
	var maps ubl.Entry
	for _, raw := range page.Entries {
		var e ubl.Entry
		if err := json.Unmarshal(raw, &e); err != nil {
			t.Fatal(err)
		}
		kinds[e.Type]++
		if e.Body != nil && strings.Contains(string(e.Body.JSON), "Two maps") {
			maps = e
		}
	}
	for _, kind := range []ubl.EntryType{ubl.EntryMessage, ubl.EntryEdit, ubl.EntryReaction, ubl.EntryRedaction, ubl.EntryPin, ubl.EntryVote, ubl.EntryPollEnd, ubl.EntryMembership, ubl.EntryProposal} {
		if kinds[kind] == 0 {
			t.Errorf("the room has no %s", kind)
		}
	}
	if len(maps.Attachments) != 2 || !strings.Contains(string(kept), maps.Salt.AttachmentsHash(maps.Attachments)) {
		t.Errorf("the message with maps is %+v", maps)
	}
	documents := harness.Must[*ubl.DocumentList](h, ubl.ContainerName(owner.TenantID, "w:archive"), ubl.ListDocuments{Request: h.Request(owner)})
	if len(documents.Documents) != 2 {
		t.Errorf("the archive has %+v", documents.Documents)
	}
	harness.Must[*ubl.Sent](h, ubl.RoomName(owner.TenantID, ubl.GeneralRoom), ubl.SendMessage{Request: h.Request(owner), Text: "and on"})
	after, _, err := harness.Export(t.Context(), h.Runtime, owner.TenantID)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ubl.Verify(strings.NewReader(after), ubl.VerifyOptions{Earlier: verified.HeadHash}); err != nil {
		t.Error(err)
	}
}
