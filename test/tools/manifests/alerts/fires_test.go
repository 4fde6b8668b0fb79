// Package alerts has the engine of Prometheus fire each alert of deploy/prometheus. It is a package of its
// own because the engine comes with the clients of every cloud: `make soak` compiles them, `make test` not.
package alerts

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/promql/promqltest"
	"github.com/prometheus/prometheus/rules"
)

// watched is how long Prometheus looks on, a sample a minute: the rules look back up to six hours.
const watched = 9 * 60

// lookback is how long before a trouble the rules are judged: longer than any waits before it fires.
const lookback = 70

// healthy is what a cluster shows that has no trouble, in the notation of promtool: three nodes, one
// partition. A backup is made each day, and the clock of the test begins at 0.
var healthy = map[string]string{
	`up{job="ubl",instance="a"}`:                                                                      `1x540`,
	`up{job="ubl",instance="b"}`:                                                                      `1x540`,
	`ubl_partition_leader{job="ubl",instance="a",node="a",partition="0"}`:                             `1x540`,
	`ubl_partition_leader{job="ubl",instance="b",node="b",partition="0"}`:                             `0x540`,
	`ubl_partition_term{job="ubl",instance="a",node="a",partition="0"}`:                               `3x540`,
	`ubl_partition_commit_index{job="ubl",instance="a",node="a",partition="0"}`:                       `100000+500x540`,
	`ubl_partition_commit_index{job="ubl",instance="b",node="b",partition="0"}`:                       `100000+500x540`,
	`ubl_partition_applied_index{job="ubl",instance="a",node="a",partition="0"}`:                      `100000+500x540`,
	`ubl_partition_applied_index{job="ubl",instance="b",node="b",partition="0"}`:                      `99900+500x540`,
	`ubl_partition_halted{job="ubl",instance="b",node="b",partition="0"}`:                             `0x540`,
	`ubl_partition_differs{job="ubl",instance="a",node="b",partition="0"}`:                            `0x540`,
	`ubl_partition_log_lost{job="ubl",instance="b",node="b",partition="0"}`:                           `0x540`,
	`ubl_key_differs{job="ubl",instance="b"}`:                                                         `0x540`,
	`ubl_storage_failed{job="ubl",instance="a",partition="0"}`:                                        `0x540`,
	`ubl_storage_scrub_damages{job="ubl",instance="a",partition="0"}`:                                 `0x540`,
	`ubl_disk_free_bytes{job="ubl",instance="a"}`:                                                     `80e9-1e6x540`,
	`ubl_disk_size_bytes{job="ubl",instance="a"}`:                                                     `100e9x540`,
	`ubl_blobs_damaged_total{job="ubl",instance="a"}`:                                                 `0x540`,
	`ubl_blobs_missing{job="ubl",instance="a"}`:                                                       `0x540`,
	`ubl_backup_last_success_timestamp_seconds{job="ubl",instance="a"}`:                               `0x540`,
	`ubl_storage_commit_duration_seconds_count{job="ubl",instance="a",outcome="ok"}`:                  `0+600x540`,
	`ubl_storage_commit_duration_seconds_count{job="ubl",instance="a",outcome="error"}`:               `0x540`,
	`ubl_storage_commit_duration_seconds_bucket{job="ubl",instance="a",outcome="ok",le="0.005"}`:      `0+599x540`,
	`ubl_storage_commit_duration_seconds_bucket{job="ubl",instance="a",outcome="ok",le="1"}`:          `0+600x540`,
	`ubl_storage_commit_duration_seconds_bucket{job="ubl",instance="a",outcome="ok",le="+Inf"}`:       `0+600x540`,
	`ubl_storage_background_commit_duration_seconds_count{job="ubl",instance="a",outcome="error"}`:    `0x540`,
	`ubl_http_requests_total{job="ubl",instance="a",status="201",route="/api/rooms/{room}/messages"}`: `0+600x540`,
	`ubl_http_requests_total{job="ubl",instance="a",status="503",route="/readyz"}`:                    `0+60x540`,
	`ubl_http_requests_total{job="ubl",instance="a",status="503",route="/api/rooms/{room}/messages"}`: `0x540`,
	`ubl_panics_total{job="ubl",instance="a"}`:                                                        `2x540`,
	`ubl_clock_offset_seconds{job="ubl",instance="a"}`:                                                `0.02x540`,
	`ubl_alarms_held{job="ubl",instance="a"}`:                                                         `0x540`,
	`ubl_alarms_late_seconds{job="ubl",instance="a"}`:                                                 `1x540`,
	`ubl_alarms_failed{job="ubl",instance="a"}`:                                                       `0x540`,
	`ubl_outbox_late_seconds{job="ubl",instance="a"}`:                                                 `60x540`,
	`ubl_tail_lag_seconds{job="ubl",instance="a",consumer="documents"}`:                               `2x540`,
	`ubl_actors_overloaded_total{job="ubl",instance="a"}`:                                             `5x540`,
	`ubl_mails_sent_total{job="ubl",instance="a"}`:                                                    `0+2x540`,
	`ubl_mails_failed_total{job="ubl",instance="a"}`:                                                  `3x540`,
	`ubl_scans_failed_total{job="ubl",instance="a"}`:                                                  `1x540`,
	`process_open_fds{job="ubl",instance="a"}`:                                                        `900x540`,
	`process_max_fds{job="ubl",instance="a"}`:                                                         `20000x540`,
}

