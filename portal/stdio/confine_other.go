//go:build !linux

package stdio

import (
	"errors"
	"os/exec"
)

var errSystem = errors.New("isolation: none, since this system has nothing else")

// possible refuses all that only Linux has.
func (c *Command) possible() error {
	if c.Isolation != Not {
		return errSystem
	}
	return nil
}

// runsAs is nil: the node's own user.
func (c *Command) runsAs() (*account, error) { return nil, nil }

// process is the program itself: there is nothing that a launcher could do.
func process(_, _ string, argv []string) *exec.Cmd { return exec.Command(argv[0], argv[1:]...) }

func restrict(*exec.Cmd, *Command, *account) {}

// ended leaves all to Wait.
func ended(*exec.Cmd) {}

// become is never asked for.
func become(launch, []string) error { return errSystem }
