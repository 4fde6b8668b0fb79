//go:build unix

package confine

import (
	"os/exec"
	"syscall"
)

// Apart has a child in a session of its own, without the node's terminal: who could open that
// would type into the shell behind it. Its process group is ended as a whole with the command's
// context.
func Apart(cmd *exec.Cmd) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = new(syscall.SysProcAttr)
	}
	cmd.SysProcAttr.Setsid = true
	cmd.Cancel = func() error { return Signal(cmd, syscall.SIGKILL) }
}

// Signal sends a signal to all of the process group of a child that [Apart] was asked for.
func Signal(cmd *exec.Cmd, signal syscall.Signal) error {
	return syscall.Kill(-cmd.Process.Pid, signal)
}
