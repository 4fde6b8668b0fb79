package migrate

import (
	"encoding/json"
	"errors"
	"path"
	"slices"
	"strings"

	"ubl"
)

// Forms of Element's room export: the room in a few words, and its events as clients get them.
type (
	matrixRoom struct {
		Name     string   `json:"room_name"`
		Topic    string   `json:"topic"`
		Messages []*event `json:"messages"`
	}
	event struct {
		ID       string        `json:"event_id"`
		Room     string        `json:"room_id"`
		Type     string        `json:"type"`
		Sender   string        `json:"sender"`
		At       int64         `json:"origin_server_ts"`
		StateKey string        `json:"state_key"`
		Redacts  string        `json:"redacts"`
		Content  matrixContent `json:"content"`
		Unsigned struct {
			Because json.RawMessage `json:"redacted_because"`
		} `json:"unsigned"`

		edits     []*event
		reactions []*event
		redacted  bool
	}
	matrixContent struct {
		MsgType  string `json:"msgtype"`
		Body     string `json:"body"`
		FileName string `json:"filename"`
		Info     struct {
			Size int64 `json:"size"`
		} `json:"info"`
		New      *matrixContent `json:"m.new_content"`
		Mentions *struct {
			Users []string `json:"user_ids"`
			Room  bool     `json:"room"`
		} `json:"m.mentions"`
		Voice   json.RawMessage `json:"org.matrix.msc3245.voice"`
		Relates struct {
			Type    string `json:"rel_type"`
			Event   string `json:"event_id"`
			Key     string `json:"key"`
			Falls   bool   `json:"is_falling_back"`
			ReplyTo struct {
				Event string `json:"event_id"`
			} `json:"m.in_reply_to"`
		} `json:"m.relates_to"`
		// Of m.room.member and m.room.pinned_events.
		Membership string   `json:"membership"`
		Name       string   `json:"displayname"`
		Direct     bool     `json:"is_direct"`
		Pinned     []string `json:"pinned"`
	}
)

// openMatrix reads the room and all of its events.
func (e *Export) openMatrix() error {
	name := "export.json"
	if !e.archive.has(name) {
		name = ""
		for _, n := range e.archive.names {
			if path.Ext(n) == ".json" {
				if name != "" {
					return errors.New("it has several JSON files: name the one of a room")
				}
				name = n
			}
		}
	}
	if name == "" {
		return errors.New("it has no export.json: this is no room export of Element's, in its form JSON")
	}
	var of matrixRoom
	if err := e.archive.json(name, &of); err != nil {
		return err
	}
	r := &Room{Name: of.Name, Topic: of.Topic, Private: true, pins: map[string]bool{}}
	of.Messages = slices.DeleteFunc(of.Messages, func(v *event) bool { return v == nil })
	slices.SortStableFunc(of.Messages, func(a, b *event) int { return int(max(-1, min(1, a.At-b.At))) })
	e.matrixEvents(r, of.Messages)
	if r.ID == "" {
		return errors.New("none of its messages has a room_id: this is no room export of Element's")
	}
	_, e.Workspace, _ = strings.Cut(r.ID, ":")
	e.Workspace = firstOf(e.Workspace, r.ID)
	e.Rooms, e.read = []*Room{r}, e.readMatrix
	return nil
}

// matrixEvents puts edits and reactions to what they are about, and finds out who was there.
func (e *Export) matrixEvents(r *Room, events []*event) {
	byID := map[string]*event{}
	for _, v := range events {
		if r.ID == "" {
			r.ID = v.Room
		}
		if byID[v.ID] == nil {
			byID[v.ID] = v
		}
		about := byID[v.Content.Relates.Event]
		v.redacted = v.redacted || len(v.Unsigned.Because) > 0 && string(v.Unsigned.Because) != "null"
		switch {
		case v.Type == "m.room.member":
			p := e.person(v.StateKey)
			p.Name = firstOf(v.Content.Name, p.Name)
			r.Direct = r.Direct || v.Content.Direct
			r.Members = slices.DeleteFunc(r.Members, func(id string) bool { return id == v.StateKey })
			if v.Content.Membership == "join" {
				r.Members = append(r.Members, v.StateKey)
			}
		case v.Type == "m.room.pinned_events":
			clear(r.pins)
			for _, id := range v.Content.Pinned {
				r.pins[id] = true
			}
		case v.Type == "m.room.redaction":
			if gone := byID[v.Redacts]; gone != nil {
				gone.redacted = true
			}
		case v.Type == "m.reaction":
			if about != nil {
				about.reactions = append(about.reactions, v)
			}
		case v.Type == "m.room.message" && v.Content.Relates.Type == "m.replace":
			if about != nil && about.Sender == v.Sender {
				about.edits = append(about.edits, v)
			} else {
				e.Left["edits of others' messages, or of none"]++
			}
		default:
			r.events = append(r.events, v)
		}
		if v.Type == "m.room.message" && v.Sender != "" && !slices.Contains(r.Members, v.Sender) && e.People[v.Sender] == nil {
			e.person(v.Sender)
			r.Members = append(r.Members, v.Sender)
		}
	}
}

