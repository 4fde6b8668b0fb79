package migrate

import (
	"cmp"
	"errors"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"

	"ubl"
)

// Forms of Slack's files. What they have besides isn't read.
type (
	slackUser struct {
		ID       string `json:"id"`
		Team     string `json:"team_id"`
		Name     string `json:"name"`
		RealName string `json:"real_name"`
		IsBot    bool   `json:"is_bot"`
		Profile  struct {
			Email       string `json:"email"`
			DisplayName string `json:"display_name"`
			RealName    string `json:"real_name"`
		} `json:"profile"`
	}
	slackRoom struct {
		ID      string    `json:"id"`
		Name    string    `json:"name"`
		Members []string  `json:"members"`
		Topic   slackText `json:"topic"`
		Purpose slackText `json:"purpose"`
		Pins    []struct {
			ID string `json:"id"`
		} `json:"pins"`
	}
	slackText struct {
		Value string `json:"value"`
	}
	slackMessage struct {
		Type     string `json:"type"`
		Subtype  string `json:"subtype"`
		TS       string `json:"ts"`
		ThreadTS string `json:"thread_ts"`
		User     string `json:"user"`
		BotID    string `json:"bot_id"`
		Username string `json:"username"`
		Text     string `json:"text"`
		Profile  *struct {
			Name     string `json:"name"`
			RealName string `json:"real_name"`
		} `json:"user_profile"`
		Edited *struct {
			TS string `json:"ts"`
		} `json:"edited"`
		Reactions []struct {
			Name  string   `json:"name"`
			Users []string `json:"users"`
		} `json:"reactions"`
		Files       []slackFile `json:"files"`
		File        *slackFile  `json:"file"` // of exports before 2018
		Attachments []struct {
			FromURL  string `json:"from_url"` // of a link: a preview
			Title    string `json:"title"`
			Text     string `json:"text"`
			Fallback string `json:"fallback"`
		} `json:"attachments"`
		PinnedTo []string `json:"pinned_to"`
	}
	slackFile struct {
		ID       string `json:"id"`
		Name     string `json:"name"`
		Title    string `json:"title"`
		Mode     string `json:"mode"`
		URL      string `json:"url_private"`
		Download string `json:"url_private_download"`
	}
)

// openSlack reads who and what there is.
func (e *Export) openSlack() error {
	if !e.archive.has("channels.json") && !e.archive.has("groups.json") && !e.archive.has("dms.json") && !e.archive.has("mpims.json") {
		return errors.New("it has no channels.json: this is no export of Slack's")
	}
	for _, file := range []string{"org_users.json", "users.json"} {
		if err := e.slackUsers(file); err != nil {
			return err
		}
	}
	for _, of := range []struct {
		file            string
		private, direct bool
	}{{"channels.json", false, false}, {"groups.json", true, false}, {"mpims.json", true, true}, {"dms.json", true, true}} {
		var list []slackRoom
		if !e.archive.has(of.file) {
			continue
		}
		if err := e.archive.json(of.file, &list); err != nil {
			return err
		}
		for _, c := range list {
			r := &Room{
				ID: c.ID, Name: c.Name, Topic: plain(firstOf(c.Topic.Value, c.Purpose.Value)), Private: of.private, Direct: of.direct,
				Members: c.Members, folders: []string{c.Name, c.ID}, pins: map[string]bool{},
			}
			if of.direct {
				r.Name = "" // mpdm-ana--bob-1
			}
			for _, p := range c.Pins {
				r.pins[p.ID] = true
			}
			e.Rooms = append(e.Rooms, r)
		}
	}
	e.read = e.readSlack
	return nil
}

func (e *Export) slackUsers(file string) error {
	var list []slackUser
	if !e.archive.has(file) {
		return nil
	}
	if err := e.archive.json(file, &list); err != nil {
		return err
	}
	for _, u := range list {
		e.Workspace = cmp.Or(e.Workspace, u.Team)
		e.People[u.ID] = &Person{
			ID: u.ID, Email: strings.ToLower(strings.TrimSpace(u.Profile.Email)), Bot: u.IsBot,
			Name: firstOf(u.Profile.DisplayName, u.RealName, u.Profile.RealName, u.Name),
		}
	}
	return nil
}

