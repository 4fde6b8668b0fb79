package migrate

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"

	"ubl"
)

// Forms of Mattermost's lines.
type (
	mmLine struct {
		Type    string `json:"type"`
		Version int    `json:"version"`
		Channel *struct {
			Team        string `json:"team"`
			Name        string `json:"name"`
			DisplayName string `json:"display_name"`
			Type        string `json:"type"` // O or P
			Header      string `json:"header"`
			Purpose     string `json:"purpose"`
		} `json:"channel"`
		User *struct {
			Username  string `json:"username"`
			Email     string `json:"email"`
			Nickname  string `json:"nickname"`
			FirstName string `json:"first_name"`
			LastName  string `json:"last_name"`
			Teams     []struct {
				Name     string `json:"name"`
				Channels []struct {
					Name string `json:"name"`
				} `json:"channels"`
			} `json:"teams"`
		} `json:"user"`
		Bot *struct {
			Username    string `json:"username"`
			DisplayName string `json:"display_name"`
		} `json:"bot"`
		Post          *mmPost `json:"post"`
		DirectPost    *mmPost `json:"direct_post"`
		DirectChannel *struct {
			Members      []string `json:"members"`
			Header       string   `json:"header"`
			Participants []struct {
				Username string `json:"username"`
			} `json:"participants"`
		} `json:"direct_channel"`
	}
	mmPost struct {
		Team           string   `json:"team"`
		Channel        string   `json:"channel"`
		ChannelMembers []string `json:"channel_members"`
		User           string   `json:"user"`
		Type           string   `json:"type"`
		Message        string   `json:"message"`
		CreateAt       int64    `json:"create_at"`
		EditAt         int64    `json:"edit_at"`
		IsPinned       bool     `json:"is_pinned"`
		Reactions      []struct {
			User      string `json:"user"`
			CreateAt  int64  `json:"create_at"`
			EmojiName string `json:"emoji_name"`
		} `json:"reactions"`
		Replies     []mmPost `json:"replies"`
		Attachments []struct {
			Path string `json:"path"`
		} `json:"attachments"`
	}
)

// place is where a post is in the file of lines.
type place struct {
	at       int64 // when it was made
	from, to int64
}

// openMattermost copies the lines out of the archive, since posts stand in no order there, and
// notes where those of each channel are.
func (e *Export) openMattermost() error {
	var found []string
	for _, name := range e.archive.names {
		if path.Ext(name) == ".jsonl" && !strings.HasPrefix(name, "data/") {
			found = append(found, name)
		}
	}
	if len(found) != 1 {
		return errors.New("it has no .jsonl file, or several: this is no bulk export of Mattermost's")
	}
	from, err := e.archive.open(found[0], e.archive.limits.Lines)
	if err != nil {
		return err
	}
	defer from.Close()
	lines, err := os.CreateTemp("", "ubl-import-*")
	if err != nil {
		return err
	}
	closed := e.archive.close
	e.archive.close = func() { closed(); _, _ = lines.Close(), os.Remove(lines.Name()) }
	if err := e.indexLines(found[0], io.TeeReader(from, lines)); err != nil {
		return err
	}
	e.read = func(r *Room, yield func(*Message) bool) error { return e.readMattermost(lines, r, yield) }
	return nil
}

// indexLines reads all but the posts.
func (e *Export) indexLines(name string, from io.Reader) error {
	rooms := map[string]*Room{}
	room := func(id string) *Room {
		if rooms[id] == nil {
			rooms[id] = &Room{ID: id, Private: true}
			e.Rooms = append(e.Rooms, rooms[id])
		}
		return rooms[id]
	}
	r, at := bufio.NewReaderSize(from, 1<<20), int64(0)
	for n := 1; ; n++ {
		line, err := readLine(r, e.archive.limits.Line)
		start := at
		at += int64(len(line))
		if errors.Is(err, io.EOF) && len(bytes.TrimSpace(line)) == 0 {
			break
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return named(name, fmt.Errorf("line %d: %w", n, err))
		}
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		var l mmLine
		if err := json.Unmarshal(line, &l); err != nil {
			return named(name, fmt.Errorf("line %d: %w", n, err))
		}
		if n == 1 && (l.Type != "version" || l.Version != 1) {
			return errors.New("its first line isn't version 1 of Mattermost's bulk export")
		}
		e.mattermostLine(&l, place{from: start, to: at}, room)
	}
	for _, r := range e.Rooms {
		slices.SortStableFunc(r.places, func(a, b place) int { return cmp.Compare(a.at, b.at) })
	}
	return nil
}

