package wire_test

import (
	"bytes"
	"errors"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"ubl"
	"ubl/actors/families"
	"ubl/cluster/wire"
)

// malformed is what no program writes, as the value of an answer.
var malformed = map[string]struct{ name, value string }{
	"nothing":                               {"*Sent", ""},
	"half a map":                            {"*Sent", "\x82\xa7RoomSeq\x01"},
	"two values":                            {"*Sent", "\x80\x80"},
	"something behind nil":                  {"nil", "\xc0"},
	"a text for a number":                   {"*Sent", "\x81\xa7RoomSeq\xa11"},
	"a fraction for a number":               {"*Sent", "\x81\xa7RoomSeq\xcb\x3f\xf0\x00\x00\x00\x00\x00\x00"},
	"a number beyond 63 bits":               {"*Sent", "\x81\xa7RoomSeq\xcf\xff\xff\xff\xff\xff\xff\xff\xff"},
	"a number for a text":                   {"*Entered", "\x81\xa4Role\x01"},
	"a number for a name":                   {"*Sent", "\x81\x01\x01"},
	"a number for a list":                   {"[]Member", "\x01"},
	"a list of other things":                {"[]Member", "\x91\x01"},
	"a time that is none":                   {"*Tenant", "\x81\xa9CreatedAt\xc4\x031pm"},
	"a code that is never used":             {"*Sent", "\xc1"},
	"an extension":                          {"*Sent", "\xd4\x00\x80"},
	"an extension that poses as a map":      {"*AgreementView", "\x81\xa9Agreement\x81\xa7Members\xc7\x05\x01\xdf\x7f\xff\xff\xff"},
	"a list longer than its bytes":          {"[]Member", "\xdd\xff\xff\xff\xff"},
	"a map longer than its bytes":           {"*AgreementView", "\x81\xa9Agreement\x81\xa7Members\xdf\xff\xff\xff\xff"},
	"a text longer than its bytes":          {"*Sent", "\x81\xa7Message\xc6\xff\xff\xff\xff"},
	"an unknown field, too deep":            {"*Sent", "\x81\xa1X" + strings.Repeat("\x91", 1<<20) + "\xc0"},
	"a known field, too deep":               {"[]Member", strings.Repeat("\x91", 33) + "\xc0"},
	"a million structs in a million bytes":  {"[]Member", "\xdd\x00\x10\x00\x00" + strings.Repeat("\x80", 1<<20)},
	"a million nothings":                    {"[]Member", "\xdd\x00\x10\x00\x00" + strings.Repeat("\xc0", 1<<20)},
	"a million entries of the same name":    {"*AgreementView", "\x81\xa9Agreement\x81\xa7Members\xdf\x00\x10\x00\x00" + strings.Repeat("\xa0\xc0", 1<<20)},
	"a million texts for structs":           {"[]Member", "\xdd\x00\x10\x00\x00" + strings.Repeat("\xa0", 1<<20)},
	"texts for structs":                     {"[]Member", "\xdc\x40\x00" + strings.Repeat("\xa0", 1<<14)},
	"a map for a list of structs":           {"[]Member", "\xdf\x00\x04\x00\x00" + strings.Repeat("\xa0\xde\x00\x00", 1<<18)},
	"a list for a map":                      {"*AgreementView", "\x81\xa9Agreement\x81\xa7Members\xdc\xa0\xc0" + strings.Repeat("\xa0", 0xa0c0)},
	"a million messages that are not there": {"*HistoryPage", "\x81\xa8Messages\xdd\x00\x10\x00\x00" + strings.Repeat("\xc0", 1<<20)},
}

