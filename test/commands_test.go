package test

import (
	"cmp"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"ubl"
	"ubl/actors/families"
)

// TestEveryCommandIsListed reads the root package's source: every exported type with a
// method Cost is a command, and must be in the list of a family. A family may list commands of
// its own package besides.
func TestEveryCommandIsListed(t *testing.T) {
	listed := map[string]bool{}
	for _, c := range families.All.Commands() {
		if of := reflect.TypeOf(c); of.PkgPath() == "ubl" {
			listed[of.Name()] = true
		}
	}
	declared := commandsInSource(t)
	for name := range declared {
		if !listed[name] {
			t.Errorf("no family lists %s", name)
		}
	}
	for name := range listed {
		if !declared[name] {
			t.Errorf("%s is listed, and the source has no such command", name)
		}
	}
}

// TestEveryActIsInTheTable: acts are named in atom.go, whose list has all of them, or by the family
// that brings their forms. The schemas, the words of the app's ledger and the names of tools are held against that.
func TestEveryActIsInTheTable(t *testing.T) {
	table, err := os.ReadFile("../atom.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, found := range regexp.MustCompile(`(?m)^\tDid\w+ +Did = "(.*)"$`).FindAllSubmatch(table, -1) {
		if did := ubl.Did(found[1]); !slices.Contains(ubl.Dids(), did) {
			t.Errorf("the list of acts lacks %s", did)
		}
	}
	brought := map[string]bool{}
	for _, a := range families.All.Acts() {
		brought[string(a.Did)] = true
	}
	elsewhere := regexp.MustCompile(`\bubl\.Did(\s*=\s*|\()"([^"]*)"`)
	err = fs.WalkDir(os.DirFS(".."), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == "test" || d.IsDir() && d.Name() == "node_modules" {
			return cmp.Or(err, fs.SkipDir)
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		source, err := os.ReadFile(filepath.Join("..", path))
		for _, found := range elsewhere.FindAllSubmatch(source, -1) {
			if !brought[string(found[2])] {
				t.Errorf("%s names the act %s: neither does atom.go, nor is it among the Acts of a family", path, found[2])
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func commandsInSource(t *testing.T) map[string]bool {
	t.Helper()
	paths, err := filepath.Glob("../*.go")
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]bool{}
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			if name := receiverOfCost(d); ast.IsExported(name) {
				out[name] = true
			}
		}
	}
	return out
}

// receiverOfCost is the type whose method Cost the declaration is, "" for any
// other.
func receiverOfCost(d ast.Decl) string {
	f, ok := d.(*ast.FuncDecl)
	if !ok || f.Name.Name != "Cost" || f.Recv == nil {
		return ""
	}
	of := f.Recv.List[0].Type
	if pointer, ok := of.(*ast.StarExpr); ok {
		of = pointer.X
	}
	name, _ := of.(*ast.Ident)
	if name == nil {
		return ""
	}
	return name.Name
}
