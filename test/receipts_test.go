package test

import (
	"encoding/json"
	"errors"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// appending are the functions by which a family comes to the append of a turn, and what
// each asks for. Whatever takes neither a Plan nor an Act goes without a receipt, and
// stands in DESIGN.md's list.
var appending = map[string]string{
	"Entity.Change":     "a command of the table, whose rule makes a Plan",
	"Entity.ChangeThen": "as Change",
	"Entity.Enact":      "a Plan that is Allowed",
	"Entity.Pass":       "a Plan that is Allowed",
	"Entity.Look":       "an Act",
	"Entity.Refuse":     "an Act that is denied",

	"Entity.PassUnreceipted": "an Unreceipted",
}

// TestAppendsHaveActs: what a family can call gives it an append for an act alone, except
// for the types whose name says that there is no receipt, and those are used where the
// list says.
func TestAppendsHaveActs(t *testing.T) {
	p := loadActors(t)
	reach := p.reaching("Turn.append")
	for name := range reach {
		if exported(name) && appending[name] == "" {
			t.Errorf("%s gives a family an append: say in appending what it asks for", name)
		}
	}
	for name := range appending {
		if !reach[name] {
			t.Errorf("%s gives no append any more: take it off the list", name)
		}
	}
	for name, fn := range p.funcs {
		if exported(name) && name != "Kind.Found" && strings.Contains(types.TypeString(fn.Signature(), nil), "ubl/actors.Append") {
			t.Errorf("%s takes or gives an append", name)
		}
	}
	want := map[string]bool{"Entity.adopt": true, "Entity.setUnreceipted": true, "Entity.took": true}
	if got := p.using("bookkeeping"); !maps.Equal(got, want) {
		t.Errorf("bookkeeping is made by %v, want %v: DESIGN.md lists it", got, want)
	}
	if got := naming(t, "actors.Unreceipted["); !slices.Equal(got, []string{"portal/log.go", "room/reading.go"}) {
		t.Errorf("an Unreceipted is made in %v: DESIGN.md lists who makes one", got)
	}
}

// following are the families' files with acts that follow from one that was allowed.
var following = []string{
	"container/carry.go",   // the end of a transfer that has left
	"container/members.go", // the entry of who touches the general workspace
	"container/receive.go", // an arrival, or its refusal
	"container/redact.go",  // what a deletion leaves behind
	"portal/calls.go",      // the effect of a call
	"portal/servers.go",    // grants of who was shut out
	"portal/sweep.go",      // the effect of a call that nobody ends
	"portal/tasks.go",      // the effect of a call that its caller cancels
	"room/decide.go",       // the entry of who has entered the tenant
	"tenant/domainsown.go", // what tenant 0 has decided of a domain
	"tenant/enter.go",      // what a tenant and its members begin with, and operators by the node's word
	"tenant/leaving.go",    // sign-ins of who was removed
}

// inOneCommit are the families' files with plans that bring a second act along (Also, First), which
// the seat isn't asked about: it follows from the plan's own, or tells of what that answers.
var inOneCommit = []string{
	"person/decide.go",   // what is pushed, or sent, once it is asked for
	"person/notify.go",   // the next push, and the removal of a device that is no more
	"room/decide.go",     // the line that says who has joined
	"room/found.go",      // the greeting of a new room
	"room/send.go",       // what the platform announces
	"tenant/agents.go",   // the refusal of a credential that was used before, which ends its agent
	"webhooks/decide.go", // the delivery that its maker asks for
	"webhooks/follow.go", // deliveries, pauses and reminders that follow from one entry of the ledger
}

// secondAct finds where a plan is given one.
var secondAct = regexp.MustCompile(`\.Also\b[^=\n]*[^=!]= |\bAlso:|\.First\b[^=\n]* = .*&|\bFirst: +&`)

// TestActsComeByTheSeat: a plan is Allowed by the seat alone, or follows from one that was, or is
// part of it, and those are listed.
func TestActsComeByTheSeat(t *testing.T) {
	p := loadActors(t)
	want := map[string]bool{"Entity.Decide": true, "Entity.Following": true, "Entity.change": true, "Entity.decideEntry": true}
	if got := p.using("Allowed"); !maps.Equal(got, want) {
		t.Errorf("an Allowed is used by %v, want %v", got, want)
	}
	if got := naming(t, ".Following("); !slices.Equal(got, following) {
		t.Errorf("acts that follow are in %v, want %v", got, following)
	}
	if got := matching(t, secondAct); !slices.Equal(got, inOneCommit) {
		t.Errorf("second acts of a plan are in %v, want %v", got, inOneCommit)
	}
	want = map[string]bool{"Entity.Decide": true, "Entity.Look": true, "Entity.mend": true}
	if got := p.calling("Entity.Verdict"); !maps.Equal(got, want) {
		t.Errorf("the seat is asked by %v, want %v", got, want)
	}
	want = map[string]bool{"Entity.Look": true, "Entity.Refuse": true, "Entity.noteMending": true}
	if got := p.calling("Entity.note"); !maps.Equal(got, want) {
		t.Errorf("acts that change nothing are put on record by %v, want %v", got, want)
	}
}

// exported tells whether others can name a function, or a method and its type.
func exported(name string) bool {
	return !slices.ContainsFunc(strings.Split(name, "."), func(part string) bool { return !token.IsExported(part) })
}

// checked is package actors: its functions by name, and what each body uses.
type checked struct {
	funcs map[string]*types.Func
	uses  map[string]map[types.Object]bool
}

func loadActors(t *testing.T) checked {
	t.Helper()
	files := token.NewFileSet()
	var parsed []*ast.File
	paths, err := filepath.Glob("../actors/*.go")
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		f, bad := parser.ParseFile(files, path, nil, 0)
		err = errors.Join(err, bad)
		parsed = append(parsed, f)
	}
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}, Defs: map[*ast.Ident]types.Object{}}
	if err == nil {
		config := types.Config{Importer: importer.ForCompiler(files, "gc", compiled(t))}
		_, err = config.Check("ubl/actors", files, parsed, info)
	}
	if err != nil {
		t.Fatal(err)
	}
	p := checked{map[string]*types.Func{}, map[string]map[types.Object]bool{}}
	for _, f := range parsed {
		for _, d := range f.Decls {
			if d, ok := d.(*ast.FuncDecl); ok {
				fn := info.Defs[d.Name].(*types.Func)
				name := nameOf(fn)
				p.funcs[name], p.uses[name] = fn, map[types.Object]bool{}
				ast.Inspect(d.Body, func(n ast.Node) bool {
					if id, ok := n.(*ast.Ident); ok && info.Uses[id] != nil {
						p.uses[name][info.Uses[id]] = true
					}
					return true
				})
			}
		}
	}
	return p
}

