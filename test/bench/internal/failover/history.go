package failover

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"

	"ubl/test/bench/internal/rawhttp"
)

// page is the largest that UBL gives.
const page = 200

// History reads all of a room through one node, oldest first.
func History(ctx context.Context, host, path, token string) ([]Entry, error) {
	conn, err := rawhttp.Dial(host)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	var all []Entry
	query := "?limit=" + strconv.Itoa(page)
	for cursor := ""; ctx.Err() == nil; {
		status, body, err := conn.Do(rawhttp.Get(host, path+query+cursor, token, "application/json"))
		if err != nil {
			return nil, fmt.Errorf("couldn't read the history: %w", err)
		}
		if status != http.StatusOK {
			return nil, fmt.Errorf("couldn't read the history: %d %.200s", status, body)
		}
		entries, next, err := decode(body)
		if err != nil {
			return nil, err
		}
		slices.Reverse(entries)
		all = append(all, entries...)
		if next == nil {
			slices.Reverse(all)
			return all, nil
		}
		cursor = "&cursor=" + strconv.FormatUint(*next, 10)
	}
	return nil, fmt.Errorf("couldn't read the history: %w", context.Cause(ctx))
}

// decode reads a page; next is nil on the oldest.
func decode(body []byte) (entries []Entry, next *uint64, err error) {
	var p struct {
		Messages []struct {
			RoomSeq uint64 `json:"room_seq"`
			Body    struct {
				Text string `json:"text"`
			} `json:"body"`
		} `json:"messages"`
		NextCursor *uint64 `json:"next_cursor"`
	}
	if err := json.Unmarshal(body, &p); err != nil {
		return nil, nil, fmt.Errorf("couldn't decode the history: %w", err)
	}
	for _, m := range p.Messages {
		entries = append(entries, Entry{m.RoomSeq, m.Body.Text})
	}
	return entries, p.NextCursor, nil
}
