package actors_test

import (
	"testing"

	"ubl"
	"ubl/actors"
	"ubl/test/harness"
)

// TestKindKeepsToItsSpaces: what a family writes under a byte of the kernel's or of another family's
// panics, and changes nothing; a reference to a blob may be anybody's.
func TestKindKeepsToItsSpaces(t *testing.T) {
	for _, space := range []byte(actors.KernelSpaces + "qBz") {
		allowed := space == 'B' || space == 'z'
		for where, write := range map[string]func(*actors.Kind[counterState, counterEvent]){
			"a record of an event": func(k *actors.Kind[counterState, counterEvent]) {
				k.Index = func(*counterState, counterEvent, *actors.Act) []actors.Record {
					return []actors.Record{{Key: []byte{space, 'x'}, Value: []byte("mine")}}
				}
			},
			"an event": func(k *actors.Kind[counterState, counterEvent]) {
				place := k.Place
				k.Place = func(name ubl.Name) actors.Place {
					p := place(name)
					key := p.Key
					p.Key = func(n int64) []byte { return append([]byte{space}, key(n)...) }
					return p
				}
			},
		} {
			kind := counterKind()
			kind.Snapshot = nil
			write(kind)
			h, _, ana := openKind(t, kind, nil)
			_, err := h.Ask(t.Context(), counterAt, add{Request: h.Request(ana), By: 2})
			want := int64(0)
			if allowed {
				want = 2
			}
			if got := harness.Must[counterState](h, counterAt, get{}).Total; got != want || (err == nil) != allowed {
				t.Errorf("%s under %q: %v, and the total is %d", where, space, err, got)
			}
		}
	}
}
