package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"ubl"
	"ubl/actors/families"
	"ubl/blobs"
	"ubl/cluster"
	"ubl/storage"
)

const (
	// damagedEvery is how often a damaged place is logged that is met again and again.
	damagedEvery = time.Minute
	// maxTold bounds how many places are remembered for that.
	maxTold = 1000
)

// damaged logs damage with its place; the metric counts each time.
func (n *node) damaged() func(partition int, err error) {
	var mu sync.Mutex
	told := make(map[string]time.Time)
	return func(partition int, err error) {
		mu.Lock()
		defer mu.Unlock()
		now, place := n.now(), err.Error()
		if now.Sub(told[place]) < damagedEvery {
			return
		}
		if len(told) >= maxTold {
			clear(told)
		}
		told[place] = now
		n.log.Error("stored data is damaged", "partition", partition, "place", storage.Damage(err))
	}
}

// scrub is what a node's scrub reads: its partitions' files and their Raft logs.
func (n *node) scrub(rate int64) storage.ScrubOptions {
	o := storage.ScrubOptions{Rate: rate}
	if n.cluster != nil {
		o.Beside = n.cluster.ScrubLog
	}
	return o
}

// scrubCmd checks a stopped server's data.
type scrubCmd struct {
	format
	Data              string `default:"./ubl-data" type:"path" help:"Data directory of a stopped server." placeholder:"DIR"`
	AcceptJournalLoss bool   `help:"Give up what a damaged journal acknowledged, with a receipt in tenant 0's ledger. Everything from the first record on that can't be read is given up, sound or not: each record builds on the one before." config:"-"`
	Quiet             bool   `help:"Tell no progress."`
}

// Run reads every page, value and number, and lists the places that are damaged.
func (c *scrubCmd) Run(ctx context.Context, p *program) error {
	if err := mustHoldData(c.Data); err != nil {
		return err
	}
	if c.AcceptJournalLoss {
		return c.accept(ctx, p)
	}
	g := p.progress("scrubbing", "bytes", c.Quiet || c.JSON)
	list, err := storage.Check(ctx, c.Data, &storage.Options{Random: p.random, Now: p.now, Numbers: families.All.Numbers()}, g.at)
	var kept checkedBlobs
	if err == nil {
		kept, err = checkBlobs(ctx, p, c.Data)
	}
	g.end()
	if err != nil {
		return openHint(c.Data, err)
	}
	beside, err := cluster.Check(ctx, c.Data, list)
	if err != nil {
		return err
	}
	for _, at := range beside {
		list[at.Partition].Places = append(list[at.Partition].Places, at)
	}
	places, err := c.print(p.out, list, kept)
	if err == nil && places > 0 {
		err = fmt.Errorf("%s is damaged; damaged places: %d%s; the runbook says what to do (UBLDamage)", c.Data, places, giveUp(list, c.Data))
	}
	return err
}

// giveUp names the command that gives up what journals have lost, where one has.
func giveUp(list []storage.Checked, dir string) string {
	for _, part := range list {
		if slices.ContainsFunc(part.Places, func(at storage.Place) bool { return at.Journal }) {
			return fmt.Sprintf("; to give up what a journal lost, from the first record on that can't be read: ubl scrub --data %s --accept-journal-loss", dir)
		}
	}
	return ""
}

// checkedBlobs is what a scrub found of the contents of files.
type checkedBlobs struct {
	Blobs   int64    `json:"blobs"`
	Bytes   int64    `json:"bytes"`
	Damaged []string `json:"damaged"` // as tenant/sha256
}

// checkBlobs holds each content that a data directory keeps against its name.
func checkBlobs(ctx context.Context, p *program, dir string) (kept checkedBlobs, err error) {
	kept.Damaged = []string{}
	dir = filepath.Join(dir, blobsDir)
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return kept, nil
	}
	folder, err := blobs.OpenFolder(dir, blobs.Options{Now: p.now, Random: p.random})
	if err != nil {
		return kept, err
	}
	done, err := blobs.Scrub(ctx, folder, blobs.ScrubOptions{Found: func(t ubl.TenantID, id ubl.BlobID, _ error) {
		kept.Damaged = append(kept.Damaged, string(t)+"/"+string(id))
	}})
	kept.Blobs, kept.Bytes = done.Blobs, done.Bytes
	return kept, err
}

func (c *scrubCmd) print(w io.Writer, list []storage.Checked, kept checkedBlobs) (places int, err error) {
	var bytes int64
	places = len(kept.Damaged)
	for _, part := range list {
		bytes += part.Bytes
		places += len(part.Places)
		for _, at := range part.Places {
			if !c.JSON {
				fmt.Fprintf(w, "partition %d: %s%s\n", at.Partition, clean(at.What), of(at.Group))
			}
		}
	}
	if c.JSON {
		return places, json.NewEncoder(w).Encode(map[string]any{"ok": places == 0, "partitions": list, "contents": kept})
	}
	for _, blob := range kept.Damaged {
		fmt.Fprintf(w, "the content of a file is damaged: %s\n", clean(blob))
	}
	if places == 0 {
		_, err = fmt.Fprintf(w, "ok: %d partitions, %d bytes, no damage\n", len(list), bytes)
	}
	if err == nil && places == 0 && kept.Blobs > 0 {
		_, err = fmt.Fprintf(w, "ok: %s of files, %d bytes, as they were kept\n", plural(int(kept.Blobs), "content"), kept.Bytes)
	}
	return places, err
}

func of(group string) string {
	if group == "" {
		return ""
	}
	return " (" + clean(group) + ")"
}

// clusterScrub is how a partition's scrub stands, for the cluster's status.
func clusterScrub(s storage.PartitionStats) *ubl.ClusterScrub { return s.Scrub.Status(s.Damaged) }

// scrubs tells how the scrub stands.
type scrubs struct{ store *storage.Engine }

func scrubDescs() (places, bytes, finished *prometheus.Desc) {
	desc := func(name, help string) *prometheus.Desc {
		return prometheus.NewDesc(name, help, []string{"partition"}, nil)
	}
	return desc("ubl_storage_scrub_damages", "Damaged places that the last pass of the scrub found, or this one if it has found more."),
		desc("ubl_storage_scrub_bytes", "Bytes that the scrub's pass has read so far."),
		desc("ubl_storage_scrub_finished_timestamp_seconds", "When the last pass of the scrub ended; 0 if none has since the start.")
}

// Describe implements prometheus.Collector.
func (scrubs) Describe(out chan<- *prometheus.Desc) {
	a, b, c := scrubDescs()
	for _, desc := range []*prometheus.Desc{a, b, c} {
		out <- desc
	}
}

// Collect implements prometheus.Collector.
func (s scrubs) Collect(out chan<- prometheus.Metric) {
	places, bytes, finished := scrubDescs()
	for i, p := range s.store.Stats().Partitions {
		name := strconv.Itoa(i)
		at := 0.0
		if p.Scrub.Finished != 0 {
			at = float64(p.Scrub.Finished.Std().Unix())
		}
		out <- prometheus.MustNewConstMetric(places, prometheus.GaugeValue, float64(p.Scrub.Damages), name)
		out <- prometheus.MustNewConstMetric(bytes, prometheus.GaugeValue, float64(p.Scrub.Bytes), name)
		out <- prometheus.MustNewConstMetric(finished, prometheus.GaugeValue, at, name)
	}
}
