package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"ubl"
	"ubl/actors/families"
	"ubl/storage"
)

// accept opens the store without what its journals have lost, and receipts that.
func (c *scrubCmd) accept(ctx context.Context, p *program) error {
	store, err := storage.Open(c.Data, &storage.Options{Random: p.random, Now: p.now, AcceptJournalLoss: true, Numbers: families.All.Numbers()})
	if err != nil {
		return openHint(c.Data, err)
	}
	p.tellRemade(store)
	losses, err := store.Losses()
	if err = errors.Join(err, store.Close()); err != nil {
		return err
	}
	if len(losses) == 0 {
		_, err = fmt.Fprintln(p.out, "no journal has lost anything")
		return err
	}
	for _, l := range losses {
		fmt.Fprintf(p.out, "partition %d: %s; %s\n", l.Partition, lost(l, math.MaxInt), kept(l))
	}
	if err := p.withNode(ctx, c.Data, func(*node) error { return nil }); err != nil { // which receipts it
		return fmt.Errorf("given up, and not yet receipted, which the server's start does: %w", err)
	}
	return nil
}

// kept says where the damaged journal is.
func kept(l storage.Loss) string {
	if l.Kept == "" {
		return "there was no journal to keep"
	}
	return "the journal is kept as " + l.Kept
}

// shownLedgers is how many ledgers of a kind a receipt names, and how many rooms of each,
// so that what it says is a message. The command names all that were noted.
const shownLedgers = 5

// lost says what is missing of a journal, and what nobody can know, naming at most so
// many ledgers, and rooms of each.
func lost(l storage.Loss, shown int) string {
	if l.To == 0 {
		return fmt.Sprintf("all records before %d are there, and nothing says whether there were more", l.From)
	}
	text := fmt.Sprintf("records %d to %d are lost", l.From, l.To)
	known, maybe := lostParts(l, shown)
	if len(known) > 0 {
		text += ": " + some(known, shown, 0)
	}
	if l.Unread == 0 {
		return text
	}
	text += fmt.Sprintf("; %s can't be read any more: nobody can know whose acts they held, how many, or what they were", plural(int(l.Unread), "record"))
	if len(maybe) > 0 {
		text += "; they may also be of " + some(maybe, shown, l.More)
	}
	return text + ", or of a ledger that began with them"
}

// lostParts tells of the ledgers that have lost something, and of those that may have.
func lostParts(l storage.Loss, shown int) (known, maybe []string) {
	for _, ledger := range l.Ledgers {
		if ledger.Newest == 0 {
			maybe = append(maybe, fmt.Sprintf("%s (kept up to atom %d)", clean(ledger.Group), ledger.Kept))
			continue
		}
		text := fmt.Sprintf("%s keeps its atoms up to %d and lost %d to %d", clean(ledger.Group), ledger.Kept, ledger.Kept+1, ledger.Newest)
		var runs []string
		for _, run := range ledger.Runs {
			runs = append(runs, lostRun(run))
		}
		if len(runs) > 0 {
			text += ", among them " + some(runs, shown, 0)
		}
		known = append(known, text)
	}
	return known, maybe
}

// lostRun names numbered records: a room's entries, or the events behind a state.
func lostRun(run storage.LostRun) string {
	what, number := "event", fmt.Sprint(run.From)
	if run.Space == "m" {
		what = "entry"
	}
	if run.To > run.From {
		number = fmt.Sprintf("%d to %d", run.From, run.To)
		what = map[string]string{"event": "events", "entry": "entries"}[what]
	}
	return fmt.Sprintf("%s %s of %s", what, number, clean(run.Name))
}

// some joins the first few of a list, and counts the rest.
func some(list []string, shown, more int) string {
	if n := len(list); n > shown {
		list, more = list[:shown], more+n-shown
	}
	text := strings.Join(list, ", ")
	if more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// lossFields is what a receipt knows of a loss. Lists are texts: an act of the platform
// says what it has in plain values.
func lossFields(l storage.Loss) ubl.Fields {
	known, maybe := lostParts(l, shownLedgers)
	fields := ubl.Fields{ubl.Int("partition", int64(l.Partition)), ubl.Int("record_from", int64(l.From)), ubl.Int("record_to", int64(l.To)),
		ubl.Str("tenants", strings.Join(l.Groups[:min(len(l.Groups), shownLedgers)], " ")), ubl.Str("lost", some(known, shownLedgers, 0)),
		ubl.Int("atoms_lost", atomsLost(l)), ubl.Int("records_unread", int64(l.Unread))}
	if l.Unread > 0 {
		fields = append(fields, ubl.Str("may_be_of", some(maybe, shownLedgers, l.More)))
	}
	return fields
}

// atomsLost is how many atoms are known to be lost; records that can't be read held more.
func atomsLost(l storage.Loss) (n int64) {
	for _, ledger := range l.Ledgers {
		n += max(0, ledger.Newest-ledger.Kept)
	}
	return n
}

// announceLosses receipts what an operator gave up, once.
func (n *node) announceLosses(ctx context.Context) error {
	losses, err := n.store.Losses()
	if err != nil {
		return fmt.Errorf("couldn't read what was given up: %w", err)
	}
	for _, l := range losses {
		req, err := n.request()
		if err != nil {
			return err
		}
		req.Key = fmt.Sprintf("%s:%s:%d:%d", ubl.DidPlatformJournalLoss, n.store.Incarnation(), l.Partition, l.At)
		err = n.announce(ctx, req, announcement{to: ubl.OpsRoom, did: ubl.DidPlatformJournalLoss,
			text: fmt.Sprintf("Given up: in partition %d %s", l.Partition, lost(l, shownLedgers)), more: lossFields(l)})
		if err == nil {
			err = n.store.ForgetLoss(l)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
