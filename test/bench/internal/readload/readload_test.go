package readload

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"ubl/test/bench/internal/load"
)

// TestRun counts what is read, and fails where replies differ.
func TestRun(t *testing.T) {
	var asked atomic.Int64
	same := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		_, _ = io.WriteString(w, "the same")
	}))
	defer same.Close()
	o := Options{Host: strings.TrimPrefix(same.URL, "http://"), Path: "/x", Readers: 4, Plan: load.Plan{Length: 50 * time.Millisecond}}
	r, err := Run(t.Context(), o)
	if err != nil || int64(r.Sends) != asked.Load() || r.SendsPerSecond == 0 || !r.Distinct || !r.Gapless {
		t.Errorf("%d asked, read %+v, %v", asked.Load(), r, err)
	}
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = fmt.Fprint(w, asked.Add(1))
	}))
	defer other.Close()
	o.Host = strings.TrimPrefix(other.URL, "http://")
	if _, err := Run(t.Context(), o); err == nil {
		t.Error("replies that differ are good")
	}
}
