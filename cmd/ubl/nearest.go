package main

import (
	"cmp"
	"slices"
	"strings"

	"ubl/transport/envelope"
)

// mostNear bounds how many names a refusal proposes.
const mostNear = 3

// nearest are the names that somebody who wrote word may have meant, the nearest first:
// those that a few letters part from it, and those that hold it or that it holds.
func nearest(word string, names []string) []string {
	type candidate struct {
		name string
		far  int
	}
	var near []candidate
	small := strings.ToLower(word)
	for _, name := range slices.Compact(slices.Sorted(slices.Values(names))) {
		other := strings.ToLower(name)
		far := envelope.Distance(small, other)
		held := len(small) > 2 && strings.Contains(other, small) || len(other) > 2 && strings.Contains(small, other)
		if far <= max(len(small), len(other))/3 || held {
			near = append(near, candidate{name, far})
		}
	}
	slices.SortStableFunc(near, func(a, b candidate) int { return cmp.Compare(a.far, b.far) })
	out := make([]string, 0, mostNear)
	for _, c := range near[:min(mostNear, len(near))] {
		if c.far > near[0].far+1 && !strings.Contains(c.name, small) {
			break
		}
		out = append(out, c.name)
	}
	return out
}

// meant proposes names for one that isn't there, "" where none is near.
func meant(word string, names []string) string {
	near := nearest(word, names)
	if len(near) == 0 {
		return ""
	}
	return "did you mean " + strings.Join(near, ", ") + "?"
}