// compiled finds the export data of what package actors imports.
func compiled(t *testing.T) importer.Lookup {
	t.Helper()
	out, err := exec.Command("go", "list", "-export", "-deps", "-json=ImportPath,Export", "ubl/actors").Output()
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for dec := json.NewDecoder(strings.NewReader(string(out))); dec.More(); {
		var p struct{ ImportPath, Export string }
		if err := dec.Decode(&p); err != nil {
			t.Fatal(err)
		}
		files[p.ImportPath] = p.Export
	}
	return func(path string) (io.ReadCloser, error) { return os.Open(files[path]) }
}

// nameOf is a function's name, behind its receiver's type.
func nameOf(fn *types.Func) string {
	recv := fn.Signature().Recv()
	if recv == nil {
		return fn.Name()
	}
	of := recv.Type()
	if p, ok := of.(*types.Pointer); ok {
		of = p.Elem()
	}
	named, ok := of.(*types.Named)
	if !ok {
		return fn.Name() // of an interface without a name
	}
	return named.Obj().Name() + "." + fn.Name()
}

// reaching are the functions whose bodies come to another one, by calls in the package.
func (p checked) reaching(target string) map[string]bool {
	found := map[string]bool{target: true}
	for grown := true; grown; {
		grown = false
		for name, uses := range p.uses {
			for obj := range uses {
				if fn, ok := obj.(*types.Func); ok && !found[name] && found[nameOf(fn)] && fn.Pkg().Path() == "ubl/actors" {
					found[name], grown = true, true
				}
			}
		}
	}
	return found
}

// calling are the functions that name another one.
func (p checked) calling(of string) map[string]bool {
	found := map[string]bool{}
	for name, uses := range p.uses {
		for obj := range uses {
			if fn, ok := obj.(*types.Func); ok && nameOf(fn) == of {
				found[name] = true
			}
		}
	}
	return found
}

// using are the functions that name a type, apart from its own methods.
func (p checked) using(of string) map[string]bool {
	found := map[string]bool{}
	for name, uses := range p.uses {
		for obj := range uses {
			if _, ok := obj.(*types.TypeName); ok && obj.Name() == of && !strings.HasPrefix(name, of+".") {
				found[name] = true
			}
		}
	}
	return found
}

// naming are the families' files that have a text in them.
func naming(t *testing.T, what string) []string {
	return matching(t, regexp.MustCompile(regexp.QuoteMeta(what)))
}

// matching are the families' files that have a text of a form in them.
func matching(t *testing.T, form *regexp.Regexp) (found []string) {
	paths, err := filepath.Glob("../actors/*/*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasSuffix(path, "_test.go") && form.Match(text) {
			found = append(found, strings.TrimPrefix(filepath.ToSlash(path), "../actors/"))
		}
	}
	return found
}