// trouble is what a cluster shows instead, and since when it is to be seen (in minutes).
type trouble struct {
	shows map[string]string
	since int
	// by is when the alert must have fired at the latest, and also the others that fire.
	by   int
	also []string
}

var troubles = map[string]trouble{
	"UBLNoLeader":  {shows: one(`ubl_partition_leader{job="ubl",instance="a",node="a",partition="0"}`, `1x99 0x440`), since: 100, by: 102},
	"UBLAllDown":   {shows: map[string]string{`up{job="ubl",instance="a"}`: `1x99 0x440`, `up{job="ubl",instance="b"}`: `1x99 0x440`}, since: 100, by: 102, also: []string{"UBLNodeDown"}},
	"UBLNodeDown":  {shows: one(`up{job="ubl",instance="b"}`, `1x99 0x440`), since: 100, by: 103},
	"UBLElections": {shows: one(`ubl_partition_term{job="ubl",instance="a",node="a",partition="0"}`, `3x99 4+1x440`), since: 100, by: 115},
	"UBLApplyLag":  {shows: one(`ubl_partition_applied_index{job="ubl",instance="a",node="a",partition="0"}`, `100000+500x99 140000+500x440`), since: 100, by: 103, also: []string{"UBLReplicaBehind"}},
	"UBLReplicaBehind": {shows: map[string]string{
		`ubl_partition_commit_index{job="ubl",instance="b",node="b",partition="0"}`:  `100000+500x99 149500x440`,
		`ubl_partition_applied_index{job="ubl",instance="b",node="b",partition="0"}`: `99900+500x99 149500x440`,
	}, since: 100, by: 135},
	"UBLReplicaHalted":  {shows: one(`ubl_partition_halted{job="ubl",instance="b",node="b",partition="0"}`, `0x99 1x440`), since: 100, by: 102},
	"UBLKeyDiffers":     {shows: one(`ubl_key_differs{job="ubl",instance="b"}`, `0x99 1x440`), since: 100, by: 102},
	"UBLReplicasDiffer": {shows: one(`ubl_partition_differs{job="ubl",instance="a",node="b",partition="0"}`, `0x99 1x440`), since: 100, by: 101},
	"UBLDiskFailed":     {shows: one(`ubl_storage_failed{job="ubl",instance="a",partition="0"}`, `0x99 1x440`), since: 100, by: 101},
	"UBLLogLost":        {shows: one(`ubl_partition_log_lost{job="ubl",instance="b",node="b",partition="0"}`, `0x99 1x440`), since: 100, by: 102},
	// 80 GB at 200 MB a minute are full in six hours and 40 minutes: the first warning comes while half
	// of the disk is free, the second with a tenth.
	"UBLDiskFills":      {shows: one(`ubl_disk_free_bytes{job="ubl",instance="a"}`, `80e9-200e6x399`), since: 100, by: 300, also: []string{"UBLDiskAlmostFull"}},
	"UBLDiskAlmostFull": {shows: one(`ubl_disk_free_bytes{job="ubl",instance="a"}`, `80e9-1e6x99 1.9e9x440`), since: 100, by: 106, also: []string{"UBLDiskFills"}},
	"UBLDamage":         {shows: one(`ubl_storage_scrub_damages{job="ubl",instance="a",partition="0"}`, `0x99 1x440`), since: 100, by: 101},
	"UBLContents":       {shows: one(`ubl_blobs_missing{job="ubl",instance="a"}`, `0x99 2x440`), since: 100, by: 116},
	"UBLBackupOld":      {shows: one(`ubl_backup_last_success_timestamp_seconds{job="ubl",instance="a"}`, `-160000x540`), since: 333, by: 395},
	"UBLCommitsFail":    {shows: one(`ubl_storage_commit_duration_seconds_count{job="ubl",instance="a",outcome="error"}`, `0x99 1+1x440`), since: 100, by: 104},
	"UBLSlowCommits":    {shows: one(`ubl_storage_commit_duration_seconds_bucket{job="ubl",instance="a",outcome="ok",le="0.005"}`, `0+599x99 59900+300x440`), since: 100, by: 116},
	"UBLServerErrors":   {shows: one(`ubl_http_requests_total{job="ubl",instance="a",status="503",route="/api/rooms/{room}/messages"}`, `0x99 60+60x440`), since: 100, by: 111},
	"UBLPanics":         {shows: one(`ubl_panics_total{job="ubl",instance="a"}`, `2x99 3x440`), since: 100, by: 101},
	"UBLClockOff":       {shows: one(`ubl_clock_offset_seconds{job="ubl",instance="a"}`, `0.02x99 -30x440`), since: 100, by: 102},
	"UBLAlarmsHeld":     {shows: one(`ubl_alarms_held{job="ubl",instance="a"}`, `0x99 1x440`), since: 100, by: 101},
	"UBLAlarmsLate":     {shows: one(`ubl_alarms_late_seconds{job="ubl",instance="a"}`, `1x99 60+60x440`), since: 115, by: 132},
	"UBLOutboxLate":     {shows: one(`ubl_outbox_late_seconds{job="ubl",instance="a"}`, `0x99 60+60x440`), since: 160, by: 177},
	"UBLTailLags":       {shows: one(`ubl_tail_lag_seconds{job="ubl",instance="a",consumer="documents"}`, `2x99 60+60x440`), since: 115, by: 132},
	"UBLDeadLetters":    {shows: one(`ubl_alarms_failed{job="ubl",instance="a"}`, `0x99 1x440`), since: 100, by: 116},
	"UBLOverloaded":     {shows: one(`ubl_actors_overloaded_total{job="ubl",instance="a"}`, `5x99 605+600x440`), since: 100, by: 112},
	"UBLMailFails": {shows: map[string]string{
		`ubl_mails_sent_total{job="ubl",instance="a"}`:   `0+2x99 200x440`,
		`ubl_mails_failed_total{job="ubl",instance="a"}`: `3x99 4+1x440`,
	}, since: 100, by: 137},
	"UBLScannerSilent": {shows: one(`ubl_scans_failed_total{job="ubl",instance="a"}`, `1x99 2+1x440`), since: 100, by: 107},
	"UBLFilesRunOut":   {shows: one(`process_open_fds{job="ubl",instance="a"}`, `900x99 17000x440`), since: 100, by: 106},
}

