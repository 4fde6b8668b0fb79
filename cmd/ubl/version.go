package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"runtime/debug"
	"strings"
)

// What a build is told of itself by -ldflags "-X main.stamped=0.2.0 -X main.commit=…", as
// `make release` and deploy/Dockerfile do; "" where nobody said.
var stamped, commit string

// release is the version of this source where nothing says it better.
const release = "0.2.0-dev"

// version is what the build knows of itself: what it was told, else what Go noted of a tag.
func version() string {
	if stamped != "" {
		return strings.TrimPrefix(stamped, "v")
	}
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" || info.Main.Version == "(devel)" || strings.HasPrefix(info.Main.Version, "v0.0.0-") {
		return release
	}
	return strings.TrimPrefix(info.Main.Version, "v")
}

// revision is the commit that the program was built from, where the build knows.
func revision() string {
	return cmp.Or(commit, setting("vcs.revision"), "unknown")
}

// setting is what Go noted of the build, "" for nothing.
func setting(key string) string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == key {
				return s.Value
			}
		}
	}
	return ""
}

// versionCmd prints the version.
type versionCmd struct{ format }

// Run prints it.
func (c *versionCmd) Run(p *program) error {
	if c.JSON {
		return json.NewEncoder(p.out).Encode(map[string]string{"version": version(), "commit": revision(), "go": goVersion()})
	}
	_, err := fmt.Fprintln(p.out, about())
	return err
}

// about is the version in a line: "ubl 0.2.0 (commit 8f35a10c2d11, go1.26.8)".
func about() string {
	return fmt.Sprintf("ubl %s (commit %.12s, %s)", version(), revision(), goVersion())
}

func goVersion() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		return info.GoVersion
	}
	return "unknown"
}
