package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"os"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"ubl"
	"ubl/migrate"
)

// message imports what isn't there yet of a message: its text in as many parts as it needs, its
// files, and what became of it.
func (m *moving) message(ctx context.Context, at *berth, s *migrate.Message) error {
	first := m.sourceID(at.of, s.ID)
	if was, ok := at.known[first]; ok && was.gone {
		m.already++ // it was deleted here
		return nil
	}
	if _, ok := at.known[first]; !ok || !m.whole(at, s) {
		if err := m.say(ctx, at, s); err != nil {
			return err
		}
	} else {
		m.already++
	}
	id := at.known[first].id
	if id == "" {
		if len(s.Reactions)+len(s.Edits) > 0 || s.Pinned {
			m.left["edits, reactions and pins of a message that was left behind"]++
		}
		return nil
	}
	return m.became(ctx, at, s, id)
}

// part is one of several messages that one of there needs here.
type part struct {
	id    string
	text  string
	files []migrate.File
}

// parts cuts a message where it is longer than one can be here. Files that aren't to be had are
// named in the text.
func (m *moving) parts(s *migrate.Message) []part {
	text, files := strings.TrimSpace(legible(s.Text)), []migrate.File{}
	for _, f := range s.Files {
		if f.Path != "" || m.fetches(f) {
			files = append(files, f)
			continue
		}
		text = strings.TrimSpace(text + "\n" + lacking(f.Name))
	}
	var list []part
	add := func(p part) {
		p.id = s.ID
		if len(list) > 0 {
			p.id = fmt.Sprintf("%s/part/%d", s.ID, len(list)+1)
		}
		list = append(list, p)
	}
	for text != "" {
		head := text
		if len(head) > ubl.MaxMessageBytes {
			head = head[:cut(head, ubl.MaxMessageBytes)]
		}
		text = strings.TrimSpace(text[len(head):])
		add(part{text: strings.TrimSpace(head)})
	}
	for some := range slices.Chunk(files, ubl.MaxAttachments) {
		if len(list) == 1 && len(list[0].files) == 0 {
			list[0].files = some
		} else {
			add(part{files: some})
		}
	}
	return list
}