func one(series, values string) map[string]string { return map[string]string{series: values} }

// TestAlertsFire: each alert fires once what it tells of is there, as soon as it is to, and not
// before; and a cluster without trouble has none.
func TestAlertsFire(t *testing.T) {
	all := alerts(t)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if _, ok := troubles[name]; !ok {
			t.Errorf("no trouble is known that makes %s fire", name)
		}
	}
	if fired := watch(t, all, nil, 0, watched); len(fired) > 0 {
		t.Fatalf("without any trouble %v", fired)
	}
	for name, trouble := range troubles {
		t.Run(name, func(t *testing.T) {
			fired := watch(t, all, trouble.shows, max(0, trouble.since-lookback), trouble.by+1)
			at, ok := fired[name]
			if !ok || at < trouble.since || at > trouble.by {
				t.Errorf("it fires at %d (%v), want from %d to %d", at, ok, trouble.since, trouble.by)
			}
			for other := range fired {
				if other != name && !slices.Contains(trouble.also, other) {
					t.Errorf("%s fires, too", other)
				}
			}
		})
	}
}

// alerts are the rules of the file by their names.
func alerts(t *testing.T) map[string]rulefmt.Rule {
	t.Helper()
	file, err := os.ReadFile("../../../../deploy/prometheus/alerts.yaml")
	if err != nil {
		t.Fatal(err)
	}
	groups, errs := rulefmt.Parse(file, false, model.UTF8Validation, parser.NewParser(parser.Options{}), nil)
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	all := make(map[string]rulefmt.Rule)
	for _, g := range groups.Groups {
		for _, r := range g.Rules {
			all[r.Alert] = r
		}
	}
	return all
}

