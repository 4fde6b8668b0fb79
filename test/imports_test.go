// Package test holds what looks at the whole house: the direction of its
// imports here, and end-to-end tests, chaos and benchmarks below.
package test

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// outside are the modules of others that a package may import, directly. Packages that
// aren't named import the standard library alone, as every family does.
var outside = map[string][]string{
	"ubl":              {"github.com/gowebpki/jcs", "golang.org/x/text/unicode/norm"},
	"ubl/actors":       {"github.com/asynkron/protoactor-go/actor"},
	"ubl/storage":      {"go.etcd.io/bbolt", "github.com/klauspost/compress/s2"},
	"ubl/cluster/mesh": {"github.com/hashicorp/memberlist", "github.com/hashicorp/raft"},
	"ubl/cluster/wire": {"github.com/vmihailenco/msgpack/v5"},
	"ubl/cluster": {"github.com/hashicorp/raft", "github.com/hashicorp/raft-wal", "github.com/hashicorp/go-hclog",
		"google.golang.org/grpc"},
	"ubl/bridge/irc": {"github.com/ergochat/irc-go/ircevent", "github.com/ergochat/irc-go/ircfmt", "github.com/ergochat/irc-go/ircmsg", "golang.org/x/sync/errgroup",
		"golang.org/x/time/rate"},
	"ubl/blobs/bucket": {"github.com/minio/minio-go/v7"},
	"ubl/recur":        {"github.com/teambition/rrule-go"},
	"ubl/migrate":      {"github.com/kyokomi/emoji/v2"},
	"ubl/mail":         {"github.com/wneessen/go-mail"},
	"ubl/push":         {"github.com/SherClockHolmes/webpush-go"},
	"ubl/webhook":      {"github.com/standard-webhooks/standard-webhooks/libraries/go"},
	"ubl/media": {"github.com/gabriel-vasile/mimetype", "golang.org/x/image/draw", "golang.org/x/image/webp", "github.com/maypok86/otter/v2",
		"golang.org/x/sync/singleflight"},
	"ubl/preview":                  {"github.com/maypok86/otter/v2", "golang.org/x/net/html", "golang.org/x/sync/singleflight", "golang.org/x/time/rate"},
	"ubl/resolver":                 {"github.com/miekg/dns"},
	"ubl/search":                   {"github.com/blevesearch/bleve/v2", "github.com/blevesearch/bleve_index_api", "github.com/blevesearch/snowballstem", "github.com/blevesearch/zapx/v16", "go.etcd.io/bbolt/errors", "golang.org/x/text/unicode/norm"},
	"ubl/portal":                   {"github.com/modelcontextprotocol/go-sdk", "github.com/santhosh-tekuri/jsonschema/v6", "golang.org/x/oauth2"},
	"ubl/limits":                   {"golang.org/x/time/rate"},
	"ubl/transport":                {"github.com/go-chi/chi/v5", "github.com/prometheus/client_golang"},
	"ubl/transport/api":            {"github.com/danielgtaylor/huma/v2", "github.com/go-chi/chi/v5", "github.com/go-json-experiment/json"},
	"ubl/transport/auth":           {"github.com/coreos/go-oidc/v3/oidc", "github.com/go-jose/go-jose/v4", "github.com/go-webauthn/webauthn", "golang.org/x/oauth2"},
	"ubl/transport/envelope":       {"github.com/go-json-experiment/json"},
	"ubl/transport/mcp":            {"github.com/modelcontextprotocol/go-sdk", "github.com/go-json-experiment/json"},
	"ubl/transport/mcp/script":     {"github.com/dop251/goja", "github.com/go-json-experiment/json"},
	"ubl/transport/public":         {"github.com/maypok86/otter/v2", "golang.org/x/sync/semaphore", "golang.org/x/sync/singleflight"},
	"ubl/transport/public/commons": {"github.com/go-json-experiment/json", "github.com/maypok86/otter/v2", "github.com/modelcontextprotocol/go-sdk"},
	"ubl/transport/sse":            {"github.com/go-chi/chi/v5", "golang.org/x/sync/semaphore"},
	"ubl/transport/oauth":          {"github.com/go-chi/chi/v5"},
	"ubl/transport/unsubscribe":    {"github.com/go-chi/chi/v5"},
	"ubl/portal/stdio":             {"golang.org/x/sys/unix"},
	"ubl/knowledge":                {"github.com/santhosh-tekuri/jsonschema/v6", "go.yaml.in/yaml/v4", "golang.org/x/text/unicode/norm"},
	"ubl/portal/openapi":           {"github.com/getkin/kin-openapi/openapi3", "go.yaml.in/yaml/v4"},
}

type pkg struct {
	ImportPath string
	Imports    []string
	Deps       []string // transitively
}

// arrow is an import that the picture of DESIGN.md allows, between two of its places.
type arrow struct{ from, to string }

