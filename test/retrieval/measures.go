package main

import (
	"fmt"
	"math"
)

const (
	gainOf   = 10 // the first answers whose gain counts
	recallOf = 20 // the first answers in which relevant documents are looked for
)

// measures are those of some questions together.
type measures struct {
	count        int
	gain, recall float64 // sums
}

// add counts a question: what was found, best first, and what is relevant.
func (m *measures) add(found []string, relevant map[string]bool) {
	m.count++
	m.gain += gain(found, relevant)
	m.recall += recall(found, relevant)
}

// gain is the normalized discounted cumulative gain: 1 where the relevant documents come first.
func gain(found []string, relevant map[string]bool) float64 {
	got, best := 0.0, 0.0
	for i := range gainOf {
		worth := 1 / math.Log2(float64(i+2))
		if i < len(found) && relevant[found[i]] {
			got += worth
		}
		if i < len(relevant) {
			best += worth
		}
	}
	return got / best
}

// recall is how much of what is relevant was found.
func recall(found []string, relevant map[string]bool) float64 {
	n := 0
	for _, id := range found[:min(len(found), recallOf)] {
		if relevant[id] {
			n++
		}
	}
	return float64(n) / float64(len(relevant))
}

// String is the means.
func (m measures) String() string {
	n := float64(max(m.count, 1))
	return fmt.Sprintf("%7.3f  %9.3f", m.gain/n, m.recall/n)
}
