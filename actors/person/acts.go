package person

import (
	"encoding/json"
	"fmt"

	"ubl"
	"ubl/offer"
)

// The forms of what the family puts on record: whose it is, and a commitment to the rest.
var acts = func() (list []offer.Act) {
	const user = `"user_id": { "$ref": "ubl.common.v1#/$defs/user_id" }`
	this := json.RawMessage(`{ "type": "object", "additionalProperties": false, "required": ["content_hash", "user_id"], "properties": {
		"content_hash": { "type": "string", "pattern": "^b:[0-9a-f]{64}$" }, ` + user + ` } }`)
	pointers := json.RawMessage(`{ "type": "object", "additionalProperties": false, "required": ["agreement_id", "user_id"], "properties": {
		"agreement_id": { "$ref": "ubl.common.v1#/$defs/agreement_id" }, ` + user + ` } }`)
	for _, did := range []ubl.Did{
		didPreferences, didRoom, didKey, didDeviceAdd, didDeviceRemove, didReminderAdd, didReminderRemove, didReminderRing, didNotify, didRelease, didSeen, didPush,
	} {
		effect := json.RawMessage(fmt.Sprintf(`{ "type": "object", "additionalProperties": false, "required": ["op", "user_id"], "properties": {
			"op": { "const": %q }, %s } }`, did, user))
		list = append(list, offer.Act{Did: did, This: this, Effect: effect, Pointers: pointers})
	}
	return list
}()
