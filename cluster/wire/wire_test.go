package wire_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"sync"
	"testing"

	"ubl"
	"ubl/actors/families"
	"ubl/cluster/wire"
	"ubl/test/soak"
)

// rounds is how many values of each type a property is tried with.
var rounds = soak.Of[uint64](40, 400)

// TestEveryCommandComesBack as it was, whatever it holds.
func TestEveryCommandComesBack(t *testing.T) {
	r := registry(t)
	for _, zero := range families.All.Commands() {
		for seed := range rounds {
			cmd := zero
			if seed > 0 {
				cmd = newFiller(seed).like(zero).(ubl.Command)
			}
			data, err := r.EncodeCommand([]byte("before"), cmd)
			if err != nil || string(data[:6]) != "before" {
				t.Fatalf("%T, seed %d: %v", zero, seed, err)
			}
			got, err := r.DecodeCommand(data[6:])
			if err != nil || !reflect.DeepEqual(got, cmd) {
				t.Fatalf("%T, seed %d: sent\n%#v\ngot\n%#v\n%v", zero, seed, cmd, got, err)
			}
		}
	}
}

// TestEveryAnswerComesBack as it was: a nil pointer as one of its type, an empty
// list as one that is not nil.
func TestEveryAnswerComesBack(t *testing.T) {
	r := registry(t)
	for _, zero := range families.All.Answers() {
		for seed := range rounds {
			answer := zero
			if seed > 0 {
				answer = newFiller(seed).like(zero)
			}
			data, err := r.EncodeAnswer(nil, answer)
			if err != nil {
				t.Fatalf("%T, seed %d: %v", zero, seed, err)
			}
			got, err := r.DecodeAnswer(data)
			if err != nil || !reflect.DeepEqual(got, answer) {
				t.Fatalf("%T, seed %d: sent\n%#v\ngot\n%#v\n%v", zero, seed, answer, got, err)
			}
		}
	}
}

// TestSideBySide: what is coded at the same time doesn't mix.
func TestSideBySide(t *testing.T) {
	r := registry(t)
	var all sync.WaitGroup
	for seed := range uint64(8) {
		all.Go(func() {
			for _, zero := range families.All.Answers() {
				answer := newFiller(seed).like(zero)
				data, err := r.EncodeAnswer(nil, answer)
				if err != nil {
					t.Errorf("%T, seed %d: %v", zero, seed, err)
				}
				if got, err := r.DecodeAnswer(data); err != nil || !reflect.DeepEqual(got, answer) {
					t.Errorf("%T, seed %d: sent\n%#v\ngot\n%#v\n%v", zero, seed, answer, got, err)
				}
			}
		})
	}
	all.Wait()
}

func TestErrorsComeBackWithoutTheirCause(t *testing.T) {
	for _, test := range []struct{ sent, want error }{
		{&ubl.Error{Code: ubl.CodeConflict, Message: "taken", Details: map[string]string{"name": "is taken", "other": ""}},
			&ubl.Error{Code: ubl.CodeConflict, Message: "taken", Details: map[string]string{"name": "is taken", "other": ""}}},
		{ubl.Errorf(ubl.CodeUnavailable, "closed").Because(errors.New("the disk is on fire")), ubl.Errorf(ubl.CodeUnavailable, "closed")},
		{fmt.Errorf("couldn't send: %w", ubl.Errorf(ubl.CodeNotAMember, "not in")), ubl.Errorf(ubl.CodeNotAMember, "not in")},
		{&ubl.Error{Code: "of_tomorrow"}, &ubl.Error{Code: "of_tomorrow"}},
		{context.DeadlineExceeded, ubl.Errorf(ubl.CodeUnavailable, "the request ended before its outcome was known")},
		{errors.New("a secret"), ubl.Errorf(ubl.CodeInternal, "something went wrong inside; the request id finds it in the log")},
	} {
		got, err := wire.DecodeError(wire.EncodeError([]byte{}, test.sent))
		if err != nil || !reflect.DeepEqual(got, test.want) {
			t.Errorf("%v came back as %v, want %v: %v", test.sent, got, test.want, err)
		}
	}
}

// stranger is a command of nobody's list.
type stranger struct{}

func (stranger) Cost() int { return 0 }

func TestWhatIsNotListedIsNotSent(t *testing.T) {
	r := registry(t)
	for _, cmd := range []ubl.Command{stranger{}, &ubl.SendMessage{}, nil} {
		if data, err := r.EncodeCommand(nil, cmd); err == nil {
			t.Errorf("%T is sent as %q", cmd, data)
		}
	}
	for _, answer := range []any{ubl.Sent{}, []any{}, "text", ubl.SendMessage{}} {
		if data, err := r.EncodeAnswer(nil, answer); err == nil {
			t.Errorf("%T is sent as %q", answer, data)
		}
	}
}
