package main

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"ubl"
	"ubl/transport/auth"
)

func testNow() time.Time { return time.Date(2026, 1, 7, 12, 0, 0, 0, time.UTC) }

// counter64 is a random source that never repeats and can be foreseen.
type counter64 struct{ n atomic.Uint64 }

func (c *counter64) Read(b []byte) (int, error) {
	for done := 0; done < len(b); {
		sum := sha256.Sum256(binary.BigEndian.AppendUint64(nil, c.n.Add(1)))
		done += copy(b[done:], sum[:])
	}
	return len(b), nil
}

func testKey(t *testing.T, p *program) *auth.Key {
	t.Helper()
	key, err := auth.NewKey(p.random)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// opened is a node over a directory, until the test ends.
func opened(t *testing.T, p *program, dir string) *node {
	t.Helper()
	n, err := p.openNode(dir, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := n.close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return n
}

// started is a node over a directory that has said so. Who asks closes it.
func started(t *testing.T, p *program, dir string) *node {
	t.Helper()
	n, err := p.openNode(dir, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	req, _ := n.request()
	if err := n.announceStart(t.Context(), req, testKey(t, p)); err != nil {
		t.Fatal(err)
	}
	return n
}

// texts is what a room of tenant 0 tells.
func texts(t *testing.T, n *node, room ubl.RoomID) []string {
	t.Helper()
	page, err := ubl.Ask[*ubl.HistoryPage](t.Context(), n.actors, ubl.RoomName(ubl.CoreTenant, room), ubl.ReadHistory{Who: ubl.Platform(), Limit: 200})
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, raw := range page.Messages {
		var m ubl.Message
		if err := json.Unmarshal(raw, &m); err != nil {
			t.Fatal(err)
		}
		out = append(out, m.Body.Text)
	}
	return out
}
