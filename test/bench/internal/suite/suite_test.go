package suite

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"ubl/test/bench/internal/proc"
	"ubl/test/bench/internal/report"
)

// Turns shift from round to round, and a program that fails is out with its
// reason while the others go on.
func TestRounds(t *testing.T) {
	s := &Suite{
		Scratch: t.TempDir(),
		Report:  &report.Report{Settings: report.Settings{Rounds: 3}},
		Logf:    t.Logf,
		Stolen:  nothing,
	}
	var order []string
	take := func(subject report.Subject, err error) turn {
		return turn{subject, func(_ context.Context, dir string) error {
			if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
				t.Errorf("%s did not get an empty directory: %v", subject, err)
			}
			order = append(order, string(subject))
			return err
		}}
	}
	s.rounds(t.Context(), []report.Section{report.Send, report.One}, []turn{
		take("a", nil), take("b", errors.New("no\n disk")), take("c", nil),
	})
	if want := []string{"a", "b", "c", "c", "a", "c", "a"}; !slices.Equal(order, want) {
		t.Errorf("turns were %v, want %v", order, want)
	}
	want := []report.Missing{{Section: report.Send, Subject: "b", Reason: "no disk"}, {Section: report.One, Subject: "b", Reason: "no disk"}}
	if !slices.Equal(s.Report.Missing, want) {
		t.Errorf("missing are %v, want %v", s.Report.Missing, want)
	}
}

// Several ways to the same servers take turns on them, each round on new ones;
// one that fails is out, and with the servers all are.
func TestWays(t *testing.T) {
	s := &Suite{
		Scratch: t.TempDir(),
		Report:  &report.Report{Settings: report.Settings{Rounds: 3}},
		Logf:    t.Logf,
		Stolen:  nothing,
	}
	var order []string
	take := func(subject report.Subject, err error) way {
		return way{subject, func(context.Context, *stage) error {
			order = append(order, string(subject))
			return err
		}}
	}
	begun := 0
	begin := func(ctx context.Context, _ string) (*stage, error) {
		if begun++; begun == 3 {
			return nil, errors.New("no port")
		}
		server, err := proc.Start(ctx, proc.Spec{Name: "a shell", Path: "/bin/sh", Args: []string{"-c", "exec sleep 60"}, Host: "nowhere", LogDir: s.Scratch})
		return &stage{ubl: &target{server: server}}, err
	}
	s.ways(t.Context(), []report.Section{report.MCP}, begin, []way{take("a", nil), take("b", errors.New("refused")), take("c", nil)})
	if want := []string{"a", "b", "c", "c", "a"}; !slices.Equal(order, want) {
		t.Errorf("turns were %v, want %v", order, want)
	}
	want := []report.Missing{{Section: report.MCP, Subject: "b", Reason: "refused"},
		{Section: report.MCP, Subject: "a", Reason: "no port"}, {Section: report.MCP, Subject: "c", Reason: "no port"}}
	if !slices.Equal(s.Report.Missing, want) {
		t.Errorf("missing are %v, want %v", s.Report.Missing, want)
	}
}

func nothing() (time.Duration, error) { return 0, nil }

// A turn during which the machine's host was busy with others is taken again, and its
// figures are dropped. The third counts whatever happens, with a note.
func TestDisturbed(t *testing.T) {
	for name, test := range map[string]struct {
		disturbed int // turns
		counts    []float64
		notes     int
	}{
		"a quiet host":               {0, []float64{1}, 0},
		"a host that calms down":     {2, []float64{3}, 0},
		"a host that is always busy": {3, []float64{3}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			var turns, looks int
			s := &Suite{Scratch: t.TempDir(), Report: &report.Report{Settings: report.Settings{Rounds: 1}}, Logf: t.Logf}
			s.Stolen = func() (time.Duration, error) {
				looks++
				if looks%2 == 0 && looks/2 <= test.disturbed {
					return time.Hour, nil
				}
				return 0, nil
			}
			figure := report.Key{Section: report.Send, Subject: "a", Measure: report.Rate}
			s.rounds(t.Context(), []report.Section{report.Send}, []turn{{"a", func(context.Context, string) error {
				turns++
				s.Report.Add(figure, float64(turns))
				return nil
			}}})
			if got, _ := s.Report.Find(figure); !slices.Equal(got.Rounds, test.counts) || len(s.Report.Notes) != test.notes {
				t.Errorf("%v count, with the notes %q", got.Rounds, s.Report.Notes)
			}
		})
	}
}

// Three nodes of etcd find each other, and one that ends at once is told from
// one that is slow.
func TestEtcdCluster(t *testing.T) {
	path, err := exec.LookPath("etcd")
	if err != nil {
		t.Skip("etcd is not installed: ", err)
	}
	s := &Suite{Scratch: t.TempDir(), Etcd: path}
	c, err := s.startEtcd(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range c.nodes {
		if err := etcdHealthy(n.Host); err != nil {
			t.Error(err)
		}
	}
	if err := c.stop(); err != nil {
		t.Error(err)
	}
	s.Etcd = "/bin/false"
	if _, err := s.startEtcd(t.Context(), t.TempDir()); err == nil || !strings.Contains(err.Error(), "ended before it was ready") {
		t.Errorf("error is %v", err)
	}
}
