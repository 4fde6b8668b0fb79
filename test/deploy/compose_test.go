// Package deploy holds what is in deploy/ against the real program: it starts
// what compose.yaml says as processes behind the load balancer's own
// configuration, and has every other file checked by the tool that reads it.
package deploy

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"
)

// deployDir is where the files are.
const deployDir = "../../deploy"

// composeFile is the part of compose.yaml that the test carries out.
type composeFile struct {
	Services map[string]service `yaml:"services"`
}

type service struct {
	Command     []string          `yaml:"command"`
	Environment map[string]string `yaml:"environment"`
	Ports       []string          `yaml:"ports"`
	Healthcheck struct {
		Test []string `yaml:"test"`
	} `yaml:"healthcheck"`
}

// readCompose reads compose.yaml as it is with none of its variables set.
func readCompose(t *testing.T) *composeFile {
	t.Helper()
	text := withDefaults(readFile(t, "compose.yaml"))
	var c composeFile
	if err := yaml.Unmarshal([]byte(text), &c); err != nil {
		t.Fatalf("couldn't read compose.yaml: %v", err)
	}
	return &c
}

// withDefaults puts the default in the place of each ${VARIABLE:-default}.
func withDefaults(text string) string {
	return regexp.MustCompile(`\$\{\w+(?::?-([^}]*))?\}`).ReplaceAllString(text, "$1")
}

// image is what the Dockerfile adds to each container.
type image struct {
	entrypoint []string
	env        map[string]string
}

// readImage reads the two kinds of lines of the Dockerfile that matter for a
// process.
func readImage(t *testing.T) *image {
	t.Helper()
	i := &image{env: map[string]string{}}
	for line := range strings.Lines(readFile(t, "Dockerfile")) {
		word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch word {
		case "ENV":
			name, value, _ := strings.Cut(rest, "=")
			i.env[name] = value
		case "ENTRYPOINT":
			if err := json.Unmarshal([]byte(rest), &i.entrypoint); err != nil {
				t.Fatalf("couldn't read the Dockerfile's entrypoint: %v", err)
			}
		}
	}
	if len(i.entrypoint) == 0 || len(i.env) == 0 {
		t.Fatal("the Dockerfile has no entrypoint or no environment")
	}
	return i
}

// command is what a container of the service runs: arguments and environment,
// which beats the image's.
func (i *image) command(s service) (args, environ []string) {
	env := maps.Clone(i.env)
	maps.Copy(env, s.Environment)
	for name, value := range env {
		environ = append(environ, name+"="+value)
	}
	return append(append([]string{}, i.entrypoint...), s.Command...), environ
}

func readFile(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(deployDir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestOnlyTheLoadBalancerIsPublished: nobody outside reaches a node past it.
func TestOnlyTheLoadBalancerIsPublished(t *testing.T) {
	c := readCompose(t)
	if len(c.Services) != 4 {
		t.Fatalf("compose.yaml has %d services, want three nodes and a load balancer", len(c.Services))
	}
	for name, s := range c.Services {
		if published := len(s.Ports) > 0; published != (name == "lb") {
			t.Errorf("%s publishes %v", name, s.Ports)
		}
	}
}
