package main

import (
	"fmt"
	"strings"

	"ubl"
)

// printTerms writes what an Agreement permits, as rows of "ubl show".
func printTerms(a *ubl.AgreementView, row func(name, format string, a ...any)) {
	if t := a.Terms; t != nil { // a server of an earlier version tells none
		printed(t, row)
	}
	if p := a.Proposal; p != nil {
		row("proposed", "other terms, %s, by %s, waiting for %d", p.TermsHash, p.By, len(p.Waiting))
		printed(&p.Terms, func(name, format string, a ...any) { row("- "+name, format, a...) })
	}
	if a.Hash != "" {
		row("hash", "%s", a.Hash)
	}
}

func printed(t *ubl.Terms, row func(name, format string, a ...any)) {
	for _, p := range t.Permits {
		row("permits", "%s to %s", p.Did, strings.Join(p.To, ", "))
	}
	for _, l := range t.Limits {
		row("limits", "%s", limitText(l))
	}
	if t.From != 0 {
		row("from", "%s", t.From)
	}
	if t.Until != 0 {
		row("until", "%s", t.Until)
	}
	for _, text := range t.Obligations {
		row("obliges to", "%s", text)
	}
	row("accepted by", "%s", map[ubl.Acceptance]string{
		ubl.AcceptProposer: "who proposes others", ubl.AcceptOwners: "all owners", ubl.AcceptEntries: "all members",
	}[t.Accept])
}

func limitText(l ubl.Limit) string {
	var bounds []string
	if l.PerMinute > 0 {
		whose := "of each"
		if l.Together {
			whose = "of all together"
		}
		bounds = append(bounds, fmt.Sprintf("%d a minute %s", l.PerMinute, whose))
	}
	if l.Bytes > 0 {
		bounds = append(bounds, fmt.Sprintf("%d bytes each", l.Bytes))
	}
	return l.Did + " to " + strings.Join(bounds, ", ")
}
