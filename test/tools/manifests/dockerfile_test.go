// Package manifests has the files of deploy/ checked by the official parsers of
// those who will read them: Docker's, Compose's, Kubernetes' and Prometheus'.
package manifests

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/moby/buildkit/client/llb"
	"github.com/moby/buildkit/client/llb/sourceresolver"
	"github.com/moby/buildkit/frontend/dockerfile/dockerfile2llb"
	"github.com/moby/buildkit/frontend/dockerui"
	"github.com/opencontainers/go-digest"
	ocispecs "github.com/opencontainers/image-spec/specs-go/v1"
)

// deployDir is where the files are.
const deployDir = "../../../deploy"

func readFile(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(deployDir, name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// bare answers for the registry: a base image of which nothing is known but
// its platform. The build itself needs the real one.
type bare struct{}

func (bare) ResolveImageConfig(_ context.Context, ref string, _ sourceresolver.Opt) (string, digest.Digest, []byte, error) {
	config, err := json.Marshal(ocispecs.Image{Platform: linux, Config: ocispecs.ImageConfig{Env: []string{"PATH=/usr/local/go/bin:/usr/bin:/bin"}}})
	return ref, digest.FromBytes(config), config, err
}

var linux = ocispecs.Platform{OS: "linux", Architecture: "amd64"}

func dockerfile(t *testing.T) ([]byte, dockerfile2llb.ConvertOpt) {
	t.Helper()
	text := readFile(t, "Dockerfile")
	source := llb.NewSourceMap(nil, "Dockerfile", "Dockerfile", text)
	source.Definition = &llb.Definition{}
	return text, dockerfile2llb.ConvertOpt{
		Config:       dockerui.Config{TargetPlatforms: []ocispecs.Platform{linux}, BuildPlatforms: []ocispecs.Platform{linux}},
		SourceMap:    source,
		MetaResolver: bare{}, TargetPlatform: &linux,
	}
}

// TestDockerfileHasNoWarnings runs the linter that "docker build --check" runs.
func TestDockerfileHasNoWarnings(t *testing.T) {
	text, opt := dockerfile(t)
	results, err := dockerfile2llb.DockerfileLint(t.Context(), text, opt)
	if err != nil {
		t.Fatal(err)
	}
	if results.Error != nil {
		t.Errorf("the Dockerfile doesn't build: %s", results.Error.Message)
	}
	for _, w := range results.Warnings {
		t.Errorf("%s: %s (%s)", w.RuleName, w.Detail, w.URL)
	}
}

// TestImageIsLocked has the builder make its plan, and looks at the image.
func TestImageIsLocked(t *testing.T) {
	text, opt := dockerfile(t)
	result, err := dockerfile2llb.Dockerfile2LLB(t.Context(), text, opt)
	if err != nil {
		t.Fatal(err)
	}
	c := result.Image.Config
	if c.User != "65532:65532" {
		t.Errorf("the image runs as %q", c.User)
	}
	if !slices.Equal(c.Entrypoint, []string{"/ubl"}) || !slices.Equal(c.Cmd, []string{"serve"}) {
		t.Errorf("the image runs %q %q", c.Entrypoint, c.Cmd)
	}
	if c.Healthcheck == nil || !slices.Equal(c.Healthcheck.Test, []string{"CMD", "/ubl", "health", "--live"}) {
		t.Errorf("the image checks its health with %v, which needs a shell or isn't ours", c.Healthcheck)
	}
	if _, ok := c.Volumes["/data"]; !ok || len(c.Volumes) != 1 {
		t.Errorf("the image's volumes are %v", c.Volumes)
	}
	for _, port := range []string{"8080/tcp", "7946/tcp", "7946/udp"} {
		if _, ok := c.ExposedPorts[port]; !ok {
			t.Errorf("the image doesn't expose %s", port)
		}
	}
}
