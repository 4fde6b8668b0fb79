package load

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"
)

func TestSequence(t *testing.T) {
	for _, test := range []struct {
		seqs              []uint64
		distinct, gapless bool
	}{
		{nil, true, true},
		{[]uint64{3, 1, 2}, true, true},
		{[]uint64{1, 2, 2, 3}, false, true},
		{[]uint64{1, 2, 4}, true, false},
	} {
		if distinct, gapless := Sequence(test.seqs); distinct != test.distinct || gapless != test.gapless {
			t.Errorf("Sequence(%v) = %v, %v", test.seqs, distinct, gapless)
		}
	}
}

func TestRunCountsAndChecks(t *testing.T) {
	var last atomic.Uint64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n := last.Add(1)
		if n == 5 {
			http.Error(w, "too much", http.StatusServiceUnavailable)
			return
		}
		w.WriteHeader(http.StatusCreated)
		fmt.Fprintf(w, `{"message":{"room_seq":%d}}`, n)
	}))
	defer server.Close()
	got, err := Run(context.Background(), Options{
		Host: server.Listener.Addr().String(), Path: "/", Writers: 4, Length: 100 * time.Millisecond,
	})
	if err != nil {
		t.Fatal(err)
	}
	if got.Sends == 0 || got.SendsPerSecond <= 0 || got.P50us <= 0 || got.P99us < got.P50us {
		t.Errorf("no figures: %+v", got)
	}
	// The refused one leaves a gap in what the others got.
	if got.Refused != 1 || got.FirstRefusal != "503 too much\n" || !got.Distinct || got.Gapless {
		t.Errorf("wrong checks: %+v", got)
	}
}
