package search_test

import (
	"context"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ubl"
	"ubl/search"
)

// spoken is a room's messages, as the Room would tell them.
type spoken struct {
	name string
	list []ubl.MessageChange
}

var house = ubl.Name("t:example.com|r:plans").Group()

func (s *spoken) say(text string) {
	n := int64(len(s.list) + 1)
	s.list = append(s.list, ubl.MessageChange{
		RoomMark: ubl.RoomMark{Mark: ubl.Mark{N: n, CID: fmt.Sprintf("c:%s-%d", s.name, n)}, From: 1},
		Seq:      n, Order: n, AuthorID: "u:ana", SentAt: 1_800_000_000_000, Text: text,
	})
}

func (s *spoken) tell(_ context.Context, after ubl.RoomMark, fn func(ubl.MessageChange) error) (bool, error) {
	if after.N > int64(len(s.list)) || after.N > 0 && s.list[after.N-1].Mark != after.Mark {
		return false, nil
	}
	for _, c := range s.list[after.N:] {
		if err := fn(c); err != nil {
			return true, err
		}
	}
	return true, nil
}

// follow is what the tail does: it has the room indexed, again where the index was thrown
// away, and keeps how far the ledger is.
func (s *spoken) follow(t *testing.T, x *search.Index) {
	t.Helper()
	err := x.IndexMessages(t.Context(), house, "r:plans", s.tell)
	if ubl.CodeOf(err) == ubl.CodeUnavailable {
		err = x.IndexMessages(t.Context(), house, "r:plans", s.tell)
	}
	if err == nil {
		err = x.KeepMessages(t.Context(), house, int64(len(s.list)))
	}
	if err != nil {
		t.Fatal(err)
	}
}

// finds are the numbers of what an index has for a query.
func finds(t *testing.T, x *search.Index, query string) string {
	t.Helper()
	q, err := ubl.ParseQuery(query)
	if err != nil {
		t.Fatal(err)
	}
	found, err := x.FindMessages(t.Context(), house, q, []ubl.RoomID{"r:plans"}, ubl.ByOldest, "", 50)
	if err != nil {
		t.Fatal(err)
	}
	var seqs []string
	for _, m := range found.Matches {
		seqs = append(seqs, fmt.Sprint(m.Seq))
	}
	return strings.Join(seqs, " ")
}

// TestADamagedIndexOfMessagesIsMadeAgain: whatever happens to its files, it has all messages
// once the room was told again, and never what isn't so.
func TestADamagedIndexOfMessagesIsMadeAgain(t *testing.T) {
	s := &spoken{}
	for _, text := range []string{"one apple", "two pears", "three apples"} {
		s.say(text)
	}
	random := rand.New(rand.NewPCG(1, 1))
	for name, damage := range map[string]func(path string, size int64) error{
		"deleted":   func(path string, _ int64) error { return os.Remove(path) },
		"emptied":   func(path string, _ int64) error { return os.Truncate(path, 0) },
		"cut":       func(path string, size int64) error { return os.Truncate(path, random.Int64N(size+1)) },
		"scribbled": scribble,
	} {
		t.Run(name, func(t *testing.T) {
			for victim := 0; ; victim++ {
				dir := t.TempDir()
				x := open(t, dir)
				s.follow(t, x)
				x.Close()
				var files []string
				_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
					if err == nil && d.Type().IsRegular() {
						files = append(files, path)
					}
					return nil
				})
				if victim >= len(files) {
					return
				}
				info, err := os.Stat(files[victim])
				if err != nil {
					t.Fatal(err)
				}
				if err := damage(files[victim], info.Size()); err != nil {
					t.Fatal(err)
				}
				x = open(t, dir)
				if got := finds(t, x, "apple "); got != "1 3" && got != "" {
					t.Errorf("%s: found %q", files[victim], got)
				}
				s.follow(t, x)
				if got := finds(t, x, "apple "); got != "1 3" {
					t.Errorf("%s: found %q once it was told again", files[victim], got)
				}
			}
		})
	}
}

// TestMessagesOfAnotherHistory: an index that has seen what never was is thrown away.
func TestMessagesOfAnotherHistory(t *testing.T) {
	was, is := &spoken{name: "was"}, &spoken{name: "is"}
	was.say("one apple")
	was.say("two apples")
	is.say("a pear")
	x := open(t, t.TempDir())
	was.follow(t, x)
	is.follow(t, x)
	if got := finds(t, x, "apple ") + "/" + finds(t, x, "pear "); got != "/1" || x.Stats().Thrown != 1 {
		t.Errorf("found %q, %d thrown away", got, x.Stats().Thrown)
	}
	if at, err := x.MessageCursor(t.Context(), house); at != 1 || err != nil {
		t.Errorf("the cursor is %d: %v", at, err)
	}
}

