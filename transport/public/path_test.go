package public

import (
	"fmt"
	"net/url"
	"testing"
)

// spelled is the one spelling of a place.
func spelled(p place) (path, query string) {
	path = fmt.Sprintf("/%s/%s", p.tenant, p.container)
	switch {
	case p.kind == list:
		path += "/documents"
		if p.document != "" {
			query = "cursor=" + string(p.document)
		}
	case p.kind == document:
		path += "/documents/" + string(p.document)
		if p.version > 0 {
			query = fmt.Sprint("version=", p.version)
		}
	}
	return path, query
}

// FuzzParse: what is taken for a place is one, is asked of the container that it names, and
// has one spelling, so that nobody's path leads to a copy of something else.
func FuzzParse(f *testing.F) {
	for _, seed := range [][2]string{
		{"/t:acme/k:handbook", ""}, {"/t:acme/w:general/documents", "cursor=d:1"}, {"/t:acme/k:x/documents/d:1", "version=2"},
		{"/t:acme|k:x/k:y", ""}, {"//", "%"}, {"/t:a/k:b/documents/d:c/", ""}, {"/t:a/k:b/documents/d:c", "version=9223372036854775808"},
		{"/t:a\r\n/k:b", ""}, {"/t:a/k:b/documents/d:c", "version=1;x"}, {"/t:a/k:b/documents", "cursor=d%3A1"},
	} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, path, query string) {
		p, err := parse(path, query)
		if err != nil {
			if err != error(errNothing) && err != error(errQuery) {
				t.Fatalf("refused with %v", err)
			}
			return
		}
		if !p.tenant.Valid() || !p.container.Valid() || p.document != "" && !p.document.Valid() || p.version < 0 {
			t.Fatalf("took %q?%q for %+v", path, query, p)
		}
		if name := p.name(); name.Group().Tenant != p.tenant || name.Local() != string(p.container) {
			t.Fatalf("%+v is asked of %s", p, name)
		}
		at, with := spelled(p)
		if again, err := parse(at, with); err != nil || again != p {
			t.Fatalf("%+v is spelled %s?%s, which is %+v, %v", p, at, with, again, err)
		}
		if given, err := url.ParseQuery(query); at != path || err != nil || with != "" && given.Encode() != mustQuery(t, with).Encode() {
			t.Fatalf("%q?%q is spelled %s?%s, too", path, query, at, with)
		}
	})
}

func mustQuery(t *testing.T, text string) url.Values {
	v, err := url.ParseQuery(text)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TestQuestionsAreToldApart: no two places, and no two times, share a question.
func TestQuestionsAreToldApart(t *testing.T) {
	seen := map[string]bool{}
	for _, p := range []place{
		{tenant: "t:a", container: "k:b"}, {tenant: "t:a", container: "w:b"}, {tenant: "t:b", container: "k:b"},
		{tenant: "t:a", container: "k:b", kind: list}, {tenant: "t:a", container: "k:b", kind: list, document: "d:1"},
		{tenant: "t:a", container: "k:b", kind: document, document: "d:1"}, {tenant: "t:a", container: "k:b", kind: document, document: "d:1", version: 1},
		{tenant: "t:a", container: "k:b", kind: document, document: "d:11"}, {tenant: "t:a", container: "k:b", kind: document, document: "d:1", version: 11},
	} {
		for heard := range int64(12) {
			k := key(p, heard-1)
			if seen[k] {
				t.Errorf("%+v shares %s", p, k)
			}
			seen[k] = true
		}
	}
}
