package knowledge

import (
	"fmt"
	"strings"
)

// Severity is what follows from a problem.
type Severity string

// The severities, worst first.
const (
	// Broken files can't be stored. What was stored of them before stays: a file that can't be
	// read doesn't say that it is no longer to be published.
	Broken Severity = "broken"
	// Invalid entries don't fit the ontology. They are refused in strict mode, and stored in
	// lenient mode.
	Invalid Severity = "invalid"
	// Note is worth a look, and refuses nothing.
	Note Severity = "note"
)

// Problem is something that is wrong with a file. Its message names fields and paths, never what
// a field holds: front matter may have what isn't for everyone.
type Problem struct {
	Path     string   `json:"path"`
	Line     int      `json:"line,omitempty"` // from 1; 0 for the file as a whole
	Field    string   `json:"field,omitempty"`
	Severity Severity `json:"severity"`
	Message  string   `json:"message"`
}

// String is the problem as compilers write theirs, path:line: message.
func (p Problem) String() string {
	if p.Line == 0 {
		return fmt.Sprintf("%s: %s", p.Path, p.Message)
	}
	return fmt.Sprintf("%s:%d: %s", p.Path, p.Line, p.Message)
}

// Problems are those that had a file refused, as an error.
type Problems []Problem

// Error has a line for each.
func (ps Problems) Error() string {
	lines := make([]string, len(ps))
	for i, p := range ps {
		lines[i] = p.String()
	}
	return strings.Join(lines, "\n")
}
