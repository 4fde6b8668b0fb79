//go:build !unix

package confine

import (
	"os/exec"
	"syscall"
)

// Apart changes nothing where there are no process groups: the child alone is ended.
func Apart(cmd *exec.Cmd) { cmd.Dir = "" }

// Signal ends the child alone.
func Signal(cmd *exec.Cmd, _ syscall.Signal) error { return cmd.Process.Kill() }
