package knowledge

import (
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"ubl"
)

// Limits of a file.
const (
	MaxFile     = 4<<20 + 64<<10 // bytes
	MaxPath     = ubl.MaxPathBytes
	MaxID       = ubl.MaxKeyBytes
	MaxMetadata = ubl.MaxMetadataBytes // of canonical JSON
	MaxLinks    = 5000                 // those after it aren't followed
)

// frontBounds are how much front matter is read.
var frontBounds = bounds{bytes: 16 << 10, nodes: 2000, depth: 16, aliases: 10}

// Entry is one file of a vault.
type Entry struct {
	Path string // in the vault, with slashes
	// ID is the file's name without .md, at most 64 bytes. An index.md of type index is named after
	// its folder, since every folder may have one: docs/map/index.md is docs-map.
	ID   string
	Type string // what the front matter says, where the ontology has it, else as the folder says
	// Title is one line, never empty: the front matter's, else the first heading, else the ID.
	Title string
	// Metadata is the front matter as canonical JSON, at most 8 KiB. Fields without a value are
	// left out, dates are RFC 3339. Where the front matter says nothing it is {}.
	Metadata json.RawMessage
	Body     string // what follows the front matter, with lines that end in \n
	BodyLine int    // the line of the file where it begins
	Links    []Link // as they stand in the front matter's fields, then in the body
	Publish  bool   // the front matter says publish: true, and nothing else
	Draft    bool   // the front matter says something other than draft: false
	Problems []Problem
	own      int // how many of the problems are the file's own: the rest follows from other files
}

// Key is what an entry is stored under: its type and ID. Files of one name in folders of different
// types don't collide.
func (e *Entry) Key() ubl.DocumentKey { return ubl.DocumentKey{Type: e.Type, ID: e.ID} }

// Worst is the severity of the worst problem, "" where there is none.
func (e *Entry) Worst() Severity {
	worst := Severity("")
	for _, s := range []Severity{Note, Invalid, Broken} {
		if slices.ContainsFunc(e.Problems, func(p Problem) bool { return p.Severity == s }) {
			worst = s
		}
	}
	return worst
}

// Published reports whether the entry is to be stored, for others to read: it says so itself, it
// isn't a draft, and nothing is wrong with it that the mode refuses.
func (e *Entry) Published(strict bool) bool { return e.Withheld(strict) == "" }

// Why an entry isn't stored.
const (
	WithheldUnpublished = "unpublished" // it doesn't say publish: true
	WithheldDraft       = "draft"
	WithheldBroken      = "broken"  // what was stored of it before stays
	WithheldInvalid     = "invalid" // in strict mode
)

// Withheld says why the entry isn't stored, "" where it is.
func (e *Entry) Withheld(strict bool) string {
	worst := e.Worst()
	switch {
	case worst == Broken:
		return WithheldBroken
	case !e.Publish:
		return WithheldUnpublished
	case e.Draft:
		return WithheldDraft
	case strict && worst == Invalid:
		return WithheldInvalid
	}
	return ""
}

func (e *Entry) tell(severity Severity, line int, field, format string, args ...any) {
	e.Problems = append(e.Problems, Problem{e.Path, line, field, severity, fmt.Sprintf(format, args...)})
}

// newEntry is an entry of which only the path is known.
func (o *Ontology) newEntry(file string) *Entry {
	return &Entry{Path: file, Type: o.TypeAt(file), ID: stem(file), Title: stem(file), Metadata: json.RawMessage("{}")}
}

func stem(file string) string { return strings.TrimSuffix(path.Base(file), ".md") }

// Parse reads one file of a vault. It always makes an entry: what is wrong with the file is in its
// Problems. Of a file that isn't to be published only what hinders reading it is told.
// Links are not resolved yet: see [Assemble].
func (o *Ontology) Parse(file string, data []byte) *Entry {
	e := o.newEntry(file)
	front, ok := e.read(data)
	if !ok {
		return e
	}
	fields := e.takeFront(front)
	told := len(e.Problems)
	if !e.Publish || e.Draft {
		defer func() { e.Problems = e.Problems[:told] }()
	}
	e.takeType(o, fields, front)
	e.takeTitle(fields, front)
	e.takeMetadata(fields)
	e.fit(o, fields, front)
	e.takeLinks(o, fields, front)
	return e
}