// watch has Prometheus's own engine judge the rules minute by minute, and says when each fired first.
func watch(t *testing.T, all map[string]rulefmt.Rule, shows map[string]string, from, to int) map[string]int {
	t.Helper()
	series := maps.Clone(healthy)
	maps.Copy(series, shows)
	var load strings.Builder
	load.WriteString("load 1m\n")
	for _, name := range slices.Sorted(maps.Keys(series)) {
		fmt.Fprintf(&load, "  %s %s\n", name, series[name])
	}
	store := promqltest.LoadedStorage(t, load.String())
	defer store.Close()
	query := rules.EngineQueryFunc(promqltest.NewTestEngine(t, false, 0, 100_000), store)
	fired := make(map[string]int)
	for name, r := range all {
		rule := alerting(t, r)
		for minute := from; minute < to; minute++ {
			if _, err := rule.Eval(context.Background(), 0, time.Unix(0, 0).Add(time.Duration(minute)*time.Minute), query, nil, 0); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if !fires(t, rule) {
				continue
			}
			fired[name] = minute
			break
		}
	}
	return fired
}

// fires reports whether a rule does, and sees that it says so in words.
func fires(t *testing.T, rule *rules.AlertingRule) bool {
	t.Helper()
	fires := false
	for _, a := range rule.ActiveAlerts() {
		if a.State != rules.StateFiring {
			continue
		}
		fires = true
		if s := a.Annotations.Get("summary"); s == "" || strings.Contains(s, "<error") || strings.Contains(s, "  ") {
			t.Errorf("%s says %q", rule.Name(), s)
		}
	}
	return fires
}

func alerting(t *testing.T, r rulefmt.Rule) *rules.AlertingRule {
	t.Helper()
	expr, err := parser.NewParser(parser.Options{}).ParseExpr(r.Expr)
	if err != nil {
		t.Fatal(err)
	}
	return rules.NewAlertingRule(r.Alert, expr, time.Duration(r.For), time.Duration(r.KeepFiringFor),
		labels.FromMap(r.Labels), labels.FromMap(r.Annotations), labels.EmptyLabels(), "", true, nil)
}
