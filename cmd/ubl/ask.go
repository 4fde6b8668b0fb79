package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"

	"ubl"
)

// act has a server do something, under an idempotency key of its own, so that trying again
// does it once. Of the answer it returns the member that is named, "" for the whole.
func (c *client) act(ctx context.Context, p *program, method, path string, body map[string]any, member string) (json.RawMessage, error) {
	var sent any
	if method != "DELETE" {
		key, err := ubl.NewRequestID(p.random)
		if err != nil {
			return nil, err
		}
		if body == nil {
			body = map[string]any{}
		}
		body["client_request_id"] = key
		sent = body
	}
	var answer json.RawMessage
	if err := c.call(ctx, method, path, sent, &answer); err != nil {
		return nil, err
	}
	if member == "" {
		return answer, nil
	}
	parts, err := formed[map[string]json.RawMessage]("an answer", answer)
	return parts[member], err
}

// say prints what an act answered: with --json as it came, else as a line for people.
func (f format) say(w io.Writer, answer json.RawMessage, line string, args ...any) error {
	if f.JSON {
		_, err := fmt.Fprintf(w, "%s\n", answer)
		return err
	}
	_, err := fmt.Fprintln(w, clean(fmt.Sprintf(line, args...)))
	return err
}

// printJSON writes a list, one of it a line.
func printJSON[T any](w io.Writer, list []T) error {
	out := json.NewEncoder(w)
	for _, one := range list {
		if err := out.Encode(one); err != nil {
			return err
		}
	}
	return nil
}

// printTable writes a list for people.
func printTable[T any](w io.Writer, head string, list []T, row func(T) string) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, head)
	for _, one := range list {
		fmt.Fprintln(table, row(one))
	}
	return table.Flush()
}

// sure is for what can't be taken back.
type sure struct {
	Yes bool `help:"Do it: it can't be taken back." config:"-"`
}

// ask refuses where --yes isn't given.
func (s sure) ask(what string) error {
	if s.Yes {
		return nil
	}
	return thenDo(usagef("%s, which can't be taken back", what), "if that is meant, give --yes, too")
}
