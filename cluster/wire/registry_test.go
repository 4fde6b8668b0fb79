package wire_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"ubl"
	"ubl/actors/families"
	"ubl/cluster/wire"
)

type (
	inner     struct{ Name string }
	shadowing struct {
		inner
		Name []string
	}
	hidden   struct{ name string }
	looped   struct{ Next *looped }
	optional struct{ *ubl.Head }
	bulky    struct{ A, B, C, D, E, F, G, H, I, J, K, L, M, N, O, P, Q string }
)

// TestTypesThatWouldNotComeBack are refused when the program starts.
func TestTypesThatWouldNotComeBack(t *testing.T) {
	for name, test := range map[string]struct {
		answer any
		says   string
	}{
		"two fields of one name":       {shadowing{}, "two fields Name"},
		"a field that is not exported": {hidden{"x"}, "not exported"},
		"a type that holds itself":     {looped{}, "holds itself"},
		"an embedded pointer":          {optional{}, "embeds a pointer"},
		"a list of anything":           {[]json.Marshaler{}, "doesn't travel"},
		"anything inside":              {struct{ V any }{}, "has no name"},
		"a map":                        {map[string]string{}, "has no name"},
		"a map inside, by number":      {numbered{}, "no strings"},
		"a function":                   {func() {}, "has no name"},
		"a pointer to a pointer":       {new(*ubl.Sent), "may be nil"},
		"a pointer to a list":          {new([]ubl.Member), "may be nil"},
		"a list of large structs":      {[]bulky{}, "more than 256 bytes"},
		"an unsigned number":           {uint(0), "doesn't travel"},
		"a small number":               {int8(0), "doesn't travel"},
		"a time of the standard one":   {time.Time{}, "use ubl.Time"},
		"a field of another name":      {tagged{}, "has a tag"},
		"an embedded one left out":     {without{}, "has a tag"},
		"what only writes itself":      {writes("x"), "writes and reads itself in two forms"},
		"what a pointer alone writes":  {pointed("x"), "writes and reads itself in two forms"},
		"what embeds a namesake":       {named{}, "two fields Name"},
		"a type that is there already": {(*ubl.Sent)(nil), `would both be called "*Sent"`},
		"a name that is there already": {Head{}, `ubl.Head and wire_test.Head would both be called "Head"`},
	} {
		_, err := wire.NewRegistry(nil, append(families.All.Answers(), test.answer))
		if err == nil || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

type (
	numbered struct{ M map[int]string }
	tagged   struct {
		N int `msgpack:"n"`
	}
	without struct {
		Name `msgpack:"-"`
	}
	// Name has a field of its own name, which is that of the embedded struct, too.
	Name  struct{ Name string }
	named struct{ Name }
	// Head has the name of another.
	Head struct{}
)

// writes and pointed don't come back: the library writes what has either method.
type writes string

func (writes) MarshalText() ([]byte, error) { return []byte("other"), nil }

type pointed string

func (*pointed) MarshalText() ([]byte, error) { return []byte("other"), nil }
func (*pointed) UnmarshalText([]byte) error   { return nil }

func TestCommandsAreStructsOnce(t *testing.T) {
	for name, cmd := range map[string]ubl.Command{"nil": nil, "a pointer": &ubl.Sweep{}, "one twice": ubl.Sweep{}} {
		if _, err := wire.NewRegistry(append(families.All.Commands(), cmd), nil); err == nil {
			t.Errorf("%s is registered", name)
		}
	}
}