// read checks the path and the text, and parts the front matter from the body.
func (e *Entry) read(data []byte) (*tree, bool) {
	if !ubl.ValidSourcePath(e.Path) || strings.Contains(e.Path, `\`) {
		e.tell(Broken, 0, "", "the path has more than %d bytes, or characters that can't be seen", MaxPath)
		return nil, false
	}
	if len(data) > MaxFile {
		e.tellTooLarge(int64(len(data)))
		return nil, false
	}
	text, line, wrong := normal(data)
	if wrong != "" {
		e.tell(Broken, line, "", "%s", wrong)
		return nil, false
	}
	yaml, body, bodyLine, closed := split(text)
	if !closed {
		e.tell(Broken, 1, "", "the front matter has no end: a line --- belongs behind it")
		return nil, false
	}
	front, bad := readYAML([]byte(yaml), 2, frontBounds)
	if bad != nil {
		e.tell(Broken, bad.line, "", "front matter: %s", bad.message)
		return nil, false
	}
	e.Body, e.BodyLine = body, bodyLine
	return front, true
}

func (e *Entry) tellTooLarge(size int64) {
	e.tell(Broken, 0, "", "the file has %d bytes; at most %d are read", size, MaxFile)
}

// clean reports whether a path can be shown and stored: UTF-8 without control characters.
func clean(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s, unicode.IsControl)
}

// normal is a file's text without a byte order mark and with lines that end in \n, or what keeps
// it from being a text, and in which line.
func normal(data []byte) (text string, line int, wrong string) {
	text = strings.TrimPrefix(string(data), "\ufeff")
	if i := strings.IndexByte(text, 0); i >= 0 {
		return "", 1 + strings.Count(text[:i], "\n"), "this is no text: it has a NUL"
	}
	if !utf8.ValidString(text) {
		valid := 0
		for valid < len(text) {
			r, n := utf8.DecodeRuneInString(text[valid:])
			if r == utf8.RuneError && n == 1 {
				break
			}
			valid += n
		}
		return "", 1 + strings.Count(text[:valid], "\n"), "this is no text in UTF-8"
	}
	return strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text), 0, ""
}

// split parts the YAML between two lines of --- from the body behind it. A file may have none.
func split(text string) (yaml, body string, bodyLine int, closed bool) {
	first, rest, more := strings.Cut(text, "\n")
	if strings.TrimRight(first, " \t") != "---" {
		return "", text, 1, true
	}
	if !more {
		return "", "", 0, false
	}
	from := 0
	bodyLine = 2
	for line := range strings.Lines(rest) {
		bodyLine++
		if strings.TrimRight(line, " \t\n") == "---" {
			return rest[:from], rest[from+len(line):], bodyLine, true
		}
		from += len(line)
	}
	return "", "", 0, false
}

// takeFront takes what decides whether the entry is for others, and drops fields without a value.
// When in doubt, it isn't.
func (e *Entry) takeFront(front *tree) map[string]any {
	fields, ok := front.value.(map[string]any)
	if !ok && front.value != nil {
		e.tell(Broken, front.line(), "", "front matter: it has no fields")
	}
	for name, v := range fields {
		if v == nil {
			delete(fields, name)
		}
	}
	for _, flag := range []string{"publish", "draft"} {
		v, there := fields[flag]
		if _, isBool := v.(bool); there && !isBool {
			e.tell(Invalid, front.line(flag), flag, "%s must be true or false", flag)
		}
	}
	e.Publish = fields["publish"] == true
	draft, there := fields["draft"]
	e.Draft = there && draft != false
	return fields
}

// takeType takes the type that the front matter names, else that of the folder.
func (e *Entry) takeType(o *Ontology, fields map[string]any, front *tree) {
	v, there := fields["type"]
	name, _ := v.(string)
	t, known := o.byName[name]
	switch {
	case known && !t.Abstract:
		e.Type = name
	case o.renamed[name] != "":
		e.Type = o.renamed[name]
		e.tell(Note, front.line("type"), "type", "the type is called %s now", e.Type)
	case known:
		e.tell(Invalid, front.line("type"), "type", "the type groups others, and is none by itself; the folder makes it %s", e.Type)
	case there:
		e.tell(Invalid, front.line("type"), "type", "the ontology has no such type; the folder makes it %s", e.Type)
	}
	if dir := path.Dir(e.Path); e.Type == "index" && e.ID == "index" && dir != "." {
		e.ID = strings.ReplaceAll(dir, "/", "-")
	}
	if e.Key().Check() != nil || strings.Trim(e.ID, " .") == "" {
		e.tell(Broken, 0, "", "the file's name is its ID: 1 to %d bytes without .md, and without two dots in a row; this one has %d", MaxID, len(e.ID))
	}
}

// takeTitle takes the title that the front matter has, else the first heading, else the ID.
func (e *Entry) takeTitle(fields map[string]any, front *tree) {
	title, _ := fields["title"].(string)
	if title = oneLine(title); title == "" {
		for _, l := range scan(e.Body) {
			if title = oneLine(l.heading); title != "" {
				break
			}
		}
	}
	if title == "" {
		title = e.ID
	}
	if short := firstChars(title, ubl.MaxTitleChars); short != title {
		e.tell(Invalid, front.line("title"), "title", "title has more than %d characters", ubl.MaxTitleChars)
		title = short
	}
	if err := ubl.CheckTitle(title); err != nil {
		e.tell(Broken, front.line("title"), "title", "%s", ubl.AsError(err).Message)
	}
	e.Title = title
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// firstChars are the first n characters of a text.
func firstChars(s string, n int) string {
	for i := range s {
		if n--; n < 0 {
			return s[:i]
		}
	}
	return s
}

func (e *Entry) takeMetadata(fields map[string]any) {
	if len(fields) == 0 {
		return
	}
	data, err := json.Marshal(fields)
	if err == nil {
		data, err = ubl.Canonical(data)
	}
	switch {
	case err != nil:
		e.tell(Broken, 1, "", "front matter: it can't be written as JSON")
	case len(data) > MaxMetadata:
		e.tell(Broken, 1, "", "front matter: it has %d bytes as JSON, at most %d are kept", len(data), MaxMetadata)
	default:
		e.Metadata = data
	}
}

// fit holds the entry against its type.
func (e *Entry) fit(o *Ontology, fields map[string]any, front *tree) {
	if fields == nil {
		fields = map[string]any{}
	}
	for _, w := range check(o.byName[e.Type].schema, fields) {
		field := w.field()
		if field == "publish" || field == "draft" { // told already, where it decides
			continue
		}
		e.tell(Invalid, max(1, front.line(w.place...)), field, "%s", w.message())
	}
	if n := utf8.RuneCountInString(e.Body); n > ubl.MaxContentChars {
		e.tell(Broken, e.BodyLine, "", "the body has %d characters; a document has at most %d", n, ubl.MaxContentChars)
	}
}
