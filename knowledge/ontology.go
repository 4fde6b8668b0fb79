package knowledge

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"ubl"
)

// OntologyVersion is the form of ontologies that this program reads.
const OntologyVersion = "ubl.ontology.v1"

//go:embed ontology.yaml
var ontologyYAML []byte

//go:embed ontology.schema.json
var ontologySchema []byte

// ontologyBounds are how much of an ontology is read.
var ontologyBounds = bounds{bytes: 256 << 10, nodes: 10_000, depth: 20, aliases: 100}

// maxAncestors is how many types one may descend from.
const maxAncestors = 8

// Ontology says which types of entries there are, which fields each has, and where in a vault
// they are. It doesn't change once it is read, and may be used by several goroutines.
type Ontology struct {
	Name  string
	Types []Type // as they stand in its file, parents anywhere

	byName   map[string]*Type
	usual    string            // the type of a file that names none, in a folder without one
	renamed  map[string]string // types that have another name now
	paths    map[string]string
	excluded struct{ Folders, Files []string }
}

// Type is one type of entries.
type Type struct {
	Name     string
	About    string
	Parent   string // "" for a root
	Abstract bool   // groups others: no entry is of it
	Required []string
	Links    []string // fields that name other entries
	// Fields are JSON Schemas by name, those of its ancestors too.
	Fields map[string]json.RawMessage

	schema *jsonschema.Schema
}

// DefaultOntology is the one that a commons has unless it brings its own: the 21 types of
// ontology.yaml.
var DefaultOntology = sync.OnceValue(func() *Ontology {
	o, err := ReadOntology("ontology.yaml", ontologyYAML)
	if err != nil {
		panic(err) // it is part of the program, and a test reads it
	}
	return o
})

// ReadOntology reads an ontology in the form of ontology.yaml. The error has [Problems], each with
// its line in the file of the name.
func ReadOntology(name string, data []byte) (*Ontology, error) {
	r := &ontologyReader{name: name, form: &ontologyForm{}}
	t, bad := readYAML(data, 1, ontologyBounds)
	if bad != nil {
		return nil, Problems{{Path: name, Line: bad.line, Severity: Broken, Message: bad.message}}
	}
	r.tree = t
	o := r.read()
	if len(r.problems) > 0 {
		slices.SortFunc(r.problems, func(a, b Problem) int {
			return cmp.Or(a.Line-b.Line, strings.Compare(a.Field, b.Field), strings.Compare(a.Message, b.Message))
		})
		return nil, r.problems
	}
	return o, nil
}

// Type finds a type by its name.
func (o *Ontology) Type(name string) (*Type, bool) {
	t, ok := o.byName[name]
	return t, ok
}

// Under are the names of a type and of all that descend from it: what a search for resources
// finds. It is nil for a type that isn't there.
func (o *Ontology) Under(name string) []string {
	var under []string
	for _, t := range o.Types {
		for at := &t; at != nil; at = o.byName[at.Parent] {
			if at.Name == name {
				under = append(under, t.Name)
				break
			}
		}
	}
	return under
}

// TypeAt is the type of a file that names none, by its path in the vault. The longest folder of
// the ontology that it is in decides.
func (o *Ontology) TypeAt(file string) string {
	for dir := path.Dir(file); dir != "." && dir != "/"; dir = path.Dir(dir) {
		if t, ok := o.paths[dir]; ok {
			return t
		}
	}
	return o.usual
}

// Includes reports whether a file of a vault may be an entry by its path: Markdown, and in no
// folder that is left out.
func (o *Ontology) Includes(file string) bool {
	if path.Ext(file) != ".md" || slices.Contains(o.excluded.Files, path.Base(file)) {
		return false
	}
	for dir := path.Dir(file); dir != "." && dir != "/"; dir = path.Dir(dir) {
		if !o.includesFolder(dir) {
			return false
		}
	}
	return true
}

func (o *Ontology) includesFolder(dir string) bool {
	return !strings.HasPrefix(path.Base(dir), ".") && !slices.Contains(o.excluded.Folders, dir)
}

