package proc

import (
	"context"
	"strings"
	"testing"
	"time"
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
	start := time.Now()
	if err := s.Stop(); err != nil || time.Since(start) > 5*time.Second {
		t.Errorf("stopped after %s: %v", time.Since(start), err)
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
