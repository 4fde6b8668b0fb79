package ubl_test

import (
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"ubl"
)

// The patterns as the schemas publish them; Valid is held against them.
var patterns = map[string]*regexp.Regexp{
	"tenant":    regexp.MustCompile(`^t:[A-Za-z0-9._-]{1,128}\z`),
	"room":      regexp.MustCompile(`^r:[A-Za-z0-9._-]{1,128}\z`),
	"user":      regexp.MustCompile(`^u:[A-Za-z0-9._-]{1,256}\z`),
	"message":   regexp.MustCompile(`^m:[A-Za-z0-9._-]{1,256}\z`),
	"agreement": regexp.MustCompile(`^a:[A-Za-z0-9._:-]{1,256}\z`),
	"request":   regexp.MustCompile(`^[A-Za-z0-9._:-]{6,128}\z`),
}

func valid(kind, s string) bool {
	switch kind {
	case "tenant":
		return ubl.TenantID(s).Valid()
	case "room":
		return ubl.RoomID(s).Valid()
	case "user":
		return ubl.UserID(s).Valid()
	case "message":
		return ubl.MessageID(s).Valid()
	case "agreement":
		return ubl.AgreementID(s).Valid()
	}
	return ubl.ValidRequestID(s)
}

func TestIDs(t *testing.T) {
	long := func(prefix string, n int) string { return prefix + strings.Repeat("x", n) }
	for _, c := range []struct {
		kind, in string
		want     bool
	}{
		{"tenant", "t:example.com", true},
		{"tenant", "t:ubl_core", true},
		{"tenant", "t:", false},
		{"tenant", "r:general", false},
		{"tenant", "t:a|b", false},
		{"tenant", long("t:", 128), true},
		{"tenant", long("t:", 129), false},
		{"room", "r:general", true},
		{"room", "r:a:b", false},
		{"room", "r:a/b", false},
		{"room", "r:a\n", false},
		{"room", "r:é", false},
		{"room", "R:general", false},
		{"room", " r:general", false},
		{"room", long("r:", 129), false},
		{"user", long("u:", 256), true},
		{"user", long("u:", 257), false},
		{"user", "u:auth0|1", false},
		{"message", "m:0-1", true},
		{"message", "m:\x00", false},
		{"agreement", "a:room:r:general", true},
		{"agreement", long("a:", 257), false},
		{"request", "abcdef", true},
		{"request", "req:01234567-89ab", true},
		{"request", "abcde", false},
		{"request", "abc def", false},
		{"request", long("", 128), true},
		{"request", long("", 129), false},
	} {
		if got := valid(c.kind, c.in); got != c.want {
			t.Errorf("%s %.40q: valid = %t", c.kind, c.in, got)
		}
		if got := patterns[c.kind].MatchString(c.in); got != c.want {
			t.Errorf("%s %.40q: the published pattern says %t", c.kind, c.in, got)
		}
	}
}

func FuzzIDs(f *testing.F) {
	for _, s := range []string{"t:a", "r:general", "u:x", "m:1", "a:room:r:x", "req:123456", "t:\xff", "r:"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for kind, pattern := range patterns {
			if got, want := valid(kind, s), pattern.MatchString(s); got != want {
				t.Errorf("%s %q: valid = %t, the pattern says %t", kind, s, got, want)
			}
		}
		if seq, ok := ubl.MessageID(s).Seq(); ok && (seq < 0 || seq >= 1<<48) {
			t.Errorf("Seq(%q) = %d", s, seq)
		}
		_ = ubl.Name(s).Group()
	})
}

func TestRoomSlug(t *testing.T) {
	for name, want := range map[string]ubl.RoomID{
		"general":                "r:general",
		"  Project X  ":          "r:project-x",
		"a\tb":                   "r:a-b",
		"Café & Co.":             "r:caf--co",
		"v1.2_final":             "r:v12final",
		strings.Repeat("ab", 40): ubl.RoomID("r:" + strings.Repeat("ab", 25)),
	} {
		if got := ubl.RoomSlug(name); got != want {
			t.Errorf("RoomSlug(%q) = %s, want %s", name, got, want)
		}
	}
	hashed := regexp.MustCompile(`^r:[0-9a-f]{10}$`)
	seen := map[ubl.RoomID]string{}
	for _, name := range []string{"会議", "встреча", "---", "- -", "!"} {
		slug := ubl.RoomSlug(name)
		if !hashed.MatchString(string(slug)) || seen[slug] != "" {
			t.Errorf("RoomSlug(%q) = %s, want a hash of its own", name, slug)
		}
		seen[slug] = name
	}
}

