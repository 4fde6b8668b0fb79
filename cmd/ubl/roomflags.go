package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"time"

	"ubl"
)

// What the commands about one room share: which room, and since when.

// oneRoom names the room, by its place or by --room.
type oneRoom struct {
	Place string `arg:"" name:"room" optional:"" complete:"rooms" help:"The room, like r:general or general."`
	Flag  string `name:"room" complete:"rooms" help:"The room, where it doesn't stand by itself." placeholder:"ROOM" config:"-"`
}

// id is the room.
func (r *oneRoom) id() (ubl.RoomID, error) {
	switch {
	case r.Place != "" && r.Flag != "":
		return "", usagef("the room is given twice")
	case r.Place == "" && r.Flag == "":
		return "", thenDo(usagef(`expected "<room>"`), `name a room, as general; "ubl rooms" lists yours`)
	}
	return roomID(r.Place + r.Flag)
}

// keeping is how long messages are kept: days and hours, 0 of both for ever.
type keeping struct{ days, hours int }

// keptFor is how a flag says so: 30 or 30d, 8h, 1d12h.
var keptFor = regexp.MustCompile(`^(?:(\d{1,6})d?)?(?:(\d{1,6})h)?$`)

// UnmarshalText implements encoding.TextUnmarshaler.
func (k *keeping) UnmarshalText(text []byte) error {
	if string(text) == "forever" {
		*k = keeping{}
		return nil
	}
	found := keptFor.FindStringSubmatch(string(text))
	if len(text) == 0 || found == nil {
		return errors.New("expected days, as 30 or 30d, hours, as 8h, both, as 1d12h, or forever")
	}
	days, _ := strconv.Atoi(found[1]) // "" is 0
	hours, _ := strconv.Atoi(found[2])
	*k = keeping{days + hours/24, hours % 24}
	return nil
}

func (k keeping) String() string {
	switch {
	case k == keeping{}:
		return "for ever"
	case k.hours == 0:
		return "for " + plural(k.days, "day")
	case k.days == 0:
		return "for " + plural(k.hours, "hour")
	}
	return "for " + plural(k.days, "day") + " and " + plural(k.hours, "hour")
}

// in adds it to a room's policy. Without hours the days alone say all.
func (k keeping) in(policy map[string]any) {
	policy["retention_days"] = k.days
	if k.hours > 0 {
		policy["retention_hours"] = k.hours
	}
}

// since is where in a room to begin: after a message, or at a moment.
type since struct {
	seq int64 // where when and ago are zero
	// when is a moment, ago so long before now.
	when time.Time
	ago  time.Duration
}

// UnmarshalText implements encoding.TextUnmarshaler: 17, 2026-01-31T12:00:00Z or 2h.
func (s *since) UnmarshalText(text []byte) error {
	if seq, err := strconv.ParseInt(string(text), 10, 64); err == nil && seq >= 0 {
		*s = since{seq: seq}
		return nil
	}
	if at, err := time.Parse(time.RFC3339, string(text)); err == nil {
		*s = since{when: at}
		return nil
	}
	if ago, err := time.ParseDuration(string(text)); err == nil && ago > 0 {
		*s = since{ago: ago}
		return nil
	}
	return errors.New("expected the number of a message, as 17, a time, as 2026-01-31T12:00:00Z, or how long ago, as 2h")
}

// moment is the time from when on, and whether it is a time at all.
func (s *since) moment(now time.Time) (ubl.Time, bool) {
	switch {
	case s.ago > 0:
		return ubl.TimeOf(now.Add(-s.ago)), true
	case !s.when.IsZero():
		return ubl.TimeOf(s.when), true
	}
	return 0, false
}

// at is what every message and entry of a timeline says of its place.
type at struct {
	RoomSeq int64    `json:"room_seq"`
	SentAt  ubl.Time `json:"sent_at"`
}

// before is the number of the newest entry before a moment, 0 for none.
func (c *client) before(ctx context.Context, room ubl.RoomID, moment ubl.Time) (int64, error) {
	for cursor := int64(0); ; {
		page, next, err := c.page(ctx, room, "history", cursor, historyPage)
		if err != nil {
			return 0, err
		}
		for i := len(page) - 1; i >= 0; i-- {
			one, err := formed[at]("a message", page[i])
			if err != nil {
				return 0, err
			}
			if one.SentAt < moment {
				return one.RoomSeq, nil
			}
		}
		if next == nil {
			return 0, nil
		}
		cursor = *next
	}
}

// page reads one page of a room, the newest before the cursor, oldest first; what is
// history or entries.
func (c *client) page(ctx context.Context, room ubl.RoomID, what string, cursor int64, limit int) ([]json.RawMessage, *int64, error) {
	path := fmt.Sprintf("/api/rooms/%s/%s?limit=%d", room, what, limit)
	if cursor > 0 {
		path += fmt.Sprintf("&cursor=%d", cursor)
	}
	var page struct {
		Messages   []json.RawMessage `json:"messages"`
		Entries    []json.RawMessage `json:"entries"`
		NextCursor *int64            `json:"next_cursor"`
	}
	if err := c.call(ctx, "GET", path, nil, &page); err != nil {
		return nil, nil, inRoom(err)
	}
	return append(page.Messages, page.Entries...), page.NextCursor, nil // one of the two
}
