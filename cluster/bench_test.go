package cluster

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"ubl"
	"ubl/actors/families"
	"ubl/cluster/wire"
)

// BenchmarkForward carries four questions to another node and their answers back,
// each time in one message, without the network between. An operation is one of
// the four.
func BenchmarkForward(b *testing.B) {
	registry, err := wire.NewRegistry(families.All.Commands(), families.All.Answers())
	if err != nil {
		b.Fatal(err)
	}
	n := &Node{opts: Options{Registry: registry}}
	for name, r := range answers() {
		b.Run(name, func(b *testing.B) { n.forwardFour(b, aSend(), r) })
	}
}

func (n *Node) forwardFour(b *testing.B, q question, r reply) {
	b.ReportAllocs()
	for left := b.N; left > 0; left -= 4 {
		var asks, asked askBatch
		for range 4 {
			request, err := n.request(q)
			if err != nil {
				b.Fatal(err)
			}
			asks.Requests = append(asks.Requests, request)
		}
		travel(b, &asks, &asked)
		var answers, answered replyBatch
		for i := range asked.Requests {
			if _, err := n.question(&asked.Requests[i]); err != nil {
				b.Fatal(err)
			}
			answer, err := n.encode(r)
			if err != nil {
				b.Fatal(err)
			}
			answers.Replies = append(answers.Replies, answer)
		}
		travel(b, &answers, &answered)
		for i := range answered.Replies {
			if r := n.reply(&answered.Replies[i]); r.err != nil {
				b.Fatal(r.err)
			}
		}
	}
}

// travel writes a message and reads it, as gRPC would.
func travel(b *testing.B, from, to any) {
	data, err := codec{}.Marshal(from)
	if err == nil {
		err = codec{}.Unmarshal(data, to)
	}
	if err != nil {
		b.Fatal(err)
	}
	data.Free()
}

const benchTenant = "t:example.com"

// aSend is a message of 100 bytes, with who sends it to be let in first.
func aSend() question {
	who := ubl.Identity{
		UserID: "u:0123456789abcdef0123456789abcdef", Email: "ana@example.com", EmailDomain: "example.com", Groups: []string{"staff"},
		TenantID: benchTenant, Issuer: "https://id.example.com", Subject: "ana",
	}
	request := ubl.Request{ID: "req:6b2f1c9e-7a0b-4c57-9e55-0d7c2f0f8a11", Key: "req:6b2f1c9e-7a0b-4c57-9e55-0d7c2f0f8a11", Who: who}
	return question{
		to: ubl.RoomName(benchTenant, "r:general"), enter: ubl.Enter{Request: request, Tool: "messenger.send"},
		cmd: ubl.SendMessage{Request: request, Text: strings.Repeat("hello ", 17)},
	}
}

// answers are small and large ones: what was sent, 200 messages, 50 rooms with
// their newest.
func answers() map[string]reply {
	message := json.RawMessage(strings.Repeat("x", 740))
	page := &ubl.HistoryPage{FirstSeq: 1001, LastSeq: 1200, Head: ubl.Head{LastSeq: 123456, AvailableFrom: 1}}
	for range 200 {
		page.Messages = append(page.Messages, message)
	}
	var rooms []ubl.RoomEntry
	for i := range 50 {
		rooms = append(rooms, ubl.RoomEntry{
			RoomSummary: ubl.RoomSummary{RoomID: ubl.RoomID(fmt.Sprintf("r:%032x", i)), Name: "general talk", Mode: "collaborative", CreatedAt: 1_767_789_296_789},
			Member:      true, LastSeq: 1234, LastMessage: message,
		})
	}
	entered := &ubl.Entered{TenantID: benchTenant, Role: ubl.RoleMember}
	return map[string]reply{
		"send":    {entered: entered, value: &ubl.Sent{Message: message, RoomSeq: 123456}},
		"history": {entered: entered, value: page},
		"rooms":   {entered: entered, value: rooms},
	}
}
