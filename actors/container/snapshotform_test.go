package container

import (
	"os"
	"reflect"
	"testing"

	"ubl"
	"ubl/actors/agreement"
)

// TestSnapshotForm: a snapshot that some release wrote is loaded by all later
// ones. The file is of form 1; a newer form gets a file of its own.
func TestSnapshotForm(t *testing.T) {
	stored, err := os.ReadFile("testdata/checkpoint.v1.json")
	if err != nil {
		t.Fatal(err)
	}
	var s State
	if err := s.restore(stored); err != nil {
		t.Fatal(err)
	}
	owner := ubl.Member{UserID: "u:ana", Email: "ana@example.com", Role: ubl.RoleOwner, Since: 1000}
	ended, wallet := ubl.Time(9000), ubl.WalletKind().Physics
	want := State{
		Summary: ubl.ContainerSummary{ContainerID: "k:cash", Kind: "wallet", Name: "Cash", Physics: wallet, CreatedAt: 1000},
		Agreement: agreement.Kept{Agreement: ubl.Agreement{
			ID: "a:wallet:k:cash", Type: ubl.WalletAgreementType, TenantID: "t:example.com", CreatedAt: 1000, CreatedBy: "u:ana",
			Status: ubl.AgreementEnded, EndedAt: &ended, Physics: &wallet, Terms: usual[usualFor{ubl.Gated, true, false}], Members: map[ubl.UserID]ubl.Member{"u:ana": owner},
		}},
		Balance: 70, InTransit: 30, Documents: map[ubl.DocumentID]document{}, Keyed: map[ubl.DocumentKey]ubl.DocumentID{}, Deleted: map[ubl.DocumentID]int64{}, Files: map[ubl.FileID]file{}, Past: map[ubl.UserID]bool{},
		Pending: map[ubl.TransferID]departure{"x:1": {N: 999, transfer: transfer{
			ID: "x:1", From: "k:cash", To: "k:till", Op: ubl.OpTransfer, Amount: 30, Email: "ana@example.com", RequestID: "req:1",
		}}},
		Events: 1000, Changed: 7, Steps: []int64{1, 1000},
	}
	if !reflect.DeepEqual(s, want) {
		t.Errorf("restored\n%+v, want\n%+v", s, want)
	}
	var again State
	if err := again.restore(s.encode()); err != nil || !reflect.DeepEqual(again, want) {
		t.Errorf("written and restored again: %v\n%+v, want\n%+v", err, again, want)
	}
	if err := s.restore([]byte(`{"v":3}`)); err == nil {
		t.Error("a snapshot of a newer form is guessed at")
	}
}
