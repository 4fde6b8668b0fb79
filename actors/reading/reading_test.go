package reading

import (
	"encoding/json"
	"reflect"
	"testing"

	"pgregory.net/rapid"
)

// TestMarkForm: what is written by hand is the JSON of a mark, and is read again.
func TestMarkForm(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := Mark{Seq: rapid.Int64Range(0, 1<<40).Draw(t, "seq")}
		for _, seq := range rapid.SliceOfN(rapid.Int64Range(1, 1<<40), 0, 3).Draw(t, "for") {
			m = m.With(seq)
		}
		general, err := json.Marshal(m)
		if err != nil || string(general) != string(m.Encode()) {
			t.Fatalf("%s, want %s, %v", m.Encode(), general, err)
		}
		if again, err := DecodeMark(general); err != nil || !reflect.DeepEqual(again, m) {
			t.Fatalf("read again as %+v, want %+v, %v", again, m, err)
		}
	})
}

// TestMarkBounds: a mark names the newest entries for somebody, as many as there is room for.
func TestMarkBounds(t *testing.T) {
	m := Mark{Seq: 5}
	for seq := int64(1); seq <= 3*maxFor; seq++ {
		m = m.With(seq)
	}
	if len(m.For) != maxFor || m.For[0] != 2*maxFor+1 {
		t.Errorf("names %d entries from %d on", len(m.For), m.For[0])
	}
	if left := m.Read(3*maxFor - 1); len(left.For) != 1 || len(m.For) != maxFor {
		t.Errorf("having read all but the newest, %v are left", left.For)
	}
	gone, had := m.Without(3 * maxFor)
	if _, twice := gone.Without(3 * maxFor); !had || twice || len(gone.For) != maxFor-1 {
		t.Errorf("without the newest there are %d", len(gone.For))
	}
}
