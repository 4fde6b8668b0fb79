package search_test

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"ubl"
)

// excerptOf is what a query shows of a text, alone in its container.
func excerptOf(t *testing.T, q ubl.DocumentQuery, text string) ubl.Excerpt {
	t.Helper()
	h, x := &history{}, open(t, t.TempDir())
	h.put("d:a", "Title", text)
	found, err := x.Search(t.Context(), shelf, h.head(), h.tell, q, 10)
	if err != nil {
		t.Fatal(err)
	}
	e := found.Excerpt(text)
	if len(e.Snippet) > 210 || !utf8.ValidString(e.Snippet) || strings.TrimSpace(e.Snippet) != e.Snippet {
		t.Errorf("a snippet of %d bytes: %q", len(e.Snippet), e.Snippet)
	}
	if e.Offset > utf8.RuneCountInString(text) {
		t.Errorf("it begins at %d of %d characters", e.Offset, utf8.RuneCountInString(text))
	}
	return e
}

// marked are a snippet's highlights.
func marked(e ubl.Excerpt) string {
	var out []string
	for _, h := range e.Highlights {
		out = append(out, string([]rune(e.Snippet)[h.Start:h.End]))
	}
	return strings.Join(out, "|")
}

// TestExcerpts: what is shown of a text, where that begins, and what is marked.
func TestExcerpts(t *testing.T) {
	long := strings.Repeat("lorem ipsum dolor ", 100)
	handbook := "# Handbook\n\n" + long + "\n\n## Certificates\n\n" + long + "\n\nRenew the certificates a month before they end.\n\n## Leaving\n\nHand in your certificates.\n" + long
	for _, tt := range []struct {
		name, query   string
		any           bool
		text          string
		begins, marks string
		under         string
	}{
		{"blanks are single", "needle", false, "needle\n\n at   once", "needle at once", "needle", ""},
		{"the middle of a long text", "needle", false, long + "the needle is here " + long, "", "needle", ""},
		{"nothing in the text", "title", false, long, "lorem ipsum", "", ""},
		{"where most of the words are", "renewing certificates month", true, handbook, "", "Renew|certificates|month|certificates", "Certificates"},
		{"all words", "hand certificates", false, handbook, "", "certificates|Hand|certificates", "Certificates"},
		{"a phrase", `"the certificates"`, false, handbook, "", "the certificates", "Certificates"},
		{"words of a phrase elsewhere", `"b c"`, false, "b a c " + long + "b c", "", "b c", ""},
		{"a beginning", "certif*", false, "No CERTIFICATION.", "No CERTIFICATION.", "CERTIFICATION", ""},
		{"accents", "acao", false, "A Ação começa", "A Ação começa", "Ação", ""},
		{"characters of several bytes", "needle", false, strings.Repeat("日本語", 200) + " needle " + strings.Repeat("é", 400), "", "needle", ""},
		{"inflected in German", "zertifikate", true, "Das Zertifikat ist mit dem Schlüssel in der Ablage.", "Das", "Zertifikat", ""},
		{"an underlined heading", "needle", false, "Chapter\n=======\n\nneedle", "Chapter", "needle", "Chapter"},
		{"what is code is no heading", "needle", false, "# Real\n\n```\n# no\n```\nneedle", "# Real", "needle", "Real"},
		{"signs within words", "3.14 don't", false, "It's 3.14, don't ask", "It's", "3.14|don't", ""},
		{"the end", "needle", false, long + "needle", "", "needle", ""},
		{"an empty text", "title", false, "", "", "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e := excerptOf(t, ubl.DocumentQuery{Query: tt.query, Any: tt.any}, tt.text)
			if !strings.HasPrefix(e.Snippet, tt.begins) || marked(e) != tt.marks || e.Under != tt.under {
				t.Errorf("%+v marks %q, want %q", e, marked(e), tt.marks)
			}
			rest := strings.Join(strings.Fields(string([]rune(tt.text)[e.Offset:])), " ")
			if !strings.HasPrefix(rest, e.Snippet) {
				t.Errorf("%q isn't at %d, where there is %.40q", e.Snippet, e.Offset, rest)
			}
		})
	}
}

// TestExcerptsOfHostileTexts: whatever a text is, to look through one that is four times as long takes about four times
// as long. Where time grew with its square it would be sixteen.
func TestExcerptsOfHostileTexts(t *testing.T) {
	h, x := &history{}, open(t, t.TempDir())
	h.put("d:a", "Title", "needle")
	const long, short = 400 << 10, 100 << 10 // bytes
	for name, part := range map[string]string{
		"one word":       "needle",
		"matches alone":  "needle ",
		"phrases begin":  "a ",
		"one line":       "é",
		"words":          words("w", 50_000),
		"headings":       "# a\n",
		"no characters":  "\xff\xfe ",
		"blanks":         " \n",
		"fences":         "```\n",
		"accents pile":   "e\u0301",
		"marks at words": "needle.needle,needle;needle:needle'",
	} {
		t.Run(name, func(t *testing.T) {
			text := strings.Repeat(part, long/len(part)+1)
			for _, q := range []ubl.DocumentQuery{{Query: `needle "a b" n*`}, {Query: "needle a b", Any: true}} {
				found, err := x.Search(t.Context(), shelf, h.head(), h.tell, q, 10)
				if err != nil {
					t.Fatal(err)
				}
				excerpt := func(text string) time.Duration {
					begun := processorTime(t)
					if e := found.Excerpt(text); len(e.Snippet) > 3*210 {
						t.Fatalf("a snippet of %d bytes", len(e.Snippet))
					}
					return processorTime(t) - begun
				}
				quarter := excerpt(text[:short])
				if whole := excerpt(text[:long]); whole > 8*quarter+time.Second/5 {
					t.Errorf("%d bytes took %v, and a quarter of them %v", long, whole, quarter)
				}
			}
		})
	}
}

// TestExcerptsOfAPage: long texts are looked through to their ends until that is enough for one search.
func TestExcerptsOfAPage(t *testing.T) {
	h, x := &history{}, open(t, t.TempDir())
	for i := range 50 {
		h.put(fmt.Sprint("d:", i), "Title", "needle")
	}
	found, err := x.Search(t.Context(), shelf, h.head(), h.tell, ubl.DocumentQuery{Query: "needle"}, 50)
	if err != nil || len(found.Matches) != 50 {
		t.Fatal(len(found.Matches), err)
	}
	text := strings.Repeat("lorem ipsum ", 20_000) + "needle" // 240 kB
	shown := 0
	for range found.Matches {
		if e := found.Excerpt(text); marked(e) == "needle" {
			shown++
		} else if !strings.HasPrefix(e.Snippet, "lorem") {
			t.Fatalf("%+v", e)
		}
	}
	if shown < 15 || shown == 50 {
		t.Errorf("%d of 50 long texts were looked through to their ends", shown)
	}
}

// processorTime is how long this process has used processors: other processes make it no longer.
func processorTime(t testing.TB) time.Duration {
	t.Helper()
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		t.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
