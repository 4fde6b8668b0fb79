package main

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// lineEvery is how often progress is told where there is no terminal.
const lineEvery = 5 * time.Second

// progress tells on standard error how far long work is: as a bar on a
// terminal, as a line now and then elsewhere, not at all where quiet.
type progress struct {
	what string
	unit string
	out  io.Writer
	now  func() time.Time
	bar  *progressbar.ProgressBar
	told time.Time
}

// progress begins telling; bytes are told in their own units.
func (p *program) progress(what, unit string, quiet bool) *progress {
	g := &progress{what: what, unit: unit, out: p.err, now: p.now, told: p.now()}
	f, isFile := p.err.(*os.File)
	switch {
	case quiet:
		g.out = io.Discard
	case isFile && term.IsTerminal(int(f.Fd())):
		options := []progressbar.Option{
			progressbar.OptionSetWriter(p.err), progressbar.OptionSetDescription(what), progressbar.OptionClearOnFinish(),
			progressbar.OptionThrottle(100 * time.Millisecond), progressbar.OptionShowCount(), progressbar.OptionSetPredictTime(true),
		}
		if unit == "bytes" {
			options = append(options, progressbar.OptionShowBytes(true))
		}
		g.bar = progressbar.NewOptions64(unknown, options...)
	}
	return g
}

// unknown is the total of work whose end nobody knows.
const unknown = -1

// at tells that so much of so much is done; the total may be unknown.
func (g *progress) at(done, total int64) {
	if g.bar != nil {
		if total != unknown && g.bar.GetMax64() != total {
			g.bar.ChangeMax64(total)
		}
		_ = g.bar.Set64(done) // a terminal that has gone is no failure of the work
		return
	}
	if g.now().Sub(g.told) >= lineEvery {
		g.told = g.now()
		so := strconv.FormatInt(done, 10)
		if total != unknown {
			so += fmt.Sprintf(" of %d", total)
		}
		fmt.Fprintf(g.out, "%s: %s %s\n", g.what, so, g.unit)
	}
}

// end takes the bar away.
func (g *progress) end() {
	if g.bar != nil {
		_ = g.bar.Clear()
	}
}
