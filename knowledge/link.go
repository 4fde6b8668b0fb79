package knowledge

import (
	"net/url"
	"path"
	"strconv"
	"strings"

	"golang.org/x/text/unicode/norm"
)

// Link leads from an entry to another one. Addresses outside the vault are none, nor, once they are
// resolved, are pictures and files to download.
type Link struct {
	Target string `json:"target"` // what it leads to, as it is written
	Line   int    `json:"line"`   // of the file
	Field  string `json:"field,omitempty"`
	Wiki   bool   `json:"wiki,omitempty"` // [[written so]]: by name, not by path
	// To is the path of the entry that it leads to, "" where the vault has none.
	To string `json:"to,omitempty"`
	to *Entry
}

// maxTarget is the longest target in bytes.
const maxTarget = 2048

// takeLinks finds the links in the fields that the type has for them, and in the body.
func (e *Entry) takeLinks(o *Ontology, fields map[string]any, front *tree) {
	for _, field := range o.byName[e.Type].Links {
		for i, target := range texts(fields[field]) {
			e.addLink(linkOfField(target, field, front.line(field, strconv.Itoa(i))))
		}
	}
	for _, l := range scan(e.Body) {
		for _, link := range linksOf(e.Body[l.from:l.to]) {
			link.Line = e.BodyLine + l.number
			e.addLink(link)
		}
	}
	if len(e.Links) > MaxLinks {
		more := e.Links[MaxLinks]
		e.tell(Note, more.Line, more.Field, "only the first %d links are followed", MaxLinks)
		e.Links = e.Links[:MaxLinks]
	}
}

// addLink takes one link more than may be, so that it can be told of.
func (e *Entry) addLink(l Link) {
	if len(e.Links) <= MaxLinks && l.Target != "" {
		e.Links = append(e.Links, l)
	}
}

// texts are the strings that a field holds: a list of them, or a single one.
func texts(v any) (list []string) {
	switch v := v.(type) {
	case string:
		return []string{v}
	case []any:
		for _, each := range v {
			text, _ := each.(string)
			list = append(list, text)
		}
	}
	return list
}

// linkOfField is a field's link: a name, [[a name]], or a path.
func linkOfField(text, field string, line int) Link {
	l := Link{Target: strings.TrimSpace(text), Line: line, Field: field, Wiki: true}
	if inner, ok := strings.CutPrefix(l.Target, "[["); ok {
		l.Target = wikiTarget(strings.TrimSuffix(inner, "]]"))
	}
	return l
}

// linksOf are the links in a line: [[name]], [text](path) and [label]: path.
func linksOf(line string) (links []Link) {
	line = withoutCode(line)
	if target, ok := definition(line); ok {
		return internal(target)
	}
	closed := -1 // where the next ]] is: it is looked for once, however often [[ is there
	for at := 0; at < len(line); at++ {
		rest := line[at:]
		escaped := at > 0 && line[at-1] == '\\'
		switch {
		case strings.HasPrefix(rest, "[[") && !escaped:
			if closed < at+2 {
				closed = len(line)
				if next := strings.Index(line[at+2:], "]]"); next >= 0 {
					closed = at + 2 + next
				}
			}
			if closed-at > maxTarget || closed == len(line) {
				continue
			}
			if target := wikiTarget(line[at+2 : closed]); target != "" {
				links = append(links, Link{Target: target, Wiki: true})
			}
			at = closed + 1
		case strings.HasPrefix(rest, "](") && !escaped:
			target, looked := destination(rest[2:])
			links = append(links, internal(target)...)
			at += looked + 1
		}
	}
	return links
}

// wikiTarget is what a wiki link names, without a label and a heading. In a table the bar before the
// label is escaped.
func wikiTarget(inner string) string {
	target, _, _ := strings.Cut(strings.ReplaceAll(inner, `\|`, "|"), "|")
	target, _, _ = strings.Cut(target, "#")
	return strings.TrimSpace(target)
}

// definition is the path of a line [label]: path; notes at a page's foot, [^1]:, are none.
func definition(line string) (string, bool) {
	text := strings.TrimLeft(line, " ")
	label, rest, ok := strings.Cut(text, "]:")
	if !ok || len(line)-len(text) > 3 || !strings.HasPrefix(label, "[") || strings.HasPrefix(label, "[^") || strings.ContainsAny(label[1:], "[]") {
		return "", false
	}
	target, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
	return strings.Trim(target, "<>"), true
}

