package container

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"ubl"
	"ubl/actors"
)

func (c *Container) overviewKnowledge(t *actors.Turn) {
	tier := func(did ubl.Did) ubl.Tier {
		if c.State.shows(did, t.Now()) != nil {
			return ubl.TierMembers
		}
		return ubl.TierOpen
	}
	out := &ubl.KnowledgeOverview{
		Name: c.State.Summary.Name, Events: c.State.Events,
		Access: ubl.KnowledgeAccess{Search: tier(ubl.DidDocumentSearch), Entries: tier(ubl.DidDocumentGet)},
	}
	all := c.catalogue()
	c.showing(t, ubl.DidDocumentList, func(context.Context) (any, error) {
		n := all.counted()
		out.Total, out.Types, out.Groups, out.Releases, out.Tags = len(all.entries), n.types, n.groups, n.releases, n.tags
		return out, nil
	})
}

// counts are how many documents are of each type, group and release, and have each tag.
type counts struct {
	types, groups, releases, tags []ubl.KnowledgeCount
}

func (l *catalogue) counted() *counts {
	all := l.all()
	l.count.Do(func() {
		types, groups, releases, tags := tally{}, tally{}, tally{}, tally{}
		for _, e := range all {
			types.add([]string{e.as.Type})
			groups.add(e.groups)
			releases.add(e.releases)
			tags.add(e.tags)
		}
		l.counts = counts{types.counts(), groups.counts(), releases.counts(), tags.counts()}
	})
	return &l.counts
}

// tally counts names by how they are spelled, below what they are whatever the case.
type tally map[string]map[string]int

// add counts each name once.
func (n tally) add(names []string) {
	seen := map[string]bool{}
	for _, name := range names {
		name = strings.TrimSpace(name)
		folded := strings.ToLower(name)
		if name == "" || seen[folded] {
			continue
		}
		if n[folded] == nil {
			n[folded] = map[string]int{}
		}
		seen[folded] = true
		n[folded][name]++
	}
}

// counts are the names that are counted most, by name.
func (n tally) counts() []ubl.KnowledgeCount {
	out := make([]ubl.KnowledgeCount, 0, len(n))
	for _, spellings := range n {
		var one ubl.KnowledgeCount
		most := 0
		for _, name := range slices.Sorted(maps.Keys(spellings)) {
			if one.Count += spellings[name]; spellings[name] > most {
				one.Name, most = name, spellings[name]
			}
		}
		out = append(out, one)
	}
	byName := func(a, b ubl.KnowledgeCount) int {
		return cmp.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name))
	}
	slices.SortFunc(out, func(a, b ubl.KnowledgeCount) int { return cmp.Or(cmp.Compare(b.Count, a.Count), byName(a, b)) })
	out = out[:min(len(out), ubl.MaxKnowledgeNames)]
	slices.SortFunc(out, byName)
	return out
}