// readSlack reads the days of a room. Slack's own order in them is not always by time.
func (e *Export) readSlack(r *Room, yield func(*Message) bool) error {
	seen := map[string]bool{}
	for _, folder := range r.folders {
		if folder == "" || strings.Contains(folder, "/") {
			continue
		}
		for _, name := range e.archive.in(folder) {
			if path.Dir(name) != folder || path.Ext(name) != ".json" {
				continue
			}
			var day []slackMessage
			if err := e.archive.json(name, &day); err != nil {
				return err
			}
			slices.SortStableFunc(day, func(a, b slackMessage) int { return cmp.Compare(secondsOf(a.TS), secondsOf(b.TS)) })
			for i := range day {
				m := e.slackMessage(r, &day[i])
				if m == nil || seen[m.ID] {
					continue
				}
				seen[m.ID] = true
				if !yield(m) {
					return nil
				}
			}
		}
		if len(seen) > 0 {
			return nil
		}
	}
	return nil
}

// slackSaid are the subtypes of what somebody said; others are of what happened.
var slackSaid = []string{"", "bot_message", "me_message", "thread_broadcast", "file_share", "file_comment", "reply_broadcast"}

// slackMessage is a message in the form of all, nil for what isn't taken.
func (e *Export) slackMessage(r *Room, s *slackMessage) *Message {
	at := millis(s.TS)
	switch {
	case at <= 0 || s.Type != "" && s.Type != "message":
		e.Left["of a form that Slack doesn't describe"]++
		return nil
	case s.Subtype == "tombstone":
		e.Left["messages that were deleted there"]++
		if s.ThreadTS != s.TS {
			return nil
		}
		return &Message{ID: s.TS, Author: "unknown", AuthorName: "somebody", At: at, Text: "*This message was deleted.*"} // others answer it
	case !slices.Contains(slackSaid, s.Subtype):
		e.Left["system messages"]++
		return nil
	}
	said := e.markdown(s.Text)
	m := &Message{
		ID: s.TS, Author: firstOf(s.User, s.BotID), At: at, Text: said.text.String(), Mentions: said.mentions, MentionsAll: said.all,
		Pinned: r.pins[s.TS] || slices.Contains(s.PinnedTo, r.ID),
	}
	m.AuthorName = e.called(m.Author, firstOf(s.Username))
	if s.Profile != nil && e.People[m.Author] == nil {
		m.AuthorName = firstOf(s.Profile.RealName, s.Profile.Name, m.AuthorName)
	}
	if m.Author == "" {
		m.Author = "unknown"
	}
	if s.Subtype == "bot_message" && s.Username != "" {
		m.AuthorName = s.Username
	}
	if s.Subtype == "me_message" {
		m.Text = "_" + m.Text + "_"
	}
	if s.ThreadTS != "" && s.ThreadTS != s.TS {
		m.Thread = s.ThreadTS
	}
	if s.Edited != nil {
		m.EditedAt = millis(s.Edited.TS)
	}
	for _, a := range s.Attachments { // what programs post; of links the preview is made anew
		if text := firstOf(a.Text, a.Fallback); a.FromURL == "" && text+a.Title != "" {
			said := e.markdown(firstOf(a.Title) + "\n" + text)
			m.Text = strings.TrimSpace(m.Text + "\n\n" + strings.TrimSpace(said.text.String()))
		}
	}
	for _, by := range s.Reactions {
		for _, user := range by.Users {
			m.Reactions = append(m.Reactions, Reaction{Author: user, Key: emojiOf(by.Name)})
		}
	}
	if s.File != nil {
		s.Files = append(s.Files, *s.File)
	}
	for _, f := range s.Files {
		m.Files = append(m.Files, e.slackFile(f)...)
	}
	return m
}

// slackFile finds a file in the archive, where another program has put it, or its address.
func (e *Export) slackFile(f slackFile) []File {
	if f.Mode == "tombstone" || f.Mode == "hidden_by_limit" {
		e.Left["files that were deleted there, or beyond the workspace's limit"]++
		return nil
	}
	file := File{Name: firstOf(f.Name, f.Title, f.ID), URL: firstOf(f.Download, f.URL)}
	if in := e.archive.in("__uploads/" + f.ID); f.ID != "" && len(in) == 1 {
		file.Path = in[0]
	}
	return []File{file}
}

// millis is a time of Slack's: seconds, a dot and six digits that tell messages apart.
func millis(ts string) ubl.Time {
	s := secondsOf(ts)
	if s <= 0 || s > 1e11 {
		return 0
	}
	return ubl.Time(math.Floor(s * 1000))
}

func secondsOf(ts string) float64 {
	s, err := strconv.ParseFloat(ts, 64)
	if err != nil || math.IsNaN(s) {
		return 0
	}
	return s
}
