// Package families is where all families of actors come together. Adding one takes one line
// here; cmd/ubl and the tests run the same list.
package families

import (
	"ubl"
	"ubl/actors"
	"ubl/actors/container"
	"ubl/actors/ledger"
	"ubl/actors/person"
	"ubl/actors/portal"
	"ubl/actors/room"
	"ubl/actors/tenant"
	"ubl/actors/webhooks"
	"ubl/offer"
)

// World is what families are opened over. Members may make containers of the kinds, and the
// quota bounds what tenants make. Push reaches browsers, Mail people by mail; nil reaches none. Servers asks tools' servers; nil asks none. The zero world does for what families list of themselves:
// nothing is read or opened then.
type World struct {
	Store  ubl.Store
	Search ubl.Searcher
	Kinds  []ubl.Kind
	Quota  ubl.Quota
	Push   ubl.Pusher
	Mail   ubl.Mailer
	// Webhooks reaches the servers that webhooks tell; nil reaches none.
	Webhooks webhooks.Sender

	Servers ubl.Syncer
}

// List is families of actors, each as a function of the world. The ledger, which counts what
// the others store, is in every list.
type List []func(World) actors.Family

// All are the families of the product.
var All = List{
	func(w World) actors.Family { return tenant.Family(w.Store, w.places(), w.Kinds, w.Quota) },
	func(w World) actors.Family { return room.Family(w.Store) },
	func(w World) actors.Family { return room.Indexing(w.Store, w.Search) },
	func(w World) actors.Family { return container.Family(w.Store, w.Search) },
	func(w World) actors.Family { return container.Indexing(w.Store, w.Search) },
	func(w World) actors.Family { return portal.Family(w.Store, w.Servers) },
	func(w World) actors.Family { return person.Family(w.Store, w.Push, w.Mail) },
	func(w World) actors.Family { return room.Notifying(w.Store) },
	func(w World) actors.Family { return webhooks.Family(w.Store, w.Webhooks) },
}

// Places are what Tenants need of rooms and containers.
func Places() tenant.Places {
	return tenant.Places{Room: room.Found, Direct: room.FoundDirect, Container: container.Found, Credit: container.Crediting}
}

// places are Places where messages can be found.
func (w World) places() tenant.Places {
	places := Places()
	if w.Search != nil {
		places.Messages = room.Searching(w.Store, w.Search)
	}
	return places
}

// In are the families in a world.
func (l List) In(w World) []actors.Family {
	all := make([]actors.Family, 0, len(l)+1)
	for _, family := range l {
		all = append(all, family(w))
	}
	return append(all, ledger.Family(w.Store, actors.Content(all)...))
}

// Commands lists what nodes send to one another.
func (l List) Commands() []ubl.Command { return actors.Commands(l.In(World{})) }

// Answers lists what nodes answer one another.
func (l List) Answers() []any { return actors.Answers(l.In(World{})) }

// Numbers lists the runs of keys.
func (l List) Numbers() []ubl.Numbers { return actors.Numbers(l.In(World{})) }

// Told lists the effects of which streams tell.
func (l List) Told() []ubl.Told { return actors.Told(l.In(World{})) }

// Offers lists what families offer over REST and MCP by themselves.
func (l List) Offers() []offer.Operation { return actors.Offers(l.In(World{})) }

// Acts lists the acts that families bring along, with their forms.
func (l List) Acts() []offer.Act { return actors.Acts(l.In(World{})) }
