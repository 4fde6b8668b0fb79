package knowledge

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"ubl"
)

// Limits of a vault.
const (
	MaxFiles = 500_000 // Markdown files
	MaxVault = 1 << 30 // bytes of them
)

// Vault is what a folder of files says, as a whole.
type Vault struct {
	Ontology *Ontology
	Entries  []*Entry  // by path
	Problems []Problem // of what is no entry: symbolic links, folders that aren't read
}

// Read reads a vault. It follows no symbolic links; who opens a folder of the disk takes
// [os.Root], so that none leads out of it in the meantime either. The error is of the folder
// itself, which can't be read or is too large as a whole: nothing may be concluded from a part.
func Read(ctx context.Context, vault fs.FS, o *Ontology) (*Vault, error) {
	r := &vaultReader{vault: vault, ontology: o}
	err := fs.WalkDir(vault, ".", func(file string, d fs.DirEntry, err error) error {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		return r.visit(file, d)
	})
	if err != nil {
		return nil, fmt.Errorf("couldn't read the vault: %w", err)
	}
	v := Assemble(o, r.entries)
	v.Problems = r.problems
	return v, nil
}

// vaultReader gathers the entries of a vault.
type vaultReader struct {
	vault    fs.FS
	ontology *Ontology
	entries  []*Entry
	problems []Problem
	bytes    int64
}

func (r *vaultReader) visit(file string, d fs.DirEntry) error {
	switch {
	case file == ".":
		return nil
	case d.IsDir() && !r.ontology.includesFolder(file):
		return fs.SkipDir
	case d.IsDir() && len(file) > MaxPath:
		r.problems = append(r.problems, Problem{Path: file, Severity: Broken, Message: "the folder is nested too deep, and isn't read"})
		return fs.SkipDir
	case d.IsDir():
		return nil
	case d.Type()&fs.ModeSymlink != 0:
		r.problems = append(r.problems, Problem{Path: file, Severity: Note, Message: "a symbolic link isn't followed"})
		return nil
	case !d.Type().IsRegular() || !r.ontology.Includes(file):
		return nil
	}
	if len(r.entries) == MaxFiles {
		return fmt.Errorf("it has more than %d Markdown files", MaxFiles)
	}
	e, err := r.entry(file)
	r.entries = append(r.entries, e)
	return err
}

// entry reads a file, unless it is larger than any entry.
func (r *vaultReader) entry(file string) (*Entry, error) {
	f, err := r.vault.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil {
		return nil, err
	} else if info.Size() > MaxFile {
		e := r.ontology.newEntry(file)
		e.tellTooLarge(info.Size())
		return e, nil
	}
	data, err := io.ReadAll(io.LimitReader(f, MaxFile+1)) // it may grow
	if err != nil {
		return nil, err
	}
	if r.bytes += int64(len(data)); r.bytes > MaxVault {
		return nil, fmt.Errorf("its Markdown has more than %d bytes", MaxVault)
	}
	return r.ontology.Parse(file, data), nil
}

// Assemble makes a vault of entries, which it sorts and completes: links are resolved, and keys
// settled as where nothing is stored yet. Entries may have no body.
func Assemble(o *Ontology, entries []*Entry) *Vault {
	slices.SortFunc(entries, func(a, b *Entry) int { return strings.Compare(a.Path, b.Path) })
	x := newIndex(entries)
	for _, e := range entries {
		e.resolve(x)
		e.own = len(e.Problems)
	}
	v := &Vault{Ontology: o, Entries: entries}
	v.Settle(nil)
	return v
}

