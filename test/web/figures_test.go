package web

import (
	"fmt"
	"os"
	"slices"
	"sync"
	"text/tabwriter"
)

// figure is something that was measured, and what the goal is.
type figure struct{ what, value, goal string }

// figures are what all tests have measured.
var figures struct {
	sync.Mutex
	all []figure
}

// note keeps a figure for the end.
func note(what, goal, format string, args ...any) {
	figures.Lock()
	defer figures.Unlock()
	figures.all = append(figures.all, figure{what, fmt.Sprintf(format, args...), goal})
}

func printFigures() {
	figures.Lock()
	defer figures.Unlock()
	if len(figures.all) == 0 {
		return
	}
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	defer w.Flush()
	fmt.Fprintln(w, "measured in the browser\t\tgoal")
	for _, f := range figures.all {
		fmt.Fprintf(w, "%s\t%s\t%s\n", f.what, f.value, f.goal)
	}
}

// quantile is the value below which a part of all lie.
func quantile(all []float64, part float64) float64 {
	if len(all) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(all))
	return sorted[min(len(sorted)-1, int(part*float64(len(sorted))))]
}
