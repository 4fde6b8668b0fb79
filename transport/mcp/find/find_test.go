package find_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"ubl/transport/mcp/find"
)

// catalogue is a few tools as servers have them, ours and others'.
var catalogue = []find.Tool{
	{Name: "calendar.list_events", Title: "List events", Description: "Shows what is in a calendar between two days."},
	{Name: "github.create_issue", Title: "", Description: "Create a new issue in a repository",
		Input: []byte(`{"type":"object","properties":{"repo":{"type":"string"},"title":{"type":"string"},"labels":{"type":"array","items":{"type":"object","properties":{"colour":{"type":"string"}}}}}}`)},
	{Name: "messenger.history", Title: "Read a room's messages backwards", Description: "Each page is oldest first."},
	{Name: "messenger.redact", Title: "Take the content of a message away for good", Description: "Its author, and owners of the room."},
	{Name: "messenger.send", Title: "Send a message", Description: "The text is at most 8,000 bytes.",
		Input: []byte(`{"type":"object","properties":{"room_id":{"type":"string","description":"The room."},"type":{"enum":["text","markdown",7]}}}`)},
	{Name: "office.document.create", Title: "Write a document", Description: "The content is at most 1,000,000 characters."},
	{Name: "office.document.delete", Title: "Delete a document", Description: "Its versions stay readable by number."},
	{Name: "office.file.remove", Title: "Remove a file for good", Description: "Who may write."},
	{Name: "room.member.list", Title: "A room's members", Description: "By id."},
	{Name: "tenant.invitation.create", Title: "Invite a person into the tenant", Description: "Whoever opens the link is a member."},
	{Name: "user.whoami", Title: "Who the caller is, and what in their tenant"},
}

func names(hits []find.Hit) (out []string) {
	for _, h := range hits {
		out = append(out, catalogue[h.Tool].Name)
	}
	return out
}

func TestSearch(t *testing.T) {
	index := find.New(catalogue)
	for _, tt := range []struct{ query, first string }{
		{"send a message", "messenger.send"},
		{"Please POST something to the channel!", "messenger.send"},
		{"markdown", "messenger.send"}, // a value that a parameter takes
		{"erase a file", "office.file.remove"},
		{"deleting documents", "office.document.delete"},
		{"compose a report", "office.document.create"},
		{"who is in the room", "room.member.list"},
		{"people of a channel", "room.member.list"},
		{"who am I", "user.whoami"},
		{"an invitation for a colleague", "tenant.invitation.create"},
		{"old messages", "messenger.history"},
		{"retract a message", "messenger.redact"},
		{"a bug with labels", "github.create_issue"},
		{"colours", "github.create_issue"}, // a parameter inside another's items
		{"createIssue", "github.create_issue"},
		{"repositor", "github.create_issue"}, // begun, and not ended
		{"github_create_issue", "github.create_issue"},
		{"messenger.redact", "messenger.redact"},
		{"events", "calendar.list_events"},
	} {
		hits, _ := index.Search(tt.query, 3, nil)
		if got := names(hits); len(got) == 0 || got[0] != tt.first {
			t.Errorf("Search(%q) = %v, want %s first", tt.query, got, tt.first)
		}
	}
}

func TestSearchNothing(t *testing.T) {
	for _, query := range []string{"", "  ", "the of a", "xylophone", "…"} {
		if hits, more := find.New(catalogue).Search(query, 3, nil); len(hits) > 0 || more {
			t.Errorf("Search(%q) = %v, want nothing", query, names(hits))
		}
	}
	if hits, _ := find.New(nil).Search("message", 3, nil); len(hits) > 0 {
		t.Errorf("an empty catalogue has %v", hits)
	}
}

