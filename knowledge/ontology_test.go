package knowledge

import (
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
)

// TestOntologyErrors: each line that is wrong with an ontology is told at once.
func TestOntologyErrors(t *testing.T) {
	const head = "version: ubl.ontology.v1\nname: x\ndefault: a\n" // three lines
	for name, c := range map[string]struct{ text, want string }{
		"empty":              {"", "o.yaml:1: an ontology is a mapping with version, name, types and default"},
		"a list":             {"- a\n", "o.yaml:1: an ontology is a mapping with version, name, types and default"},
		"no YAML":            {"name: x\n  y: z\n", "o.yaml:2: it can't be read as YAML: mapping values are not allowed in this context"},
		"two documents":      {head + "---\ntypes: {a: {}}\n", "o.yaml:1: it has more than one document"},
		"a name twice":       {"name: x\nname: y\n", `o.yaml:2: "name" is there twice`},
		"another version":    {"version: ubl.ontology.v2\nname: x\ndefault: a\ntypes: {a: {}}\n", "o.yaml:1: version must be ubl.ontology.v1"},
		"nothing but a name": {"version: ubl.ontology.v1\nname: x\n", "o.yaml:1: default is missing\no.yaml:1: types is missing"},
		"an unknown member":  {head + "types: {a: {}}\ncolour: red\n", "o.yaml:5: colour is no name that belongs here"},
		"another form":       {head + "types:\n  a:\n    required: title\n", "o.yaml:6: types.a.required must be a list"},
		"no such default":    {"version: ubl.ontology.v1\nname: x\ndefault: b\ntypes: {a: {}}\n", `o.yaml:3: there is no type "b"`},
		"no such parent":     {head + "types:\n  a: {}\n  b: {parent: c}\n", `o.yaml:6: there is no type "c"`},
		"its own ancestor": {head + "types:\n  a:\n    parent: b\n  b:\n    parent: a\n",
			"o.yaml:6: it descends from more than 8 types, or from itself\no.yaml:8: it descends from more than 8 types, or from itself"},
		"a path to what is abstract": {head + "types:\n  a: {}\n  b: {abstract: true}\npaths:\n  x: b\n", `o.yaml:8: no entry can be of type "b", which is abstract`},
		"a path out of the vault":    {head + "types:\n  a: {}\npaths:\n  ../x: a\n", `o.yaml:7: "../x" is no folder of a vault`},
		"a folder twice":             {head + "types:\n  a: {}\npaths:\n  x: a\n  /x/: a\n", `o.yaml:8: "x" is there twice`},
		"left out of the vault":      {head + "types: {a: {}}\nexclude:\n  folders:\n    - ../x\n", `o.yaml:7: "../x" is no folder of a vault`},
		"a name of a type":           {head + "types:\n  a: {}\n  B: {}\n", "o.yaml:6: the name of a type has lower-case letters, digits, _ and -, at most 64, and begins with a letter"},
		"a type that was renamed":    {head + "types:\n  a: {}\nrenamed:\n  a: a\n", `o.yaml:7: "a" is a type, and so has no other name`},
		"renamed to nothing":         {head + "types:\n  a: {}\nrenamed:\n  b: c\n", `o.yaml:7: there is no type "c"`},
		"no JSON Schema":             {head + "types:\n  a:\n    fields:\n      f: {type: strin}\n", "o.yaml:7: this is no JSON Schema that can be checked"},
		"a schema from elsewhere": {head + "types:\n  a:\n    fields:\n      f:\n        $ref: https://example.org\n",
			"o.yaml:7: a field's schema has no keywords that begin with $: it refers to nothing"},
		"a schema in itself": {head + "types:\n  a:\n    fields:\n      f: {items: {$ref: '#'}}\n",
			"o.yaml:7: a field's schema has no keywords that begin with $: it refers to nothing"},
	} {
		t.Run(name, func(t *testing.T) {
			o, err := ReadOntology("o.yaml", []byte(c.text))
			if o != nil || err == nil {
				t.Fatal("it was taken")
			}
			same(t, "the error", err.Error(), c.want)
		})
	}
}

// TestReplacementOntology: a commons that brings types of its own has those, and none of ours.
func TestReplacementOntology(t *testing.T) {
	o, err := ReadOntology("o.yaml", []byte(`
version: ubl.ontology.v1
name: kitchen
default: note
types:
  note: {}
  recipe:
    parent: dish
    fields: {serves: {type: integer}}
    required: [serves]
    links: [goesWith]
  dish:
    abstract: true
    fields: {goesWith: {type: array}, serves: {type: string}}
renamed: {formula: recipe}
paths: {/recipes/: recipe, recipes/drafts: note}
exclude: {folders: [attic, /cellar/old/], files: [TODO.md]}
`))
	if err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]string{
		"recipes/a.md": "recipe", "recipes/hot/a.md": "recipe", "recipes/drafts/a.md": "note", "tags/a.md": "note", "attic/a.md": "", "cellar/old/a.md": "", "cellar/a.md": "note", "recipes/TODO.md": "", "README.md": "note",
	} {
		got := ""
		if o.Includes(file) {
			got = o.TypeAt(file)
		}
		if got != want {
			t.Errorf("%s is of type %q, want %q", file, got, want)
		}
	}
	if got := strings.Join(o.Under("dish"), " "); got != "recipe dish" {
		t.Errorf("below dish are %s", got)
	}
	if _, ok := o.Type("pattern"); ok {
		t.Error("it has a type of the default ontology")
	}
	for text, want := range map[string]string{
		"serves: 2":                "",
		"serves: two":              "recipes/a.md:3: serves must be a whole number", // nearer than what dish says
		"title: A":                 "recipes/a.md:2: serves is missing",
		"serves: 2\ntype: formula": "recipes/a.md:4: the type is called recipe now",
		"serves: 2\ntype: dish":    "recipes/a.md:4: the type groups others, and is none by itself; the folder makes it recipe",
		"serves: 2\ntype: tag":     "recipes/a.md:4: the ontology has no such type; the folder makes it recipe",
	} {
		e := o.Parse("recipes/a.md", []byte("---\npublish: true\n"+text+"\n---\n"))
		if got := Problems(e.Problems).Error(); got != want || e.Key().String() != "recipe/a" {
			t.Errorf("%q is %s, with %q, want %q", text, e.Key(), got, want)
		}
	}
}

// TestDocumentedOntology: the manual names each type that there is, and its example is one that can
// be read.
func TestDocumentedOntology(t *testing.T) {
	manual, err := os.ReadFile("../docs/knowledge.md")
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(manual), "```yaml\n")
	example, _, ok := strings.Cut(after, "```")
	if _, err := ReadOntology("example.yaml", []byte(example)); err != nil || !ok {
		t.Errorf("the example can't be read: %v", err)
	}
	_, table, _ := strings.Cut(string(manual), "## Types")
	table, _, _ = strings.Cut(table, "```")
	for _, kind := range DefaultOntology().Types {
		for _, name := range append(slices.Collect(maps.Keys(kind.Fields)), kind.Name) {
			if !strings.Contains(table, "`"+name+"`") {
				t.Errorf("the manual lacks `%s` of %s", name, kind.Name)
			}
		}
	}
}
