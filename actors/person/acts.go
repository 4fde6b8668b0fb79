package person

import (
	"encoding/json"
	"fmt"

	"ubl"
	"ubl/offer"
)

// The forms of what the family puts on record: whose it is, and of what the person did a
// commitment to the rest. Versions before had one in every act: those that follow from others keep
// it as a member which may be there.
var acts = func() (list []offer.Act) {
	const user = `"user_id": { "$ref": "ubl.common.v1#/$defs/user_id" }`
	this := func(required string) json.RawMessage {
		return json.RawMessage(`{ "type": "object", "additionalProperties": false, "required": [` + required + `], "properties": {
		"content_hash": { "type": "string", "pattern": "^b:[0-9a-f]{64}$" }, ` + user + ` } }`)
	}
	own, follows := this(`"content_hash", "user_id"`), this(`"user_id"`)
	pointers := json.RawMessage(`{ "type": "object", "additionalProperties": false, "required": ["agreement_id", "user_id"], "properties": {
		"agreement_id": { "$ref": "ubl.common.v1#/$defs/agreement_id" }, ` + user + ` } }`)
	for _, did := range []ubl.Did{
		didPreferences, didRoom, didKey, didDeviceAdd, didDeviceRemove, didReminderAdd, didReminderRemove, didReminderRing, didNotify, didRelease, didSeen, didPush,
		didMail, didMailStop, didExport, didScheduledAdd, didScheduledUpdate, didScheduledRemove, didScheduledSend,
	} {
		effect := json.RawMessage(fmt.Sprintf(`{ "type": "object", "additionalProperties": false, "required": ["op", "user_id"], "properties": {
			"op": { "const": %q }, %s } }`, did, user))
		form := own
		switch did {
		case didScheduledSend, didKey, didDeviceRemove, didReminderRing, didNotify, didRelease, didSeen, didPush, didMail, didMailStop, didExport:
			form = follows
		}
		list = append(list, offer.Act{Did: did, This: form, Effect: effect, Pointers: pointers, Own: ofTheirOwn(did)})
	}
	return list
}()

// ofTheirOwn tells what a person decides for themselves alone: how they want to be told, what they
// take away, and what they take home. What reaches a push service, or is kept to be done later, terms may leave out.
func ofTheirOwn(did ubl.Did) bool {
	switch did {
	case didPreferences, didRoom, didSeen, didMailStop, didDeviceRemove, didReminderRemove, didScheduledRemove, didExport:
		return true
	}
	return false
}
