package container

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"sync"

	"ubl"
)

// catalogue is what was published, as one change left it, in the order of lists. It is made once for all lists up to
// the next change: anyone may ask for those, by as many groups as they can think of.
type catalogue struct {
	changed int64 // the event
	order   sync.Once
	entries []entry
}

// entry is a published document of the catalogue.
type entry struct {
	id ubl.DocumentID
	as *ubl.PublishedAs
	// groups and releases are those that it says it is of.
	groups, releases []string
}

// catalogue is the newest. The mailbox calls it; [catalogue.list] may be called by others.
func (c *Container) catalogue() *catalogue {
	s := &c.State
	if c.listed == nil || c.listed.changed != s.Changed {
		c.listed = &catalogue{changed: s.Changed, entries: make([]entry, 0, len(s.Keyed))}
		for _, id := range s.Listed {
			if as := s.Documents[id].Published; as != nil {
				c.listed.entries = append(c.listed.entries, entry{id: id, as: as})
			}
		}
	}
	return c.listed
}

// list is a part of the documents that a list is for, and how many those are in all.
func (l *catalogue) list(of ubl.ListKnowledge) (part []entry, total int) {
	l.order.Do(l.sort)
	all := l.entries
	if of.Type != "" {
		byType := func(e entry, kind string) int { return cmp.Compare(e.as.Type, kind) }
		from, _ := slices.BinarySearchFunc(all, of.Type, byType)
		all = all[from:]
		to, _ := slices.BinarySearchFunc(all, of.Type+"\x00", byType)
		all = all[:to]
	}
	if of.Group == "" && of.Release == "" {
		part = all[min(of.Offset, len(all)):]
		return part[:min(of.Limit, len(part))], len(all)
	}
	for _, e := range all {
		if !has(e.groups, of.Group) || !has(e.releases, of.Release) {
			continue
		}
		if total >= of.Offset && len(part) < of.Limit {
			part = append(part, e)
		}
		total++
	}
	return part, total
}

// sort reads what the documents say of themselves, and puts them into order.
func (l *catalogue) sort() {
	for i := range l.entries {
		e := &l.entries[i]
		var says map[string]any
		_ = json.Unmarshal(e.as.Metadata, &says) // it was checked when it came
		e.groups, e.releases = textsOf(says["group"]), textsOf(says["release"])
	}
	slices.SortFunc(l.entries, func(a, b entry) int {
		return cmp.Or(cmp.Compare(a.as.Type, b.as.Type), cmp.Compare(a.as.ID, b.as.ID))
	})
}

// textsOf are the texts of a value: itself, or those of a list.
func textsOf(value any) (texts []string) {
	switch v := value.(type) {
	case string:
		return []string{v}
	case []any:
		for _, item := range v {
			texts = append(texts, textsOf(item)...)
		}
	}
	return texts
}

// has reports whether a text is among others, whatever the case; "" is.
func has(texts []string, text string) bool {
	return text == "" || slices.ContainsFunc(texts, func(t string) bool { return strings.EqualFold(t, text) })
}
