//go:build unix

package confine

import (
	"os/exec"
	"syscall"
)

// Apart has a child in a process group of its own, which is ended as a whole with the command's
// context.
func Apart(cmd *exec.Cmd) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = new(syscall.SysProcAttr)
	}
	cmd.SysProcAttr.Setpgid = true
	cmd.Cancel = func() error { return Signal(cmd, syscall.SIGKILL) }
}

// Signal sends a signal to all of the process group of a child that [Apart] was asked for.
func Signal(cmd *exec.Cmd, signal syscall.Signal) error {
	return syscall.Kill(-cmd.Process.Pid, signal)
}
