// Package families is where all families of actors come together. Adding one takes one line
// here; cmd/ubl and the tests run the same list.
package families

import (
	"ubl"
	"ubl/actors"
	"ubl/actors/container"
	"ubl/actors/ledger"
	"ubl/actors/portal"
	"ubl/actors/room"
	"ubl/actors/tenant"
)

// All are the families over a store. Members may make containers of the kinds, and the quota
// bounds what tenants make.
func All(store ubl.Store, search ubl.Searcher, kinds []ubl.Kind, quota ubl.Quota) []actors.Family {
	all := []actors.Family{
		tenant.Family(store, Places(), kinds, quota),
		room.Family(store),
		container.Family(store, search),
		container.Indexing(store, search),
		portal.Family(store),
	}
	return append(all, ledger.Family(store, actors.Content(all)...))
}

// Places are what Tenants need of rooms and containers.
func Places() tenant.Places {
	return tenant.Places{Room: room.Found, Container: container.Found, Credit: container.Crediting}
}

// listed are the families for those who ask what they list: nothing is read or opened.
func listed() []actors.Family { return All(nil, nil, nil, nil) }

// Commands lists what nodes send to one another.
func Commands() []ubl.Command { return actors.Commands(listed()) }

// Answers lists what nodes answer one another.
func Answers() []any { return actors.Answers(listed()) }

// Numbers lists the runs of keys.
func Numbers() []ubl.Numbers { return actors.Numbers(listed()) }
