package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	pathpkg "path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"ubl"
)

// docCmd is about the documents of workspaces. Each look leaves a receipt.
type docCmd struct {
	List   docListCmd   `cmd:"" help:"List the documents of a workspace."`
	Get    docGetCmd    `cmd:"" help:"Print a document."`
	Put    docPutCmd    `cmd:"" help:"Make a document of a file, or a new version of one."`
	Search docSearchCmd `cmd:"" help:"Find documents by their words."`
}

// documents is the path of the workspace's.
func (w inWorkspace) documents() (string, error) {
	path, err := w.path()
	return path + "/documents", err
}

type docListCmd struct {
	remote
	format
	inWorkspace
	inPast
}

// Run lists them, with --json one a line.
func (c *docListCmd) Run(ctx context.Context, p *program) error {
	path, err := c.documents()
	if err == nil {
		path, err = c.of(path + "?limit=100")
	}
	if err != nil {
		return err
	}
	return showList(ctx, p, &c.remote, c.format, path, "documents", "a document", "DOCUMENT\tTITLE\tVERSION\tBYTES\tCHANGED", func(d *ubl.Document) string {
		return cells(d.DocumentID, oneLine(d.Title), d.Version, d.Bytes, local(d.UpdatedAt))
	})
}

type docSearchCmd struct {
	remote
	format
	inWorkspace
	Query string   `arg:"" help:"Words that must all be there; a \"phrase\" in quotes, a begin* of a word."`
	Any   bool     `help:"A question: any of its words may match, in any form." config:"-"`
	Where []string `sep:"none" help:"Only documents that say so of themselves, such as tags=finance; repeat it for more, all must hold." placeholder:"NAME=VALUE" config:"-"`
	From  string   `help:"Only documents of this day or later." placeholder:"DAY" config:"-"`
	To    string   `help:"Only documents of this day or before." placeholder:"DAY" config:"-"`
	Limit int      `default:"20" help:"How many at most, 1 to 400." config:"-"`
}

// parameters are what the flags ask of the server.
func (c *docSearchCmd) parameters() (url.Values, error) {
	q := url.Values{"query": {c.Query}, "limit": {strconv.Itoa(min(c.Limit, hitsPage))}}
	if c.Any {
		q.Set("match", "any")
	}
	for _, given := range c.Where {
		name, value, ok := strings.Cut(given, "=")
		if !ok {
			return nil, usagef("--where is NAME=VALUE")
		}
		q.Add("where", name+":"+value)
	}
	for name, day := range map[string]string{"from": c.From, "to": c.To} {
		if _, err := time.Parse(time.DateOnly, day); err != nil && day != "" {
			return nil, usagef("--%s is a day, such as 2026-01-31", name)
		}
		if day != "" {
			q.Set(name, day)
		}
	}
	return q, nil
}

// hitsPage is how many hits a page has at most.
const hitsPage = 100

// Run prints the hits, the best first.
func (c *docSearchCmd) Run(ctx context.Context, p *program) error {
	path, err := c.path()
	if err != nil {
		return err
	}
	if c.Limit < 1 || c.Limit > ubl.MaxHits {
		return usagef("--limit is 1 to %d", ubl.MaxHits)
	}
	query, err := c.parameters()
	if err != nil {
		return err
	}
	server, err := c.client(p)
	if err != nil {
		return err
	}
	hits, err := server.listFirst(ctx, path+"/search?"+query.Encode(), "documents", c.Limit)
	if err != nil {
		return err
	}
	if len(hits) == 0 && !c.Any && !c.JSON && strings.Contains(c.Query, " ") {
		fmt.Fprintln(p.err, "No document has all of these words; --any finds those with some of them.")
	}
	return printList(p, c.format, hits, "a hit", "DOCUMENT\tTITLE\tTEXT", func(h *ubl.DocumentHit) string {
		return cells(h.DocumentID, oneLine(h.Title), oneLine(h.Snippet))
	})
}

type docGetCmd struct {
	remote
	format
	inWorkspace
	Document string `arg:"" complete:"documents" help:"The document's id, as the list has it, or its whole title; of a published one its path, key, ID or an alias, too."`
	Version  int64  `name:"at-version" help:"Another version than the newest." placeholder:"N" config:"-"`
}

// Run prints the content and nothing else; with --json all that there is.
func (c *docGetCmd) Run(ctx context.Context, p *program) error {
	if c.Version < 0 {
		return usagef("--at-version is 1 or more")
	}
	path, err := c.documents()
	if err != nil {
		return err
	}
	server, err := c.client(p)
	if err != nil {
		return err
	}
	id, err := server.documentID(ctx, path, c.Document)
	if err != nil {
		return err
	}
	path += "/" + url.PathEscape(string(id))
	if c.Version > 0 {
		path += "?version=" + strconv.FormatInt(c.Version, 10)
	}
	var answer struct {
		Document json.RawMessage `json:"document"`
	}
	if err := server.call(ctx, "GET", path, nil, &answer); err != nil {
		return err
	}
	if c.JSON {
		_, err = fmt.Fprintf(p.out, "%s\n", answer.Document)
		return err
	}
	d, err := formed[ubl.Document]("a document", answer.Document)
	if err == nil {
		_, err = io.WriteString(p.out, clean(d.Content))
	}
	return err
}

