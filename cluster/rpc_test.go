package cluster

import (
	"math"
	"reflect"
	"testing"

	"github.com/vmihailenco/msgpack/v5"
	"google.golang.org/grpc/mem"

	"ubl"
)

// messages are all that calls carry.
func messages() []any {
	at := ubl.Time(1_767_789_296_789)
	return []any{
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
		&termRequest{Partition: -1},
		&termReply{Term: 7, Silent: 1500, Last: math.MaxInt64},
		&report{
			NodeID: "n1", ServerID: "n1@3f2a91c0", ClusterID: "c", Stopping: true, Secret: []string{"a"}, Keys: []string{}, Table: []byte("{}"), Clock: at, ClockOffset: -12, Version: "0.2.0", BackupAt: &at,
			Failing: []ubl.TenantID{"t:x"},
			Replicas: []replicaReport{
				{Partition: 1, Leader: "n2@00000000", Term: 9, Applied: 10, Commit: 11, Config: 3, Voters: []string{"n1@3f2a91c0", "n2@00000000"}, Scrub: &ubl.ClusterScrub{
					Bytes: 1 << 33, FinishedAt: &at, Damages: 1, Met: 2, Digests: []ubl.Digest{{Count: 3, Ranges: "00ff", Sum: "ab"}}}},
				{LogLost: true},
			},
		},
		&report{},
		&joinRequest{NodeID: "n1", ServerID: "n1@3f2a91c0", Addr: "127.0.0.1:1", Partitions: 16},
		&joinReply{ClusterID: "c", Shared: map[string][]byte{"key": {0, 1}, "none": nil, "empty": {}}},
		&sharedReply{},
		&leaveRequest{NodeID: "n1", Keep: 3},
		&replicaRequest{Partition: 1, Close: true, Config: 5},
		&changeRequest{Kind: 2, Partition: 1, Server: "n1@3f2a91c0", Term: 3, Config: 4},
		&followRequest{Name: "t:x|r:general", Kinds: []string{"tools.changed"}},
		&fetchRequest{Partition: 300},
		&chunk{Data: make([]byte, 300_000)},
		&none{},
		&ubl.Publication{First: 1, Last: 2, Events: []ubl.Event{{Kind: "message.created", TenantID: "t:x", RoomID: "r:general", TS: at, RoomSeq: 1, LedgerSeq: 2, Payload: []byte("{}")}, {TokenID: "j"}}},
	}
}

// TestMessages: nodes of the release before write and read most of them as the library
// does without options, and may know members more. They are understood, and understand
// these.
func TestMessages(t *testing.T) {
	var c codec
	for _, want := range messages() {
		ours, err := c.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		got := reflect.New(reflect.TypeOf(want).Elem()).Interface()
		if err := msgpack.Unmarshal(ours.Materialize(), got); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("the release before read\n%+v\nof\n%+v\n%v", got, want, err)
		}
		theirs, err := msgpack.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		for whose, data := range map[string][]byte{"the release before": theirs, "this one": ours.Materialize()} {
			got := reflect.New(reflect.TypeOf(want).Elem()).Interface()
			err := c.Unmarshal(mem.BufferSlice{mem.SliceBuffer(data)}, got)
			clear(data) // gRPC uses it again
			if err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("of %s was read\n%+v\nwant\n%+v\n%v", whose, got, want, err)
			}
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

// TestAsksOfTheReleaseBefore: its codec left out members that are zero.
func TestAsksOfTheReleaseBefore(t *testing.T) {
	const asks = "\x81\xa8Requests\x92\x86\xa2ID\x01\xa4Name\xadt:x|r:general\xa7Command\xc4\acommand\xa7Timeout\xcd\x13\x88\xa5Enter\xc4\x05enter\xa5Relay\xc3" +
		"\x83\xa2ID\xcf\x00\x00\x01\x00\x00\x00\x00\x00\xa4Name\xa3t:x\xa7Command\xc4\x00"
	const replies = "\x81\xa7Replies\x94\x83\xa2ID\a\xa7Entered\xc4\aentered\xa6Answer\xc4\x06answer\x82\xa2ID\b\xa5Error\xc4\x05error" +
		"\x84\xa2ID\t\xa9Elsewhere\xc3\xa6Leader\xabn1@3f2a91c0\xa4Term\x03\x80"
	for data, want := range map[string]any{
		asks: &askBatch{Requests: []askRequest{
			{ID: 1, Name: "t:x|r:general", Command: []byte("command"), Timeout: 5000, Enter: []byte("enter"), Relay: true},
			{ID: 1 << 40, Name: "t:x", Command: []byte{}},
		}},
		replies: &replyBatch{Replies: []askReply{
			{ID: 7, Entered: []byte("entered"), Answer: []byte("answer")},
			{ID: 8, Error: []byte("error")},
			{ID: 9, Elsewhere: true, Leader: "n1@3f2a91c0", Term: 3},
			{},
		}},
	} {
		got := reflect.New(reflect.TypeOf(want).Elem()).Interface()
		if err := (codec{}).Unmarshal(mem.BufferSlice{mem.SliceBuffer(data)}, got); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("read\n%+v\nwant\n%+v\n%v", got, want, err)
		}
	}
}
