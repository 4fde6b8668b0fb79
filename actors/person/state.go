package person

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"ubl"
	"ubl/actors"
)

// State is what follows from a person's events. Lists are in the order of their ids.
type State struct {
	Tenant      ubl.TenantID
	User        ubl.UserID
	Preferences ubl.Preferences
	Key         *pushKey
	Devices     []ubl.Device
	Reminders   []ubl.Reminder
	Waiting     []waiting
	Open        []open
	Scheduled   []scheduled `json:",omitempty"`
	Mail        *mailing    `json:",omitempty"` // nil before the first mail
}

// pushKey is the pair by which push services know who sends, its private half sealed by the node.
type pushKey struct {
	Public string `json:"public"`
	Sealed []byte `json:"sealed"`
}

// waiting is what came in a room that wasn't read.
type waiting struct {
	ubl.Waiting
	// On are the devices that show a notification of the room.
	On []string `json:"on,omitempty"`
	// Since is when the first came that no mail has told of, Told the newest that one has. Newest are
	// the newest that came, oldest first.
	Since  ubl.Time `json:"since,omitzero"`
	Told   int64    `json:"told,omitempty"`
	Newest []int64  `json:"newest,omitempty"`
}

// open is a push that is intended: its key, and the newest message then.
type open struct {
	Key string `json:"key"`
	Seq int64  `json:"seq,omitempty"`
}

// eventVersion of the stored form.
const eventVersion = 1

// event is stored under Y person 0 n. Each member is what it changes, as it is afterwards.
type event struct {
	actors.Stamp
	Salt        ubl.Salt            `json:"salt,omitzero"` // of the act's commitment, if it has one
	Preferences *ubl.Preferences    `json:"preferences,omitempty"`
	Room        *ubl.RoomPreference `json:"room,omitempty"` // which of these was set
	Key         *pushKey            `json:"key,omitempty"`
	Device      *ubl.Device         `json:"device,omitempty"`
	Reminder    *ubl.Reminder       `json:"reminder,omitempty"`
	Scheduled   *scheduled          `json:"scheduled,omitempty"`
	Gone        bool                `json:"gone,omitempty"`    // of a scheduled message that was sent or cancelled
	Waiting     *waiting            `json:"waiting,omitempty"` // of none, when it was read
	Released    bool                `json:"released,omitempty"`
	Mail        *mailing            `json:"mail,omitempty"`
	Told        []told              `json:"told,omitempty"` // what a mail has told of
	Begins      *open               `json:"begins,omitempty"`
	Ends        string              `json:"ends,omitempty"`
}

type plan = actors.Plan[event]

func newState(of ubl.Name) State { return State{Tenant: of.Group().Tenant, User: userOf(of)} }

// put puts v where its id belongs, in the place of another of that id.
func put[T any](list []T, v T, id func(T) string) []T {
	i, found := slices.BinarySearchFunc(list, id(v), func(x T, want string) int { return cmp.Compare(id(x), want) })
	if found {
		list = slices.Clone(list)
		list[i] = v
		return list
	}
	return slices.Insert(slices.Clone(list), i, v)
}

// without leaves out what has an id.
func without[T any](list []T, of string, id func(T) string) []T {
	return slices.DeleteFunc(slices.Clone(list), func(x T) bool { return id(x) == of })
}

func find[T any](list []T, of string, id func(T) string) *T {
	if i := slices.IndexFunc(list, func(x T) bool { return id(x) == of }); i >= 0 {
		return &list[i]
	}
	return nil
}

func deviceID(d ubl.Device) string     { return d.DeviceID }
func reminderID(r ubl.Reminder) string { return r.ReminderID }
func roomOf(w waiting) string          { return string(w.RoomID) }
func keyOf(o open) string              { return o.Key }

// apply is the only way in which events change the state.
func (s *State) apply(e event) {
	if e.Preferences != nil {
		s.Preferences = *e.Preferences
	}
	if e.Key != nil {
		s.Key = e.Key
	}
	if d := e.Device; d != nil && e.Did == didDeviceRemove {
		s.Devices = without(s.Devices, d.DeviceID, deviceID)
		s.Waiting = slices.Clone(s.Waiting)
		for i, w := range s.Waiting {
			s.Waiting[i].On = without(w.On, d.DeviceID, func(id string) string { return id })
		}
	} else if d != nil {
		added := *d
		added.Salt = e.Salt
		s.Devices = put(s.Devices, added, deviceID)
	}
	if r := e.Reminder; r != nil && e.Did == didReminderRemove {
		s.Reminders = without(s.Reminders, r.ReminderID, reminderID)
	} else if r != nil {
		now := *r
		if !e.Salt.IsZero() { // a ring has none, and leaves it
			now.Salt = e.Salt
		}
		s.Reminders = put(s.Reminders, now, reminderID)
	}
	if m := e.Scheduled; m != nil && e.Gone {
		s.Scheduled = without(s.Scheduled, m.ScheduledID, scheduledID)
	} else if m != nil {
		now := *m
		if !e.Salt.IsZero() { // what follows from an alarm has none, and leaves it
			now.Salt = e.Salt
		}
		s.Scheduled = put(s.Scheduled, now, scheduledID)
	}
	if e.Released {
		s.Waiting = slices.Clone(s.Waiting)
		for i := range s.Waiting {
			s.Waiting[i].Held = false
		}
	}
	if w := e.Waiting; w != nil && w.Count == 0 {
		s.Waiting = without(s.Waiting, string(w.RoomID), roomOf)
	} else if w != nil {
		s.Waiting = put(s.Waiting, *w, roomOf)
	}
	if e.Mail != nil {
		s.Mail = e.Mail
	}
	for _, t := range e.Told {
		if w := find(s.Waiting, string(t.RoomID), roomOf); w != nil {
			now := *w
			now.Told, now.Since = t.Seq, t.Since
			s.Waiting = put(s.Waiting, now, roomOf)
		}
	}
	if e.Ends != "" {
		s.Open = without(s.Open, e.Ends, keyOf)
	}
	if e.Begins != nil {
		s.Open = put(s.Open, *e.Begins, keyOf)
	}
}

// snapshotVersion of the stored form of a State, which is JSON of the whole.
const snapshotVersion = 1

func snapshots() *actors.Snapshots[State] {
	return &actors.Snapshots[State]{
		Version: snapshotVersion, Encode: (*State).encode,
		Decode: func(b []byte) (s State, err error) { return s, json.Unmarshal(b, &s) },
		Size: func(s *State) int {
			return len(s.Preferences.Rooms) + len(s.Devices) + len(s.Reminders) + len(s.Waiting) + len(s.Open) + len(s.Scheduled)
		},
	}
}

func (s *State) encode() []byte {
	b, err := json.Marshal(s)
	if err != nil { // texts, numbers and times
		panic(fmt.Sprintf("person: couldn't encode a snapshot: %v", err))
	}
	return b
}
