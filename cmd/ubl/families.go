package main

import (
	"ubl"
	"ubl/actors"
	"ubl/actors/container"
	"ubl/actors/ledger"
	"ubl/actors/portal"
	"ubl/actors/room"
	"ubl/actors/tenant"
	"ubl/cluster/wire"
)

// families are all of the product's. Adding one takes one line here.
func families(store ubl.Store, search ubl.Searcher, quota ubl.Quota) []actors.Family {
	all := []actors.Family{
		tenant.Family(store, tenant.Places{Room: room.Found, Container: container.Found, Credit: container.Crediting}, ubl.Kinds(), quota),
		room.Family(store),
		container.Family(store, search),
		container.Indexing(store, search),
		portal.Family(store),
	}
	return append(all, ledger.Family(store, actors.Content(all)...))
}

// listed are the families for those who ask what they list, before there is a store.
func listed() []actors.Family { return families(nil, nil, nil) }

// numbers are the runs of keys of all families.
func numbers() []ubl.Numbers { return actors.Numbers(listed()) }

// registry is of what nodes say to one another.
func registry() (*wire.Registry, error) {
	return wire.NewRegistry(actors.Commands(listed()), actors.Answers(listed()))
}
