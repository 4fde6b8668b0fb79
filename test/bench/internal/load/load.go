// Package load is the load generator: a closed loop of writers, each with one
// request in flight. The same loop, as a process of its own, drives every
// server, so that all of them share the cores with it in the same way. Run
// speaks HTTP; what speaks another protocol hands Loop its own sends.
package load

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"ubl/test/bench/internal/rawhttp"
)

// Body is the send that every writer repeats, and Text what it says. Document makes a
// document that says the same, in a request of the same length.
const (
	Body     = `{"type":"text","body":{"text":"` + Text + `"},"reply_to":null}`
	Document = `{"title":"A document of some writer","content":"` + Text + `"}`
	Text     = "hello"
)

// Options say what to do to whom.
type Options struct {
	Hosts   []string // HOST:PORT; several are nodes of one server, and get the writers in turn
	Path    string
	Body    string
	Number  func(reply []byte) (uint64, error) // what a reply carries, see [Send]
	Tokens  []string                           // of people, who get the writers in turn; none: nobody has to sign in
	Writers int
	Plan
}

// Run drives the server until the time is up. Each writer has one keep-alive
// connection, or one a node where there are fewer writers than nodes.
func Run(ctx context.Context, o Options) (Result, error) {
	var conns []*rawhttp.Conn
	defer func() {
		for _, c := range conns {
			c.Close() // nothing is under way
		}
	}()
	connect := func(host string) (Send, error) {
		conn, err := rawhttp.Dial(host)
		if err != nil {
			return nil, err
		}
		token := ""
		if n := len(o.Tokens); n > 0 {
			token = o.Tokens[len(conns)%n]
		}
		conns = append(conns, conn)
		return post(conn, rawhttp.Post(host, o.Path, token, []byte(o.Body)), o.Number), nil
	}
	sends, err := Spread(o.Writers, o.Hosts, connect)
	if err != nil {
		return Result{}, fmt.Errorf("couldn't start a writer: %w", err)
	}
	return Loop(ctx, o.Plan, sends)
}

// Spread gives each of n writers one node in turn. Where there are fewer
// writers than nodes, each goes from node to node.
func Spread[Node any](n int, nodes []Node, connect func(Node) (Send, error)) ([]Send, error) {
	sends := make([]Send, n)
	for i := range sends {
		own := nodes[i%len(nodes)]
		var err error
		if n >= len(nodes) {
			sends[i], err = connect(own)
		} else {
			sends[i], err = visit(nodes, connect)
		}
		if err != nil {
			return nil, err
		}
	}
	return sends, nil
}

// visit makes a send that goes from node to node: it meets the leader as often
// as many writers do, wherever that is.
func visit[Node any](nodes []Node, connect func(Node) (Send, error)) (Send, error) {
	sends := make([]Send, len(nodes))
	for i, node := range nodes {
		var err error
		if sends[i], err = connect(node); err != nil {
			return nil, err
		}
	}
	next := 0
	return func(ctx context.Context) (uint64, error) {
		send := sends[next%len(sends)]
		next++
		return send(ctx)
	}, nil
}

// post repeats one request.
func post(conn *rawhttp.Conn, request []byte, number func([]byte) (uint64, error)) Send {
	return func(context.Context) (uint64, error) {
		status, body, err := conn.Do(request)
		if err != nil {
			return 0, err
		}
		if status/100 != http.StatusOK/100 {
			return 0, &Refusal{fmt.Sprintf("%d %.200s", status, body)}
		}
		return number(body)
	}
}

// RoomSeq finds the room_seq in a reply without decoding it: the generator
// must stay cheap, and the first "room_seq" of a reply is its message's.
func RoomSeq(body []byte) (uint64, error) { return number(body, `"room_seq":`) }

// ActNumber counts the acts of a ledger: each takes two atoms, an action and its effect, and
// the first "seq" of a reply is the action's. The numbers have no gap where nothing else is
// done in the tenant meanwhile.
func ActNumber(body []byte) (uint64, error) {
	seq, err := number(body, `"seq":`)
	return seq / 2, err
}

func number(body []byte, name string) (uint64, error) {
	_, rest, found := bytes.Cut(body, []byte(name))
	if !found {
		return 0, fmt.Errorf("a reply has no %s %.200s", name, body)
	}
	end := 0
	for end < len(rest) && rest[end] >= '0' && rest[end] <= '9' {
		end++
	}
	n, err := strconv.ParseUint(string(rest[:end]), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("a reply has a bad %s %w", name, err)
	}
	return n, nil
}

// Overloaded reports whether a refusal says that nothing was done: what is merely
// unavailable may have been.
func Overloaded(body []byte) bool { return bytes.Contains(body, []byte(`"code":"overloaded"`)) }

func micros(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }
