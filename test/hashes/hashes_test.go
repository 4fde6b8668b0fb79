package hashes

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"ubl/actors/families"
	"ubl/schemas"
)

type object = map[string]any

// TestEveryHashIsDecided: each member of the ledger's schemas that is a hash, and each that code
// writes into an act, is in one of the two lists, and no list has one that isn't there.
func TestEveryHashIsDecided(t *testing.T) {
	found := inSchemas(t)
	maps.Copy(found, inCode(t))
	if len(found) < 40 {
		t.Fatalf("only these were found: %v", found)
	}
	used := map[string]bool{}
	for _, key := range slices.Sorted(maps.Keys(found)) {
		act, name, _ := strings.Cut(key, " ")
		var lists []string
		for list, members := range map[string][]Member{"Salted": Salted, "Bare": Bare} {
			if m, _, ok := Find(members, act, name); ok {
				lists = append(lists, list)
				used[fmt.Sprint(list, m.Name, m.Of)] = true
			}
		}
		if len(lists) == 0 {
			t.Errorf("%s of %s, in %s, is in no list: is it a hash of something private? Then salt it, else say why it needs none", name, act, found[key])
		}
	}
	for list, members := range map[string][]Member{"Salted": Salted, "Bare": Bare} {
		for _, m := range members {
			if m.Why == "" || !used[fmt.Sprint(list, m.Name, m.Of)] {
				t.Errorf("%s has %s of %q, which nothing has, or which doesn't say why", list, m.Name, m.Of)
			}
		}
	}
}

// TestLongestPrefixCounts: what a member is depends on the act.
func TestLongestPrefixCounts(t *testing.T) {
	for key, want := range map[string]bool{
		"portal.server.add terms_hash": true, "agreement.propose terms_hash": false, "messenger.send body_hash": true,
		"kind.set kind_hash": false, "messenger.send other_hash": false,
	} {
		act, name, _ := strings.Cut(key, " ")
		if got := IsSalted(act, name); got != want {
			t.Errorf("%s is salted: %v", key, got)
		}
	}
}

// inSchemas are the hashes that the schemas of a ledger have, with the acts of the families. Each is
// "act member", where the act is its did, the op of an effect, or the schema.
func inSchemas(t *testing.T) map[string]string {
	t.Helper()
	set, found := schemas.With(families.All.Acts()...), map[string]string{}
	for _, id := range set.List() {
		id = strings.TrimSuffix(id, ".json")
		if !strings.HasPrefix(id, "ubl.ledger.") && !strings.HasPrefix(id, "ubl.export.") {
			continue
		}
		raw, ok := set.Read(id)
		var doc object
		if err := json.Unmarshal(raw, &doc); err != nil || !ok {
			t.Fatalf("%s: %v", id, err)
		}
		acts := actsOf(doc)
		collect(t, doc, id, []string{id}, acts, found)
	}
	return found
}

// actsOf are the acts of each definition of a schema: by the rule that leads from a did to it, or by
// the op that it wants.
func actsOf(doc object) map[string][]string {
	acts := map[string][]string{}
	rules, _ := doc["allOf"].([]any)
	for _, rule := range rules {
		did := dig(rule, "if", "properties", "did")
		ref, _ := dig(rule, "then", "properties", "this", "$ref").(string)
		if one, ok := dig(did, "const").(string); ok {
			acts[ref] = append(acts[ref], one)
		}
		many, _ := dig(did, "enum").([]any)
		for _, one := range many {
			acts[ref] = append(acts[ref], one.(string))
		}
	}
	defs, _ := doc["$defs"].(object)
	for name, def := range defs {
		if op, ok := dig(def, "properties", "op", "const").(string); ok {
			acts["#/$defs/"+name] = append(acts["#/$defs/"+name], op)
		}
	}
	return acts
}

func dig(v any, way ...string) any {
	for _, name := range way {
		o, _ := v.(object)
		v = o[name]
	}
	return v
}

// isHash tells members whose name says that they are one.
var isHash = regexp.MustCompile(`(^|_)hash$`)

// hashForm are the definitions that say the same.
var hashForm = regexp.MustCompile(`#/\$defs/[a-z]+_hash$`)

// collect walks through a part of a schema. A member in the form of a hash has to be called one.
func collect(t *testing.T, part any, where string, as []string, acts map[string][]string, found map[string]string) {
	t.Helper()
	switch v := part.(type) {
	case []any:
		for _, one := range v {
			collect(t, one, where, as, acts, found)
		}
	case object:
		properties, _ := v["properties"].(object)
		for name, property := range properties {
			ref, _ := dig(property, "$ref").(string)
			switch {
			case isHash.MatchString(name):
				for _, act := range as {
					found[act+" "+name] = where
				}
			case hashForm.MatchString(ref):
				t.Errorf("%s, in %s, has the form of a hash: let its name end with _hash", name, where)
			}
		}
		for name, one := range v {
			if name == "$defs" {
				continue
			}
			collect(t, one, where, as, acts, found)
		}
		defs, _ := v["$defs"].(object)
		for name, def := range defs {
			of := acts["#/$defs/"+name]
			if of == nil {
				of = []string{where + "/" + name}
			}
			collect(t, def, where, of, acts, found)
		}
	}
}

// inCode are the hashes that the program writes into acts by name: an effect may have members that
// no schema lists. Where they are written says nothing of the act, so "code" stands for it.
func inCode(t *testing.T) map[string]string {
	t.Helper()
	root, found := filepath.Join("..", ".."), map[string]string{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "test" || d.Name() == "node_modules" || strings.HasPrefix(d.Name(), ".") && path != root):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || len(call.Args) == 0 {
				return true
			}
			name, of := call.Fun.(*ast.SelectorExpr)
			literal, is := call.Args[0].(*ast.BasicLit)
			if of && is && name.Sel.Name == "Str" && isHash.MatchString(strings.Trim(literal.Value, `"`)) {
				found["code "+strings.Trim(literal.Value, `"`)] = path
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}
