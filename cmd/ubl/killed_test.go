package main

import (
	"crypto/rand"
	"io"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ubl"
	"ubl/cluster/mesh"
)

// TestExportOfAKilledNode: what a node of a cluster has acknowledged and not yet put into
// its partitions' files is in its Raft log, and an export of its data has it.
func TestExportOfAKilledNode(t *testing.T) {
	text, err := mesh.NewSecret(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	p := &program{now: time.Now, random: rand.Reader, out: io.Discard, err: io.Discard, env: map[string]string{"UBL_CLUSTER_SECRET": text}}
	k := &keyed{t: t, p: p}
	dir := t.TempDir()
	k.cmds[0] = &serveCmd{Data: dir, clusterFlags: clusterFlags{NodeID: "n1", ClusterListen: "127.0.0.1:0", ClusterTimeout: time.Second, ClusterLogBytes: 1 << 20}}
	t.Cleanup(func() { k.stop(0) })
	run := func(did ...string) {
		t.Helper()
		k.start(0)
		n := k.nodes[0]
		k.until("it leads", func() bool { return n.cluster.Ready() == nil })
		if err := n.bootstrap(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, text := range did {
			if err := n.announceNow(t.Context(), announcement{to: ubl.OpsRoom, did: ubl.DidPlatformStop, text: text}); err != nil {
				t.Fatal(err)
			}
		}
		k.stop(0)
	}
	files := func() map[string][]byte {
		t.Helper()
		all := map[string][]byte{}
		paths, err := filepath.Glob(filepath.Join(dir, "store", "*.db"))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			if all[path], err = os.ReadFile(path); err != nil {
				t.Fatal(err)
			}
		}
		return all
	}
	run("one")
	before := files()
	run("two", "three")
	code, whole, said := exported(t, dir)
	if code != 0 || strings.Contains(said, "Raft log") {
		t.Fatalf("after a stop: exit code %d, %s", code, said)
	}
	for path, data := range maps.All(before) {
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	code, export, said := exported(t, dir)
	if code != 0 || export != whole || !strings.Contains(said, "atoms come from the node's Raft log") {
		t.Errorf("with older files: exit code %d, %d of %d lines, %s", code, strings.Count(export, "\n"), strings.Count(whole, "\n"), said)
	}
}
