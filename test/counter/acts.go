package counter

import (
	"encoding/json"
	"fmt"

	"ubl"
	"ubl/offer"
)

// The forms of what the family puts on record.
var (
	about = object(`"counter_id"`, "")
	acts  = []offer.Act{
		{Did: didAdd, This: about, Effect: effect(didAdd), Pointers: about},
		{Did: didReset, This: about, Effect: effect(didReset), Pointers: about},
		{Did: didCall, This: object(`"counter_id", "value"`, `, "value": { "type": "integer" }`), Effect: effect(didCall), Pointers: about},
	}
)

func effect(did ubl.Did) json.RawMessage {
	return object(`"counter_id", "op", "value"`, fmt.Sprintf(`, "op": { "const": %q }, "value": { "type": "integer" }`, did))
}

// object is the schema of an object that names a counter.
func object(required, more string) json.RawMessage {
	return json.RawMessage(fmt.Sprintf(`{
		"type": "object", "additionalProperties": false, "required": [%s],
		"properties": { "counter_id": { "type": "string", "pattern": "^n:[a-z0-9-]{1,64}$" }%s }
	}`, required, more))
}
