package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"ubl"
)

// searchCmd finds messages, or has the indexes of a stopped server made again.
type searchCmd struct {
	remote
	format
	Words   []string `arg:"" optional:"" help:"Words that must all be there; a \"phrase\", -word or begin* in quotes of the shell."`
	In      string   `help:"Only this room: its id or name." placeholder:"ROOM" complete:"rooms" config:"-"`
	From    string   `help:"Only what this person wrote: an id, an address, or me." placeholder:"WHO" config:"-"`
	Before  string   `help:"Only messages from before this day." placeholder:"DAY" config:"-"`
	After   string   `help:"Only messages from after this day." placeholder:"DAY" config:"-"`
	Has     []string `help:"Only messages with a file, a link or a reaction. May be given again." enum:"file,link,reaction" placeholder:"WHAT" config:"-"`
	Sort    string   `default:"relevance" enum:"relevance,newest,oldest" help:"Best, newest or oldest first: ${enum}." config:"-"`
	Limit   int      `default:"20" help:"How many at most, 1 to 50." config:"-"`
	Rebuild string   `type:"path" help:"Throw away the search indexes of the stopped server with this data directory: it makes them again when it starts." placeholder:"DIR" config:"-"`
}

// Run prints the hits.
func (c *searchCmd) Run(ctx context.Context, p *program) error {
	if c.Rebuild != "" {
		return c.rebuild(p)
	}
	if c.Limit < 1 || c.Limit > ubl.MaxFound {
		return usagef("--limit is 1 to %d", ubl.MaxFound)
	}
	query := c.query()
	if strings.TrimSpace(query) == "" && c.In == "" && c.From == "" {
		return usagef("say which words to find")
	}
	server, err := c.client(p)
	if err != nil {
		return err
	}
	path := "/api/search?" + url.Values{
		"query": {query}, "in": {c.In}, "from": {c.From}, "sort": {c.Sort}, "limit": {strconv.Itoa(c.Limit)},
	}.Encode()
	var answer struct {
		Hits     []json.RawMessage `json:"hits"`
		Indexing *ubl.Indexing     `json:"indexing"`
	}
	if err := server.call(ctx, "GET", path, nil, &answer); err != nil {
		return err
	}
	if answer.Indexing != nil {
		which := "messages"
		if at := answer.Indexing.CompleteUpTo; at != nil {
			which += " from after " + local(*at)
		}
		fmt.Fprintf(p.err, "The server is still indexing: %s may be missing.\n", which)
	}
	return printList(p, c.format, answer.Hits, "a hit", "ROOM\tENTRY\tSENT\tAUTHOR\tTEXT", func(h *ubl.MessageHit) string {
		return cells(h.Place.RoomID, h.Place.RoomSeq, local(h.SentAt), h.AuthorID, oneLine(h.Snippet))
	})
}

// query is the words with what narrows them, in the language of searches. The words stand
// last: a blank behind them says that the last one is whole.
func (c *searchCmd) query() string {
	var parts []string
	add := func(name, value string) {
		if value != "" {
			parts = append(parts, name+":"+value)
		}
	}
	add("before", c.Before)
	add("after", c.After)
	for _, has := range c.Has {
		add("has", has)
	}
	return strings.Join(append(parts, c.Words...), " ") + " "
}

// rebuild deletes the indexes, which are derived from what is stored.
func (c *searchCmd) rebuild(p *program) error {
	if err := mustHoldData(c.Rebuild); err != nil {
		return err
	}
	here, err := running(c.Rebuild)
	switch {
	case err != nil:
		return err
	case here != nil:
		return thenDo(fmt.Errorf("a server runs over %s", c.Rebuild), "stop it first")
	}
	if err := os.RemoveAll(filepath.Join(c.Rebuild, searchDir)); err != nil {
		return err
	}
	_, err = fmt.Fprintln(p.out, "The search indexes are gone. The server makes them again in the background when it starts.")
	return err
}
