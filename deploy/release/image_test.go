package main

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"io"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	cdx "github.com/CycloneDX/cyclonedx-go"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

const dockerfile = "../Dockerfile"

// programs are a small program for two kinds of machines, in the place of ubl.
func programs(t *testing.T) []string {
	t.Helper()
	dir := t.TempDir()
	source := filepath.Join(dir, "main.go")
	if err := os.WriteFile(source, []byte("package main\n\nfunc main() {}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var built []string
	for _, arch := range []string{"amd64", "arm64"} {
		to := filepath.Join(dir, "ubl-"+arch)
		build := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-ldflags=-s -w", "-o", to, source)
		build.Env = append(os.Environ(), "GOOS=linux", "GOARCH="+arch, "CGO_ENABLED=0", "GOFLAGS=-mod=mod")
		if out, err := build.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		built = append(built, to)
	}
	return built
}

var made = label{"0.2.0", time.Unix(1_764_000_000, 0).UTC()}

// TestImageIsTheSameAgain: what is made twice of the same programs, named in another order, is
// the same byte for byte.
func TestImageIsTheSameAgain(t *testing.T) {
	built, dir := programs(t), t.TempDir()
	var archives [2][]byte
	for i, list := range [][]string{{built[0], built[1]}, {built[1], built[0]}} {
		to := filepath.Join(dir, "image.tar")
		if err := makeImage(dockerfile, list, made, to, "", io.Discard); err != nil {
			t.Fatal(err)
		}
		var err error
		if archives[i], err = os.ReadFile(to); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(archives[0], archives[1]) {
		t.Error("two archives of one image differ")
	}
}

// TestImageIsTheDockerfiles: what a registry hands out is what the last stage says: the program
// and its directory, who it runs as, and how.
func TestImageIsTheDockerfiles(t *testing.T) {
	server := httptest.NewServer(registry.New())
	defer server.Close()
	at := strings.TrimPrefix(server.URL, "http://") + "/ubl:0.2.0"
	built := programs(t)
	if err := makeImage(dockerfile, built, made, filepath.Join(t.TempDir(), "image.tar"), at, io.Discard); err != nil {
		t.Fatal(err)
	}
	ref, err := name.ParseReference(at)
	if err != nil {
		t.Fatal(err)
	}
	for i, arch := range []string{"amd64", "arm64"} {
		image, err := remote.Image(ref, remote.WithPlatform(v1.Platform{OS: "linux", Architecture: arch}))
		if err != nil {
			t.Fatal(err)
		}
		config, err := image.ConfigFile()
		if err != nil {
			t.Fatal(err)
		}
		c := config.Config
		said, _ := json.Marshal(map[string]any{"user": c.User, "env": c.Env, "cmd": c.Cmd, "entrypoint": c.Entrypoint, "stop": c.StopSignal, "volumes": c.Volumes, "labels": c.Labels, "health": c.Healthcheck.Test})
		const want = `{"cmd":["serve"],"entrypoint":["/ubl"],"env":["UBL_DATA=/data","UBL_LISTEN=0.0.0.0:8080"],"health":["CMD","/ubl","health","--live"],"labels":{"io.modelcontextprotocol.server.name":"io.github.example/ubl","org.opencontainers.image.title":"UBL","org.opencontainers.image.version":"0.2.0"},"stop":"SIGTERM","user":"65532:65532","volumes":{"/data":{}}}`
		if string(said) != want || config.Architecture != arch || !config.Created.Time.Equal(made.created) {
			t.Errorf("the image for %s says\n%s\n%s %s; want\n%s", arch, said, config.Architecture, config.Created, want)
		}
		program, err := os.ReadFile(built[i])
		if err != nil {
			t.Fatal(err)
		}
		files := filesOf(t, image)
		if f := files["ubl"]; !bytes.Equal(f.content, program) || f.Mode != 0o755 || f.Uid != 0 {
			t.Errorf("the program for %s is %+v", arch, f.Header)
		}
		if d := files["data/"]; d.Mode != 0o700 || d.Uid != 65532 || d.Gid != 65532 || len(files) != 2 {
			t.Errorf("the data directory for %s is %+v, of %d files", arch, d.Header, len(files))
		}
	}
}

type file struct {
	tar.Header
	content []byte
}

func filesOf(t *testing.T, image v1.Image) map[string]file {
	t.Helper()
	layers, err := image.Layers()
	if err != nil || len(layers) != 1 {
		t.Fatalf("%d layers, %v", len(layers), err)
	}
	r, err := layers[0].Uncompressed()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	files := map[string]file{}
	for archive := tar.NewReader(r); ; {
		head, err := archive.Next()
		if err == io.EOF {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(archive)
		if err != nil {
			t.Fatal(err)
		}
		files[head.Name] = file{*head, content}
	}
}

// TestDockerfileThatCannotBeFollowed: an instruction that only Docker could carry out is told.
func TestDockerfileThatCannotBeFollowed(t *testing.T) {
	for text, says := range map[string]string{
		"FROM alpine\nENTRYPOINT [\"/ubl\"]\n":                        "only one from scratch",
		"FROM scratch\nRUN true\nENTRYPOINT [\"/ubl\"]\n":             "RUN",
		"FROM scratch\nCOPY ubl /ubl\n":                               "no ENTRYPOINT",
		"FROM scratch\nCOPY data /data\nENTRYPOINT [\"/ubl\"]\n":      "names no owner",
		"FROM scratch\nWORKDIR /\nCOPY a /ubl\nENTRYPOINT [\"/ubl\"]": "WORKDIR",
	} {
		at := filepath.Join(t.TempDir(), "Dockerfile")
		if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := lastStage(at); err == nil || !strings.Contains(strings.ToUpper(err.Error()), strings.ToUpper(says)) {
			t.Errorf("%q: %v, want %q", text, err, says)
		}
	}
}

// TestBillOfMaterials lists what a program is made of, with the standard library, the same each
// time.
func TestBillOfMaterials(t *testing.T) {
	program, err := os.Executable() // the test itself, which has modules
	if err != nil {
		t.Fatal(err)
	}
	var bills [2][]byte
	for i := range bills {
		to := filepath.Join(t.TempDir(), "bill.json")
		if err := run([]string{"sbom", "--version", "0.2.0", "--out", to, program}, io.Discard); err != nil {
			t.Fatal(err)
		}
		if bills[i], err = os.ReadFile(to); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(bills[0], bills[1]) {
		t.Error("two bills of one program differ")
	}
	var bill cdx.BOM
	if err := cdx.NewBOMDecoder(bytes.NewReader(bills[0]), cdx.BOMFileFormatJSON).Decode(&bill); err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for _, c := range *bill.Components {
		found[c.Name] = strings.HasPrefix(c.PackageURL, "pkg:golang/"+c.Name+"@") && c.Version != ""
	}
	for _, want := range []string{"stdlib", "github.com/google/go-containerregistry", "github.com/moby/buildkit"} {
		if !found[want] {
			t.Errorf("%s is not among the components, or without a version", want)
		}
	}
	if bill.Metadata.Component.Version != "0.2.0" || len(*bill.Metadata.Component.Hashes) != 1 {
		t.Errorf("the bill is of %+v", bill.Metadata.Component)
	}
}

// TestUsage: a call that makes no sense says how to call, and writes nothing.
func TestUsage(t *testing.T) {
	for _, args := range [][]string{{}, {"sbom"}, {"image", "--version", "1"}, {"publish", "x"}, {"sbom", "--version", "1", "--out", "x", "a", "b"}} {
		if err := run(args, io.Discard); err == nil || !strings.Contains(err.Error(), "usage: release") {
			t.Errorf("%v: %v", args, err)
		}
	}
}
