package reading

import (
	"encoding/json"

	"ubl"
)

// What Persons write for Rooms, so that a message wakes nobody whom it isn't for:
//
//	Z user          what the person wants to hear of (JSON, [Listener]), while a device is reached or mails tell of it
//	J user 0 room   something waits in the room for the person (a version byte)

// Listener is what a person wants to hear of.
type Listener struct {
	Form        int             `json:"v"`
	Preferences ubl.Preferences `json:"preferences"`
}

const listenerVersion = 1

// Encode is the stored form.
func (l Listener) Encode() []byte {
	l.Form = listenerVersion
	b, err := json.Marshal(l)
	if err != nil { // texts, numbers and times
		panic("reading: couldn't encode a listener: " + err.Error())
	}
	return b
}

// ListenerKey is the key of a person's.
func ListenerKey(u ubl.UserID) []byte { return append([]byte{'Z'}, u...) }

// WaitsKey is the key that says that something waits for a person in a room.
func WaitsKey(u ubl.UserID, r ubl.RoomID) []byte {
	return append(append(append([]byte{'J'}, u...), 0), r...)
}

// Waits is the value of such a key.
func Waits() []byte { return []byte{listenerVersion} }

// AnybodyListens reports whether there are listeners.
func AnybodyListens(snap ubl.Snapshot) (any bool, err error) {
	err = snap.Ascend([]byte{'Z'}, []byte{'Z' + 1}, func(_, _ []byte) bool {
		any = true
		return false
	})
	return any, err
}

// Listeners calls each for all who listen. It skips what a later version wrote, which this one
// can't read.
func Listeners(snap ubl.Snapshot, each func(ubl.UserID, *ubl.Preferences) error) (err error) {
	seen := snap.Ascend([]byte{'Z'}, []byte{'Z' + 1}, func(k, v []byte) bool {
		var l Listener
		if json.Unmarshal(v, &l) != nil || l.Form > listenerVersion {
			return true
		}
		err = each(ubl.UserID(k[1:]), &l.Preferences)
		return err == nil
	})
	if seen != nil {
		return seen
	}
	return err
}
