package suite

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"

	"ubl/test/bench/internal/rawhttp"
)

const (
	roomsPath   = "/api/rooms"
	historyPath = roomsPath + "/r:general/history"
)

// makeRooms creates n rooms.
func makeRooms(ctx context.Context, t *target, n int) error {
	return each(ctx, t, n, http.StatusCreated, func(i int) []byte {
		body := fmt.Sprintf(`{"name":"Room %06d"}`, i)
		return rawhttp.Post(t.server.Host, roomsPath, t.token, []byte(body))
	})
}

// readRooms reads the newest message of every room the account has, which
// must be at least n.
func readRooms(ctx context.Context, t *target, n int) error {
	rooms, err := listRooms(ctx, t)
	if err != nil {
		return err
	}
	if len(rooms) < n {
		return fmt.Errorf("UBL lists %d rooms instead of %d", len(rooms), n)
	}
	return each(ctx, t, len(rooms), http.StatusOK, func(i int) []byte {
		path := roomsPath + "/" + rooms[i] + "/history?limit=1"
		return rawhttp.Get(t.server.Host, path, t.token, "application/json")
	})
}

// listRooms follows the pages of the account's rooms, if there are several.
func listRooms(ctx context.Context, t *target) ([]string, error) {
	conn, err := rawhttp.Dial(t.server.Host)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	var rooms []string
	path := roomsPath
	for ctx.Err() == nil {
		status, body, err := conn.Do(rawhttp.Get(t.server.Host, path, t.token, "application/json"))
		if err != nil {
			return nil, fmt.Errorf("couldn't list the rooms: %w", err)
		}
		if status != http.StatusOK {
			return nil, fmt.Errorf("couldn't list the rooms: %d %.200s", status, body)
		}
		var page struct {
			Rooms []struct {
				RoomID string `json:"room_id"`
			} `json:"rooms"`
			NextCursor *string `json:"next_cursor"`
		}
		if err := json.Unmarshal(body, &page); err != nil {
			return nil, fmt.Errorf("couldn't decode the list of rooms: %w", err)
		}
		for _, room := range page.Rooms {
			rooms = append(rooms, room.RoomID)
		}
		if page.NextCursor == nil || *page.NextCursor == "" {
			return rooms, nil
		}
		path = roomsPath + "?cursor=" + url.QueryEscape(*page.NextCursor)
	}
	return nil, fmt.Errorf("couldn't list the rooms: %w", context.Cause(ctx))
}

// each makes n requests over a few connections; all must get the status.
func each(ctx context.Context, t *target, n, want int, request func(i int) []byte) error {
	var (
		group  sync.WaitGroup
		next   atomic.Int64
		failed = make(chan error, roomWorkers)
	)
	work := func() error {
		conn, err := rawhttp.Dial(t.server.Host)
		if err != nil {
			return err
		}
		defer conn.Close()
		for i := next.Add(1) - 1; i < int64(n); i = next.Add(1) - 1 {
			if ctx.Err() != nil {
				return fmt.Errorf("stopped at request %d of %d: %w", i, n, context.Cause(ctx))
			}
			status, body, err := conn.Do(request(int(i)))
			if err != nil {
				return err
			}
			if status != want {
				return fmt.Errorf("request %d of %d got %d %.200s", i, n, status, body)
			}
		}
		return nil
	}
	for range roomWorkers {
		group.Go(func() { failed <- work() })
	}
	group.Wait()
	close(failed)
	for err := range failed {
		if err != nil {
			return err
		}
	}
	return nil
}
