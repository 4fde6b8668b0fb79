//go:build linux

package confine

import (
	"os/exec"
	"strings"
	"testing"
)

// TestApart: a child leads a session of its own. In the node's it could open its terminal, and read
// or type what its user does.
func TestApart(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), "sh", "-c", "cut -d' ' -f1,5,6 /proc/$$/stat; (true </dev/tty) 2>/dev/null && echo terminal")
	Apart(cmd)
	out, _ := cmd.Output() // it ends with the status of the last command
	ids := strings.Fields(string(out))
	if len(ids) != 3 || ids[0] != ids[1] || ids[0] != ids[2] {
		t.Errorf("its process, group and session are %q", out)
	}
}
