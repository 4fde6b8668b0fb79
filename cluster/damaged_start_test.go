package cluster

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"ubl"
	"ubl/test/poll"
)

// TestDamagedReplicaStarts: a node whose file of a partition was damaged while it was
// down starts, keeps the damaged file, and has the data again from its log or from
// the leader; so does the only voter, from its own log.
func TestDamagedReplicaStarts(t *testing.T) {
	for _, nodes := range []int{3, 1} {
		t.Run(fmt.Sprint(nodes, " nodes"), func(t *testing.T) {
			w := newWorld(t, nodes, nil)
			g := ubl.Group{Tenant: "t:acme.com", Shard: "0"}
			p := w.nodes[0].engine.Partition(g)
			const text = "what was written and is to be kept"
			putRecord(t, w, g, "m1", text)
			w.settle()
			victim := 0
			for i, n := range w.nodes {
				if n != w.leader(p) {
					victim = i
				}
			}
			file := filepath.Join(w.dirs[victim], "store", fmt.Sprintf("partition-%d.db", p))
			poll.Until(t, "the file has the text", func() bool {
				data, err := os.ReadFile(file)
				return err == nil && bytes.Contains(data, []byte(text))
			})
			w.stop(victim) // which may still write the page anew
			damage(t, w.dirs[victim], p, text)
			spoiled, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			w.start(victim)
			if kept, err := os.ReadFile(file + ".damaged"); err != nil || !bytes.Equal(kept, spoiled) {
				t.Errorf("the damaged file is not kept: %v", err)
			}
			w.settle()
			n := w.nodes[victim]
			poll.Until(t, "the copy is whole again", func() bool {
				lead := w.leader(p)
				if lead == nil || n.engine.Applied(p) == 0 || n.engine.Applied(p) != lead.engine.Applied(p) {
					return false
				}
				n.engine.ScrubOnce(t.Context())
				data, err := os.ReadFile(file)
				return err == nil && bytes.Contains(data, []byte(text)) && n.engine.Stats().Partitions[p].Scrub.Damages == 0
			})
		})
	}
}
