//go:build !unix

package script

import "os/exec"

// apart changes nothing where there are no process groups: the child alone is ended.
func apart(cmd *exec.Cmd) { cmd.Dir = "" }
