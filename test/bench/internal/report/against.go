package report

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
)

// mayWorsen is by how much a figure may be worse than in an earlier run.
const mayWorsen = 0.05

// better tells which figures are better when they are more, and which when they are less.
// Others, as the length of a frame, are neither.
var better = map[Measure]int{
	Rate: more, Records: more, Transactions: more, PostRate: more, ArmRate: more,

	P50: less, P99: less, P50Seconds: less, P99Seconds: less, ServerMicros: less,
	ReadySeconds: less, TouchSeconds: less, RSSReady: less, OwnReady: less, RSSTouched: less, OwnTouched: less, RSSIdle: less, OwnIdle: less, ActorInUse: less, ActorIdle: less,
	FirstMillis: less, WarmMillis: less, WokenMillis: less, AlarmInUse: less, FiredSeconds: less, QuietP99: less, FiringP99: less,
	FailoverSeconds: less, FailoverMax: less, WaitSeconds: less, WaitMax: less, SendMax: less, IdleMax: less,
	FileRate: more, ServerSeconds: less, SessionRSS: less, SessionOwn: less, SessionInUse: less, LoadSeconds: less, IndexSeconds: less, FirstSeconds: less, IndexOwn: less,
}

const (
	more = iota + 1
	less
)

// peers are the subjects that are not UBL.
var peers = []Subject{Workerd, JetStream, Bare, Loop, BareFan, StoredFan, EtcdThree, Direct, BareMCP, BareCopy}

// Change is a figure of UBL beside that of an earlier run.
type Change struct {
	Key
	Before float64 `json:"before"` // medians
	Now    float64 `json:"now"`
	Worse  float64 `json:"worse"` // how many times as bad as before: below 1 is better
}

// Against is an earlier run's figures beside those of this one.
type Against struct {
	Date    string   `json:"date"`
	Changes []Change `json:"changes"` // of all figures that are in both, the worst first
	// Absent are the figures that this run doesn't have, or has nothing of: they may be any worse.
	Absent []Change `json:"absent,omitempty"`
}

// Read reads the results.json of an earlier run.
func Read(file string) (*Report, error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("couldn't read the earlier results: %w", err)
	}
	r := new(Report)
	if err := json.Unmarshal(content, r); err != nil {
		return nil, fmt.Errorf("couldn't read the earlier results: %w", err)
	}
	return r, nil
}

// Compare holds the figures against those of an earlier run.
func (r *Report) Compare(before *Report) {
	a := &Against{Date: before.Machine.Date.UTC().Format("2006-01-02 15:04 UTC")}
	for _, f := range before.Figures {
		if slices.Contains(peers, f.Subject) || better[f.Measure] == 0 || f.Median <= 0 {
			continue
		}
		now, ok := r.Find(f.Key)
		if !ok || now.Median <= 0 {
			a.Absent = append(a.Absent, Change{Key: f.Key, Before: f.Median})
			continue
		}
		c := Change{Key: f.Key, Before: f.Median, Now: now.Median, Worse: now.Median / f.Median}
		if better[f.Measure] == more {
			c.Worse = 1 / c.Worse
		}
		a.Changes = append(a.Changes, c)
	}
	slices.SortStableFunc(a.Changes, func(x, y Change) int { return cmp.Compare(y.Worse, x.Worse) })
	r.Against = a
}

// judge is the goal that no figure is worse by more than it may be, which one that is absent misses;
// there is none where nothing was compared.
func (a *Against) judge() []Outcome {
	if a == nil || len(a.Changes)+len(a.Absent) == 0 {
		return nil
	}
	out := Outcome{
		Goal:    fmt.Sprintf("no figure of UBL is worse than in the run of %s by more than %.0f %%", a.Date, 100*mayWorsen),
		Verdict: "reached", Bound: 1 + mayWorsen,
	}
	if len(a.Changes) > 0 {
		out.Measured, out.Rounds, out.In = a.Changes[0].Worse, []float64{a.Changes[0].Worse}, 1
	}
	if out.Measured > out.Bound {
		out.Verdict, out.In = "missed", 0
	}
	if n := len(a.Absent); n > 0 {
		out.Verdict, out.In, out.Reason = "missed", 0, fmt.Sprintf("%.2f, and %d of its figures aren't in this run", out.Measured, n)
	}
	return []Outcome{out}
}

// write lists what got worse by more than it may.
func (a *Against) write(w io.Writer) {
	if a == nil {
		return
	}
	fmt.Fprintf(w, "## Against the run of %s\n\n%d figures of UBL are in both, and %d aren't in this one. Those, and what is worse by more than %.0f %%, by the medians:\n\n",
		a.Date, len(a.Changes), len(a.Absent), 100*mayWorsen)
	fmt.Fprintf(w, "| section | program | figure | before | now | worse by |\n|---|---|---|---:|---:|---:|\n")
	for _, c := range a.Absent {
		fmt.Fprintf(w, "| %s | %s | %s | %s | – | absent |\n", c.Section, c.Subject, c.Measure, hundredths(c.Before))
	}
	for _, c := range a.Changes {
		if c.Worse > 1+mayWorsen {
			fmt.Fprintf(w, "| %s | %s | %s | %s | %s | %.0f %% |\n", c.Section, c.Subject, c.Measure, hundredths(c.Before), hundredths(c.Now), 100*(c.Worse-1))
		}
	}
	fmt.Fprintln(w)
}