// ontologyForm is the file of an ontology.
type ontologyForm struct {
	Name    string              `json:"name"`
	Default string              `json:"default"`
	Types   map[string]typeForm `json:"types"`
	Renamed map[string]string   `json:"renamed"`
	Paths   map[string]string   `json:"paths"`
	Exclude struct {
		Folders []string `json:"folders"`
		Files   []string `json:"files"`
	} `json:"exclude"`
}

type typeForm struct {
	About    string                     `json:"about"`
	Parent   string                     `json:"parent"`
	Abstract bool                       `json:"abstract"`
	Fields   map[string]json.RawMessage `json:"fields"`
	Required []string                   `json:"required"`
	Links    []string                   `json:"links"`
}

// ontologyReader gathers what is wrong with an ontology.
type ontologyReader struct {
	name     string
	tree     *tree
	form     *ontologyForm
	problems Problems
}

func (r *ontologyReader) bad(place []string, format string, args ...any) {
	r.problems = append(r.problems, Problem{Path: r.name, Line: r.tree.line(place...), Field: strings.Join(place, "."),
		Severity: Broken, Message: fmt.Sprintf(format, args...)})
}

// at is a place in the file.
func at(parts ...string) []string { return parts }

func (r *ontologyReader) read() *Ontology {
	r.takeForm()
	if len(r.problems) > 0 {
		return nil
	}
	o := &Ontology{Name: r.form.Name, byName: map[string]*Type{}, usual: r.form.Default, renamed: r.form.Renamed, paths: map[string]string{}}
	o.excluded.Files = r.form.Exclude.Files
	for _, dir := range r.form.Exclude.Folders {
		o.excluded.Folders = append(o.excluded.Folders, folder(dir))
	}
	r.names()
	r.ownFields()
	if len(r.problems) > 0 {
		return nil
	}
	names := slices.SortedFunc(maps.Keys(r.form.Types), r.byLine("types"))
	o.Types = make([]Type, 0, len(names))
	for _, name := range names {
		o.Types = append(o.Types, r.typeOf(name))
		o.byName[name] = &o.Types[len(o.Types)-1]
	}
	for dir, t := range r.form.Paths {
		o.paths[folder(dir)] = t
	}
	return o
}

// folder is a folder's path in a vault: in an ontology it may stand between slashes.
func folder(dir string) string { return strings.Trim(dir, "/") }

// takeForm checks the file against the schema of its form.
func (r *ontologyReader) takeForm() {
	if _, ok := r.tree.value.(map[string]any); !ok {
		r.bad(nil, "an ontology is a mapping with version, name, types and default")
		return
	}
	for _, w := range check(ontologyFormSchema(), r.tree.value) {
		r.bad(w.place, "%s", w.message())
	}
	data, err := json.Marshal(r.tree.value)
	if err == nil && len(r.problems) == 0 {
		err = json.Unmarshal(data, r.form)
	}
	if err != nil {
		r.bad(nil, "it isn't of the form %s", OntologyVersion)
	}
}

var ontologyFormSchema = sync.OnceValue(func() *jsonschema.Schema {
	s, err := compile(ontologySchema)
	if err != nil {
		panic(err) // it is part of the program, and a test reads it
	}
	return s
})

// names checks every place that names a type.
func (r *ontologyReader) names() {
	r.concrete(r.form.Default, "default")
	for name, t := range r.form.Types {
		if (ubl.DocumentKey{Type: name, ID: name}).Check() != nil {
			r.bad(at("types", name), "the name of a type has lower-case letters, digits, _ and -, at most 64, and begins with a letter")
		}
		if t.Parent == "" {
			continue
		}
		if _, ok := r.form.Types[t.Parent]; !ok {
			r.bad(at("types", name, "parent"), "there is no type %q", t.Parent)
		} else if len(r.line(name)) > maxAncestors {
			r.bad(at("types", name, "parent"), "it descends from more than %d types, or from itself", maxAncestors)
		}
	}
	r.folders()
	for old, t := range r.form.Renamed {
		if _, ok := r.form.Types[old]; ok {
			r.bad(at("renamed", old), "%q is a type, and so has no other name", old)
		}
		r.concrete(t, "renamed", old)
	}
}

