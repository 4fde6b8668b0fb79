package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"ubl"
)

// tally writes what is imported, and counts it.
type tally struct {
	*client
	p   *program
	dry bool

	done    map[string]int // what was imported, by what it is
	already int            // what was there
	left    map[string]int // what can't be imported, by why
	refused []leftOut
}

func newTally(server *client, p *program, dry bool) tally {
	return tally{client: server, p: p, dry: dry, done: map[string]int{}, left: map[string]int{}}
}

// put does one thing. made is false where the server has refused it, which is on the list then,
// and in a dry run.
func (t *tally) put(ctx context.Context, what, id, method, path, key string, body map[string]any, answer any) (made bool, err error) {
	if t.dry {
		t.done[what]++
		return false, nil
	}
	body["client_request_id"] = "import:" + key
	err = t.call(ctx, method, path, body, answer)
	if t.refuses(id, err) {
		return false, nil
	}
	if err != nil {
		return false, thenDo(err, "run it again: what is there already is passed over")
	}
	t.done[what]++
	return true, nil
}

// refuses puts a thing on the list that the server doesn't take, whatever is tried.
func (t *tally) refuses(id string, err error) bool {
	refusal, ok := errors.AsType[*apiError](err)
	if !ok {
		return false
	}
	switch refusal.body.Error.Code {
	case ubl.CodeForbidden, ubl.CodeNotAMember, ubl.CodeNotFound, ubl.CodeValidation, ubl.CodeTooLarge, ubl.CodeConflict:
		t.refused = append(t.refused, leftOut{id, refusal.Error()})
		return true
	}
	return false
}

// end is an error where the server has refused anything.
func (t *tally) end() error {
	if n := len(t.refused); n > 0 {
		return fmt.Errorf("%s refused by the server; all else is there", wasRefused(n))
	}
	return nil
}

func wasRefused(n int) string {
	if n == 1 {
		return "1 thing was"
	}
	return fmt.Sprintf("%d things were", n)
}

// kindsImported are in the order in which they are told.
var kindsImported = []string{"room", "container", "member", "note", "message", "edit", "reaction", "pin", "document", "version", "file"}

// maxRefusedTold is how many refusals people are told of.
const maxRefusedTold = 20

// tell says what was done, or would be. JSON has more members.
func (t *tally) tell(asJSON bool, from string, more map[string]any) error {
	if asJSON {
		done := map[string]int{}
		for _, kind := range kindsImported {
			done[kind+"s"] = t.done[kind]
		}
		all := map[string]any{
			"dry_run": t.dry, "from": from, "imported": done, "already_there": t.already, "left_behind": t.left,
			"refused": append([]leftOut{}, t.refused...),
		}
		maps.Copy(all, more)
		return json.NewEncoder(t.p.out).Encode(all)
	}
	for n, r := range t.refused {
		if n == maxRefusedTold {
			fmt.Fprintf(t.p.err, "refused: %d more (--json has them)\n", len(t.refused)-n)
			break
		}
		fmt.Fprintf(t.p.err, "refused: %s (%s)\n", clean(r.ID), clean(r.Why))
	}
	for _, why := range slices.Sorted(maps.Keys(t.left)) {
		fmt.Fprintf(t.p.err, "left behind: %d (%s)\n", t.left[why], why)
	}
	var parts []string
	for _, kind := range kindsImported {
		if n := t.done[kind]; n > 0 {
			parts = append(parts, plural(n, kind))
		}
	}
	if len(parts) == 0 {
		parts = []string{"nothing new"}
	}
	how := "imported"
	if t.dry {
		how = "would import"
	}
	_, err := fmt.Fprintf(t.p.out, "%s from %s: %s; %d already there\n", how, clean(from), strings.Join(parts, ", "), t.already)
	return err
}
