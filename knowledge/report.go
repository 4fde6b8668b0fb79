package knowledge

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// ReportVersion is the form of reports.
const ReportVersion = "ubl.knowledge.report.v1"

// Report says whether a vault is ready to be published, and what of it would be.
type Report struct {
	Version  string `json:"version"`
	Ontology string `json:"ontology"` // its name
	Strict   bool   `json:"strict"`
	// Ready is whether everything that asks to be published would be. A broken file isn't ready in
	// either mode: it may ask for it.
	Ready     bool        `json:"ready"`
	Files     int         `json:"files"`
	Types     []TypeCount `json:"types"` // those that there are, as the ontology lists them
	Published []Published `json:"published"`
	Withheld  []Withheld  `json:"withheld"`
	Links     LinkCount   `json:"links"`    // of what would be published
	Problems  []Problem   `json:"problems"` // by path and line
}

// TypeCount is how many files have a type, and how many of them would be published.
type TypeCount struct {
	Type      string `json:"type"`
	Files     int    `json:"files"`
	Published int    `json:"published"`
}

// Published is a file that would be stored, and under which key.
type Published struct {
	Path  string `json:"path"`
	Key   string `json:"key"`
	Title string `json:"title"`
}

// Withheld is a file that would not be, and why: unpublished, draft, broken or invalid.
type Withheld struct {
	Path string `json:"path"`
	Why  string `json:"why"`
}

// LinkCount is how many links lead somewhere, and how many to nothing.
type LinkCount struct {
	Resolved   int `json:"resolved"`
	Unresolved int `json:"unresolved"`
}

// Report looks at the vault in a mode.
func (v *Vault) Report(strict bool) *Report {
	r := &Report{Version: ReportVersion, Ontology: v.Ontology.Name, Strict: strict, Ready: true, Files: len(v.Entries),
		Types: []TypeCount{}, Published: []Published{}, Withheld: []Withheld{}, Problems: slices.Concat([]Problem{}, v.Problems)}
	counts := map[string]*TypeCount{}
	for _, e := range v.Entries {
		if counts[e.Type] == nil {
			counts[e.Type] = &TypeCount{Type: e.Type}
		}
		counts[e.Type].Files++
		if e.Published(strict) {
			counts[e.Type].Published++
		}
		r.add(e)
	}
	for _, t := range v.Ontology.Types {
		if c := counts[t.Name]; c != nil {
			r.Types = append(r.Types, *c)
		}
	}
	for _, p := range r.Problems {
		r.Ready = r.Ready && p.Severity != Broken && (!strict || p.Severity != Invalid)
	}
	slices.SortStableFunc(r.Problems, func(a, b Problem) int { return cmp.Or(strings.Compare(a.Path, b.Path), a.Line-b.Line) })
	return r
}

func (r *Report) add(e *Entry) {
	r.Problems = append(r.Problems, e.Problems...)
	if why := e.Withheld(r.Strict); why != "" {
		r.Withheld = append(r.Withheld, Withheld{e.Path, why})
		return
	}
	r.Published = append(r.Published, Published{e.Path, e.Key().String(), e.Title})
	for _, l := range e.Links {
		if l.To == "" {
			r.Links.Unresolved++
		} else {
			r.Links.Resolved++
		}
	}
}

// MostOften is the message of a problem that most places have, and how many do: a field that every
// file lacks is one thing to mend. Notes don't count; without other problems it is "".
func (r *Report) MostOften() (message string, times int) {
	counts := map[string]int{}
	for _, p := range r.Problems {
		if p.Severity != Note {
			counts[p.Message]++
		}
	}
	for _, m := range slices.Sorted(maps.Keys(counts)) {
		if counts[m] > times {
			message, times = m, counts[m]
		}
	}
	return message, times
}
