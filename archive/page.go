package archive

import (
	"encoding/json"
	"fmt"
	"html/template"
	"net/url"
	"strings"

	"ubl"
)

// shownRoom is a room as the first page lists it.
type shownRoom struct {
	Name, Folder string
	Own          bool
	Messages     int64
}

// head begins each page. It lets nothing run and nothing be fetched from elsewhere: what people
// wrote stands in it as text.
const head = `<!doctype html>
<html>
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="referrer" content="no-referrer">
<title>{{.Title}}</title>
<style>
:root { color-scheme: light dark; font: 1rem/1.5 system-ui, sans-serif }
body { max-width: 44rem; margin: 2rem auto; padding: 0 1rem }
article { margin: 1rem 0 }
p { margin: 0; white-space: pre-wrap; overflow-wrap: anywhere }
header, .quiet { opacity: .75; font-size: .875rem }
</style>
</head>
<body>
<h1 dir="auto">{{.Title}}</h1>
{{with .Note}}<p class="quiet">{{.}}</p>
{{end}}`

// pages are the parts of pages, as templates: they are written part by part.
var pages = template.Must(template.New("head").Parse(head + `{{define "message"}}<article>
<header><b dir="auto">{{.Author}}</b> <time>{{.At}}</time>{{if .Edited}} · edited{{end}}{{if .Thread}} · in a thread{{end}}</header>
{{if .Deleted}}<p class="quiet">Deleted message</p>
{{else}}<p dir="auto">{{.Text}}</p>
{{end}}{{range .Files}}<p class="quiet">{{if .Path}}<a href="{{.Path}}" download>{{.Name}}</a>{{else}}{{.Name}}{{end}}</p>
{{end}}{{with .Reactions}}<p class="quiet">{{.}}</p>
{{end}}</article>
{{end}}{{define "list"}}<ul>
{{range .}}<li><a dir="auto" href="{{.Href}}">{{.Name}}</a> <span class="quiet">{{.Note}}</span></li>
{{end}}</ul>
{{end}}{{define "end"}}</body>
</html>
{{end}}`))

// message is one of a page.
type message struct {
	Author, At, Text, Reactions string
	Edited, Thread, Deleted     bool
	Files                       []attached
}

// attached is a file of a message; Path is "" where the archive doesn't have it.
type attached struct{ Name, Path string }

// page writes a room for people to read.
func (j *job) page(c conversation) error {
	note := ""
	if c.own {
		note = "You aren't in this room. These are your own messages, as you sent them."
	}
	if err := pages.Execute(j.zip, map[string]string{"Title": c.name, "Note": note}); err != nil {
		return err
	}
	err := j.entries(c, func(e *ubl.Entry, _ json.RawMessage) error {
		if e.Type != ubl.EntryMessage {
			return nil
		}
		if err := j.learn([]ubl.UserID{e.AuthorID}); err != nil {
			return err
		}
		return pages.ExecuteTemplate(j.zip, "message", j.message(c, e))
	})
	if err != nil {
		return err
	}
	return pages.ExecuteTemplate(j.zip, "end", nil)
}

// message is an entry as a page shows it.
func (j *job) message(c conversation, e *ubl.Entry) message {
	m := message{Author: j.name(e.AuthorID), At: e.SentAt.String(), Edited: e.Edited != nil, Thread: e.Thread != nil, Deleted: e.Body == nil}
	body := e.Body
	if e.Edited != nil && e.Edited.Body != nil {
		body = e.Edited.Body
	}
	if body != nil {
		m.Text = words(body)
	}
	if from := e.ImportedFrom; from != nil && from.AuthorName != "" {
		m.Author += " (imported, was " + from.AuthorName + ")"
	}
	for _, f := range e.Attachments {
		a := attached{Name: f.Name}
		if e.AuthorID == j.req.Who.UserID && !j.closed[toolFile] {
			a.Path = escaped(strings.TrimPrefix(sentPath(c, f), c.folder+"/"))
		}
		m.Files = append(m.Files, a)
	}
	var reactions []string
	for _, r := range e.Reactions {
		reactions = append(reactions, fmt.Sprintf("%s %d", r.Key, r.Count))
	}
	m.Reactions = strings.Join(reactions, "  ")
	return m
}

// words are what a body says to people.
func words(body *ubl.TypedBody) string {
	if text, ok := body.Text(); ok {
		return text
	}
	if poll := body.Poll(); poll != nil {
		return poll.Text()
	}
	if form := body.Form(); form != nil {
		return form.Words()
	}
	return "(" + body.Type + ")"
}

// escaped is a path as the target of a link.
func escaped(path string) string {
	parts := strings.Split(path, "/")
	for i, p := range parts {
		parts[i] = url.PathEscape(p)
	}
	return strings.Join(parts, "/")
}

// link is a line of the first page.
type link struct{ Href, Name, Note string }

// index writes the page from which the others are found.
func (j *job) index() error {
	var rooms []link
	for _, r := range j.shown {
		note := fmt.Sprintf("%d of your messages", r.Messages)
		if r.Own {
			note += ", in a room that you aren't in"
		}
		rooms = append(rooms, link{escaped(r.Folder + "/index.html"), r.Name, note})
	}
	return j.zip.file("index.html", func() error {
		title := "Data of " + j.name(j.req.Who.UserID)
		note := "Your documents and files are in the folder containers, what you set in profile.json, your receipts in receipts.ndjson. manifest.json lists all files with their hashes, and what was left out."
		if err := pages.Execute(j.zip, map[string]string{"Title": title, "Note": note}); err != nil {
			return err
		}
		if err := pages.ExecuteTemplate(j.zip, "list", rooms); err != nil {
			return err
		}
		return pages.ExecuteTemplate(j.zip, "end", nil)
	})
}
