package ubl

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Bounds of what people say about a room.
const (
	MaxTopicChars       = 250
	MaxDescriptionBytes = 2048
)

// RoomDescriptionPatch changes the members that are set. An empty topic or description is none.
type RoomDescriptionPatch struct {
	Name        *string `json:"name,omitempty"`
	Topic       *string `json:"topic,omitempty"`
	Description *string `json:"description,omitempty"`
}

// Empty reports whether the patch changes nothing.
func (p RoomDescriptionPatch) Empty() bool { return p == RoomDescriptionPatch{} }

// Content tells one patch from another.
func (p RoomDescriptionPatch) Content() []string {
	return []string{patchText("name", p.Name), patchText("topic", p.Topic), patchText("description", p.Description)}
}

// Tidied is the patch as it is kept, or what is wrong with one of its members.
func (p RoomDescriptionPatch) Tidied() (RoomDescriptionPatch, error) {
	for _, text := range []**string{&p.Name, &p.Topic, &p.Description} {
		if *text != nil {
			*text = new(strings.TrimSpace(**text))
		}
	}
	switch {
	case p.Empty():
		return p, Errorf(CodeValidation, "none of name, topic and description is given")
	case p.Name != nil && CheckName(*p.Name) != nil:
		return p, CheckName(*p.Name)
	case p.Topic != nil && !oneLine(*p.Topic):
		return p, Errorf(CodeValidation, "topic is not one line of at most %d characters", MaxTopicChars)
	case p.Description != nil && len(*p.Description) > MaxDescriptionBytes:
		return p, Errorf(CodeTooLarge, "description is longer than %d bytes of UTF-8", MaxDescriptionBytes)
	case p.Description != nil && *p.Description != "" && unreadableText(*p.Description):
		return p, Errorf(CodeValidation, "description is no plain text, or has nothing that can be seen")
	}
	return p, nil
}

func oneLine(text string) bool {
	return text == "" || !unreadableText(text) && !strings.ContainsFunc(text, unicode.IsControl) && utf8.RuneCountInString(text) <= MaxTopicChars
}

// unreadableText reports whether a text has bytes or control characters that nobody reads, or
// nothing else.
func unreadableText(text string) bool {
	return !utf8.ValidString(text) || !seen(text) || strings.ContainsFunc(text, func(c rune) bool { return c != '\n' && c != '\t' && unicode.IsControl(c) })
}

// RoomCard is what the directory shows of a room, beside its entry.
type RoomCard struct {
	Members int `json:"members"`
	// ActiveAt is when the newest entry was made, 0 for none that is kept.
	ActiveAt Time `json:"active_at,omitzero"`
}

// MaxDirect is how many people direct messages are between at most.
const MaxDirect = 8

// Direct is between whom the messages of a room are. The set never changes: another one has
// another room.
type Direct struct {
	Members []UserID `json:"members"` // sorted
}

// String is between whom they are, "nobody" for none.
func (d *Direct) String() string {
	if d == nil {
		return "nobody"
	}
	return fmt.Sprint(d.Members)
}

// DirectRoom is the room of the direct messages between some people: "r:dm-" and the first 40
// hex digits of the SHA-256 of their sorted ids, each followed by a line feed. So whoever of them
// asks, and however often, it is the same.
func DirectRoom(members []UserID) (RoomID, *Direct) {
	sorted := slices.Compact(slices.Sorted(slices.Values(members)))
	h := sha256.New()
	for _, m := range sorted {
		h.Write([]byte(m + "\n"))
	}
	return RoomID(directPrefix + hex.EncodeToString(h.Sum(nil))[:40]), &Direct{sorted}
}

const directPrefix = "r:dm-"

// IsDirect reports whether the id is one that direct messages may have.
func (id RoomID) IsDirect() bool {
	digits, ok := strings.CutPrefix(string(id), directPrefix)
	if !ok || len(digits) != 40 {
		return false
	}
	_, err := hex.DecodeString(digits)
	return err == nil
}

// Cost is that of an act and its entry.
func (c DescribeRoom) Cost() int {
	n := 3 * writeCost
	for _, text := range []*string{c.Patch.Name, c.Patch.Topic, c.Patch.Description} {
		if text != nil {
			n += 2 * len(*text)
		}
	}
	return n
}

// Cost is 0: it reads.
func (GetRoomCard) Cost() int { return 0 }