func TestMalformed(t *testing.T) {
	r := registry(t)
	for what, test := range malformed {
		data := append([]byte{1, byte(len(test.name))}, test.name+test.value...)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		got, err := r.DecodeAnswer(data)
		runtime.ReadMemStats(&after)
		if !errors.Is(err, wire.ErrMalformed) {
			t.Errorf("%s was read as %.100v: %v", what, got, err)
		}
		if took := after.TotalAlloc - before.TotalAlloc; took > 16<<20 {
			t.Errorf("%s, %d bytes, took %d bytes of memory", what, len(data), took)
		}
	}
	for _, data := range []string{"", "\x00", "\x01", "\x01\x05*Sen", "\x01\xff*Sent"} {
		if got, err := r.DecodeAnswer([]byte(data)); !errors.Is(err, wire.ErrMalformed) {
			t.Errorf("%q was read as %v: %v", data, got, err)
		}
	}
	for _, data := range []string{"", "\x01", "\x01\x80", "\x01\xc0", "\x01\x81\xa4Code\x01", "\x01\x80\x80"} {
		if got, err := wire.DecodeError([]byte(data)); !errors.Is(err, wire.ErrMalformed) {
			t.Errorf("%q was read as %v: %v", data, got, err)
		}
	}
}

// TestLongAnswersAreRead: the bounds are far from anything true, which has an id
// or a moment.
func TestLongAnswersAreRead(t *testing.T) {
	r := registry(t)
	member := ubl.Member{Since: 1}
	for name, answer := range map[string]any{
		"members without ids":  repeat(member, 10_000),
		"members with ids":     repeat(ubl.Member{UserID: "u:x", Since: 1}, 10_000),
		"rooms":                repeat(ubl.RoomEntry{RoomSummary: ubl.RoomSummary{RoomID: "r:x"}}, 10_000),
		"tokens":               repeat(ubl.ServiceToken{ClientID: "c", CreatedAt: 1}, 10_000),
		"groups of one letter": &ubl.Identity{Groups: repeat("g", 10_000)},
		"groups of no letter":  &ubl.Identity{Groups: repeat("", 10_000)},
		"an Agreement":         &ubl.AgreementView{Members: repeat(member, 2_000), History: repeat(ubl.Change{}, 2_000)},
		"a message of 16 MiB":  &ubl.Sent{Message: bytes.Repeat([]byte{'x'}, 16<<20)},
	} {
		data, err := r.EncodeAnswer(nil, answer)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := r.DecodeAnswer(data); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func repeat[T any](v T, n int) []T {
	out := make([]T, n)
	for i := range out {
		out[i] = v
	}
	return out
}

// FuzzDecode: whatever comes, there is an error or a value that comes back when it is
// sent on, and memory stays within its bound.
func FuzzDecode(f *testing.F) {
	r := registry(f)
	for _, line := range []ubl.Command{ubl.SendMessage{}, ubl.Announce{This: ubl.Fields{ubl.Int("n", 1)}}} {
		data, _ := r.EncodeCommand(nil, line)
		f.Add(data)
	}
	for seed := range uint64(20) {
		for _, zero := range families.All.Answers() {
			data, _ := r.EncodeAnswer(nil, newFiller(seed).like(zero))
			f.Add(data)
		}
	}
	for _, test := range malformed {
		if len(test.value) < 1000 {
			f.Add(append([]byte{1, byte(len(test.name))}, test.name+test.value...))
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		cmd, err := r.DecodeCommand(data)
		answer, err2 := r.DecodeAnswer(data)
		_, _ = wire.DecodeError(data)
		runtime.ReadMemStats(&after)
		if took := after.TotalAlloc - before.TotalAlloc; took > uint64(10<<20+200*len(data)) {
			t.Errorf("%d bytes took %d bytes of memory", len(data), took)
		}
		for _, err := range []error{err, err2} {
			if err != nil && !errors.Is(err, wire.ErrMalformed) && !errors.Is(err, wire.ErrUnknown) && !errors.Is(err, wire.ErrNewer) {
				t.Error(err)
			}
		}
		if err == nil {
			data, _ := r.EncodeCommand(nil, cmd)
			if again, err := r.DecodeCommand(data); err != nil || !reflect.DeepEqual(again, cmd) {
				t.Errorf("%#v came back as %#v: %v", cmd, again, err)
			}
		}
		if err2 == nil {
			data, _ := r.EncodeAnswer(nil, answer)
			if again, err := r.DecodeAnswer(data); err != nil || !reflect.DeepEqual(again, answer) {
				t.Errorf("%#v came back as %#v: %v", answer, again, err)
			}
		}
	})
}
