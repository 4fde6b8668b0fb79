package stdio

import (
	"encoding/json"
	"fmt"
	"os"
)

// launch is what a launcher is told of its child. Everybody on the machine may read it: no
// secret is in it.
type launch struct {
	Memory    uint64   `json:"memory"` // bytes
	CPU       uint64   `json:"cpu"`    // seconds
	Processes uint64   `json:"processes"`
	Folder    string   `json:"folder"`
	Isolated  bool     `json:"isolated"`
	Hidden    []string `json:"hidden,omitempty"`
}

// argument is a launcher's first; a launch and the program's own follow.
const argument = "run-command"

// exitRefused is a launcher's exit code where it couldn't become the program.
const exitRefused = 71

// RunIfChild becomes a program, where a [Runner] has started this process for that. Every main whose
// program starts commands calls it before anything else.
func RunIfChild() {
	if len(os.Args) < 4 || os.Args[1] != argument {
		return
	}
	var l launch
	err := json.Unmarshal([]byte(os.Args[2]), &l)
	if err == nil {
		err = become(l, os.Args[3:])
	}
	fmt.Fprintln(os.Stderr, "couldn't run the command:", err) // for the operator's log
	os.Exit(exitRefused)
}
