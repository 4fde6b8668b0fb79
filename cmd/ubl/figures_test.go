package main

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"ubl"
	"ubl/actors"
	counting "ubl/test/counter"
	"ubl/test/harness"
	"ubl/test/poll"
)

// stuck is an index of documents that isn't there.
type stuck struct{ ubl.Searcher }

func (stuck) CatchUp(context.Context, ubl.Name, ubl.DocumentChanges) error {
	return ubl.Errorf(ubl.CodeUnavailable, "the index is away")
}

// TestLagIsShown: what the outbox and the followers of ledgers are behind with, and for how long,
// is at /metrics with the values that the runtime counts.
func TestLagIsShown(t *testing.T) {
	hook := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) }))
	defer hook.Close()
	t.Setenv("UBL_COUNTER_HOOK", hook.URL)
	var store struct{ ubl.Reader }
	h := harness.Open(t, harness.Options{
		Families: []actors.Family{counting.Family(&store)},
		Wrap:     func(s ubl.Store) ubl.Store { store.Reader = s; return s },
		Search:   func(s ubl.Searcher) ubl.Searcher { return stuck{s} },
	})
	ana := harness.User("ana@example.com")
	h.Enter(ana)
	harness.Must[counting.Counter](h, ubl.Name(string(ana.TenantID)+"|n:calls"), counting.Add{Request: h.Request(ana), By: 1, Call: true})
	harness.Must[*ubl.DocumentResult](h, ubl.ContainerName(ana.TenantID, ubl.GeneralWorkspace), ubl.CreateDocument{Request: h.Request(ana), Title: "Plan", Content: "A"})
	poll.Until(t, "an attempt has failed, and the index is behind", func() bool {
		return h.OutboxStats().Waiting == 1 && h.FollowStats()["documents"].Atoms > 0
	})
	h.Clock.Add(time.Second) // the next attempt comes after two
	head := harness.Must[ubl.LedgerHead](h, ubl.LedgerName(ana.TenantID), ubl.GetLedgerHead{})

	registry := prometheus.NewRegistry()
	n := &node{actors: h.Runtime}
	registry.MustRegister(append(outbox(n), consumers{n})...)
	rec := httptest.NewRecorder()
	promhttp.HandlerFor(registry, promhttp.HandlerOpts{}).ServeHTTP(rec, httptest.NewRequest("GET", "/metrics", nil))
	for _, line := range []string{
		fmt.Sprintf(`ubl_tail_lag_atoms{consumer="documents"} %d`, head.Seq),
		"ubl_outbox_attempts_total 1", "ubl_outbox_failures_total 1", "ubl_outbox_running 0", "ubl_outbox_waiting 1", "ubl_outbox_late_seconds 1",
		`ubl_tail_ledgers_behind{consumer="documents"} 1`, `ubl_tail_lag_seconds{consumer="documents"} 1`, `ubl_tail_delivered_total{consumer="documents"} 0`,
	} {
		if !strings.Contains(rec.Body.String(), "\n"+line+"\n") {
			t.Errorf("no line %s in\n%s", line, rec.Body)
		}
	}
	if strings.Contains(rec.Body.String(), `ubl_tail_failures_total{consumer="documents"} 0`) {
		t.Error("the consumer's failures aren't counted")
	}
}
