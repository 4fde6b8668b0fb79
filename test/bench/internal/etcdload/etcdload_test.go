package etcdload

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"ubl/test/bench/internal/load"
	"ubl/test/bench/internal/loadtest"
	"ubl/test/bench/internal/proc"
)

// A single etcd is a cluster of one: every put gets a revision of its own, and
// the keys are as many as the puts.
func TestRun(t *testing.T) {
	path, err := exec.LookPath("etcd")
	if err != nil {
		t.Skip("etcd is not installed: ", err)
	}
	hosts, err := proc.FreePorts(2)
	if err != nil {
		t.Fatal(err)
	}
	client, peer := "http://"+hosts[0], "http://"+hosts[1]
	server, err := proc.Start(t.Context(), proc.Spec{
		Name: "etcd", Path: path, Host: hosts[0], LogDir: t.TempDir(),
		Args: []string{
			"--data-dir", t.TempDir(), "--listen-client-urls", client, "--advertise-client-urls", client,
			"--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer, "--initial-cluster", "default=" + peer,
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := server.Stop(); err != nil {
			t.Error(err)
		}
	}()
	ready(t, hosts[0])
	for range 2 { // the second run finds the keys of the first
		r, err := loadtest.Enough(1000, func(p load.Plan) (load.Result, error) { // fewer may cost no CPU time that is told
			p.Watch = []int{server.Pid()}
			return Run(t.Context(), Options{Hosts: []string{hosts[0], hosts[0]}, Clients: 4, Value: load.Body, Plan: p})
		})
		if err != nil {
			t.Fatal(err, server.Complaint())
		}
		if r.Sends == 0 || r.Refused > 0 || !r.Distinct || !r.Gapless || r.ServerCores <= 0 || r.GeneratorCores <= 0 {
			t.Errorf("got %+v", r)
		}
	}
}

// ready waits until etcd takes a put.
func ready(t *testing.T, host string) {
	t.Helper()
	var err error
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		conn, failed := connect(t.Context(), host, "ready/", "")
		if err = failed; err == nil {
			conn.Close()
			return
		}
	}
	t.Fatal(err)
}

// Each request has another key, as long as the one before.
func TestPuts(t *testing.T) {
	p := newPuts("a/", "value")
	seen, size := map[string]bool{}, len(p.message)
	for n := 1; n <= 1001; n++ {
		message := p.next()[5:]
		key, err := field(message, putKey)
		if want := fmt.Sprintf("a/%010d", n); err != nil || string(key) != want {
			t.Fatalf("key %d is %q, %v", n, key, err)
		}
		if value, err := field(message, putValue); err != nil || string(value) != "value" || len(message)+5 != size {
			t.Fatalf("the value is %q, %v, of %d bytes", value, err, len(message))
		}
		seen[string(key)] = true
	}
	if len(seen) != 1001 {
		t.Errorf("%d keys", len(seen))
	}
}

func TestRevision(t *testing.T) {
	header := protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), 77) // cluster_id
	header = protowire.AppendVarint(protowire.AppendTag(header, headerRevision, protowire.VarintType), 300)
	reply := protowire.AppendBytes(protowire.AppendTag(nil, replyHeader, protowire.BytesType), header)
	if n, err := revision(reply); n != 300 || err != nil {
		t.Errorf("the revision is %d, %v", n, err)
	}
	for name, bad := range map[string][]byte{"nothing": nil, "cut short": reply[:len(reply)-1], "text": []byte(strings.Repeat("x", 40))} {
		if n, err := revision(bad); err == nil {
			t.Errorf("%s: the revision is %d", name, n)
		}
	}
}