// destination is what stands between a link's brackets, without a title, and how many bytes were
// looked at to find it.
func destination(rest string) (target string, looked int) {
	rest = rest[:min(len(rest), maxTarget)]
	from := len(rest) - len(strings.TrimLeft(rest, " "))
	if strings.HasPrefix(rest[from:], "<") {
		if end := strings.IndexByte(rest, '>'); end > 0 {
			return rest[from+1 : end], end
		}
		return "", len(rest)
	}
	depth := 0
	for i := from; i < len(rest); i++ {
		switch c := rest[i]; {
		case c == '(':
			depth++
		case c == ' ' || c == ')' && depth == 0:
			return rest[from:i], i
		case c == ')':
			depth--
		}
	}
	return "", len(rest)
}

// internal is the link to a path within the vault, if it is one.
func internal(target string) []Link {
	target, _, _ = strings.Cut(target, "#")
	target, _, _ = strings.Cut(target, "?")
	if plain, err := url.PathUnescape(target); err == nil {
		target = plain
	}
	if target == "" || !clean(target) || strings.HasPrefix(target, "//") || hasScheme(target) {
		return nil
	}
	return []Link{{Target: target}}
}

// hasScheme reports whether an address begins with https: or the like.
func hasScheme(target string) bool {
	scheme, _, ok := strings.Cut(target, ":")
	return ok && scheme != "" && !strings.ContainsFunc(scheme, func(c rune) bool {
		return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '+' && c != '-' && c != '.'
	})
}

// isAttachment reports whether a target has the ending of a file that isn't Markdown. What has
// digits behind its dot, as v1.2, is a name; so is Node.js where the vault has a file of that name.
func isAttachment(target string) bool {
	ending := strings.TrimPrefix(path.Ext(target), ".")
	return ending != "" && ending != "md" && len(ending) <= 5 && !strings.ContainsAny(ending[:1], "0123456789 ")
}

// index finds the entries of a vault. Each is a single lookup, however many files have one name.
type index struct {
	byPath map[string]*Entry // without .md, and by permalink
	byName map[string]*Entry // by file names and aliases, whatever their case: in the fewest folders
	beside map[named]*Entry  // the same, by folder
}

// named is a name in a folder.
type named struct{ folder, name string }

// newIndex indexes entries that are sorted by path.
func newIndex(entries []*Entry) *index {
	x := &index{map[string]*Entry{}, map[string]*Entry{}, map[named]*Entry{}}
	for _, e := range entries {
		x.byPath[pathKey(e.Path)] = e
		for _, name := range append([]string{stem(e.Path)}, e.fieldTexts("aliases")...) {
			x.name(e, nameKey(name))
		}
	}
	for _, e := range entries {
		for _, link := range e.fieldTexts("permalink") {
			key := pathKey(strings.Trim(link, "/"))
			if _, taken := x.byPath[key]; !taken && key != "" {
				x.byPath[key] = e
			}
		}
	}
	return x
}

// name notes an entry under a name. Of several in one folder, or in as few folders, the first counts.
func (x *index) name(e *Entry, name string) {
	at := named{path.Dir(e.Path), name}
	if x.beside[at] == nil {
		x.beside[at] = e
	}
	if first := x.byName[name]; first == nil || strings.Count(e.Path, "/") < strings.Count(first.Path, "/") {
		x.byName[name] = e
	}
}

func pathKey(file string) string { return norm.NFC.String(strings.TrimSuffix(file, ".md")) }
func nameKey(name string) string { return strings.ToLower(norm.NFC.String(strings.TrimSpace(name))) }

// resolve finds what a link leads to, nil for nothing.
func (x *index) resolve(from *Entry, l Link) *Entry {
	if !l.Wiki || strings.HasPrefix(l.Target, "/") || strings.HasPrefix(l.Target, ".") {
		return x.atPath(from, l.Target)
	}
	if strings.Contains(l.Target, "/") {
		if to := x.below(path.Clean(l.Target)); to != nil {
			return to
		}
		return x.atPath(from, l.Target)
	}
	name := nameKey(strings.TrimSuffix(l.Target, ".md"))
	if to := x.beside[named{path.Dir(from.Path), name}]; to != nil {
		return to
	}
	return x.byName[name]
}

// atPath is what a path leads to: from the vault's root where it begins with a slash, else from
// the file's folder. None leads out of the vault.
func (x *index) atPath(from *Entry, target string) *Entry {
	if !strings.HasPrefix(target, "/") {
		target = path.Join(path.Dir(from.Path), target)
	}
	return x.below(strings.TrimPrefix(path.Clean(target), "/"))
}

// below is the entry at a path from the root: a file, or a folder's index.
func (x *index) below(target string) *Entry {
	if e, ok := x.byPath[pathKey(target)]; ok {
		return e
	}
	return x.byPath[pathKey(path.Join(target, "index"))]
}
