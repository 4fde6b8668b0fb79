package actors

import (
	"reflect"
	"slices"
	"sync"

	"ubl"
)

// An agent's mandate names the places that it may touch, and may be to read alone
// ([ubl.Mandate]). It travels with who asks, and two gates hold it for every family: this one
// before a command reaches its actor, and the seat before an act is applied. Which tools the
// agent may use the Tenant decides, at the door.

// bounded refuses a command of an agent whose mandate leaves the actor out. It looks at names
// alone, so what is there and what isn't are refused alike.
func (rt *Runtime) bounded(to ubl.Name, cmd ubl.Command) error {
	m := mandateOf(cmd)
	if !m.Placed() || m.Includes(to.Local()) {
		return nil
	}
	if f := rt.family(to); f != nil && f.Unplaced {
		return nil
	}
	return ubl.Errorf(ubl.CodeForbidden, "the agent's mandate leaves this place out")
}

// mandateOf is the mandate of who asks, nil for who has none and for commands that nobody in
// particular asks.
func mandateOf(cmd ubl.Command) *ubl.Mandate {
	if c, ok := cmd.(Asked); ok {
		return c.Asked().Who.Mandate
	}
	at := mandateIn(reflect.TypeOf(cmd))
	if at == nil {
		return nil
	}
	m, _ := reflect.ValueOf(cmd).FieldByIndex(at).Interface().(*ubl.Mandate)
	return m
}

// mandateIn is where a command of a type has the mandate of its Who, nil for nowhere.
func mandateIn(t reflect.Type) []int {
	if at, ok := mandatesIn.Load(t); ok {
		return at.([]int)
	}
	var at []int
	if t.Kind() == reflect.Struct {
		if f, ok := t.FieldByName("Who"); ok && f.Type == identity {
			m, _ := identity.FieldByName("Mandate")
			at = append(slices.Clone(f.Index), m.Index...)
		}
	}
	mandatesIn.Store(t, at)
	return at
}

var (
	identity   = reflect.TypeFor[ubl.Identity]()
	mandatesIn sync.Map // reflect.Type → []int, what mandateIn has found
)
