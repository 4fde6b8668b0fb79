package web

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"ubl/test/need"
)

// modules is a folder with what package-lock.json pins in node_modules.
var modules = sync.OnceValues(func() (string, error) {
	dir, err := scratch()
	if err != nil {
		return "", err
	}
	for _, name := range []string{"package.json", "package-lock.json"} {
		content, err := os.ReadFile(name)
		if err != nil {
			return "", err
		}
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			return "", err
		}
	}
	ctx, end := context.WithTimeout(context.Background(), 3*time.Minute)
	defer end()
	ci := exec.CommandContext(ctx, "npm", "ci", "--ignore-scripts", "--prefer-offline", "--no-audit", "--no-fund", "--no-progress")
	ci.Dir = dir
	if out, err := ci.CombinedOutput(); err != nil {
		return "", fmt.Errorf("npm ci: %w\n%s", err, out)
	}
	return dir, nil
})

// axe is the source of axe-core.
var axe = sync.OnceValues(func() (string, error) {
	dir, err := modules()
	if err != nil {
		return "", err
	}
	source, err := os.ReadFile(filepath.Join(dir, "node_modules", "axe-core", "axe.min.js"))
	return string(source), err
})

// needAxe leaves a test out where axe-core can't be had.
func needAxe(t *testing.T) {
	t.Helper()
	need.Tool(t, "npm")
}

// finding is a rule that the page breaks, and where.
type finding struct {
	Rule, Impact, Help string
	Nodes              []string
}

// runAxe checks the page as it is. It runs apart from the app's own script, in a world
// of its own, which lasts as long as the page.
const runAxe = `(rules) => axe.run(document, { resultTypes: ['violations'], ...(rules && { runOnly: rules }) }).then((r) => r.violations.map((v) => ({
	Rule: v.id, Impact: v.impact ?? '', Help: v.help,
	Nodes: v.nodes.slice(0, 5).map((n) => n.html.slice(0, 160) + ' — ' + n.any.concat(n.all, n.none).map((c) => c.message).join('; ')),
})))`

// accessible wants nothing serious or critical to be found on the page, by all rules
// or by these.
func (p *person) accessible(screen string, rules ...string) {
	p.t.Helper()
	p.rests()
	source, err := axe()
	must(p.t, err)
	tree := call(p, page.GetFrameTree, cdp.Empty{})
	world := call(p, page.CreateIsolatedWorld, page.CreateIsolatedWorldParams{FrameID: tree.FrameTree.Frame.ID, WorldName: "axe"})
	within := func(e *runtime.EvaluateParams) { e.ContextID = world.ExecutionContextID }
	ctx, end := context.WithTimeout(p.ctx, patience)
	defer end()
	loaded, err := chromedp.Run(ctx, chromedp.Evaluate[bool](`'axe' in globalThis`, within))
	must(p.t, err)
	if !loaded {
		p.do("couldn't load axe", chromedp.Evaluate[chromedp.Void](source, within))
	}
	found, err := chromedp.Run(ctx, chromedp.Evaluate[[]finding](apply(runAxe, rules), within, chromedp.EvalAwaitPromise))
	must(p.t, err)
	for _, f := range found {
		if f.Impact == "serious" || f.Impact == "critical" {
			p.t.Errorf("%s (%s), %s: %s (%s)\n\t%s", screen, p.view.name, f.Impact, f.Help, f.Rule, strings.Join(f.Nodes, "\n\t"))
		} else {
			p.t.Logf("%s (%s), %s: %s (%s)", screen, p.view.name, f.Impact, f.Help, f.Rule)
		}
	}
}

// rests waits until nothing moves: colours on their way have no contrast yet.
func (p *person) rests() {
	p.t.Helper()
	p.until("all animations are over", func() bool {
		return eval[bool](p, `document.getAnimations().every((a) => a.playState !== 'running' || a.effect.getTiming().iterations === Infinity)`)
	})
}
