package proc

import (
	"context"
	"errors"
	"net"
	"slices"
	"strings"
	"testing"
)

func shell(t *testing.T, script string) Spec {
	return Spec{Name: "a shell", Path: "/bin/sh", Args: []string{"-c", script}, Address: ListeningOn, LogDir: t.TempDir()}
}

func TestStartAndStop(t *testing.T) {
	s, err := Start(context.Background(), shell(t, "echo hello; echo listening on http://127.0.0.1:99; exec sleep 60"))
	if err != nil {
		t.Fatal(err)
	}
	if s.Host != "127.0.0.1:99" {
		t.Errorf("host is %q", s.Host)
	}
	if err := s.Stop(); err != nil { // else it was killed
		t.Error(err)
	}
}

func TestStartTellsWhatWentWrong(t *testing.T) {
	_, err := Start(context.Background(), shell(t, "echo no disk >&2; exit 3"))
	if err == nil || !strings.Contains(err.Error(), "no disk") {
		t.Errorf("error is %v", err)
	}
}

func TestJSON(t *testing.T) {
	var v struct{ A int }
	if err := JSON(context.Background(), &v, []string{"N=7"}, "/bin/sh", "-c", `echo "{\"a\":$N}"`); err != nil || v.A != 7 {
		t.Errorf("got %+v, %v", v, err)
	}
	if err := JSON(context.Background(), &v, nil, "/bin/sh", "-c", "echo bad flag >&2; exit 2"); err == nil || !strings.Contains(err.Error(), "bad flag") {
		t.Errorf("error is %v", err)
	}
}

// A server whose address is known beforehand is not waited for; killed, it is
// gone.
func TestKill(t *testing.T) {
	spec := shell(t, "trap '' TERM; echo busy; while :; do sleep 1; done")
	spec.Host = "127.0.0.1:99"
	s, err := Start(t.Context(), spec)
	if err != nil || s.Host != spec.Host {
		t.Fatalf("started %+v, %v", s, err)
	}
	select {
	case <-s.Exited():
		t.Error("it ended by itself")
	default:
	}
	if err := s.Kill(); err != nil {
		t.Error(err)
	}
	select {
	case <-s.Exited():
	default:
		t.Error("it lives on")
	}
}

func TestFreePorts(t *testing.T) {
	var hosts []string
	err := errors.New("never tried")
	for try := 0; err != nil && try < 5; try++ { // another process may be quicker to take a free port
		var bad error
		if hosts, bad = FreePorts(9); bad != nil {
			t.Fatal(bad)
		}
		err = takeAll(hosts)
	}
	slices.Sort(hosts)
	if err != nil || len(slices.Compact(hosts)) != 9 {
		t.Errorf("found %v: %v", hosts, err)
	}
}

// takeAll listens at all of them, over TCP and UDP.
func takeAll(hosts []string) error {
	for _, host := range hosts {
		tcp, err := net.Listen("tcp", host)
		if err != nil {
			return err
		}
		defer tcp.Close()
		udp, err := net.ListenPacket("udp", host)
		if err != nil {
			return err
		}
		defer udp.Close()
	}
	return nil
}
