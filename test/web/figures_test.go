package web

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"text/tabwriter"

	"ubl/test/soak"
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

// undisturbed measures until the host of the machine, where that is a virtual one,
// took less than a twentieth of its time meanwhile, in `make soak` three times at most. It gives the
// calmest, and says so where that was disturbed too.
func undisturbed[T any](measure func(try int) T) (calmest T, disturbed string) {
	least := 1.0
	for try := 0; try < soak.Of(1, 3) && least >= 0.05; try++ {
		all, stolen := processorTime()
		m := measure(try)
		allThen, stolenThen := processorTime()
		if share := (stolenThen - stolen) / max(1, allThen-all); try == 0 || share < least {
			calmest, least = m, share
		}
	}
	if least >= 0.05 {
		disturbed = fmt.Sprintf(" (the machine's host took %.0f %% of its time)", 100*least)
	}
	return calmest, disturbed
}

// processorTime is the time of all processors so far, and how much of that the host
// gave to others, in ticks; nothing where the system doesn't tell.
func processorTime() (all, stolen float64) {
	const stealField = 7
	content, _ := os.ReadFile("/proc/stat")
	line, _, _ := strings.Cut(string(content), "\n")
	for i, field := range strings.Fields(strings.TrimPrefix(line, "cpu")) {
		ticks, _ := strconv.ParseFloat(field, 64)
		switch {
		case i < stealField:
			all += ticks
		case i == stealField:
			all, stolen = all+ticks, ticks
		}
	}
	return all, stolen
}

// quantile is the value below which a part of all lie.
func quantile(all []float64, part float64) float64 {
	if len(all) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(all))
	return sorted[min(len(sorted)-1, int(part*float64(len(sorted))))]
}