func FuzzRoomSlug(f *testing.F) {
	f.Add("general")
	f.Add("会議 \xff")
	f.Fuzz(func(t *testing.T, name string) {
		if slug := ubl.RoomSlug(name); !slug.Valid() || slug != ubl.RoomSlug(name) || len(slug) > 2+50 {
			t.Errorf("RoomSlug(%q) = %q", name, slug)
		}
	})
}

func TestUserIDFor(t *testing.T) {
	const issuer = "https://id.example"
	hashed := regexp.MustCompile(`^u:[0-9a-f]{32}$`)
	if got := ubl.UserIDFor(issuer, "ana", true); got != "u:ana" {
		t.Errorf("a fitting subject of the first issuer = %s, want it readable", got)
	}
	for name, got := range map[string]ubl.UserID{
		"a subject outside the pattern":  ubl.UserIDFor(issuer, "auth0|1", true),
		"an empty subject":               ubl.UserIDFor(issuer, "", true),
		"another issuer":                 ubl.UserIDFor(issuer, "ana", false),
		"a subject that looks hashed":    ubl.UserIDFor(issuer, strings.Repeat("ab", 16), true),
		"a subject longer than the rule": ubl.UserIDFor(issuer, strings.Repeat("a", 257), true),
	} {
		if !hashed.MatchString(string(got)) {
			t.Errorf("%s = %s, want a hash", name, got)
		}
	}
}

func TestUserIDsOfTwoIssuersNeverMeet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		subject := rapid.OneOf(rapid.StringMatching(`[0-9a-f]{32}`), rapid.String()).Draw(t, "subject")
		other := rapid.String().Draw(t, "other subject")
		first := ubl.UserIDFor("https://first.example", subject, true)
		second := ubl.UserIDFor("https://second.example", other, false)
		if first == second || !first.Valid() || !second.Valid() {
			t.Fatalf("%q and %q both are %s", subject, other, first)
		}
		// An id that the second issuer's user has can't be taken by naming it.
		if ubl.UserIDFor("https://first.example", string(second[2:]), true) == second {
			t.Fatalf("a subject took %s", second)
		}
	})
}

func TestMessageIDs(t *testing.T) {
	uuid := regexp.MustCompile(`^m:[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
	random := &counting{}
	rapid.Check(t, func(t *rapid.T) {
		seq := rapid.Int64Range(0, 1<<48-1).Draw(t, "seq")
		id, err := ubl.NewMessageID(seq, random)
		if err != nil || !uuid.MatchString(string(id)) || !id.Valid() {
			t.Fatalf("NewMessageID(%d) = %s, %v", seq, id, err)
		}
		if got, ok := id.Seq(); !ok || got != seq {
			t.Fatalf("%s has seq %d, %t; want %d", id, got, ok, seq)
		}
		if other, _ := ubl.NewMessageID(seq, random); other == id {
			t.Fatalf("two messages at %d are both %s", seq, id)
		}
	})
	for _, foreign := range []ubl.MessageID{"", "m:", "m:1", "m:zzzzzzzz-0000-8000-8000-000000000000"} {
		if seq, ok := foreign.Seq(); ok {
			t.Errorf("%q has seq %d, want none", foreign, seq)
		}
	}
}

func TestRequestIDs(t *testing.T) {
	id, err := ubl.NewRequestID(&counting{})
	if err != nil || !regexp.MustCompile(`^req:[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`).MatchString(id) || !ubl.ValidRequestID(id) {
		t.Errorf("NewRequestID = %s, %v", id, err)
	}
	if _, err := ubl.NewRequestID(strings.NewReader("short")); err == nil {
		t.Error("an id was made without random bytes")
	}
	if _, err := ubl.NewMessageID(1, strings.NewReader("short")); err == nil {
		t.Error("a message id was made without random bytes")
	}
}

func TestNames(t *testing.T) {
	for _, c := range []struct {
		name        ubl.Name
		text, local string
	}{
		{ubl.TenantName("t:a.b"), "t:a.b", ""},
		{ubl.RoomName("t:a.b", "r:x"), "t:a.b|r:x", "r:x"},
		{ubl.LedgerName("t:a.b"), "t:a.b|ledger|0", "ledger|0"},
	} {
		if string(c.name) != c.text || c.name.Local() != c.local || c.name.Group() != (ubl.Group{Tenant: "t:a.b", Shard: "0"}) {
			t.Errorf("%s: local %q, group %s", c.name, c.name.Local(), c.name.Group())
		}
	}
	if g := ubl.RoomName("t:a.b", "r:x").Group(); g.Ledger() != ubl.LedgerName("t:a.b") {
		t.Errorf("the ledger of %s is %s", g, g.Ledger())
	}
}
