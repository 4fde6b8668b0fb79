package harness

import (
	"bytes"
	"fmt"
	"slices"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"ubl"
	"ubl/actors/families"
	"ubl/offer"
	"ubl/schemas"
)

// formed is a store that holds each atom which it is given against its schema, so that every
// test of an act is one of the act's form. Families that tests have for themselves may bring no
// forms: their acts are in no schema then.
type formed struct {
	ubl.Store
	forms *forms
	wrong func(error)

	mu   sync.Mutex
	seen map[string]int // how many of each act
}

// Of one act the first heldWhole are checked, and then one of heldEvery: a test that writes tens of
// thousands writes the same form again, and a check costs ten times what the act does.
const (
	heldWhole = 300
	heldEvery = 50
)

// Submit implements [ubl.Store].
func (f *formed) Submit(b *ubl.Batch, settled func(error)) {
	if f.due(b.Atoms) {
		if err := f.forms.check(b.Atoms); err != nil {
			f.wrong(err)
		}
	}
	f.Store.Submit(b, settled)
}

// due counts the acts of a commit, and reports whether one of them is to be checked.
func (f *formed) due(atoms [][]byte) (due bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, atom := range atoms {
		_, rest, act := bytes.Cut(atom, []byte(`"did":"`))
		if !act {
			continue
		}
		did, _, _ := bytes.Cut(rest, []byte(`"`))
		n := f.seen[string(did)]
		f.seen[string(did)] = n + 1
		due = due || n < heldWhole || n%heldEvery == 0
	}
	return due
}

// forms are schemas of atoms, and the acts that they know.
type forms struct {
	by    map[string]*jsonschema.Schema
	known map[ubl.Did]bool
	one   sync.Map // those of single acts that were needed, by kind and act
}

// check checks the atoms of one commit. An effect belongs to an action of the same one, but
// where it ends what was intended in an earlier commit.
func (f *forms) check(atoms [][]byte) error {
	known := map[any]bool{} // actions by their cid
	for _, atom := range atoms {
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(atom))
		if err != nil {
			return err
		}
		members, _ := doc.(map[string]any)
		kind, _ := members["kind"].(string)
		of := members["ref_action_cid"]
		if did, ok := members["did"].(string); ok { // an action
			of = members["cid"]
			known[of] = f.known[ubl.Did(did)]
		}
		did, _ := members["did"].(string)
		form := f.of(kind, did)
		if form == nil || !known[of] {
			continue
		}
		hold(members, "trace", "request_id", "req:123456")
		hold(members, "trace", "parent", "req:123456")
		hold(members, "who", "email", "ana@example.com")
		if err := form.Validate(doc); err != nil {
			return fmt.Errorf("an atom hasn't the form of its schema: %s\n%w", atom, err)
		}
	}
	return nil
}

// hold puts something valid where a test of a transport puts what it likes: request ids are as
// short, and addresses as hostile, as it wants. What the act is about stays.
func hold(atom map[string]any, member, field, valid string) {
	if of, ok := atom[member].(map[string]any); ok && of[field] != nil {
		of[field] = valid
	}
}

// usual are the product's.
var usual = sync.OnceValue(func() *forms { return newForms() })

// formsOf are the product's, with those of more acts.
func formsOf(acts ...offer.Act) *forms {
	if len(acts) == 0 {
		return usual()
	}
	return newForms(acts...)
}

func newForms(acts ...offer.Act) *forms {
	f := &forms{by: Forms(), known: map[ubl.Did]bool{}}
	all := append(families.All.Acts(), acts...)
	if len(acts) > 0 {
		f.by = compile(schemas.With(all...))
	}
	for _, did := range ubl.Dids() {
		f.known[did] = true
	}
	for _, a := range all {
		f.known[a.Did] = true
	}
	return f
}

// Forms are the schemas of atoms by their kind.
var Forms = sync.OnceValue(func() map[string]*jsonschema.Schema { return compile(schemas.With(families.All.Acts()...)) })

func compile(set *schemas.Set) map[string]*jsonschema.Schema {
	const base = "https://ubl.invalid/schemas/"
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	for _, name := range set.List() {
		data, _ := set.Read(name)
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
		if err == nil {
			err = compiler.AddResource(base+name, doc)
		}
		if err != nil {
			panic(fmt.Sprintf("harness: the schema %s: %v", name, err))
		}
	}
	return map[string]*jsonschema.Schema{
		ubl.ActionV2: compiler.MustCompile(base + "ubl.ledger." + ubl.ActionV2),
		ubl.EffectV2: compiler.MustCompile(base + "ubl.ledger." + ubl.EffectV2),
	}
}

// of is the schema of an atom of an act, nil for a kind without one.
func (f *forms) of(kind, did string) *jsonschema.Schema {
	whole := f.by[kind]
	if whole == nil || did == "" {
		return whole
	}
	key := kind + " " + did
	if form, ok := f.one.Load(key); ok {
		return form.(*jsonschema.Schema)
	}
	form := formAbout(whole, did)
	f.one.Store(key, form)
	return form
}

// formAbout is a schema without the conditions on other acts. They say nothing of this one, and to
// try each costs more than all else in a check.
func formAbout(whole *jsonschema.Schema, did string) *jsonschema.Schema {
	form := *whole
	form.AllOf = nil
	for _, part := range whole.AllOf {
		if others(part, did) {
			continue
		}
		if part.Ref != nil {
			through := *part
			through.Ref = formAbout(part.Ref, did)
			part = &through
		}
		form.AllOf = append(form.AllOf, part)
	}
	return &form
}

// others reports whether a part of a schema is only a condition on acts of other names.
func others(part *jsonschema.Schema, did string) bool {
	if part.If == nil || part.Else != nil {
		return false
	}
	switch of := part.If.Properties["did"]; {
	case of == nil:
		return false
	case of.Const != nil:
		return *of.Const != did
	default:
		return of.Enum != nil && !slices.Contains(of.Enum.Values, any(did))
	}
}
