// Command atonce names the tests of packages that do something at once: those that start a
// goroutine, run beside others or in a bubble, wait for what others bring about, or call what does.
//
//	go run ./test/atonce names ./storage ./schemas       # a pattern for -run and -skip of go test
//	go run ./test/atonce packages ./storage ./schemas    # which of them have such tests
//
// -but='TestA|TestB' before the packages leaves these out: histories that are so long that the
// detector takes minutes, while shorter tests do the same at once.
//
// `make test` runs these with the race detector and the others of the same packages without
// it, in a fifth of the time. It reads the source, and follows calls within a package by
// name: it may name too many, never one too few for that.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "atonce:", err)
		os.Exit(1)
	}
}

func run(args []string, out io.Writer) error {
	if len(args) < 2 || args[0] != "names" && args[0] != "packages" {
		return errors.New("say names or packages, and of which")
	}
	what, args := args[0], args[1:]
	left, but := strings.CutPrefix(args[0], "-but=")
	if but {
		args = args[1:]
	}
	found, err := load(args)
	if err != nil {
		return err
	}
	names := map[string]bool{}
	for _, p := range found {
		for name := range p.atOnce() {
			names[name] = true
		}
	}
	for _, name := range strings.Split(left, "|") {
		if but && !names[name] {
			return fmt.Errorf("%s is no test that does something at once: don't leave it out", name)
		}
		delete(names, name)
	}
	if what == "names" {
		_, err = fmt.Fprintf(out, "^(%s)$\n", strings.Join(slices.Sorted(maps.Keys(names)), "|"))
		return err
	}
	// A name that two packages have is left out of both, so both have to be tried with it.
	for _, p := range found {
		if slices.ContainsFunc(p.tests(), func(name string) bool { return names[name] }) {
			fmt.Fprintln(out, p.path)
		}
	}
	return nil
}

// tested is a package's functions for tests, by name: the methods of one name, which have a dot
// before it here, count as one.
type tested struct {
	path  string
	funcs map[string][]*ast.FuncDecl
}

// load reads the tests that go would run here.
func load(patterns []string) ([]tested, error) {
	cmd := exec.Command("go", append([]string{"list", "-json=ImportPath,Dir,TestGoFiles,XTestGoFiles"}, patterns...)...)
	cmd.Stderr = os.Stderr
	list, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	var all []tested
	for dec := json.NewDecoder(bytes.NewReader(list)); ; {
		var p struct {
			ImportPath, Dir           string
			TestGoFiles, XTestGoFiles []string
		}
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, err
		}
		var files []*ast.File
		for _, name := range append(p.TestGoFiles, p.XTestGoFiles...) {
			file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
			if err != nil {
				return nil, err
			}
			files = append(files, file)
		}
		all = append(all, newTested(p.ImportPath, files...))
	}
}

func newTested(path string, files ...*ast.File) tested {
	p := tested{path: path, funcs: map[string][]*ast.FuncDecl{}}
	for _, file := range files {
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Body != nil {
				name := f.Name.Name
				if f.Recv != nil {
					name = "." + name
				}
				p.funcs[name] = append(p.funcs[name], f)
			}
		}
	}
	return p
}

// tests are the names that go test runs by default.
func (p tested) tests() []string {
	var names []string
	for name := range p.funcs {
		if name != "TestMain" && (strings.HasPrefix(name, "Test") || strings.HasPrefix(name, "Fuzz") || strings.HasPrefix(name, "Example")) {
			names = append(names, name)
		}
	}
	return names
}

// atOnce are the tests that do something at once.
func (p tested) atOnce() map[string]bool {
	does := map[string]bool{}
	for more := true; more; { // until no caller is new
		more = false
		for name, funcs := range p.funcs {
			if !does[name] && slices.ContainsFunc(funcs, func(f *ast.FuncDecl) bool { return starts(f, p.funcs, does) }) {
				does[name], more = true, true
			}
		}
	}
	names := map[string]bool{}
	for _, name := range p.tests() {
		if does[name] {
			names[name] = true
		}
	}
	return names
}

// beside are packages that a test has where something goes on beside it.
var beside = map[string]bool{"synctest": true, "poll": true}

// starts tells whether a function does something at once, or names one that does. One that only
// has a call-back called by another goroutine, as a store's fault does, lets its caller wait.
func starts(f *ast.FuncDecl, declared map[string][]*ast.FuncDecl, does map[string]bool) (found bool) {
	var see func(ast.Node) bool
	see = func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			back, named := n.Call.Fun.(*ast.Ident)
			found = found || !named || declared[back.Name] != nil
		case *ast.SelectorExpr: // a method, or another package's
			of, _ := n.X.(*ast.Ident)
			suite := of != nil && of.Name == "storetest" && n.Sel.Name == "Run"
			found = found || suite || n.Sel.Name == "Go" || n.Sel.Name == "Parallel" || does["."+n.Sel.Name]
			if !found {
				ast.Inspect(n.X, see)
			}
			return false
		case *ast.Ident:
			found = found || beside[n.Name] || does[n.Name]
		}
		return !found
	}
	ast.Inspect(f.Body, see)
	return found
}
