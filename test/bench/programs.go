package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"ubl/test/bench/internal/peer"
	"ubl/test/bench/internal/proc"
	"ubl/test/bench/internal/suite"
)

const (
	// product is where the module of UBL is, seen from here.
	product      = "../.."
	buildTimeout = 5 * time.Minute
)

// findUBL returns the binary to measure, built now unless one was given.
func findUBL(ctx context.Context, o options, logf func(string, ...any)) (string, error) {
	if o.ubl != "" {
		if _, err := os.Stat(o.ubl); err != nil {
			return "", fmt.Errorf("couldn't find ubl: %w", err)
		}
		return filepath.Abs(o.ubl)
	}
	logf("building ubl")
	return build(ctx, filepath.Join(o.cache, "ubl"))
}

func build(ctx context.Context, binary string, flags ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, buildTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, "go", slices.Concat([]string{"build", "-o", binary}, flags, []string{"./cmd/ubl"})...)
	cmd.Dir = product
	if output, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("couldn't build ubl: %w: %.300s", err, output)
	}
	return binary, nil
}

// withCounters builds the product with the trial family of test/counter, whose actors arm
// alarms: as in test/e2e, the list of families gets a line for it.
func withCounters(ctx context.Context, o options, logf func(string, ...any)) (string, error) {
	logf("building ubl with counters")
	list, err := filepath.Abs(filepath.Join(product, "actors/families/families.go"))
	if err != nil {
		return "", fmt.Errorf("couldn't find the list of families: %w", err)
	}
	source, err := os.ReadFile(list)
	if err != nil {
		return "", fmt.Errorf("couldn't read the list of families: %w", err)
	}
	wired := filepath.Join(o.cache, "families.wired") // no .go: it isn't formatted
	overlay := filepath.Join(o.cache, "overlay.json")
	replace, err := json.Marshal(map[string]any{"Replace": map[string]string{list: wired}})
	if err == nil {
		err = errors.Join(os.WriteFile(wired, wire(source), 0o600), os.WriteFile(overlay, replace, 0o600))
	}
	if err != nil {
		return "", fmt.Errorf("couldn't wire the counters: %w", err)
	}
	return build(ctx, filepath.Join(o.cache, "ubl-counters"), "-overlay", overlay)
}

// wire adds the family to the list, and its package to what that imports.
func wire(source []byte) []byte {
	const end = "\n}\n\n// Places are"
	source = bytes.Replace(source, []byte(end), []byte("\n\tfunc(w World) actors.Family { return counter.Family(w.Store) },"+end), 1)
	return bytes.Replace(source, []byte("import ("), []byte("import (\n\t\"ubl/test/counter\""), 1)
}

// findEtcd returns etcd's server.
func findEtcd(o options) (string, error) {
	path, err := exec.LookPath(o.etcd)
	if err != nil {
		return "", fmt.Errorf("couldn't find etcd (Debian: apt-get install etcd-server): %w", err)
	}
	return filepath.Abs(path)
}

// versions tells what was measured.
func versions(ctx context.Context, s *suite.Suite) map[string]string {
	v := map[string]string{"nats-server": peer.NATSVersion}
	if s.Workerd != nil {
		v["workerd"] = s.Workerd.Version
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, module := range info.Deps {
			switch module.Path {
			case "go.etcd.io/bbolt", "github.com/gowebpki/jcs":
				v[filepath.Base(module.Path)] = module.Version
			case "github.com/modelcontextprotocol/go-sdk":
				v["MCP go-sdk"] = module.Version
			}
		}
	}
	if s.UBL != "" {
		if output, err := proc.Output(ctx, nil, s.UBL, "version"); err == nil {
			v["ubl"] = strings.TrimPrefix(strings.TrimSpace(string(output)), "ubl ")
		}
	}
	if s.Etcd != "" {
		if output, err := proc.Output(ctx, nil, s.Etcd, "--version"); err == nil {
			first, _, _ := strings.Cut(string(output), "\n")
			v["etcd"] = strings.TrimPrefix(first, "etcd Version: ")
		}
	}
	return v
}