// goesBy reports whether a document has a name: its title, or what it was published as: key, id, path or
// alias.
func goesBy(d *ubl.Document, name string) bool {
	if d.Title == name || d.Published == nil {
		return d.Title == name
	}
	var said struct {
		Aliases []string `json:"aliases"`
	}
	_ = json.Unmarshal(d.Published.Metadata, &said) // other forms of aliases are none
	as := d.Published
	return slices.Contains(append(said.Aliases, as.DocumentKey.String(), as.ID, as.Path, pathpkg.Base(as.Path)), name)
}

// documentID is the id of a document that is named by it or by another name that it goes by.
func (c *client) documentID(ctx context.Context, path, named string) (ubl.DocumentID, error) {
	if id := ubl.DocumentID(named); id.Valid() {
		return id, nil
	}
	list, err := c.list(ctx, path+"?limit=100", "documents")
	if err != nil {
		return "", err
	}
	var found []ubl.DocumentID
	var titles []string
	for _, raw := range list {
		d, err := formed[ubl.Document]("a document", raw)
		if err != nil {
			return "", err
		}
		titles = append(titles, d.Title)
		if goesBy(&d, named) {
			found = append(found, d.DocumentID)
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return "", thenDo(errors.New("no document has this title or name"), "%s", clean(cmp.Or(meant(named, titles), `"ubl doc list" lists them`)))
	}
	return "", thenDo(fmt.Errorf("%d documents have this title or name", len(found)), `give the id; "ubl doc list" lists them`)
}

type docPutCmd struct {
	remote
	format
	inWorkspace
	File      string `arg:"" help:"The file with the text; - reads standard input."`
	Title     string `help:"What to call it; the file's name unless given." config:"-"`
	Document  string `complete:"documents" help:"Make a new version of this document, named by id or title, instead of a new document." placeholder:"DOCUMENT" config:"-"`
	IfVersion int64  `help:"Only if this is still the newest version." placeholder:"N" config:"-"`
}

// Run puts it.
func (c *docPutCmd) Run(ctx context.Context, p *program) error {
	path, err := c.documents()
	if err != nil {
		return err
	}
	switch {
	case c.IfVersion != 0 && c.Document == "":
		return usagef("--if-version goes with --document")
	case c.File == "-" && c.Title == "" && c.Document == "":
		return usagef("what comes from standard input has no name: give --title")
	}
	content, err := c.content(p)
	if err != nil {
		return err
	}
	server, err := c.client(p)
	if err != nil {
		return err
	}
	method, body := "POST", map[string]any{"content": content}
	if c.Title != "" || c.Document == "" {
		body["title"] = cmp.Or(c.Title, strings.TrimSuffix(filepath.Base(c.File), filepath.Ext(c.File)))
	}
	if c.Document != "" {
		id, err := server.documentID(ctx, path, c.Document)
		if err != nil {
			return err
		}
		method, path = "PATCH", path+"/"+url.PathEscape(string(id))
		if c.IfVersion > 0 {
			body["if_version"] = c.IfVersion
		}
	}
	answer, err := server.act(ctx, p, method, path, body, "document")
	if err != nil {
		return err
	}
	d, err := formed[ubl.Document]("a document", answer)
	if err != nil {
		return err
	}
	return c.say(p.out, answer, "%s, version %d of %q, receipt %d %s", d.DocumentID, d.Version, d.Title, d.Receipt.Seq, d.Receipt.HeadHash)
}

// content is the text to put, as far as a document may be long.
func (c *docPutCmd) content(p *program) (string, error) {
	in := p.in
	if c.File != "-" {
		f, err := os.Open(c.File)
		if err != nil {
			if path, ok := errors.AsType[*fs.PathError](err); ok {
				err = path.Err
			}
			return "", fmt.Errorf("couldn't read %s: %w", c.File, err)
		}
		defer f.Close()
		in = f
	}
	data, err := io.ReadAll(io.LimitReader(in, utf8.UTFMax*ubl.MaxContentChars+1))
	if err != nil {
		return "", fmt.Errorf("couldn't read the text: %w", err)
	}
	switch {
	case !utf8.Valid(data):
		return "", thenDo(errors.New("a document is text, and this is no valid UTF-8"), `"ubl file put" takes files of any kind`)
	case utf8.RuneCount(data) > ubl.MaxContentChars:
		return "", thenDo(fmt.Errorf("a document has at most %d characters", ubl.MaxContentChars), `"ubl file put" takes files of any size`)
	}
	return string(data), nil
}
