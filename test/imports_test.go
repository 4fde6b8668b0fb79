// Package test holds what looks at the whole house: the direction of its
// imports here, and end-to-end tests, chaos and benchmarks below.
package test

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// room says what a package may import: other packages of the module,
// transitively, and modules of others, directly.
type room struct {
	inside  []string
	outside []string
}

// rooms is the picture of DESIGN.md as a table. A family is any other package
// under ubl/actors; a new one needs no line here.
var rooms = map[string]room{
	"ubl":                  {outside: []string{"github.com/gowebpki/jcs", "golang.org/x/text/unicode/norm"}},
	"ubl/schemas":          {},
	"ubl/durable":          {},
	"ubl/panics":           {},
	"ubl/secretfile":       {},
	"ubl/turns":            {inside: []string{"ubl"}},
	"ubl/offer":            {inside: []string{"ubl"}},
	"ubl/actors":           {inside: []string{"ubl", "ubl/offer", "ubl/panics", "ubl/turns"}, outside: []string{"github.com/asynkron/protoactor-go/actor"}},
	"ubl/actors/agreement": {inside: []string{"ubl", "ubl/actors", "ubl/offer", "ubl/panics", "ubl/turns"}},
	"ubl/actors/families": {inside: []string{"ubl", "ubl/actors", "ubl/actors/agreement", "ubl/actors/container", "ubl/actors/ledger", "ubl/actors/portal",
		"ubl/actors/room", "ubl/actors/tenant", "ubl/offer", "ubl/panics", "ubl/turns"}},
	"ubl/storage":           {inside: []string{"ubl", "ubl/durable"}, outside: []string{"go.etcd.io/bbolt", "github.com/klauspost/compress/s2"}},
	"ubl/cluster/wire":      {inside: []string{"ubl"}},
	"ubl/cluster/placement": {},
	"ubl/cluster/mesh":      {inside: []string{"ubl/panics"}, outside: []string{"github.com/hashicorp/memberlist", "github.com/hashicorp/raft"}},
	"ubl/cluster": {inside: []string{"ubl", "ubl/durable", "ubl/panics", "ubl/storage", "ubl/cluster/mesh", "ubl/cluster/placement", "ubl/cluster/wire"},
		outside: []string{"github.com/hashicorp/raft", "github.com/hashicorp/raft-wal", "github.com/hashicorp/go-hclog",
			"github.com/vmihailenco/msgpack/v5", "google.golang.org/grpc"}},
	"ubl/resolver": {inside: []string{"ubl"}, outside: []string{"github.com/miekg/dns"}},
	"ubl/search": {inside: []string{"ubl", "ubl/panics", "ubl/turns"},
		outside: []string{"github.com/blevesearch/bleve/v2", "github.com/blevesearch/zapx/v16", "go.etcd.io/bbolt/errors", "golang.org/x/text/unicode/norm"}},
	"ubl/gateway/check": {inside: []string{"ubl"}},
	"ubl/gateway":       {inside: []string{"ubl", "ubl/gateway/check", "ubl/secretfile"}},
	"ubl/office":        {inside: []string{"ubl", "ubl/gateway", "ubl/gateway/check", "ubl/secretfile"}},
	"ubl/portal": {inside: []string{"ubl", "ubl/panics"},
		outside: []string{"github.com/modelcontextprotocol/go-sdk", "github.com/santhosh-tekuri/jsonschema/v6", "golang.org/x/oauth2"}},
	"ubl/limits":             {inside: []string{"ubl"}, outside: []string{"golang.org/x/time/rate"}},
	"ubl/transport/envelope": {inside: []string{"ubl"}, outside: []string{"github.com/go-json-experiment/json"}},
	"ubl/transport/mcp": {inside: []string{"ubl", "ubl/panics", "ubl/transport/envelope"},
		outside: []string{"github.com/modelcontextprotocol/go-sdk", "github.com/go-json-experiment/json"}},
	"ubl/transport/auth": {inside: []string{"ubl", "ubl/durable", "ubl/panics", "ubl/transport/envelope"},
		outside: []string{"github.com/coreos/go-oidc/v3/oidc", "github.com/go-jose/go-jose/v4", "github.com/go-webauthn/webauthn", "golang.org/x/oauth2"}},
	"ubl/transport/sse": {inside: []string{"ubl", "ubl/panics", "ubl/transport/envelope"},
		outside: []string{"github.com/go-chi/chi/v5", "golang.org/x/sync/semaphore"}},
	"ubl/transport/api": {inside: []string{"ubl", "ubl/offer", "ubl/schemas", "ubl/transport/envelope"},
		outside: []string{"github.com/danielgtaylor/huma/v2", "github.com/go-chi/chi/v5", "github.com/go-json-experiment/json"}},
	"ubl/transport/web": {inside: []string{"ubl", "ubl/transport/envelope"}},
	"ubl/transport": {inside: []string{"ubl", "ubl/limits", "ubl/panics", "ubl/transport/envelope"},
		outside: []string{"github.com/go-chi/chi/v5", "github.com/prometheus/client_golang"}},
}

var family = room{inside: []string{"ubl", "ubl/actors", "ubl/actors/agreement", "ubl/offer", "ubl/panics", "ubl/turns"}}

type pkg struct {
	ImportPath string
	Imports    []string
	Deps       []string
}

// TestImportsGoOneWay holds every package of the product against the table.
func TestImportsGoOneWay(t *testing.T) {
	for _, p := range listPackages(t) {
		if strings.HasPrefix(p.ImportPath, "ubl/test") || p.ImportPath == "ubl/cmd/ubl" || strings.HasSuffix(p.ImportPath, "/storetest") {
			continue // may import everything; nothing imports them
		}
		allowed, ok := rooms[p.ImportPath]
		if !ok && strings.HasPrefix(p.ImportPath, "ubl/actors/") {
			allowed, ok = family, true
		}
		if !ok {
			t.Errorf("%s has no place in the house: add it to the picture in DESIGN.md and to this table", p.ImportPath)
			continue
		}
		for _, dep := range p.Deps {
			if isInside(dep) && !slices.Contains(allowed.inside, dep) {
				t.Errorf("%s imports %s, directly or not", p.ImportPath, dep)
			}
		}
		for _, dep := range p.Imports {
			if !isInside(dep) && isModule(dep) && !slices.ContainsFunc(allowed.outside, func(m string) bool { return strings.HasPrefix(dep, m) }) {
				t.Errorf("%s imports %s, which is another package's business", p.ImportPath, dep)
			}
		}
	}
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
