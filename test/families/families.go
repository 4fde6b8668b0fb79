// Package families has the product's families of actors, for tests that need them without
// a program around. It is apart from the harness, whose search has goroutines of its own.
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

// All are the product's, over a store.
func All(store ubl.Store, search ubl.Searcher, kinds []ubl.Kind, quota ubl.Quota) []actors.Family {
	all := []actors.Family{
		tenant.Family(store, Places(), kinds, quota),
		room.Family(store), container.Family(store, search), container.Indexing(store, search), portal.Family(store),
	}
	return append(all, ledger.Family(store, actors.Content(all)...))
}

// Places are the product's.
func Places() tenant.Places {
	return tenant.Places{Room: room.Found, Container: container.Found, Credit: container.Crediting}
}

// Commands are what nodes send to one another.
func Commands() []ubl.Command { return actors.Commands(All(nil, nil, nil, nil)) }

// Answers are what nodes answer one another.
func Answers() []any { return actors.Answers(All(nil, nil, nil, nil)) }
