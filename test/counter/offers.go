package counter

import (
	"time"

	"ubl"
	"ubl/offer"
)

// addInput is what an addition takes.
type addInput struct {
	ID    ID    `json:"counter_id" pattern:"^n:[a-z0-9-]{1,64}$" example:"n:visits"`
	By    int64 `json:"by" minimum:"1" maximum:"1000000"`
	After int64 `json:"reset_after_s,omitempty" minimum:"1" maximum:"86400" doc:"Seconds until the counter goes back to nothing."`
	Call  bool  `json:"call,omitempty" doc:"Whether its web hook hears of the new value."`
}

// getInput is what a look takes.
type getInput struct {
	ID ID `json:"counter_id" pattern:"^n:[a-z0-9-]{1,64}$" example:"n:visits"`
}

// offers are the operations over REST and MCP.
var offers = []offer.Operation{
	offer.Of[addInput, Counter](offer.Operation{
		Method: "POST", Path: "/counters/{counterId}/add", Tool: string(didAdd), Counts: ubl.Sends, Summary: "Add to a counter",
	}, func(req ubl.Request, in addInput) (ubl.Name, ubl.Command) {
		return name(req, in.ID), Add{Request: req, By: in.By, After: time.Duration(in.After) * time.Second, Call: in.Call}
	}),
	offer.Of[getInput, Counter](offer.Operation{
		Method: "GET", Path: "/counters/{counterId}", Tool: "counter.get", Summary: "Read a counter",
	}, func(req ubl.Request, in getInput) (ubl.Name, ubl.Command) {
		return name(req, in.ID), Get{Who: req.Who}
	}),
}

func name(req ubl.Request, id ID) ubl.Name {
	return ubl.Name(string(req.Who.TenantID) + "|" + string(id))
}
