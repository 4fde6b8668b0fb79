package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net/url"
	"strings"
	"text/tabwriter"
)

// list reads a list of the server's to its end, page by page. Member names it in the answer.
func (c *client) list(ctx context.Context, path, member string) ([]json.RawMessage, error) {
	return c.listFirst(ctx, path, member, math.MaxInt)
}

// listFirst is list up to so many.
func (c *client) listFirst(ctx context.Context, path, member string, most int) (all []json.RawMessage, err error) {
	separator := "?"
	if strings.Contains(path, "?") {
		separator = "&"
	}
	for page := path; ; {
		var answer map[string]json.RawMessage
		if err := c.call(ctx, "GET", page, nil, &answer); err != nil {
			return nil, err
		}
		list, err := formed[[]json.RawMessage]("a list", answer[member])
		if err != nil {
			return nil, err
		}
		if all = append(all, list...); len(all) >= most {
			return all[:most], nil
		}
		next, err := nextCursor(answer["next_cursor"])
		if err != nil || next == "" {
			return all, err
		}
		page = path + separator + "cursor=" + url.QueryEscape(next)
	}
}

// nextCursor is a cursor as it stands in a URL, "" at the end. Some are texts and some numbers.
func nextCursor(raw json.RawMessage) (string, error) {
	if len(raw) > 0 && raw[0] >= '0' && raw[0] <= '9' {
		return string(raw), nil
	}
	if raw == nil {
		return "", nil
	}
	return formed[string]("a cursor", raw)
}

// printList writes a list in one of the two forms: with --json one of it a line as the
// server sent it, else as a table. What names one, row makes its cells, divided by tabs.
func printList[T any](p *program, f format, list []json.RawMessage, what, head string, row func(*T) string) error {
	if f.JSON {
		for _, raw := range list {
			fmt.Fprintf(p.out, "%s\n", raw)
		}
		return nil
	}
	table := tabwriter.NewWriter(p.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, head)
	for _, raw := range list {
		one, err := formed[T](what, raw)
		if err != nil {
			return err
		}
		fmt.Fprintln(table, row(&one))
	}
	return table.Flush()
}

// showList is [client.list] and printList, for who needs nothing else of the server.
func showList[T any](ctx context.Context, p *program, r *remote, f format, path, member, what, head string, row func(*T) string) error {
	server, err := r.client(p)
	if err != nil {
		return err
	}
	list, err := server.list(ctx, path, member)
	if err != nil {
		return err
	}
	return printList(p, f, list, what, head, row)
}

// cells divides the cells of a row. What others wrote can't move the cursor there.
func cells(texts ...any) string {
	row := make([]string, len(texts))
	for n, text := range texts {
		row[n] = clean(fmt.Sprint(text))
	}
	return strings.Join(row, "\t")
}

// formed is what the server sent, as a T.
func formed[T any](what string, raw json.RawMessage) (v T, err error) {
	if err := json.Unmarshal(raw, &v); err != nil {
		return v, fmt.Errorf("the server sent %s of another form: %w", what, err)
	}
	return v, nil
}