// TestImportsFollowThePicture: each import within the product has its arrow in the picture,
// each arrow an import, and no arrows lead round in a circle.
func TestImportsFollowThePicture(t *testing.T) {
	places, arrows := picture(t)
	used := map[arrow]bool{}
	for _, p := range listPackages(t) {
		if strings.HasPrefix(p.ImportPath, "ubl/test") || p.ImportPath == "ubl/cmd/ubl" || strings.HasSuffix(p.ImportPath, "/storetest") {
			continue // may import everything; nothing imports them
		}
		for _, dep := range p.Imports {
			switch a := (arrow{placeOf(places, p.ImportPath), placeOf(places, dep)}); {
			case dep == "ubl" || !isInside(dep) && !isModule(dep):
			case !isInside(dep):
				if !slices.ContainsFunc(outside[p.ImportPath], func(m string) bool { return strings.HasPrefix(dep, m) }) {
					t.Errorf("%s imports %s, which is another package's business", p.ImportPath, dep)
				}
			case !arrows[a]:
				t.Errorf("%s imports %s: the picture in DESIGN.md has no arrow from %q to %q", p.ImportPath, dep, a.from, a.to)
			default:
				used[a] = true
			}
		}
	}
	for a := range arrows {
		if !used[a] {
			t.Errorf("the picture in DESIGN.md has an arrow from %q to %q, which nobody follows", a.from, a.to)
		}
	}
	if circle := circleOf(arrows); circle != nil {
		t.Errorf("the picture in DESIGN.md leads round in a circle: %v", circle)
	}
}

// picture reads the Mermaid flowchart of DESIGN.md: its places, and the arrows between them.
// A line is a place, name["path"] or the path alone; or arrows, from & from --> to & to.
func picture(t *testing.T) (places map[string]string, arrows map[arrow]bool) {
	t.Helper()
	design, err := os.ReadFile("../DESIGN.md")
	if err != nil {
		t.Fatal(err)
	}
	_, chart, found := strings.Cut(string(design), "```mermaid\nflowchart")
	chart, _, closed := strings.Cut(chart, "```")
	if !found || !closed {
		t.Fatal("DESIGN.md has no flowchart")
	}
	places, arrows = map[string]string{}, map[arrow]bool{}
	names := map[string]string{}
	for line := range strings.Lines(chart) {
		line = strings.TrimSpace(line)
		from, to, isArrow := strings.Cut(line, " --> ")
		name, path, labelled := strings.Cut(strings.TrimSuffix(line, `"]`), `["`)
		switch {
		case isArrow:
			for _, f := range strings.Split(from, " & ") {
				for _, to := range strings.Split(to, " & ") {
					if names[f] == "" || names[to] == "" {
						t.Errorf("DESIGN.md's picture has no place for %q --> %q", f, to)
					}
					arrows[arrow{names[f], names[to]}] = true
				}
			}
		case strings.HasPrefix(line, "subgraph "), line == "", line == "end", line == "LR", line == "TD":
		case labelled:
			names[name], places["ubl/"+path] = path, path
		default:
			names[line], places["ubl/"+line] = line, line
		}
	}
	if len(arrows) == 0 {
		t.Fatal("DESIGN.md's picture has no arrows")
	}
	return places, arrows
}

// anyFamily is the place of any package below actors that has none of its own, so that a new
// family changes no picture.
const anyFamily = "actors/*"

func placeOf(places map[string]string, pkg string) string {
	if place, ok := places[pkg]; ok {
		return place
	}
	if strings.HasPrefix(pkg, "ubl/actors/") {
		return anyFamily
	}
	return strings.TrimPrefix(pkg, "ubl/")
}

// circleOf finds places whose arrows lead back to where they began; nil where there are none.
func circleOf(arrows map[arrow]bool) []string {
	done := map[string]bool{}
	var visit func(at string, way []string) []string
	visit = func(at string, way []string) []string {
		if i := slices.Index(way, at); i >= 0 {
			return append(way[i:], at)
		}
		if done[at] {
			return nil
		}
		for a := range arrows {
			if a.from == at {
				if circle := visit(a.to, append(slices.Clone(way), at)); circle != nil {
					return circle
				}
			}
		}
		done[at] = true
		return nil
	}
	for a := range arrows {
		if circle := visit(a.from, nil); circle != nil {
			return circle
		}
	}
	return nil
}

// TestNobodyImportsTests: the product never depends on what tests it.
func TestNobodyImportsTests(t *testing.T) {
	for _, p := range listPackages(t) {
		if strings.HasPrefix(p.ImportPath, "ubl/test") {
			continue
		}
		for _, dep := range p.Deps {
			if strings.HasPrefix(dep, "ubl/test") || dep == "ubl/storage/storetest" && p.ImportPath != dep {
				t.Errorf("%s depends on %s", p.ImportPath, dep)
			}
		}
	}
}

func isInside(path string) bool { return path == "ubl" || strings.HasPrefix(path, "ubl/") }

// isModule reports whether the path is not of the standard library.
func isModule(path string) bool {
	first, _, _ := strings.Cut(path, "/")
	return strings.Contains(first, ".")
}

func listPackages(t *testing.T) []pkg {
	t.Helper()
	cmd := exec.Command("go", "list", "-json=ImportPath,Imports,Deps", "ubl/...")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("couldn't list packages: %v", err)
	}
	var list []pkg
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p pkg
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return list
		} else if err != nil {
			t.Fatal(err)
		}
		list = append(list, p)
	}
}

// TestTheRootStaysSmall: the package ubl is what two or more families share, and nothing else.
func TestTheRootStaysSmall(t *testing.T) {
	const most = 26
	files, err := filepath.Glob("../*.go")
	if err != nil {
		t.Fatal(err)
	}
	files = slices.DeleteFunc(files, func(name string) bool { return strings.HasSuffix(name, "_test.go") })
	if len(files) == 0 || len(files) > most {
		t.Errorf("the package ubl has %d files, %d are the most: %v", len(files), most, files)
	}
}
