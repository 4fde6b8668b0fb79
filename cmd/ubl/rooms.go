package main

import (
	"context"
	"encoding/json"
	"fmt"
	"text/tabwriter"

	"ubl"
)

// roomsCmd lists the rooms that the caller is in or may join.
type roomsCmd struct {
	remote
	format
}

// Run lists them, with --json one a line.
func (c *roomsCmd) Run(ctx context.Context, p *program) error {
	server, err := c.client(p)
	if err != nil {
		return err
	}
	var answer struct {
		Rooms []json.RawMessage `json:"rooms"`
	}
	if err := server.call(ctx, "GET", "/api/rooms?details=1", nil, &answer); err != nil {
		return err
	}
	if c.JSON {
		for _, r := range answer.Rooms {
			fmt.Fprintf(p.out, "%s\n", r)
		}
		return nil
	}
	table := tabwriter.NewWriter(p.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "ROOM\tNAME\tMESSAGES\tMEMBER")
	for _, raw := range answer.Rooms {
		var r struct {
			ubl.RoomSummary
			Member  bool  `json:"member"`
			LastSeq int64 `json:"last_seq"`
		}
		if err := json.Unmarshal(raw, &r); err != nil {
			return fmt.Errorf("the server sent a room of another form: %w", err)
		}
		fmt.Fprintln(table, row(r.RoomID, clean(r.Name), r.LastSeq, r.Member))
	}
	return table.Flush()
}

func row(id ubl.RoomID, name string, last int64, member bool) string {
	if !member {
		return fmt.Sprintf("%s\t%s\t\tno, may join", id, name)
	}
	return fmt.Sprintf("%s\t%s\t%d\tyes", id, name, last)
}
