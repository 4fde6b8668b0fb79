package deploy

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"
)

// follower keeps a live stream of a room open and what came over it.
type follower struct {
	c       *client
	room    string
	last    string // the id to resume after
	streams int    // how many it took
	got     []message
}

// follow reads the room from its beginning until it has so many messages, and
// resumes where a stream ends.
func (f *follower) follow(ctx context.Context, t *testing.T, want int) {
	for len(f.got) < want && ctx.Err() == nil {
		r, err := f.c.request(ctx, "GET", "/api/events/rooms/"+f.room+"?from_seq=0", nil)
		if err != nil {
			t.Error(err)
			return
		}
		if f.last != "" {
			r.Header.Set("Last-Event-ID", f.last)
		}
		resp, err := (&http.Client{}).Do(r) // no timeout: it may last for days
		if err != nil {
			pause(ctx, 50*time.Millisecond)
			continue
		}
		if resp.StatusCode == http.StatusOK {
			f.streams++
			f.read(bufio.NewScanner(resp.Body), want)
		} else {
			pause(ctx, 50*time.Millisecond)
		}
		_ = resp.Body.Close()
	}
}

// read takes the frames of one stream until it ends.
func (f *follower) read(lines *bufio.Scanner, want int) {
	var id, event, data string
	for len(f.got) < want && lines.Scan() {
		name, value, _ := strings.Cut(lines.Text(), ": ")
		switch name {
		case "id":
			id = value
		case "event":
			event = value
		case "data":
			data = value
		case "": // the frame is whole
			f.take(id, event, data)
			id, event, data = "", "", ""
		}
	}
}

func (f *follower) take(id, event, data string) {
	var e struct {
		Payload struct {
			Message message `json:"message"`
		} `json:"payload"`
	}
	if event == "message.created" && json.Unmarshal([]byte(data), &e) == nil {
		f.got = append(f.got, e.Payload.Message)
	}
	if id != "" {
		f.last = id
	}
}

// check wants the same messages in the same order as the history has.
func (f *follower) check(t *testing.T, history []message) {
	t.Helper()
	if len(f.got) != len(history) {
		t.Fatalf("%d messages came over the stream, the room has %d", len(f.got), len(history))
	}
	for i := range history {
		if f.got[i] != history[i] {
			t.Fatalf("message %d over the stream is %+v, in the history %+v", i+1, f.got[i], history[i])
		}
	}
}
