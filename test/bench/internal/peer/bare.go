package peer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"sync"
	"time"

	"ubl/test/bench/internal/commit"
	"ubl/test/bench/internal/receipt"
)

// Bare is the bare program: net/http, one mutex around one room and its
// ledger, and the group-commit loop. It decodes a send, builds the message and
// its two atoms, and replies when they are durable.
type Bare struct {
	loop *commit.Loop

	mu    sync.Mutex // held to number and enqueue a send, never while it is synced
	chain *receipt.Chain
}

// sendRequest is the body of a send.
type sendRequest struct {
	Type    string          `json:"type"`
	Body    json.RawMessage `json:"body"`
	ReplyTo *string         `json:"reply_to"`
}

// sendReply is the answer to it.
type sendReply struct {
	Message    json.RawMessage `json:"message"`
	RequestID  string          `json:"request_id"`
	ServerTime string          `json:"server_time"`
}

// RunBare serves the bare program on a store in dir until ctx is done.
func RunBare(ctx context.Context, out io.Writer, dir string) error {
	loop, err := commit.Open(filepath.Join(dir, "bare.db"))
	if err != nil {
		return err
	}
	b := &Bare{loop: loop, chain: receipt.NewChain(time.Now)}
	mux := http.NewServeMux()
	mux.HandleFunc("POST "+MessagesPath, b.send)
	return errors.Join(serve(ctx, out, mux), loop.Close())
}

func (b *Bare) send(w http.ResponseWriter, r *http.Request) {
	var in sendRequest
	decoder := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&in); err != nil {
		http.Error(w, "not a message", http.StatusBadRequest)
		return
	}
	entry, err := b.store(in)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	reply(w, sendReply{Message: entry.Message, RequestID: entry.RequestID, ServerTime: entry.Time})
}

// store returns once the send is durable.
func (b *Bare) store(in sendRequest) (receipt.Entry, error) {
	hash, err := receipt.BodyHash(in.Body)
	if err != nil {
		return receipt.Entry{}, err
	}
	done := make(chan error, 1)
	b.mu.Lock()
	entry, err := b.chain.Append(in.Type, in.Body, hash)
	if err == nil {
		b.loop.Enqueue(entry, done)
	}
	b.mu.Unlock()
	if err != nil {
		return receipt.Entry{}, err
	}
	if err := <-done; err != nil {
		return receipt.Entry{}, fmt.Errorf("couldn't commit: %w", err)
	}
	return entry, nil
}

// reply answers 201 with v; a peer that went away is its own affair.
func reply(w http.ResponseWriter, v any) {
	p, err := json.Marshal(v)
	if err != nil {
		http.Error(w, "couldn't encode the reply", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusCreated)
	w.Write(p)
}
