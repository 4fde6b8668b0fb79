package main

import (
	"errors"
	"flag"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"ubl/test/bench/internal/report"
)

// options are what the flags say.
type options struct {
	ubl      string // a built binary, or empty to build one
	etcd     string
	out      string
	against  string // results.json of an earlier run, or empty
	judge    bool   // measure nothing
	cache    string
	settings report.Settings
}

func (o options) selected(s report.Section) bool { return slices.Contains(o.settings.Sections, s) }

func parse(args []string) (options, error) {
	var o options
	var sections, all []string
	for _, s := range report.Sections() {
		all = append(all, string(s))
	}
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	set := &o.settings
	flags.StringVar(&o.ubl, "ubl", "", "`path` of a built ubl; by default it is built from ../../cmd/ubl")
	flags.StringVar(&o.etcd, "etcd", "etcd", "`path` or name of etcd (Debian: apt-get install etcd-server)")
	flags.StringVar(&o.out, "out", "results", "`directory` for RESULTS.md and results.json")
	flags.StringVar(&o.against, "against", "", "`path` of an earlier run's results.json, against which UBL's figures are held")
	flags.BoolVar(&o.judge, "judge", false, "measure nothing: judge the run in -out by the goals of today, against an earlier one if -against names it")
	flags.StringVar(&o.cache, "cache", ".cache", "`directory` for workerd, the built ubl and all data; it must be on a real disk")
	flags.IntVar(&set.Seconds, "seconds", 5, "length of each measurement")
	flags.IntVar(&set.Rounds, "rounds", 3, "how often each program is measured")
	flags.IntVar(&set.Writers, "writers", 64, "writers in the sections send, inprocess, documents, alarms and mcp")
	flags.IntVar(&set.Streams, "streams", 1000, "live streams in the section fanout")
	flags.IntVar(&set.FanMessages, "fan-messages", 2000, "messages posted to so many streams in the section fanout; the fewer streams, the more messages")
	flags.IntVar(&set.FanWriters, "fan-writers", 8, "writers in the section fanout")
	flags.IntVar(&set.CrowdStreams, "crowd-streams", 5000, "live streams in the section crowd")
	flags.IntVar(&set.CrowdWriters, "crowd-writers", 2000, "writers in the section crowd")
	flags.IntVar(&set.Rooms, "rooms", 100_000, "rooms on disk in the section start")
	flags.IntVar(&set.IdleSeconds, "idle", 75, "seconds without work in the section start")
	flags.IntVar(&set.Events, "events", 1_000_000, "events of each tenant in the section history")
	flags.IntVar(&set.Alarms, "alarms", 1_000_000, "alarms armed in the section alarms")
	flags.IntVar(&set.DueAlarms, "due-alarms", 10_000, "alarms that come due within a second in the section alarms")
	flags.IntVar(&set.Kills, "kills", 20, "leaders killed in the section failover, and as many that fall silent")
	flags.IntVar(&set.IdleNodes, "idle-nodes", 30, "seconds without work in the section idle")
	flags.IntVar(&set.Sessions, "sessions", 1000, "sessions open in the section mcp-idle")
	flags.IntVar(&set.Documents, "documents", 10_000, "documents in the section search")
	flags.IntVar(&set.FileMB, "file-mb", 1024, "length of the file in the section files, in MiB")
	flags.Func("sections", "`list` of sections to run (default "+strings.Join(all, ",")+")", func(list string) error {
		sections = strings.Split(list, ",")
		return nil
	})
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if sections == nil {
		sections = all
	}
	for _, s := range sections {
		if !slices.Contains(all, s) {
			return o, fmt.Errorf("there is no section %q, only %s", s, strings.Join(all, ", "))
		}
		set.Sections = append(set.Sections, report.Section(s))
	}
	for _, n := range []int{set.Seconds, set.Rounds, set.Writers, set.Streams, set.FanMessages, set.FanWriters, set.CrowdStreams, set.CrowdWriters, set.Rooms, set.Events, set.Alarms, set.DueAlarms,
		set.Kills, set.IdleNodes, set.Sessions, set.Documents, set.FileMB} {
		if n < 1 {
			return o, errors.New("every number must be at least 1")
		}
	}
	// The servers run elsewhere, so relative names won't do.
	var err error
	if o.cache, err = filepath.Abs(o.cache); err != nil {
		return o, fmt.Errorf("couldn't name the cache: %w", err)
	}
	return o, nil
}