// Settle decides which entry gets a key that several give, from the paths of what is stored: the
// one that is stored under it already, else the first by path. The others become broken, so that no
// new file takes over a document. A broken file keeps its key, too: what is stored of it stays.
//
// It also tells which links lead to nothing that is published, of entries that are. The last call
// counts.
func (v *Vault) Settle(stored map[ubl.DocumentKey]string) {
	s := settling{holds: map[string][]ubl.DocumentKey{}, claims: map[ubl.DocumentKey][]*Entry{}}
	for key, path := range stored {
		s.holds[path] = append(s.holds[path], key)
	}
	var broken []*Entry
	for _, e := range v.Entries {
		e.Problems = e.Problems[:e.own]
		switch {
		case e.Published(false):
			s.claims[e.Key()] = append(s.claims[e.Key()], e)
		case e.Worst() == Broken:
			broken = append(broken, e)
		}
	}
	s.protect(broken)
	s.lost = nil
	for key, claims := range s.claims {
		s.give(claims, stored[key])
	}
	s.protect(s.lost)
	for _, e := range v.Entries {
		e.tellLinks()
	}
}

// settling is the keys of a vault while they are given to entries.
type settling struct {
	holds  map[string][]ubl.DocumentKey // what is stored of each path
	claims map[ubl.DocumentKey][]*Entry // who asks for each key, by path
	lost   []*Entry
}

// give gives a key to the entry at a path, or to the first that hasn't lost it yet.
func (s *settling) give(claims []*Entry, path string) {
	claims = slices.DeleteFunc(claims, func(e *Entry) bool { return !e.Published(false) })
	winner := max(0, slices.IndexFunc(claims, func(e *Entry) bool { return e.Path == path }))
	for i, e := range claims {
		if i != winner {
			s.refuse(e, claims[winner].Path)
		}
	}
}

// refuse has an entry lose its key to the one at a path.
func (s *settling) refuse(e *Entry, path string) {
	e.tell(Broken, 0, "", "%s is stored as %s already: give one of them another name or type", path, e.Key())
	s.lost = append(s.lost, e)
}

// protect keeps what is stored of broken entries from others: who has such a key loses it, and is
// broken then as well. Each entry becomes broken once, so this ends.
func (s *settling) protect(broken []*Entry) {
	for len(broken) > 0 {
		s.lost = nil
		for _, b := range broken {
			for _, key := range s.holds[b.Path] {
				for _, e := range s.claims[key] {
					if e != b && e.Published(false) {
						s.refuse(e, b.Path)
					}
				}
			}
		}
		broken = s.lost
	}
}

// resolve finds what the entry's links lead to, and drops those to files that aren't Markdown.
func (e *Entry) resolve(x *index) {
	kept := e.Links[:0]
	for _, l := range e.Links {
		to := x.resolve(e, l)
		if to == nil && l.Field == "" && isAttachment(l.Target) {
			continue
		}
		if l.to = to; to != nil {
			l.To = to.Path
		}
		kept = append(kept, l)
	}
	e.Links = kept
}

// tellLinks tells of the links of an entry that is published which lead to nothing that is.
func (e *Entry) tellLinks() {
	if !e.Published(false) {
		return
	}
	for _, l := range e.Links {
		switch {
		case l.to == nil:
			e.tell(Note, l.Line, l.Field, "the link to %q leads to nothing in the vault", firstChars(l.Target, 100))
		case !l.to.Published(false):
			e.tell(Note, l.Line, l.Field, "the link leads to %s, which isn't published", l.to.Path)
		}
	}
}

// Backlinks are the paths of the entries that lead to each path, sorted.
func (v *Vault) Backlinks() map[string][]string {
	back := map[string][]string{}
	for _, e := range v.Entries { // by path, so that each list is sorted
		for _, l := range e.Links {
			from := back[l.To]
			if l.To != "" && l.To != e.Path && (len(from) == 0 || from[len(from)-1] != e.Path) {
				back[l.To] = append(from, e.Path)
			}
		}
	}
	return back
}

// fieldTexts are the texts of a field of the front matter.
func (e *Entry) fieldTexts(name string) []string {
	var fields map[string]any
	if json.Unmarshal(e.Metadata, &fields) != nil {
		return nil
	}
	return texts(fields[name])
}
