package container

import (
	"cmp"
	"context"
	"encoding/json"
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
	var all []entry
	if c.State.shows(ubl.DidDocumentList, t.Now()) == nil { // else it is refused, and not worth it
		all = c.State.published("")
	}
	c.showing(t, ubl.DidDocumentList, func(context.Context) (any, error) {
		var types, groups, releases, tags tally
		for _, e := range all {
			var says struct{ Group, Release, Tags any }
			_ = json.Unmarshal(e.as.Metadata, &says) // it was checked when it came
			types.add(e.as.Type)
			groups.add(says.Group)
			releases.add(says.Release)
			tags.add(says.Tags)
		}
		out.Total, out.Types, out.Groups, out.Releases, out.Tags = len(all), types.counts(), groups.counts(), releases.counts(), tags.counts()
		return out, nil
	})
}

// tally counts names by how they are spelled, below what they are whatever the case.
type tally map[string]map[string]int

// add counts a text, or each of a list once.
func (n *tally) add(value any) {
	seen := map[string]bool{}
	for _, name := range namesOf(value) {
		name = strings.TrimSpace(name)
		folded := strings.ToLower(name)
		if name == "" || seen[folded] {
			continue
		}
		if *n == nil {
			*n = tally{}
		}
		if (*n)[folded] == nil {
			(*n)[folded] = map[string]int{}
		}
		seen[folded] = true
		(*n)[folded][name]++
	}
}

// namesOf are the texts in a value.
func namesOf(value any) (all []string) {
	switch v := value.(type) {
	case string:
		return []string{v}
	case []any:
		for _, item := range v {
			if text, ok := item.(string); ok {
				all = append(all, text)
			}
		}
	}
	return all
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
