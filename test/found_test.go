package test

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestManifestsAgree: what registries and clients are told of UBL has one version, that of the
// source, and the forms that they ask for.
func TestManifestsAgree(t *testing.T) {
	source, err := os.ReadFile("../cmd/ubl/version.go")
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`(?m)^const release = "([0-9.]+)(-dev)?"$`).FindSubmatch(source)
	if found == nil {
		t.Fatal("the source names no version")
	}
	version := string(found[1])

	var server struct {
		Name, Description, Version string
		Packages                   []struct{ Identifier string }
		Remotes                    []struct{ Type, URL string }
	}
	read(t, "../server.json", &server)
	if server.Version != version || len(server.Description) > 100 || !regexp.MustCompile(`^[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+$`).MatchString(server.Name) {
		t.Errorf("server.json is of %q %s: %s", server.Name, server.Version, server.Description)
	}
	image, err := os.ReadFile("../deploy/Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(image), "LABEL io.modelcontextprotocol.server.name="+server.Name+"\n") {
		t.Errorf("the image doesn't say that it is %s", server.Name)
	}
	if !strings.HasSuffix(server.Packages[0].Identifier, ":"+version) || server.Remotes[0].Type != "streamable-http" {
		t.Errorf("server.json leads to %v and %v", server.Packages, server.Remotes)
	}

	var plugin, market struct {
		Name, Version string
		Plugins       []struct{ Name, Source string }
	}
	read(t, "../.claude-plugin/marketplace.json", &market)
	read(t, "../"+market.Plugins[0].Source+"/.claude-plugin/plugin.json", &plugin)
	if plugin.Version != version || plugin.Name != market.Plugins[0].Name {
		t.Errorf("the plugin is %s %s, and the marketplace has %v", plugin.Name, plugin.Version, market.Plugins)
	}
}

// TestBuildsAreStamped: what a build for others is told of itself reaches the program. The linker
// says nothing of a variable that isn't there.
func TestBuildsAreStamped(t *testing.T) {
	source, err := os.ReadFile("../cmd/ubl/version.go")
	if err != nil {
		t.Fatal(err)
	}
	var declared []string
	for _, line := range regexp.MustCompile(`(?m)^var (.+) string$`).FindAllSubmatch(source, -1) {
		declared = append(declared, strings.Split(string(line[1]), ", ")...)
	}
	for _, file := range []string{"../deploy/Dockerfile", "../deploy/release/goreleaser.yaml"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var told []string
		for _, x := range regexp.MustCompile(`-X main\.(\w+)=`).FindAllSubmatch(text, -1) {
			told = append(told, string(x[1]))
		}
		if !slices.Equal(told, declared) {
			t.Errorf("%s stamps %v, and the program has %v", file, told, declared)
		}
	}
}

func read(t *testing.T, file string, into any) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, into); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
}
