package main

import (
	"encoding/json"
	"fmt"
	"runtime/debug"
)

// release is the version of this source; a build from a tag says it better.
const release = "0.1.0-dev"

// version is what the build knows of itself.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" || info.Main.Version == "(devel)" {
		return release
	}
	return info.Main.Version
}

// versionCmd prints the version.
type versionCmd struct{ format }

// Run prints it.
func (c *versionCmd) Run(p *program) error {
	if c.JSON {
		return json.NewEncoder(p.out).Encode(map[string]string{"version": version(), "go": goVersion()})
	}
	_, err := fmt.Fprintln(p.out, about())
	return err
}

// about is the version in a line.
func about() string { return fmt.Sprintf("ubl %s (%s)", version(), goVersion()) }

// revision is the commit that the program was built from, where the build knows.
func revision() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				return s.Value
			}
		}
	}
	return "unknown"
}

func goVersion() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		return info.GoVersion
	}
	return "unknown"
}
