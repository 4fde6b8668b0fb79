package cluster

import (
	"encoding/json"
	"strings"
	"testing"

	"ubl"
	"ubl/actors/families"
	"ubl/cluster/wire"
)

// BenchmarkForward carries four sends of 100 bytes to another node and their
// answers back, each time in one message, without the network between. An
// operation is one of the four.
func BenchmarkForward(b *testing.B) {
	registry, err := wire.NewRegistry(families.All.Commands(), families.All.Answers())
	if err != nil {
		b.Fatal(err)
	}
	n := &Node{opts: Options{Registry: registry}}
	if n.codec, err = newCodec(); err != nil {
		b.Fatal(err)
	}
	q, r := aSend()
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
		n.travel(b, &asks, &asked)
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
		n.travel(b, &answers, &answered)
		for i := range answered.Replies {
			if r := n.reply(&answered.Replies[i]); r.err != nil {
				b.Fatal(r.err)
			}
		}
	}
}

// travel writes a message and reads it, as gRPC would.
func (n *Node) travel(b *testing.B, from, to any) {
	data, err := n.codec.Marshal(from)
	if err == nil {
		err = n.codec.Unmarshal(data, to)
	}
	if err != nil {
		b.Fatal(err)
	}
	data.Free()
}

func aSend() (question, reply) {
	who := ubl.Identity{
		UserID: "u:0123456789abcdef0123456789abcdef", Email: "ana@example.com", EmailDomain: "example.com", Groups: []string{"staff"},
		TenantID: "t:example.com", Issuer: "https://id.example.com", Subject: "ana",
	}
	request := ubl.Request{ID: "req:6b2f1c9e-7a0b-4c57-9e55-0d7c2f0f8a11", Key: "req:6b2f1c9e-7a0b-4c57-9e55-0d7c2f0f8a11", Who: who}
	q := question{
		to: ubl.RoomName(who.TenantID, "r:general"), enter: ubl.Enter{Request: request, Tool: "messenger.send"},
		cmd: ubl.SendMessage{Request: request, Text: strings.Repeat("hello ", 17)},
	}
	return q, reply{
		entered: &ubl.Entered{TenantID: who.TenantID, Role: ubl.RoleMember},
		value:   &ubl.Sent{Message: json.RawMessage(strings.Repeat("x", 740)), RoomSeq: 123456},
	}
}
