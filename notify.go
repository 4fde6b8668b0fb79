package ubl

import (
	"slices"
	"strings"
	"time"
	"unicode"
)

// News is a message as it may be for somebody, who didn't write it.
type News struct {
	RoomID RoomID
	Seq    int64
	MsgID  MessageID
	Author UserID
	Text   string // "" where the server doesn't read what was said
	// Direct says that the room is a conversation of a few people; Mentioned that the message
	// mentions them or everybody; Thread that it answers in a thread that they take part in.
	Direct, Mentioned, Thread bool
}

// Verdict is whether a message reaches somebody.
type Verdict struct {
	// For says that it counts for them.
	For bool
	// Until is when it reaches them, where a time of quiet holds it back; 0 for at once.
	Until Time
}

// Decide says whether a message reaches a person who wants this, as far as they haven't read it.
// It is the one place where that is decided: who has notifications made asks it first, to spare
// the person's actor what isn't for them, and the actor asks it again.
func (p *Preferences) Decide(n News, now Time) Verdict {
	room, _ := p.Room(n.RoomID)
	level := room.Level
	if level == "" {
		level = NotifyMentions
		if n.Direct {
			level = NotifyAll
		}
	}
	switch {
	case level == NotifyNothing, room.MutedUntil > now:
		return Verdict{}
	case level == NotifyMentions && !n.Mentioned && !n.Thread && !p.hasKeyword(n.Text):
		return Verdict{}
	}
	return Verdict{For: true, Until: p.QuietUntil(now)}
}

// hasKeyword looks for a keyword as a word of its own, in letters of whatever case.
func (p *Preferences) hasKeyword(text string) bool {
	if len(p.Keywords) == 0 || text == "" {
		return false
	}
	text = strings.ToLower(text)
	return slices.ContainsFunc(p.Keywords, func(word string) bool {
		word = strings.ToLower(word)
		for at := 0; ; {
			i := strings.Index(text[at:], word)
			if i < 0 {
				return false
			}
			from, to := at+i, at+i+len(word)
			if !endsInWord(text[:from]) && !beginsInWord(text[to:]) {
				return true
			}
			at = from + 1
		}
	})
}

func endsInWord(s string) bool {
	r := []rune(s[max(0, len(s)-4):])
	return len(r) > 0 && isWord(r[len(r)-1])
}

func beginsInWord(s string) bool {
	for _, r := range s {
		return isWord(r)
	}
	return false
}

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' }

// quietRounds bounds how often one time of quiet leads into the next.
const quietRounds = 20

// QuietUntil is when nothing holds messages back any more, 0 where nothing does now. Quiet hours
// may begin before a do-not-disturb ends, and the other way round.
func (p *Preferences) QuietUntil(now Time) Time {
	until := now
	for range quietRounds {
		next := max(until, p.DisturbAt)
		if p.Quiet != nil {
			next = max(next, p.Quiet.until(next))
		}
		if next == until {
			break
		}
		until = next
	}
	if until == now {
		return 0
	}
	return until
}

// Days by which quiet hours are told.
var days = [...]string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"}

// check refuses hours that can't be understood.
func (q *QuietHours) check() error {
	_, _, fromOK := clock(q.From)
	_, _, toOK := clock(q.To)
	switch {
	case !fromOK:
		return wrong("quiet.from", "is a time of day such as 22:00")
	case !toOK || q.From == q.To:
		return wrong("quiet.to", "is another time of day, such as 07:00")
	case q.Zone == "" || q.Zone == "Local" || len(q.Zone) > 64:
		return wrong("quiet.zone", "is a time zone such as Europe/Berlin")
	}
	if _, err := time.LoadLocation(q.Zone); err != nil {
		return wrong("quiet.zone", "is no time zone that is known here")
	}
	for i, day := range q.Days {
		if !slices.Contains(days[:], day) || slices.Contains(q.Days[:i], day) {
			return wrong("quiet.days", "are of mon, tue, wed, thu, fri, sat, sun, each once")
		}
	}
	return nil
}

// clock reads a time of day.
func clock(s string) (hour, minute int, ok bool) {
	t, err := time.Parse("15:04", s)
	return t.Hour(), t.Minute(), err == nil && len(s) == len("15:04")
}

// until is when the quiet hours end in which a moment is, 0 where it is in none.
func (q *QuietHours) until(now Time) Time {
	zone, err := time.LoadLocation(q.Zone)
	if err != nil { // which was known when they were set
		return 0
	}
	fromHour, fromMinute, _ := clock(q.From)
	toHour, toMinute, _ := clock(q.To)
	local := now.Std().In(zone)
	for _, ago := range []int{0, 1} { // those of yesterday may go on
		day := local.AddDate(0, 0, -ago)
		if len(q.Days) > 0 && !slices.Contains(q.Days, days[day.Weekday()]) {
			continue
		}
		begin := time.Date(day.Year(), day.Month(), day.Day(), fromHour, fromMinute, 0, 0, zone)
		end := time.Date(day.Year(), day.Month(), day.Day(), toHour, toMinute, 0, 0, zone)
		if q.To < q.From {
			end = time.Date(day.Year(), day.Month(), day.Day()+1, toHour, toMinute, 0, 0, zone)
		}
		if !local.Before(begin) && local.Before(end) {
			return TimeOf(end)
		}
	}
	return 0
}