// legible is a text without what nobody sees, as bytes that are no UTF-8.
func legible(text string) string {
	return strings.Map(func(r rune) rune {
		if r == 0 || r == utf8.RuneError || r < ' ' && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, strings.ReplaceAll(text, "\r\n", "\n"))
}

// cut is where to part a text: behind a line, else a word, else a character.
func cut(text string, most int) int {
	for _, at := range []string{"\n", " "} {
		if i := strings.LastIndex(text[:most], at); i > most/2 {
			return i
		}
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return most
}

// lacking is what stands in the place of a file that the export doesn't have.
func lacking(name string) string {
	return fmt.Sprintf("(The file %s wasn't in the export.)", fileName(name))
}

// fileName is a name that a file can have here.
func fileName(name string) string {
	name = strings.Map(func(r rune) rune {
		if r < ' ' || r == '/' || r == '\\' {
			return '_'
		}
		return r
	}, name)
	if fit, err := ubl.CheckFileName(name); err == nil {
		return fit
	}
	ext := path.Ext(name)
	if fit, err := ubl.CheckFileName("file" + ext); err == nil && len(ext) < 16 {
		return fit
	}
	return "file"
}

// whole reports whether all parts of a message are here.
func (m *moving) whole(at *berth, s *migrate.Message) bool {
	return !slices.ContainsFunc(m.parts(s), func(p part) bool { return at.known[m.sourceID(at.of, p.id)].id == "" })
}

// say posts the parts of a message that aren't here yet.
func (m *moving) say(ctx context.Context, at *berth, s *migrate.Message) error {
	parts := m.parts(s)
	if len(parts) == 0 {
		m.left["messages that say nothing"]++
	}
	for _, f := range s.Files {
		if f.Path == "" && !m.fetches(f) {
			m.left[m.lacks()]++
		}
	}
	for _, p := range parts {
		id := m.sourceID(at.of, p.id)
		if at.known[id].id != "" {
			continue
		}
		text, uploads, err := m.attach(ctx, at, p)
		if err != nil {
			return err
		}
		if text == "" && len(uploads) == 0 {
			continue
		}
		body := map[string]any{"body": ubl.Body{Text: text, Mentions: m.mentions(s)}.Content()}
		if len(uploads) > 0 {
			body["attachments"] = uploads
		}
		if to := at.known[m.sourceID(at.of, s.Thread)].id; s.Thread != "" && to != "" {
			body["thread"] = to
		}
		if to := at.known[m.sourceID(at.of, s.ReplyTo)].id; s.ReplyTo != "" && to != "" {
			body["reply_to"] = to
		}
		body["imported_from"] = m.source(at.of, p.id, s.Author, s.AuthorName, s.At, s.EditedAt)
		var answer struct {
			Entry json.RawMessage `json:"entry"`
		}
		made, err := m.put(ctx, "message", at.name+" "+s.ID, "POST", "/api/rooms/"+url.PathEscape(at.id)+"/entries", m.keyOf(id), body, &answer)
		switch {
		case err != nil:
			return err
		case m.dry:
			at.known[id] = posted{id: "m:dry"}
		case made:
			e, err := formed[ubl.Entry]("an entry", answer.Entry)
			if err != nil {
				return err
			}
			at.known[id] = posted{id: string(e.ID)}
		}
	}
	return nil
}

// mentions are those whom a message mentions and who are members here.
func (m *moving) mentions(s *migrate.Message) (list []ubl.Mention) {
	if s.MentionsAll {
		list = append(list, ubl.MentionRoom)
	}
	for _, id := range s.Mentions {
		if who := m.here[id]; who != nil && !slices.Contains(list, ubl.Mention(who.UserID)) && len(list) < ubl.MaxMentions {
			list = append(list, ubl.Mention(who.UserID))
		}
	}
	return list
}

// became imports edits, reactions and the pin of a message that is here.
func (m *moving) became(ctx context.Context, at *berth, s *migrate.Message, entry string) error {
	to := "/api/rooms/" + url.PathEscape(at.id) + "/entries/" + url.PathEscape(entry)
	for _, edit := range s.Edits {
		text := strings.TrimSpace(legible(edit.Text))
		if len(text) > ubl.MaxMessageBytes {
			text = text[:cut(text, ubl.MaxMessageBytes)]
		}
		if text == "" {
			continue
		}
		from := m.source(at.of, edit.ID, s.Author, s.AuthorName, edit.At, 0)
		if err := m.add(ctx, at, "edit", to+"/edits", from, map[string]any{"body": ubl.TextContent(text)}); err != nil {
			return err
		}
	}
	for _, by := range s.Reactions {
		when, name := by.At, ""
		if when == 0 {
			when = s.At // Slack doesn't say when
		}
		if person := m.from.People[by.Author]; person != nil {
			name = person.Name
		}
		if ubl.CheckReaction(by.Key) != nil {
			m.left["reactions whose name is too long"]++
			continue
		}
		from := m.source(at.of, s.ID+"/reaction/"+by.Key+"/"+by.Author, by.Author, name, when, 0)
		if err := m.add(ctx, at, "reaction", to+"/reactions", from, map[string]any{"reaction": by.Key}); err != nil {
			return err
		}
	}
	if !s.Pinned {
		return nil
	}
	from := m.source(at.of, s.ID+"/pin", s.Author, s.AuthorName, s.At, 0)
	return m.add(ctx, at, "pin", to+"/pin", from, map[string]any{"pinned": true})
}

// add posts one thing about a message, unless it is here.
func (m *moving) add(ctx context.Context, at *berth, what, to string, from *ubl.ImportedFrom, body map[string]any) error {
	id := from.Source.ID
	if _, ok := at.known[id]; ok {
		m.already++
		return nil
	}
	body["imported_from"] = from
	made, err := m.put(ctx, what, at.name+" "+id, "POST", to, m.keyOf(id), body, &json.RawMessage{})
	if made {
		at.known[id] = posted{id: "m:here"}
	}
	return err
}

// lacks is why a file isn't taken.
func (m *moving) lacks() string {
	if m.from.Product == ubl.Slack && m.token == "" {
		return "files that the export only names: " + slackToken + " holds a token to fetch them with"
	}
	return "files whose contents the export lacks"
}

// fetches reports whether a file is fetched from Slack: from its own servers alone, which are the
// only ones to see the token.
func (m *moving) fetches(f migrate.File) bool {
	if m.from.Product != ubl.Slack || m.token == "" || f.URL == "" {
		return false
	}
	u, err := url.Parse(f.URL)
	return err == nil && u.Scheme == "https" && u.User == nil && (u.Host == "slack.com" || strings.HasSuffix(u.Host, ".slack.com"))
}

// attach sends the contents of files ahead. Those that can't be had are named in the text.
func (m *moving) attach(ctx context.Context, at *berth, p part) (text string, uploads []ubl.UploadID, err error) {
	text = p.text
	for _, f := range p.files {
		if m.dry {
			uploads = append(uploads, "up:dry")
			continue
		}
		upload, err := m.upload(ctx, at, f)
		switch {
		case err == nil:
			uploads = append(uploads, upload)
			continue
		case ctx.Err() != nil:
			return "", nil, err
		case m.refuses(at.name+" "+f.Name, err):
		default:
			if _, lacks := errors.AsType[lackError](err); !lacks {
				return "", nil, err
			}
			m.left["files that couldn't be had: "+clean(err.Error())]++
		}
		text = strings.TrimSpace(text + "\n" + lacking(f.Name))
	}
	return text, uploads, nil
}

// maxFetched is the largest file that is taken, in bytes.
const maxFetched = 8 << 30

// lackError is of a file that can't be read or fetched; others can.
type lackError struct{ error }

// upload copies a file out of the export, or from Slack, and sends it.
func (m *moving) upload(ctx context.Context, at *berth, f migrate.File) (ubl.UploadID, error) {
	var from io.ReadCloser
	var err error
	if f.Path != "" {
		from, err = m.from.File(f)
	} else {
		from, err = m.get(ctx, f)
	}
	if err != nil {
		return "", lackError{err}
	}
	defer from.Close()
	content, err := os.CreateTemp("", "ubl-import-*")
	if err != nil {
		return "", err
	}
	defer func() { _, _ = content.Close(), os.Remove(content.Name()) }()
	n, err := io.Copy(content, io.LimitReader(from, maxFetched+1))
	switch {
	case err != nil:
		return "", lackError{fmt.Errorf("reading one broke off: %w", err)}
	case n > maxFetched:
		return "", lackError{migrate.ErrTooLarge}
	}
	s := &sending{client: m.client, file: content}
	if err := s.beginInRoom(ctx, ubl.RoomID(at.id), fileName(f.Name)); err != nil {
		return "", err
	}
	return s.upload.UploadID, s.send(ctx, m.p.progress("", "", true))
}

// get fetches a file from Slack, which answers who has no right to it with a page to sign in at.
func (m *moving) get(ctx context.Context, f migrate.File) (io.ReadCloser, error) {
	req, err := http.NewRequestWithContext(ctx, "GET", f.URL, nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+m.token)
	resp, err := m.fetch.Do(req)
	if err != nil {
		return nil, errors.New("couldn't reach Slack")
	}
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if page := kind == "text/html" && !strings.HasPrefix(strings.ToLower(path.Ext(f.Name)), ".htm"); resp.StatusCode != http.StatusOK || page {
		_ = resp.Body.Close()
		return nil, fmt.Errorf("%d was Slack's answer: may the token read files?", resp.StatusCode)
	}
	return resp.Body, nil
}
