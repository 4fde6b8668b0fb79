package etcdload

import (
	"os/exec"
	"testing"

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
	for range 2 { // the second run finds the keys of the first
		r, err := loadtest.Enough(100, func(p load.Plan) (load.Result, error) { // fewer may cost no CPU time that is told
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