func (e *Export) readMatrix(r *Room, yield func(*Message) bool) error {
	seen, taken := map[string]bool{}, map[string]bool{}
	for _, v := range r.events {
		if seen[v.ID] {
			continue
		}
		seen[v.ID] = true
		if m := e.matrixMessage(r, v, taken); m != nil && !yield(m) {
			return nil
		}
	}
	return nil
}

// matrixMessage is an event in the form of all, nil for what isn't taken.
func (e *Export) matrixMessage(r *Room, v *event, taken map[string]bool) *Message {
	left := ""
	switch {
	case v.redacted:
		left = "messages that were deleted there"
	case v.Type == "m.room.encrypted":
		left = "messages that the export couldn't decrypt"
	case v.Type != "m.room.message" && v.Type != "m.sticker":
		left = "system messages"
	case v.At <= 0 || v.ID == "" || v.Sender == "":
		left = "of a form that Matrix doesn't describe"
	}
	if left != "" {
		e.Left[left]++
		return nil
	}
	c := &v.Content
	_, local, _ := strings.Cut(v.Sender, "@")
	local, _, _ = strings.Cut(local, ":")
	m := &Message{ID: v.ID, Author: v.Sender, AuthorName: firstOf(e.called(v.Sender, local), local), At: ubl.Time(v.At), Text: c.text(), Pinned: r.pins[v.ID]}
	if m.AuthorName == v.Sender { // an address is no name
		m.AuthorName = local
	}
	if c.Mentions != nil {
		m.Mentions, m.MentionsAll = c.Mentions.Users, c.Mentions.Room
	}
	if c.Relates.Type == "m.thread" {
		m.Thread = c.Relates.Event
	}
	if !c.Relates.Falls {
		m.ReplyTo = c.Relates.ReplyTo.Event
	}
	for _, edit := range v.edits {
		if text := edit.Content.New; text != nil && !edit.redacted {
			m.Edits = append(m.Edits, Edit{ID: edit.ID, At: ubl.Time(edit.At), Text: text.text()})
		}
	}
	for _, by := range v.reactions {
		if key := by.Content.Relates.Key; !by.redacted && key != "" {
			m.Reactions = append(m.Reactions, Reaction{Author: by.Sender, Key: key, At: ubl.Time(by.At)})
		}
	}
	if f := e.matrixFile(v, taken); f != nil {
		m.Files = []File{*f}
		if c.FileName == "" || c.FileName == c.Body { // the body is the name and no caption
			m.Text = ""
		}
	}
	return m
}

// text is what a content says, without the quotation that old clients put before a reply.
func (c *matrixContent) text() string {
	text := c.Body
	if c.Relates.ReplyTo.Event != "" && strings.HasPrefix(text, "> <") {
		if _, after, found := strings.Cut(text, "\n\n"); found {
			text = after
		}
	}
	if c.MsgType == "m.emote" {
		return "_" + text + "_"
	}
	return text
}

// matrixFolders are where the exporter puts media, by what they are.
var matrixFolders = map[string]string{"m.image": "images", "m.video": "videos", "m.audio": "audio", "m.file": "files"}

// matrixFile finds a file among those of its kind and name, which the exporter tells apart by
// a local time in a form of the exporter's language: so the first that nobody has had is it.
func (e *Export) matrixFile(v *event, taken map[string]bool) *File {
	folder, name := matrixFolders[v.Content.MsgType], firstOf(v.Content.FileName, v.Content.Body, "file")
	if v.Type == "m.sticker" {
		folder = "stickers"
	}
	if folder == "" {
		return nil
	}
	f := &File{Name: path.Base(strings.ReplaceAll(name, "\\", "/"))}
	ext := path.Ext(v.Content.Body)
	prefix, suffix := folder+"/"+strings.TrimSuffix(v.Content.Body, ext)+"-", ext
	switch {
	case v.Type == "m.sticker":
		prefix, suffix = folder+"/"+v.Content.Body+"-", ".png"
	case len(v.Content.Voice) > 0:
		suffix = ".ogg"
	}
	for _, n := range e.archive.order {
		if strings.HasPrefix(n, prefix) && strings.HasSuffix(n, suffix) && !taken[n] {
			taken[n], f.Path = true, n
			break
		}
	}
	return f
}