// folders checks every place that names a folder. Two ways of writing one would leave it to chance
// which of them counts.
func (r *ontologyReader) folders() {
	there := map[string]bool{}
	for _, dir := range slices.SortedFunc(maps.Keys(r.form.Paths), r.byLine("paths")) {
		r.folder(dir, "paths", dir)
		if there[folder(dir)] {
			r.bad(at("paths", dir), "%q is there twice", folder(dir))
		}
		there[folder(dir)] = true
		r.concrete(r.form.Paths[dir], "paths", dir)
	}
	for i, dir := range r.form.Exclude.Folders {
		r.folder(dir, "exclude", "folders", strconv.Itoa(i))
	}
}

func (r *ontologyReader) folder(dir string, place ...string) {
	if !fs.ValidPath(folder(dir)) {
		r.bad(place, "%q is no folder of a vault", dir)
	}
}

// byLine orders names that stand at a place as its file does.
func (r *ontologyReader) byLine(place string) func(a, b string) int {
	return func(a, b string) int {
		return cmp.Or(r.tree.line(place, a)-r.tree.line(place, b), strings.Compare(a, b))
	}
}

// concrete refuses a type at a place that isn't there, or that no entry can be of.
func (r *ontologyReader) concrete(name string, place ...string) {
	if t, ok := r.form.Types[name]; !ok {
		r.bad(place, "there is no type %q", name)
	} else if t.Abstract {
		r.bad(place, "no entry can be of type %q, which is abstract", name)
	}
}

// line is a type and those that it descends from, one more than may be where they have no end.
func (r *ontologyReader) line(name string) (names []string) {
	for name != "" && len(names) <= maxAncestors+1 {
		names = append(names, name)
		name = r.form.Types[name].Parent
	}
	return names[:max(0, len(names)-1)]
}

// ownFields checks each field where it stands.
func (r *ontologyReader) ownFields() {
	for name, t := range r.form.Types {
		for field, schema := range t.Fields {
			place := at("types", name, "fields", field)
			if refers(r.tree.value, place) {
				r.bad(place, "a field's schema has no keywords that begin with $: it refers to nothing")
			} else if _, err := compile(schema); err != nil {
				r.bad(place, "this is no JSON Schema that can be checked")
			}
		}
	}
}

// refers reports whether a schema has keywords by which it could lead elsewhere, or to itself.
func refers(in any, place []string) bool {
	for _, part := range place {
		in = in.(map[string]any)[part]
	}
	var look func(v any) bool
	look = func(v any) bool {
		switch v := v.(type) {
		case []any:
			return slices.ContainsFunc(v, look)
		case map[string]any:
			for key, each := range v {
				if strings.HasPrefix(key, "$") || look(each) {
					return true
				}
			}
		}
		return false
	}
	return look(in)
}

// typeOf puts a type together from itself and its ancestors.
func (r *ontologyReader) typeOf(name string) Type {
	own := r.form.Types[name]
	t := Type{Name: name, About: own.About, Parent: own.Parent, Abstract: own.Abstract, Fields: map[string]json.RawMessage{}}
	for at, more := name, true; more; more = at != "" {
		from := r.form.Types[at]
		for field, schema := range from.Fields {
			if _, nearer := t.Fields[field]; !nearer {
				t.Fields[field] = schema
			}
		}
		t.Required = append(t.Required, from.Required...)
		t.Links = append(t.Links, from.Links...)
		at = from.Parent
	}
	t.Required, t.Links = unique(t.Required), unique(t.Links)
	whole, err := json.Marshal(map[string]any{"type": "object", "properties": t.Fields, "required": t.Required})
	if err == nil {
		t.schema, err = compile(whole)
	}
	if err != nil {
		r.bad(at("types", name), "its fields are no JSON Schema together")
	}
	return t
}

// unique is a list in order, without what is there twice, and never nil.
func unique(list []string) []string {
	out := append([]string{}, list...)
	slices.Sort(out)
	return slices.Compact(out)
}
