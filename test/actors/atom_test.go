package actors_test

import (
	"encoding/json"
	"testing"

	"ubl"
)

// atom is what tests read of one.
type atom struct {
	Kind, Did, Status, Outcome string
	CID                        string `json:"cid"`
	AgreementID                string `json:"agreement_id"`
	RefActionCID               string `json:"ref_action_cid"`
	Who                        struct {
		UserID ubl.UserID `json:"user_id"`
	}
	Trace          struct{ Parent string }
	This, Pointers map[string]any
	Effects        []map[string]any
	Error          *struct{ Code, Message string }
}

func atomOf(t testing.TB, raw json.RawMessage) atom {
	t.Helper()
	var a atom
	if err := json.Unmarshal(raw, &a); err != nil {
		t.Fatal(err)
	}
	return a
}
