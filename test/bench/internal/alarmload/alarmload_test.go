package alarmload

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"ubl/test/bench/internal/load"
)

// serve is a server that answers sends and fires alarms, by what its metrics say.
func serve(t *testing.T, fired func() int64) string {
	t.Helper()
	var seq atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/metrics" {
			fmt.Fprintf(w, "%s %d\n", firedMetric, fired())
			return
		}
		w.WriteHeader(http.StatusCreated)
		fmt.Fprintf(w, `{"message":{"room_seq":%d}}`, seq.Add(1))
	}))
	t.Cleanup(server.Close)
	return server.Listener.Addr().String()
}

func options(host string, due time.Time) Options {
	return Options{
		Load:  load.Options{Hosts: []string{host}, Path: "/", Body: load.Body, Number: load.RoomSeq, Writers: 2, Plan: load.Plan{Every: 5 * time.Millisecond}},
		Admin: host, Alarms: 10, Due: due,
	}
}

// The measurement ends with the last alarm, and goes on for a second where that came
// sooner.
func TestRun(t *testing.T) {
	for _, late := range []time.Duration{0, 1300 * time.Millisecond} {
		due := time.Now().Add(leastWarm + 500*time.Millisecond)
		host := serve(t, func() int64 {
			if now := time.Now(); now.After(due.Add(late)) {
				return 10
			} else if now.After(due) {
				return 9
			}
			return 0
		})
		r, err := Run(t.Context(), options(host, due))
		if err != nil {
			t.Fatal(err)
		}
		if least := late.Seconds(); r.Fired != 10 || r.FiredSeconds < least || r.FiredSeconds > least+30 || r.Sends == 0 || r.SendsPerSecond <= 0 || r.P99us <= 0 {
			t.Errorf("last alarm after %s: got %+v", late, r)
		}
	}
}

// What begins too late, or after some alarms were fired, measures nothing.
func TestTooLate(t *testing.T) {
	for fired, due := range map[int64]time.Time{0: time.Now(), 3: time.Now().Add(time.Hour)} {
		if r, err := Run(t.Context(), options(serve(t, func() int64 { return fired }), due)); err == nil || !strings.Contains(err.Error(), "too late") {
			t.Errorf("%d fired: got %+v, %v", fired, r, err)
		}
	}
}