// readLine reads a line with its end, of at most so many bytes.
func readLine(r *bufio.Reader, most int64) (line []byte, err error) {
	for {
		part, err := r.ReadSlice('\n')
		if line = append(line, part...); int64(len(line)) > most {
			return nil, ErrTooLarge
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

func (e *Export) mattermostLine(l *mmLine, at place, room func(string) *Room) {
	switch {
	case l.Channel != nil:
		c := l.Channel
		r := room(c.Team + "/" + c.Name)
		r.Name, r.Topic, r.Private = firstOf(c.DisplayName, c.Name), firstOf(c.Header, c.Purpose), c.Type != "O"
		e.Workspace = cmp.Or(e.Workspace, c.Team)
	case l.User != nil:
		u := l.User
		p := e.person(u.Username)
		p.Name, p.Email = firstOf(u.Nickname, u.FirstName+" "+u.LastName, u.Username), strings.ToLower(strings.TrimSpace(u.Email))
		for _, t := range u.Teams {
			for _, c := range t.Channels {
				r := room(t.Name + "/" + c.Name)
				r.Members = append(r.Members, u.Username)
			}
		}
	case l.Bot != nil:
		p := e.person(l.Bot.Username)
		p.Name, p.Bot = firstOf(l.Bot.DisplayName, l.Bot.Username), true
	case l.DirectChannel != nil:
		members := l.DirectChannel.Members
		for _, p := range l.DirectChannel.Participants {
			members = append(members, p.Username)
		}
		r := e.direct(room, members)
		r.Topic = l.DirectChannel.Header
	case l.Post != nil:
		at.at = l.Post.CreateAt
		r := room(l.Post.Team + "/" + l.Post.Channel)
		r.places = append(r.places, at)
	case l.DirectPost != nil:
		at.at = l.DirectPost.CreateAt
		r := e.direct(room, l.DirectPost.ChannelMembers)
		r.places = append(r.places, at)
	case l.Type == "emoji":
		e.Left["custom emoji, which stay as :name:"]++
	}
}

// direct are the direct messages between people.
func (e *Export) direct(room func(string) *Room, members []string) *Room {
	members = slices.Compact(slices.Sorted(slices.Values(members)))
	r := room("direct/" + strings.Join(members, "+"))
	r.Direct, r.Private, r.Members = true, true, members
	return r
}

func (e *Export) readMattermost(lines io.ReaderAt, r *Room, yield func(*Message) bool) error {
	seen := map[string]bool{}
	for _, p := range r.places {
		line := make([]byte, p.to-p.from)
		if _, err := lines.ReadAt(line, p.from); err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		var l mmLine
		if err := json.Unmarshal(line, &l); err != nil {
			return err
		}
		root := cmp.Or(l.Post, l.DirectPost)
		m := e.mattermostMessage(root, seen)
		if m != nil && !yield(m) {
			return nil
		}
		slices.SortStableFunc(root.Replies, func(a, b mmPost) int { return cmp.Compare(a.CreateAt, b.CreateAt) })
		for i := range root.Replies {
			reply := e.mattermostMessage(&root.Replies[i], seen)
			if reply == nil {
				continue
			}
			if m != nil {
				reply.Thread = m.ID
			}
			if !yield(reply) {
				return nil
			}
		}
	}
	return nil
}

var atName = regexp.MustCompile(`(?:^|[^\w@])@([a-z0-9][a-z0-9._-]*)`)

// mattermostMessage is a post in the form of all, nil for what isn't taken. Posts have no ids in
// an export: what they are known by is the time and a hash of the author and the text.
func (e *Export) mattermostMessage(p *mmPost, seen map[string]bool) *Message {
	if strings.HasPrefix(p.Type, "system_") {
		e.Left["system messages"]++
		return nil
	}
	if p.CreateAt <= 0 {
		e.Left["of a form that Mattermost doesn't describe"]++
		return nil
	}
	sum := sha256.Sum256([]byte(p.User + "\n" + p.Message))
	id := fmt.Sprintf("%d-%x", p.CreateAt, sum[:6])
	for n := 2; seen[id]; n++ { // the same again in the same millisecond
		id = fmt.Sprintf("%d-%x-%d", p.CreateAt, sum[:6], n)
	}
	seen[id] = true
	m := &Message{ID: id, Author: p.User, AuthorName: e.called(p.User, ""), At: ubl.Time(p.CreateAt), EditedAt: ubl.Time(max(p.EditAt, 0)), Text: withEmoji(p.Message), Pinned: p.IsPinned}
	for _, name := range atName.FindAllStringSubmatch(p.Message, -1) {
		who := strings.TrimRight(name[1], "._-")
		switch {
		case e.People[who] != nil:
			m.Mentions = append(m.Mentions, who)
		case who == "all" || who == "channel" || who == "here":
			m.MentionsAll = true
		}
	}
	for _, r := range p.Reactions {
		m.Reactions = append(m.Reactions, Reaction{Author: r.User, Key: emojiOf(r.EmojiName), At: ubl.Time(r.CreateAt)})
	}
	for _, a := range p.Attachments {
		f := File{Name: path.Base(a.Path)}
		for _, name := range []string{a.Path, "data/" + a.Path} {
			if e.archive.has(name) {
				f.Path = name
			}
		}
		m.Files = append(m.Files, f)
	}
	return m
}