// TestACrashWhileMessagesAreIndexed: what was told and not kept is told again: the index that
// a crash leaves is one of some moment before, with its cursor and its marks.
func TestACrashWhileMessagesAreIndexed(t *testing.T) {
	dir := t.TempDir()
	s, x := &spoken{}, open(t, dir)
	s.say("one apple")
	s.follow(t, x)
	for i := range 3000 { // more than a batch: a part is written and a part isn't
		s.say(fmt.Sprintf("apple %d", i))
	}
	if err := x.IndexMessages(t.Context(), house, "r:plans", s.tell); err != nil {
		t.Fatal(err)
	}
	left := t.TempDir()
	if err := os.CopyFS(left, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	y := open(t, left)
	if at, err := y.MessageCursor(t.Context(), house); at != 1 || err != nil {
		t.Errorf("the cursor is %d: %v", at, err)
	}
	s.follow(t, y)
	for _, query := range []string{"one ", "0 ", "2999 "} {
		if finds(t, y, query) == "" {
			t.Errorf("%s isn't found", query)
		}
	}
	q, _ := ubl.ParseQuery("apple ")
	all := map[int64]bool{}
	for after := ""; ; {
		found, err := y.FindMessages(t.Context(), house, q, []ubl.RoomID{"r:plans"}, ubl.ByNewest, after, 500)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range found.Matches {
			if all[m.Seq] {
				t.Fatalf("%d is found twice", m.Seq)
			}
			all[m.Seq] = true
			after = m.After
		}
		if !found.More {
			break
		}
	}
	if len(all) != 3001 {
		t.Errorf("found %d", len(all))
	}
}

// TestParseQuery: what a query means.
func TestParseQuery(t *testing.T) {
	for _, test := range []struct{ query, want string }{
		{`a b`, `[a] [b~]`},
		{`a b `, `[a] [b]`},
		{`a* b `, `[a*] [b]`},
		{`"a b" -c`, `["a b"] [-c]`},
		{`-"a b" c "d`, "a quote is opened and not closed"},
		{`from:ana From:"Bob B" in:x`, `from [ana Bob B] in [x]`},
		{`has:Link has:file`, `has [link file]`},
		{`after:2026-01-31`, `2026-02-01 .. -`},
		{`before:2026-01-31 after:2026-01-01`, `2026-01-02 .. 2026-01-31`},
		{`on:2026-12-31`, `2026-12-31 .. 2027-01-01`},
		{`http://x`, `[http://x~]`},
		{`- a`, `[-] [a~]`},
		{`a"b"c `, `[a] ["b"] [c]`},
	} {
		if got := meaning(test.query); got != test.want {
			t.Errorf("%s means %s, want %s", test.query, got, test.want)
		}
	}
}

func meaning(query string) string {
	q, err := ubl.ParseQuery(query)
	if err != nil {
		return ubl.AsError(err).Message
	}
	var parts []string
	for _, c := range q.Clauses {
		s := c.Text
		switch {
		case c.Typed:
			s += "~"
		case c.Prefix:
			s += "*"
		case c.Phrase:
			s = `"` + s + `"`
		}
		if c.Not {
			s = "-" + s
		}
		parts = append(parts, "["+s+"]")
	}
	for name, list := range map[string][]string{"from": q.From, "in": q.In, "has": q.Has} {
		if len(list) > 0 {
			parts = append(parts, fmt.Sprint(name, " ", list))
		}
	}
	slices.Sort(parts[len(q.Clauses):])
	if q.Since > 0 || q.Until > 0 {
		until := "-"
		if q.Until > 0 {
			until = q.Until.String()[:10]
		}
		parts = append(parts, q.Since.String()[:10]+" .. "+until)
	}
	return strings.Join(parts, " ")
}

// FuzzParseQuery: no text makes a query that isn't refused or bounded.
func FuzzParseQuery(f *testing.F) {
	for _, s := range []string{`a "b c" -d`, `from:x in:"y z" has:link`, `--`, `-"`, `:`, `"" ""`, `*`, "\xff"} {
		f.Add(s)
	}
	x, err := search.Open(f.TempDir(), nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(x.Close)
	f.Fuzz(func(t *testing.T, s string) {
		q, err := ubl.ParseQuery(s)
		if err != nil {
			return
		}
		if len(q.Clauses)+len(q.From)+len(q.In)+len(q.Has) > ubl.MaxQueryClauses {
			t.Errorf("%q has %d clauses", s, len(q.Clauses))
		}
		snippet, marks, ok := x.MatchMessage(q, s)
		for _, m := range marks {
			if ok && (m.Start < 0 || m.End <= m.Start || m.End > len([]rune(snippet))) {
				t.Errorf("%q is marked at %v of %q", s, m, snippet)
			}
		}
	})
}