// TestSearchFits: what has a word in common with a query and is about something else isn't found, unless the query
// is little more than that word; and what is far below the best isn't either.
func TestSearchFits(t *testing.T) {
	index := find.New(catalogue)
	for query, want := range map[string]int{
		"long days in summer, short nights, warm rain": 0, // between two days
		"days": 1,
		"the number of bananas, apples, pears, plums and cherries": 0,
		"list calendar events": 1, // and no member list
	} {
		if hits, _ := index.Search(query, 5, nil); len(hits) != want {
			t.Errorf("Search(%q) = %v, want %d", query, names(hits), want)
		}
	}
	hits, _ := index.Search("messenger send", 5, nil)
	if len(hits) == 0 || hits[0].Fit <= 0.13 || hits[0].Fit > 1 {
		t.Errorf("it fits by %+v", hits)
	}
}

func TestSearchBounds(t *testing.T) {
	index := find.New(catalogue)
	all, more := index.Search("a document or a message", 20, nil)
	if more || len(all) < 4 || !slices.IsSortedFunc(all, func(a, b find.Hit) int { return int(1e6 * (b.Score - a.Score)) }) {
		t.Errorf("all = %v, more %v", all, more)
	}
	two, more := index.Search("a document or a message", 2, nil)
	if !more || !slices.Equal(two, all[:2]) {
		t.Errorf("two = %v, more %v; want the first of %v", two, more, all)
	}
	kept, _ := index.Search("a document or a message", 20, func(tool int) bool { return strings.HasPrefix(catalogue[tool].Name, "messenger.") })
	for _, name := range names(kept) {
		if !strings.HasPrefix(name, "messenger.") {
			t.Errorf("%s was to be left out", name)
		}
	}
	if len(kept) != 3 {
		t.Errorf("kept %v", names(kept))
	}
}

// What another server wrote as its schema may be anything.
func TestHostileSchemas(t *testing.T) {
	deep := strings.Repeat(`{"properties":{"deeper":`, 500) + "{}" + strings.Repeat("}}", 500)
	for _, input := range []string{
		``, `null`, `[]`, `{"properties":[]}`, `{"properties":{"a":true}}`, `{"properties":{"a":null}}`, `{"items":true,"anyOf":[false,null]}`, `{"description":7}`, deep,
	} {
		index := find.New([]find.Tool{{Name: "a.tool", Title: "Do it", Input: []byte(input)}})
		if hits, _ := index.Search("tool", 1, nil); len(hits) != 1 {
			t.Errorf("with the input %.40s the tool isn't found", input)
		}
	}
}

// large is a catalogue of 2,000 tools, with words as they are used: some often, most seldom.
func large() []find.Tool {
	random := rand.New(rand.NewPCG(1, 2))
	rare := rand.NewZipf(random, 1.1, 4, 5000)
	words := func(n int) string {
		var out []string
		for range n {
			if random.IntN(3) == 0 {
				out = append(out, []string{"create", "list", "message", "document", "user", "delete", "search", "update", "file", "send"}[random.IntN(10)])
			} else {
				out = append(out, fmt.Sprintf("word%c%c%d", 'a'+rune(random.IntN(26)), 'a'+rune(random.IntN(26)), rare.Uint64()))
			}
		}
		return strings.Join(out, " ")
	}
	tools := make([]find.Tool, 2000)
	for i := range tools {
		tools[i] = find.Tool{
			Name: fmt.Sprintf("server%d.%s", i%40, strings.ReplaceAll(words(3), " ", "_")), Title: words(4), Description: words(40),
			Input: fmt.Appendf(nil, `{"type":"object","properties":{%q:{"description":%q},%q:{"description":%q}}}`, words(1), words(12), words(1), words(12)),
		}
	}
	return tools
}

// A search over 2,000 tools has 10 ms, in the worst of a hundred.
func BenchmarkSearch(b *testing.B) {
	index := find.New(large())
	queries := []string{"send a message to everybody in the channel", "delete the old file", "wo", "list documents of a user", "create update delete search send list file document message user"}
	var took []time.Duration
	for i := 0; b.Loop(); i++ {
		began := time.Now()
		index.Search(queries[i%len(queries)], 10, nil)
		took = append(took, time.Since(began))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "p99-µs")
}

func BenchmarkNew(b *testing.B) {
	tools := large()
	for b.Loop() {
		find.New(tools)
	}
}
