package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
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
	binary := filepath.Join(o.cache, "ubl")
	ctx, cancel := context.WithTimeout(ctx, buildTimeout)
	defer cancel()
	build := exec.CommandContext(ctx, "go", "build", "-o", binary, "./cmd/ubl")
	build.Dir = product
	if output, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("couldn't build ubl: %w: %.300s", err, output)
	}
	return binary, nil
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
