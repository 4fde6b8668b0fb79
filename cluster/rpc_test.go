package cluster

import (
	"reflect"
	"testing"

	"github.com/vmihailenco/msgpack/v5"
	"google.golang.org/grpc/mem"
)

// TestMessagesOfAsk: nodes that write them with the library, and may know members
// more, understand these and are understood.
func TestMessagesOfAsk(t *testing.T) {
	c, err := newCodec()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []any{
		&askBatch{Requests: []askRequest{
			{ID: 1, Name: "t:x|r:general", Command: []byte("command"), Timeout: 5000, Enter: []byte("enter"), Relay: true},
			{ID: 1 << 40, Name: "t:x", Command: make([]byte, 70_000)},
		}},
		&askBatch{},
		&replyBatch{Replies: []askReply{
			{ID: 7, Entered: []byte("entered"), Answer: []byte("answer")},
			{ID: 8, Error: []byte("error")},
			{ID: 9, Elsewhere: true, Leader: "n1@3f2a91c0", Term: 3},
		}},
	} {
		ours, err := c.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		got := reflect.New(reflect.TypeOf(want).Elem()).Interface()
		if err := msgpack.Unmarshal(ours.Materialize(), got); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("the library read\n%+v\nof\n%+v\n%v", got, want, err)
		}
		theirs, err := msgpack.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		got = reflect.New(reflect.TypeOf(want).Elem()).Interface()
		if err := c.Unmarshal(mem.BufferSlice{mem.SliceBuffer(theirs)}, got); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("of the library's was read\n%+v\nwant\n%+v\n%v", got, want, err)
		}
	}
	more := map[string]any{"Requests": []any{map[string]any{"ID": uint64(5), "Tomorrow": []int{1, 2}, "Name": "t:x"}}, "Also": map[string]string{"a": "b"}}
	data, err := msgpack.Marshal(more)
	if err != nil {
		t.Fatal(err)
	}
	var got askBatch
	if err := c.Unmarshal(mem.BufferSlice{mem.SliceBuffer(data)}, &got); err != nil || len(got.Requests) != 1 || got.Requests[0].ID != 5 || got.Requests[0].Name != "t:x" {
		t.Errorf("of members that aren't known was read %+v, %v", got, err)
	}
}
