package manifests

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql/parser"
)

// TestAlerts: the rules are as Prometheus takes them, each leads into the
// runbook, and everything that they ask for exists.
func TestAlerts(t *testing.T) {
	p := parser.NewParser(parser.Options{})
	groups, errs := rulefmt.Parse(readFile(t, "prometheus/alerts.yaml"), false, model.UTF8Validation, p, nil)
	for _, err := range errs {
		t.Error(err)
	}
	if groups == nil {
		t.FailNow()
	}
	runbook := string(readFile(t, "RUNBOOK.md"))
	figures := scrape(t)
	for _, g := range groups.Groups {
		for _, rule := range g.Rules {
			figures.check(t, p, rule.Alert, rule.Expr)
			if !strings.Contains(runbook, "\n### "+rule.Alert+"\n") {
				t.Errorf("RUNBOOK.md doesn't know the alert %s", rule.Alert)
			}
			if want := "RUNBOOK.md#" + strings.ToLower(rule.Alert); rule.Annotations["runbook"] != want {
				t.Errorf("%s leads to %q, want %q", rule.Alert, rule.Annotations["runbook"], want)
			}
			if s := rule.Labels["severity"]; s != "critical" && s != "warning" {
				t.Errorf("%s has the severity %q", rule.Alert, s)
			}
		}
	}
}

// dashboard is the part of Grafana's format that the dashboard uses.
type dashboard struct {
	Title         string `json:"title"`
	SchemaVersion int    `json:"schemaVersion"`
	Templating    struct {
		List []struct {
			Name string `json:"name"`
		} `json:"list"`
	} `json:"templating"`
	Panels []struct {
		ID      int    `json:"id"`
		Type    string `json:"type"`
		Title   string `json:"title"`
		GridPos struct {
			H, W, X, Y int
		} `json:"gridPos"`
		Targets []struct {
			RefID string `json:"refId"`
			Expr  string `json:"expr"`
		} `json:"targets"`
	} `json:"panels"`
}

// TestDashboard: every panel's question is PromQL about figures that exist, and
// the panels lie side by side.
func TestDashboard(t *testing.T) {
	var d dashboard
	if err := json.Unmarshal(readFile(t, "grafana/ubl.json"), &d); err != nil {
		t.Fatal(err)
	}
	// What Grafana fills in: its own variable, and the dashboard's.
	filled := strings.NewReplacer("$__rate_interval", "5m", "$job", "ubl", "$instance", ".*")
	var variables []string
	for _, v := range d.Templating.List {
		variables = append(variables, v.Name)
	}
	if !slices.Equal(variables, []string{"datasource", "job", "instance"}) {
		t.Errorf("the dashboard's variables are %v", variables)
	}
	p, figures := parser.NewParser(parser.Options{}), scrape(t)
	cells, ids := map[[2]int]string{}, map[int]bool{}
	for _, panel := range d.Panels {
		if ids[panel.ID] {
			t.Errorf("two panels have the id %d", panel.ID)
		}
		ids[panel.ID] = true
		for x := panel.GridPos.X; x < panel.GridPos.X+panel.GridPos.W; x++ {
			for y := panel.GridPos.Y; y < panel.GridPos.Y+panel.GridPos.H; y++ {
				if other, taken := cells[[2]int{x, y}]; taken || x > 23 {
					t.Fatalf("%q lies on %q, or beyond the edge", panel.Title, other)
				}
				cells[[2]int{x, y}] = panel.Title
			}
		}
		if (len(panel.Targets) == 0) != (panel.Type == "row") {
			t.Errorf("%q asks nothing", panel.Title)
		}
		for _, target := range panel.Targets {
			figures.check(t, p, panel.Title, filled.Replace(target.Expr))
		}
	}
	if d.Title == "" || d.SchemaVersion == 0 || len(ids) < 15 {
		t.Errorf("the dashboard %q of version %d has %d panels", d.Title, d.SchemaVersion, len(ids))
	}
}

// check parses a question and wants that each figure and label in it exists.
func (f figures) check(t *testing.T, p parser.Parser, where, expr string) {
	t.Helper()
	tree, err := p.ParseExpr(expr)
	if err != nil {
		t.Errorf("%s: %v\n%s", where, err, expr)
		return
	}
	parser.Inspect(tree, func(n parser.Node, _ []parser.Node) error {
		switch n := n.(type) {
		case *parser.VectorSelector:
			if err := f.has(n); err != nil {
				t.Errorf("%s: %v", where, err)
			}
		case *parser.AggregateExpr:
			for _, label := range n.Grouping {
				if !f.anyLabel(label) {
					t.Errorf("%s: no figure has the label %s", where, label)
				}
			}
		}
		return nil
	})
}

// has reports what of a selector the node doesn't show.
func (f figures) has(s *parser.VectorSelector) error {
	known, ok := f[s.Name]
	if !ok {
		return fmt.Errorf("there is no figure %s", s.Name)
	}
	for _, m := range s.LabelMatchers {
		if m.Name != model.MetricNameLabel && !known[m.Name] && !scraped[m.Name] {
			return fmt.Errorf("%s has no label %s", s.Name, m.Name)
		}
	}
	return nil
}

// scraped are the labels that Prometheus adds to every figure.
var scraped = map[string]bool{"job": true, "instance": true}

func (f figures) anyLabel(name string) bool {
	for _, known := range f {
		if known[name] {
			return true
		}
	}
	return scraped[name]
}
