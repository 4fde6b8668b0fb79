package container

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"time"

	"ubl"
)

// catalogue is what was published, as one change left it, in the orders of lists. It is made once for all that is asked
// up to the next change: anyone may ask, for as many groups as they can think of. Its parts are made by
// the first who needs them, outside the mailbox.
type catalogue struct {
	changed int64   // the event
	bytes   int64   // of all contents
	entries []entry // by type and id, once read
	newest  []entry // once sorted
	counts  counts  // once counted

	read, sort, count sync.Once
}

// entry is a published document of the catalogue.
type entry struct {
	id      ubl.DocumentID
	as      *ubl.PublishedAs
	title   string
	updated ubl.Time
	// groups, releases and tags are those that it says it is of.
	groups, releases, tags []string
	// day is that which it says it is of, else that of its newest version.
	day string
}

// catalogue is the newest. The mailbox calls it; what it has may be asked by others.
func (c *Container) catalogue() *catalogue {
	s := &c.State
	if c.listed == nil || c.listed.changed != s.Changed {
		c.listed = &catalogue{changed: s.Changed, entries: make([]entry, 0, len(s.Keyed))}
		for _, id := range s.Listed {
			if d := s.Documents[id]; d.Published != nil {
				c.listed.bytes += d.Bytes
				c.listed.entries = append(c.listed.entries, entry{id: id, as: d.Published, title: d.Title, updated: d.UpdatedAt})
			}
		}
	}
	return c.listed
}

// all are its entries by type and id.
func (l *catalogue) all() []entry {
	l.read.Do(func() {
		for i := range l.entries {
			l.entries[i].look()
		}
		slices.SortFunc(l.entries, func(a, b entry) int {
			return cmp.Or(cmp.Compare(a.as.Type, b.as.Type), cmp.Compare(a.as.ID, b.as.ID))
		})
	})
	return l.entries
}

// byDay are its entries, the newest first.
func (l *catalogue) byDay() []entry {
	all := l.all()
	l.sort.Do(func() {
		l.newest = slices.Clone(all)
		slices.SortStableFunc(l.newest, func(a, b entry) int { return cmp.Compare(b.day, a.day) })
	})
	return l.newest
}

// list is a part of the documents that a list is for, and how many those are in all.
func (l *catalogue) list(of ubl.ListKnowledge) (part []entry, total int) {
	var all []entry
	if of.Newest {
		all = l.byDay()
	} else {
		all = ofType(l.all(), of.Type)
		of.Type = ""
	}
	if of.Type == "" && of.Group == "" && of.Release == "" && of.Tag == "" {
		part = all[min(of.Offset, len(all)):]
		return part[:min(of.Limit, len(part))], len(all)
	}
	for _, e := range all {
		if of.Type != "" && e.as.Type != of.Type || !has(e.groups, of.Group) || !has(e.releases, of.Release) || !has(e.tags, of.Tag) {
			continue
		}
		if total >= of.Offset && len(part) < of.Limit {
			part = append(part, e)
		}
		total++
	}
	return part, total
}

// ofType are the entries of a type among those sorted by it, all for "".
func ofType(all []entry, kind string) []entry {
	if kind == "" {
		return all
	}
	byType := func(e entry, kind string) int { return cmp.Compare(e.as.Type, kind) }
	from, _ := slices.BinarySearchFunc(all, kind, byType)
	to, _ := slices.BinarySearchFunc(all, kind+"\x00", byType)
	return all[from:to]
}

// look reads what the document says of itself.
func (e *entry) look() {
	var says struct{ Group, Release, Tags, Date any }
	_ = json.Unmarshal(e.as.Metadata, &says) // it was checked when it came
	e.groups, e.releases, e.tags = textsOf(says.Group), textsOf(says.Release), textsOf(says.Tags)
	e.day = e.updated.Std().Format(time.DateOnly)
	if text, ok := says.Date.(string); ok && len(text) >= len(time.DateOnly) {
		if _, err := time.Parse(time.DateOnly, text[:len(time.DateOnly)]); err == nil {
			e.day = text[:len(time.DateOnly)]
		}
	}
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
