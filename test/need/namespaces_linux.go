package need

import (
	"os/exec"
	"syscall"
	"testing"
)

// Namespaces leaves the test out where the system doesn't let this user have namespaces of users,
// mounts, processes and networks.
func Namespaces(t testing.TB) {
	t.Helper()
	cmd := exec.Command("/proc/self/exe", "-test.run=^$")
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS | syscall.CLONE_NEWPID | syscall.CLONE_NEWIPC | syscall.CLONE_NEWNET}
	if err := cmd.Start(); err != nil {
		Missing(t, "the system doesn't let this user have namespaces: %v", err)
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
}
