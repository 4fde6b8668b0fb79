package web

import (
	"os"
	"path/filepath"
	"testing"
)

// TestAddProgram: an owner adds a program that the operator allows, by its name.
func TestAddProgram(t *testing.T) {
	needAxe(t)
	onScreen(t, phone, func(t *testing.T, v view) {
		config := filepath.Join(t.TempDir(), "ubl.yaml")
		must(t, os.WriteFile(config, []byte("portal:\n  commands:\n    tide-tables:\n      command: [/bin/cat]\n      secret: TOKEN\n      isolation: none\n      network: true\n"), 0o600))
		s := oneNode(t, "--config", config)
		p := newcomer(t, s, v)
		p.visit("/ui/servers")
		p.press("button", "Add a server")
		p.press("menuitem", "A program of this server")
		p.fill("Name", "Tides")
		p.fill("Secret", "long enough")
		p.examine("add-program")
		p.press("button", "Add")
		p.sees("Tides", "tide-tables", "A variable of its environment")
		p.examine("program")
	})
}
