//go:build linux

package chaos

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"
)

// user is somebody who is invited and removed.
type user struct{ email, id string }

// churn invites a user to the room and removes them again, until told to stop.
// Each act is tried until it is done, so it is known who is in.
func (r *room) churn(ctx context.Context, who int, u user, draw *rand.Rand, pace time.Duration) {
	for i := 0; ctx.Err() == nil; i++ {
		act := r.invite
		if i%2 == 1 {
			act = r.remove
		}
		if err := act(who, i, u); err != nil {
			r.blame("act %d on %s wasn't done: %v", i, u.email, err)
			return
		}
		pause(ctx, between(draw, pace/2, pace))
	}
}

// invite lets the user in, which the room tells in an entry and, behind that, in a system message.
// One that wasn't acknowledged is in the history too: it may have happened.
func (r *room) invite(who, i int, u user) error {
	call := r.owner.world.now()
	err := r.act("POST", "/members", fmt.Sprintf("invite-%s-%d", u.id, i), map[string]string{"email": u.email})
	end := r.owner.world.now()
	if err != nil {
		end = never
	}
	r.note(who, opSend{"added " + u.id, greeting(u.id)}, call, nil, end)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.joined[u.id]++
	r.members[u.id] = true
	r.owner.tally.joins.Add(1)
	return err
}

func greeting(id string) string { return id + " joined" }

func (r *room) remove(who, i int, u user) error {
	call := r.owner.world.now()
	err := r.act("DELETE", "/members/"+u.id, fmt.Sprintf("remove-%s-%d", u.id, i), nil)
	end := r.owner.world.now()
	if err != nil {
		end = never
	}
	r.note(who, opSend{text: "removed " + u.id}, call, nil, end)
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.members, u.id)
	return nil
}

// act does something to the room within a caller's deadline.
func (r *room) act(method, path, key string, in any) error {
	ctx, cancel := context.WithTimeout(r.owner.world.life, deadline)
	defer cancel()
	return r.owner.ask(ctx, method, "/api/rooms/"+r.id+path, key, in, nil)
}
