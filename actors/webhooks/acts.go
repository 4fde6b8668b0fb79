package webhooks

import (
	"encoding/json"
	"fmt"

	"ubl"
	"ubl/offer"
)

// The forms of what the family puts on record: which webhook, and of what its maker sets a
// commitment to the rest.
var acts = func() (list []offer.Act) {
	const hook = `"webhook_id": { "type": "string", "pattern": "^wh:[0-9a-f]{20}$" }`
	follows := json.RawMessage(`{ "type": "object", "additionalProperties": false, "required": ["webhook_id"], "properties": { ` + hook + ` } }`)
	own := json.RawMessage(`{ "type": "object", "additionalProperties": false, "required": ["content_hash", "webhook_id"], "properties": {
		"content_hash": { "type": "string", "pattern": "^b:[0-9a-f]{64}$" }, ` + hook + ` } }`)
	for _, did := range []ubl.Did{didCreate, didUpdate, didRemove, didRotate, didTest, didRedeliver, didDeliver, didPause, didRemind} {
		effect := json.RawMessage(fmt.Sprintf(`{ "type": "object", "additionalProperties": false, "required": ["op", "webhook_id"], "properties": {
			"op": { "const": %q }, %s } }`, did, hook))
		form := follows
		switch did {
		case didCreate, didUpdate, didRemove, didRotate:
			form = own
		}
		list = append(list, offer.Act{Did: did, This: form, Effect: effect, Own: did == didRemove})
	}
	return list
}()
