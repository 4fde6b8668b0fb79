package searchload

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"sync/atomic"

	"ubl/test/bench/internal/load"
	"ubl/test/bench/internal/rawhttp"
)

// DocumentsPath takes documents, and SearchPath searches them.
const (
	workspacePath = "/api/workspaces/w:general"
	DocumentsPath = workspacePath + "/documents"
	SearchPath    = workspacePath + "/search"
)

// ownQueries is how many each writer has; it then begins again.
const ownQueries = 2_000

// Options say what to search where.
type Options struct {
	Host      string // HOST:PORT
	Token     string
	Documents int // how many there are
	Writers   int // each with a search at a time
	load.Plan
}

// Run searches until the time is up. A search that finds nothing counts as
// refused: every query has an answer.
func Run(ctx context.Context, o Options) (load.Result, error) {
	var conns []*rawhttp.Conn
	defer func() {
		for _, c := range conns {
			c.Close() // nothing is under way
		}
	}()
	var found atomic.Uint64
	sends := make([]load.Send, o.Writers)
	for i := range sends {
		conn, err := rawhttp.Dial(o.Host)
		if err != nil {
			return load.Result{}, fmt.Errorf("couldn't start a writer: %w", err)
		}
		conns = append(conns, conn)
		sends[i] = search(conn, o.requests(uint64(i)), &found)
	}
	return load.Loop(ctx, o.Plan, sends)
}

// requests makes a writer's queries ready.
func (o Options) requests(writer uint64) [][]byte {
	random := rand.New(rand.NewPCG(seed+1, writer))
	out := make([][]byte, ownQueries)
	for i := range out {
		out[i] = Request(o.Host, o.Token, Query(random, o.Documents))
	}
	return out
}

// Request is the bytes of one search.
func Request(host, token, query string) []byte {
	return rawhttp.Get(host, SearchPath+"?query="+url.QueryEscape(query), token, "application/json")
}

func search(conn *rawhttp.Conn, requests [][]byte, found *atomic.Uint64) load.Send {
	next := 0
	return func(context.Context) (uint64, error) {
		status, body, err := conn.Do(requests[next%len(requests)])
		next++
		if err != nil {
			return 0, err
		}
		if status != http.StatusOK || !bytes.Contains(body, []byte(`"document_id":`)) {
			return 0, &load.Refusal{Reply: fmt.Sprintf("%d %.200s", status, body)}
		}
		return found.Add(1), nil
	}
}
