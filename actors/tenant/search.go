package tenant

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"ubl"
	"ubl/actors"
)

// searchMessages finds messages of the rooms that the caller is in, under a receipt that has a
// commitment to the query. The rooms and who wrote are looked up here; what is said there the
// rooms tell by themselves.
func (x *Tenant) searchMessages(t *actors.Turn, c ubl.SearchMessages) {
	q, text, err := asked(&c)
	if err == nil {
		_, err = x.State.member(c.Who)
	}
	if err == nil && x.found.Messages == nil {
		err = ubl.Errorf(ubl.CodeUnavailable, "this server has no search")
	}
	if err == nil {
		err = x.State.License.InForce()
	}
	var looked *actors.Act
	var salt ubl.Salt
	if err == nil {
		salt, err = ubl.NewSalt(x.Random)
	}
	if err == nil {
		tenant := ubl.Str("tenant_id", x.id)
		looked, err = x.Look(t, ubl.DidMessageSearch, c.Request, act(
			ubl.Fields{ubl.Str("query_hash", salt.CommitText("query", text)), tenant},
			ubl.Fields{ubl.Str("op", ubl.DidMessageSearch), tenant},
		))
	}
	if err == nil {
		x.State.authors(c.Who, q)
	}
	mandate := x.State.mandateOf(c.Who.UserID)
	t.Read(err, func(ctx context.Context) (any, error) {
		rooms, err := x.roomsOf(ctx, ubl.ListRooms{Who: c.Who, Hidden: true})
		if err != nil {
			return nil, err
		}
		rooms = slices.DeleteFunc(rooms, func(r ubl.RoomEntry) bool {
			return !r.Member || !mandate.Includes(string(r.RoomID)) || !isIn(q, r)
		})
		hits, err := x.found.Messages(ctx, x.Ask, x.Name.Group(), c, q, rooms)
		if err == nil {
			hits.Receipt, hits.Salt = looked.Receipt, salt
		}
		return hits, err
	})
}

// asked is the query with what narrows it further, as one text.
func asked(c *ubl.SearchMessages) (q *ubl.MessageQuery, text string, err error) {
	c.Sort = cmp.Or(c.Sort, ubl.ByRelevance)
	if !slices.Contains([]ubl.Sort{ubl.ByRelevance, ubl.ByNewest, ubl.ByOldest}, c.Sort) {
		return nil, "", ubl.Errorf(ubl.CodeValidation, "sort is none of relevance, newest and oldest")
	}
	var b strings.Builder
	for _, narrower := range []struct {
		name   string
		values []string
	}{{"in", c.In}, {"from", c.From}} {
		for _, v := range narrower.values {
			if strings.Contains(v, `"`) {
				return nil, "", ubl.Errorf(ubl.CodeValidation, "%s has a quote in it", narrower.name)
			}
			b.WriteString(narrower.name + `:"` + v + `" `)
		}
	}
	b.WriteString(c.Query)
	text = b.String()
	if q, err = ubl.ParseQuery(text); err == nil && q.Empty() {
		err = ubl.Errorf(ubl.CodeValidation, "the query is empty, or only leaves words out")
	}
	return q, text, err
}

// authors puts ids in the place of addresses and names. What is nobody's stays, and finds
// nothing. An agent that sees only some places knows nobody by name.
func (s *State) authors(who ubl.Identity, q *ubl.MessageQuery) {
	var ids []string
	for _, from := range q.From {
		switch {
		case strings.EqualFold(from, "me"):
			ids = append(ids, string(who.UserID))
			continue
		case ubl.UserID(from).Valid() || s.beyond(who) != nil:
			ids = append(ids, from)
			continue
		}
		ids = append(ids, from)
		for id, m := range s.License.Members {
			if strings.EqualFold(m.Called(), from) || m.Email != "" && !m.Unproven && ubl.SameEmail(m.Email, from) {
				ids = append(ids, string(id))
			}
		}
	}
	slices.Sort(ids)
	q.From = ids
}

// isIn reports whether a query looks into a room.
func isIn(q *ubl.MessageQuery, r ubl.RoomEntry) bool {
	return len(q.In) == 0 || slices.ContainsFunc(q.In, func(in string) bool {
		return in == string(r.RoomID) || strings.EqualFold(in, r.Name) || strings.EqualFold("r:"+in, string(r.RoomID))
	})
}
