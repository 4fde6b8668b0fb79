//go:build unix

package script

import (
	"os/exec"
	"syscall"
)

// apart has a child in a process group of its own, which is ended as a whole.
func apart(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
