// Package migrate reads what Slack, Mattermost and Matrix (Element) export, in one form, so that
// "ubl import" can take it into a tenant. It reads files, and knows neither servers nor tenants.
//
// The data: an [Export] is a folder or a zip file that stays open, with its people and rooms in
// memory. Messages are read room by room, so that an export may be larger than the memory:
//
//	                  Slack                        Mattermost                    Matrix
//	form              zip of JSON files, one a     zip of one JSONL file of      zip or JSON file of
//	                  day and channel              version 1, and data/          one room, by Element
//	people            users.json, org_users.json   lines "user"                  m.room.member, senders
//	addresses         profile.email                email                         none
//	rooms             channels (public), groups    channel, O public,            the room: private, since
//	                  (private), dms, mpims        P private; direct_channel     the export doesn't say
//	topic             topic, else purpose          header, else purpose          topic
//	text              mrkdwn to Markdown           Markdown as it is             body, which is Markdown
//	threads           thread_ts                    replies                       m.thread
//	quoted replies    none                         none                          m.in_reply_to
//	edits             newest text, edited.ts       newest text, edit_at          m.replace, each
//	deleted           tombstone                    not in the export             redacted
//	reactions         names, by people             emoji_name, by people         m.annotation
//	pins              pins of a channel            is_pinned                     m.room.pinned_events
//	files             __uploads/ID/NAME where a    attachments, below data/      the exporter's folders:
//	                  program put them, else URLs                                images, videos, audio, files
//
// Emoji are those of Unicode where a name has one; a custom one stays as :name:.
//
// What is left out is counted by reason in [Export.Left], and never silently: what a system said
// (who joined), messages that were deleted or couldn't be decrypted, files that aren't there.
//
// What fails: a form that is none of these is an error that names the file. An export is
// somebody else's word, and may be made to hurt. Names that lead out of it, twice the same
// name, and more files or bytes than [Limits] has are refused before anything is read; what a
// file says of its size is not believed. Names and texts are as they came: callers clean them.
package migrate

import (
	"iter"
	"strings"

	"ubl"
)

// Export is an export that was opened. Close it.
type Export struct {
	Product ubl.Product
	// Workspace is what the product calls the workspace or server, for ids: "" where it doesn't say.
	Workspace string
	// People are by their ids there.
	People map[string]*Person
	Rooms  []*Room
	// Left counts what isn't taken, by reason, of what has been read so far.
	Left map[string]int

	archive *archive
	read    func(*Room, func(*Message) bool) error
}

// Person is somebody in an export.
type Person struct {
	ID    string
	Name  string // what they are called, "" for nothing
	Email string // in lower case, "" for none
	Bot   bool
}

// Room is a channel, a group or direct messages.
type Room struct {
	ID      string
	Name    string
	Topic   string
	Private bool // only its members saw it
	Direct  bool // between people, and nobody else ever came in
	Members []string

	folders []string        // Slack: where its days may be
	pins    map[string]bool // ids of messages
	places  []place         // Mattermost: where its messages are
	events  []*event        // Matrix
}

// Message is what somebody said.
type Message struct {
	ID string // unique in the room
	// Author is in People, or somebody whom the export only names.
	Author, AuthorName string
	At, EditedAt       ubl.Time
	Text               string // Markdown
	// Thread is the ID of the message that began the thread, ReplyTo of the one that is quoted.
	Thread, ReplyTo string
	// Mentions are ids of people.
	Mentions    []string
	MentionsAll bool
	Edits       []Edit // of earlier texts that the export has
	Reactions   []Reaction
	Files       []File
	Pinned      bool
}

// Edit is what a message said from some time on.
type Edit struct {
	ID   string
	At   ubl.Time
	Text string
}

// Reaction is an emoji, or :name:, by somebody.
type Reaction struct {
	Author string
	Key    string
	At     ubl.Time // 0 where the export doesn't say
}

// File is one that a message carries.
type File struct {
	Name string
	Path string // in the archive, "" where it isn't there
	URL  string // from where it can be had, "" for nowhere
}

// Close lets go of the files.
func (e *Export) Close() { e.archive.close() }

// Messages are those of a room, oldest first; each thread's first message comes before the
// others. An error ends them.
func (e *Export) Messages(r *Room) iter.Seq2[*Message, error] {
	return func(yield func(*Message, error) bool) {
		stopped := false
		err := e.read(r, func(m *Message) bool {
			stopped = !yield(m, nil)
			return !stopped
		})
		if err != nil && !stopped {
			yield(nil, err)
		}
	}
}

// Open opens an export of a product: a folder or a zip file, for Matrix a JSON file too.
func Open(product ubl.Product, name string, limits Limits) (*Export, error) {
	a, err := openArchive(name, limits)
	if err != nil {
		return nil, err
	}
	e := &Export{Product: product, People: map[string]*Person{}, Left: map[string]int{}, archive: a}
	switch product {
	case ubl.Slack:
		err = e.openSlack()
	case ubl.Mattermost:
		err = e.openMattermost()
	default:
		err = e.openMatrix()
	}
	if err != nil {
		e.Close()
		return nil, err
	}
	return e, nil
}

// person is one of an export's people, made where it only names them.
func (e *Export) person(id string) *Person {
	p := e.People[id]
	if p == nil {
		p = &Person{ID: id}
		e.People[id] = p
	}
	return p
}

// firstOf is the first text that isn't blank.
func firstOf(texts ...string) string {
	for _, t := range texts {
		if t = strings.TrimSpace(t); t != "" {
			return t
		}
	}
	return ""
}
