// Package workerd installs the real Durable Objects runtime from npm, in the
// version that package-lock.json pins, and says how to start it with the room
// of room.js.
//
// One Durable Object with SQLite storage on local disk does what UBL's room
// and ledger do on a send. It is measured as the runtime comes: its journal is
// WAL with synchronous=FULL, so every transaction is synced, and its output
// gate holds the reply until then.
package workerd

import (
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

//go:embed package.json package-lock.json config.capnp room.js
var files embed.FS

// installTimeout bounds the download of some 60 MB.
const installTimeout = 3 * time.Minute

// Runtime is an installed workerd.
type Runtime struct {
	Version string
	binary  string
	config  string
}

// Install puts the runtime and the room into dir, or finds them there: with
// the pinned version in place it needs no network.
func Install(ctx context.Context, dir string) (*Runtime, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("couldn't make %s: %w", dir, err)
	}
	for _, name := range []string{"package.json", "package-lock.json", "config.capnp", "room.js"} {
		content, err := files.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("couldn't read %s: %w", name, err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o644); err != nil {
			return nil, fmt.Errorf("couldn't write %s: %w", name, err)
		}
	}
	version, err := pinned()
	if err != nil {
		return nil, err
	}
	r := &Runtime{Version: version, config: filepath.Join(dir, "config.capnp")}
	if r.binary, err = find(dir, version); err == nil {
		return r, nil
	}
	ctx, cancel := context.WithTimeout(ctx, installTimeout)
	defer cancel()
	// Not "npm ci": it wants the packages of all platforms in the lock file,
	// which holds those of Linux, with their hashes. No install scripts: the
	// runtime is one file in the package of its platform.
	npm := exec.CommandContext(ctx, "npm", "install", "--no-save", "--ignore-scripts", "--no-audit", "--no-fund", "--no-progress")
	npm.Dir = dir
	if output, err := npm.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("couldn't install workerd %s with npm: %w: %.300s", version, err, output)
	}
	if r.binary, err = find(dir, version); err != nil {
		return nil, err
	}
	return r, nil
}

// Command is what to run for a server that keeps its SQLite files in data and
// tells its address as JSON on file descriptor 3.
func (r *Runtime) Command(data string) (name string, args []string) {
	return r.binary, []string{"serve", r.config, "--directory-path=disk=" + data, "--control-fd=3"}
}

func pinned() (string, error) {
	content, err := files.ReadFile("package.json")
	if err != nil {
		return "", fmt.Errorf("couldn't read package.json: %w", err)
	}
	var pkg struct {
		Dependencies struct {
			Workerd string `json:"workerd"`
		} `json:"dependencies"`
	}
	if err := json.Unmarshal(content, &pkg); err != nil {
		return "", fmt.Errorf("couldn't decode package.json: %w", err)
	}
	return pkg.Dependencies.Workerd, nil
}

// find looks for the binary of the pinned version; its package has the
// platform in its name.
func find(dir, version string) (string, error) {
	packages, err := filepath.Glob(filepath.Join(dir, "node_modules", "@cloudflare", "workerd-*"))
	if err != nil {
		return "", fmt.Errorf("couldn't look for workerd: %w", err)
	}
	for _, p := range packages {
		content, err := os.ReadFile(filepath.Join(p, "package.json"))
		if err != nil {
			continue
		}
		var pkg struct {
			Version string `json:"version"`
		}
		if json.Unmarshal(content, &pkg) == nil && pkg.Version == version {
			return filepath.Join(p, "bin", "workerd"), nil
		}
	}
	return "", errors.New("npm installed no workerd for this platform")
}

// Address finds the server's address in a line of its control output.
func Address(line string) (host string, ok bool) {
	var event struct {
		Event  string `json:"event"`
		Socket string `json:"socket"`
		Port   int    `json:"port"`
	}
	if json.Unmarshal([]byte(line), &event) != nil || event.Event != "listen" || event.Socket != "http" {
		return "", false
	}
	return fmt.Sprintf("127.0.0.1:%d", event.Port), true
}
