package test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"ubl/actors/families"
)

// TestEveryCommandIsListed reads the root package's source: every exported type with a
// method Cost is a command, and must be in the list of a family.
func TestEveryCommandIsListed(t *testing.T) {
	listed := map[string]bool{}
	for _, c := range families.All.Commands() {
		name := reflect.TypeOf(c).Name()
		if listed[name] {
			t.Errorf("%s is listed twice", name)
		}
		listed[name] = true
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
