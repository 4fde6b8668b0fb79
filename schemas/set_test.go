package schemas

import (
	"encoding/json"
	"testing"

	"ubl"
	"ubl/offer"
)

// TestActsOfFamilies: published schemas know the acts that a family brings along, and the files
// stay as they are.
func TestActsOfFamilies(t *testing.T) {
	about := json.RawMessage(`{"type":"object","required":["poll_id"],"additionalProperties":false,"properties":{"poll_id":{"type":"string"}}}`)
	effect := json.RawMessage(`{"type":"object","required":["op","seq"],"additionalProperties":false,
		"properties":{"op":{"enum":["poll.open","poll.vote"]},"seq":{"$ref":"ubl.common.v1#/$defs/seq"}}}`)
	set := With(
		offer.Act{Did: "poll.open", This: about, Effect: effect, Pointers: about},
		offer.Act{Did: "poll.vote", This: about, Effect: effect},
	)
	forms := compiledOf(t, set)
	for _, did := range []ubl.Did{"poll.open", "poll.vote"} {
		atoms := func(poll ubl.Field) (action, effect []byte) {
			a := ubl.Action{Shard: "0", TenantID: "t:acme.com", AgreementID: "a:room:r:general", Did: did, PrevHash: ubl.Genesis, RequestID: "req:1234",
				Status: ubl.StatusExecuted, This: ubl.Fields{poll}, When: now, Who: person}
			action, cid := a.Seal()
			e := ubl.Effect{Shard: "0", TenantID: "t:acme.com", Outcome: ubl.OutcomeOK, PrevHash: ubl.Genesis, RefActionCID: cid, When: now,
				Effects: []ubl.Fields{{ubl.Str("op", did), ubl.Int("seq", 1)}}, Pointers: ubl.Fields{poll}}
			effect, _ = e.Seal()
			return action, effect
		}
		action, effect := atoms(ubl.Str("poll_id", "1"))
		valid(t, forms, "ubl.ledger.action.v2", action)
		valid(t, forms, "ubl.ledger.effect.v2", effect)
		if compiled(t)["ubl.ledger.action.v2"].Validate(parse(t, action)) == nil {
			t.Errorf("the files know %s", did)
		}
		action, effect = atoms(ubl.Int("poll_id", 1))
		for id, atom := range map[string][]byte{"ubl.ledger.action.v2": action, "ubl.ledger.effect.v2": effect} {
			if forms[id].Validate(parse(t, atom)) == nil {
				t.Errorf("%s takes %s", id, atom)
			}
		}
	}
}

// TestActsThatCannotBe: two acts of one name, and what is no schema.
func TestActsThatCannotBe(t *testing.T) {
	for what, act := range map[string]offer.Act{
		"an act of the table": {Did: ubl.DidSend, This: json.RawMessage(`{}`)},
		"no object":           {Did: "poll.open", This: json.RawMessage(`7`)},
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s is taken", what)
				}
			}()
			With(act)
		}()
	}
}
