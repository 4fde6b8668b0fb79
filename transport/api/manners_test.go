package api

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/go-chi/chi/v5"

	"ubl"
)

// What programs may expect of every operation. Each test goes through the OpenAPI document, so
// an operation that is added later has these manners, or fails.

// listed names, for each operation whose answer has a list of things, the list. Those without
// pages say why.
var listed = map[string]string{
	"list-tenant-members": "members", "list-present": "present", "list-members": "members", "list-container-members": "members", "list-rooms": "rooms",
	"list-agreements": "agreements", "list-sealed": "sealed", "list-invitations": "invitations", "list-domains": "domains",
	"list-service-tokens": "service_tokens", "list-tokens": "tokens", "list-passkeys": "passkeys", "list-dead-letters": "dead_letters",
	"list-kinds": "kinds", "list-containers": "containers", "list-workspaces": "workspaces", "list-documents": "documents",
	"list-versions": "versions", "search-documents": "documents", "list-files": "files", "list-servers": "servers", "list-tools": "tools", "read-portal-log": "calls",
	"read-history": "messages", "read-entries": "entries", "read-atoms": "atoms", "read-thread": "entries", "list-pins": "entries", "list-room-files": "files", "list-readers": "readers", "search-messages": "hits",
	"person-scheduled-list": "scheduled", "webhook-list": "webhooks", "webhook-deliveries": "deliveries", "get-form": "answers",
}

// unpaged are lists that don't come page by page, and why.
var unpaged = map[string]string{
	"get-receipt":   "the two atoms of an act",
	"get-agreement": "its pages are of the history",
	"get-cluster":   "the nodes of one cluster",
	"get-container": "one container",
	"list-previews": "three at most",
	"person-get":    "what one person keeps, which has bounds",
}

// TestListsHavePages: each operation that reads and answers a list takes limit and cursor, and
// its answer has next_cursor.
func TestListsHavePages(t *testing.T) {
	s := newServer(t)
	for name, op := range operations(s) {
		id := op["operationId"].(string)
		if !strings.HasPrefix(name, "GET ") {
			continue
		}
		w := s.ask(t, name, id)
		var answer map[string]json.RawMessage
		if w.Header().Get("Content-Type") != jsonType[0] || json.Unmarshal(w.Body.Bytes(), &answer) != nil {
			continue
		}
		var lists []string
		for member, value := range answer {
			if value[0] == '[' {
				lists = append(lists, member)
			}
		}
		member, isListed := listed[id]
		_, excused := unpaged[id]
		switch {
		case len(lists) == 0 && !isListed || excused:
			continue
		case !slices.Contains(lists, member):
			t.Errorf("%s answers the lists %v: say in listed which one has pages, or in unpaged why it has none", id, lists)
			continue
		}
		if _, ok := answer["next_cursor"]; !ok {
			t.Errorf("%s: the answer has no next_cursor: %s", id, w.Body)
		}
		for _, parameter := range []string{"limit", "cursor"} {
			if !slices.ContainsFunc(items[map[string]any](op["parameters"]), func(p map[string]any) bool { return p["name"] == parameter }) {
				t.Errorf("%s takes no %s", id, parameter)
			}
		}
	}
}

// whole are the lists that come in one piece without a limit, with how many there are of the
// double's.
var whole = map[string]int{
	"list-tenant-members": 2, "list-members": 2, "list-container-members": 2, "list-invitations": 1, "list-domains": 4, "list-service-tokens": 2,
	"list-tokens": 2, "list-passkeys": 1, "list-dead-letters": 1, "list-kinds": 1, "list-containers": 2, "list-workspaces": 1, "list-servers": 2,
	"person-scheduled-list": 2, "webhook-list": 2, "webhook-deliveries": 2,
}

// TestPagesAreTheWhole: pages of one entry each are the list that comes without a limit, in its
// order, nothing twice.
func TestPagesAreTheWhole(t *testing.T) {
	s := newServer(t)
	for name, op := range operations(s) {
		id := op["operationId"].(string)
		if _, ok := whole[id]; !ok {
			continue
		}
		all, next := s.page(t, name, id, "")
		if next != nil || len(all) != whole[id] {
			t.Errorf("%s: without a limit there are %d, and next_cursor is %v", id, len(all), next)
		}
		var paged []string
		for query := "limit=1"; len(paged) <= len(all); query = "limit=1&cursor=" + url.QueryEscape(*next) {
			var part []string
			part, next = s.page(t, name, id, query)
			if paged = append(paged, part...); len(part) > 1 || next == nil {
				break
			}
		}
		if !slices.Equal(paged, all) {
			t.Errorf("%s: the pages are %v, the whole is %v", id, paged, all)
		}
		for _, query := range []string{"limit=0", "limit=501", "limit=x", "cursor=%25%25", "cursor=_w"} {
			if w := s.do("GET", places.Replace(strings.TrimPrefix(name, "GET "))+"?"+query, ""); codeIn(t, w) != ubl.CodeValidation {
				t.Errorf("%s?%s answers %d", id, query, w.Code)
			}
		}
	}
}

// page is one of a list, and where the next begins.
func (s *server) page(t *testing.T, name, id, query string) (entries []string, next *string) {
	t.Helper()
	w := s.do("GET", places.Replace(strings.TrimPrefix(name, "GET "))+"?"+query, "")
	s.takeAsked()
	var answer map[string]json.RawMessage
	var list []json.RawMessage
	if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil || w.Code != http.StatusOK {
		t.Fatalf("%s answers %d %s", id, w.Code, w.Body)
	}
	if err := json.Unmarshal(answer[listed[id]], &list); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(answer["next_cursor"], &next); err != nil {
		t.Fatal(err)
	}
	for _, entry := range list {
		entries = append(entries, string(entry))
	}
	return entries, next
}

// TestCutGoesOn where the entry at which a page ended is gone.
func TestCutGoesOn(t *testing.T) {
	key := func(s string) string { return s }
	for _, c := range []struct {
		by   order
		left string
		want string
	}{
		{ascending, "a c d", "c d"}, {ascending, "a", ""}, {ascending, "", ""},
		{descending, "d c a", "a"}, {descending, "d c", ""},
	} {
		_, rest, err := cut(PageQuery{Limit: 1}, []string{"b", "x"}, c.by, key)
		if err != nil || rest.NextCursor == nil {
			t.Fatal(err)
		}
		got, _, err := cut(PageQuery{Cursor: *rest.NextCursor}, strings.Fields(c.left), c.by, key)
		if err != nil || strings.Join(got, " ") != c.want {
			t.Errorf("after b, of %q: %v, want %q (%v)", c.left, got, c.want, err)
		}
	}
}

// TestCreatedIsSomewhere: each operation that makes something answers 201 with Location, and
// something is served there.
func TestCreatedIsSomewhere(t *testing.T) {
	s := newServer(t)
	for name, op := range operations(s) {
		id := op["operationId"].(string)
		created, _ := op["responses"].(map[string]any)["201"].(map[string]any)
		if created == nil {
			if locations[id] != "" {
				t.Errorf("%s has a location, and makes nothing", id)
			}
			continue
		}
		at := s.ask(t, name, id).Header().Get("Location")
		if at == "" || strings.Contains(at, "//") || strings.HasSuffix(at, "/") {
			t.Errorf("%s: Location is %q: say in locations where it is", id, at)
			continue
		}
		if w := s.do("OPTIONS", at, ""); w.Code != http.StatusNoContent {
			t.Errorf("%s: nothing is served at %s: %d", id, at, w.Code)
		}
		if created["headers"].(map[string]any)["Location"] == nil {
			t.Errorf("%s doesn't document Location", id)
		}
	}
}

// TestVersionsMatch: what shows a version has an ETag, and answers 304 to who has it; what
// changes something of which there are versions hands If-Match on, and says so in the document;
// and no other operation passes over the header.
func TestVersionsMatch(t *testing.T) {
	s := newServer(t)
	for name, op := range operations(s) {
		id := op["operationId"].(string)
		v, reads := versions[id], strings.HasPrefix(name, "GET ")
		if bringsBytes(op) || slices.Contains(unexampled, id) {
			continue
		}
		w := s.ask(t, name, id)
		tag := w.Header().Get("ETag")
		if (tag != "") != (v.of != nil) {
			t.Errorf("%s: the ETag is %q", id, tag)
		}
		if reads && tag != "" {
			again := s.ask(t, name, id, "If-None-Match", `"other", W/`+tag)
			if again.Code != http.StatusNotModified || again.Body.Len() > 0 || again.Header().Get("ETag") != tag {
				t.Errorf("%s: who has it gets %d %s", id, again.Code, again.Body)
			}
			if again := s.ask(t, name, id, "If-None-Match", `"other"`); again.Code != http.StatusOK {
				t.Errorf("%s: who has another gets %d", id, again.Code)
			}
		}
		if reads {
			continue
		}
		who := s.doMatching(name, `"1234.5678", W/"9"`)
		asked := strings.Join(s.takeAsked(), "\n")
		switch {
		case !v.conditional && codeIn(t, who) != ubl.CodeValidation:
			t.Errorf("%s passes over If-Match", id)
		case v.conditional && !strings.Contains(asked, `IfMatch:["1234"]`):
			t.Errorf("%s doesn't hand If-Match on: %s", id, asked)
		}
		if v.conditional && codeIn(t, s.doMatching(name, `W/"9"`)) != ubl.CodePrecondition {
			t.Errorf("%s takes a weak tag for a version", id)
		}
		_, told := op["responses"].(map[string]any)["412"]
		takes := slices.ContainsFunc(items[map[string]any](op["parameters"]), func(p map[string]any) bool { return p["name"] == matchHeader })
		if told != v.conditional || takes != v.conditional {
			t.Errorf("%s documents 412 (%t) and If-Match (%t)", id, told, takes)
		}
	}
}

// doMatching sends an operation's good request with If-Match.
func (s *server) doMatching(name, match string) *httptest.ResponseRecorder {
	method, path, _ := strings.Cut(name, " ")
	return s.do(method, places.Replace(path), bodies[name], "If-Match", match)
}

// TestFirstVersion: who wants to make the first record says that there must be none yet.
func TestFirstVersion(t *testing.T) {
	s := newServer(t)
	const access = "PUT /api/portal/tools/{tool}/access"
	for header, first := range map[string]bool{"*": true, `"other"`: false} {
		w := s.do("PUT", places.Replace("/api/portal/tools/{tool}/access"), bodies[access], "If-None-Match", header)
		if asked := strings.Join(s.takeAsked(), "\n"); w.Code != http.StatusOK || strings.Contains(asked, `IfMatch:[""]`) != first {
			t.Errorf("If-None-Match: %s is answered %d %s, and asks %s", header, w.Code, w.Body, asked)
		}
	}
}

// TestMessagesChangeTheRoomsTag, and leave what its policy is changed by.
func TestMessagesChangeTheRoomsTag(t *testing.T) {
	policy := ubl.RoomPolicy{MaxMessageBytes: 100, Join: ubl.JoinInvite}
	tag := func(lastSeq int64, p ubl.RoomPolicy) (version, whole string) {
		answer := roomAnswer{&ubl.Room{LastSeq: lastSeq, Policy: p}}
		body, err := json.Marshal(answer)
		if err != nil {
			t.Fatal(err)
		}
		whole = versions["get-room"].tag(answer, body)
		version, _, _ = strings.Cut(whole, ".")
		return version, whole
	}
	v1, whole1 := tag(1, policy)
	v2, whole2 := tag(2, policy)
	policy.RetentionDays = 7
	v3, _ := tag(2, policy)
	if v1 != v2 || whole1 == whole2 || v2 == v3 {
		t.Errorf("tags are %s, %s, and of another policy %s", whole1, whole2, v3)
	}
}

// TestUnknownIsNamed: a parameter or a member that an operation doesn't take is named, where its
// name can be no secret, and so is what the operation takes.
func TestUnknownIsNamed(t *testing.T) {
	s := newServer(t)
	for name := range operations(s) {
		method, path, _ := strings.Cut(name, " ")
		named := func(target, body, place string) {
			t.Helper()
			var got struct {
				Error struct{ Details map[string]string }
			}
			w := s.do(method, target, body)
			if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || w.Code != http.StatusBadRequest || !strings.Contains(got.Error.Details[place], " takes ") {
				t.Errorf("%s answers %d %s, want %s (%v)", name, w.Code, w.Body, place, err)
			}
		}
		good := bodies[name]
		if path != "/api/uploads/{uploadId}" || method != "PATCH" {
			named(places.Replace(path)+"?no_such=1", good, "query.no_such")
		}
		if strings.HasPrefix(good, "{") {
			named(places.Replace(path), strings.TrimSuffix(good, "}")+`,"no_such":1}`, "body.no_such")
		}
	}
}

// TestRetirementIsTold in the document, and in each answer, refusals too.
func TestRetirementIsTold(t *testing.T) {
	s := newServer(t)
	a := New(s.api.Options)
	handle(a, operation{method: "GET", path: "/old", id: "old", uses: "user.whoami", tag: "identity", answers: "ubl.api.whoami.v1", summary: "An old way",
		retires: &retirement{now.Std(), now.Std().AddDate(1, 0, 0)}}, a.whoami)
	s.router = chi.NewRouter()
	s.router.Route("/api", a.Mount)
	for _, target := range []string{"/api/old", "/api/old?x=1"} {
		h := s.do("GET", target, "").Header()
		if h.Get("Deprecation") != "@1795251600" || h.Get("Sunset") != "Sun, 21 Nov 2027 09:00:00 GMT" {
			t.Errorf("%s says %v", target, h)
		}
	}
	op := parse(a.spec())["paths"].(map[string]any)["/api/old"].(map[string]any)["get"].(map[string]any)
	if op["deprecated"] != true {
		t.Error("the document doesn't say it")
	}
	if h := s.do("GET", "/api/whoami", "").Header(); h.Get("Deprecation")+h.Get("Sunset") != "" {
		t.Errorf("another operation says %v", h)
	}
}

// TestOptions: each path answers OPTIONS with what it takes, to anyone.
func TestOptions(t *testing.T) {
	s := newServer(t)
	methods := map[string][]string{}
	for name := range operations(s) {
		method, path, _ := strings.Cut(name, " ")
		methods[path] = append(methods[path], method)
	}
	for path, want := range methods {
		r := httptest.NewRequest("OPTIONS", places.Replace(path), nil)
		w := s.serve(r)
		allowed := strings.Split(w.Header().Get("Allow"), ", ")
		for _, method := range append(want, "OPTIONS") {
			if !slices.Contains(allowed, method) {
				t.Errorf("OPTIONS %s answers %d and allows %v, want %s too", path, w.Code, allowed, method)
			}
		}
		if w.Code != http.StatusNoContent {
			t.Errorf("OPTIONS %s answers %d", path, w.Code)
		}
	}
}

// TestShortNames: rooms and workspaces are found without their prefix, over REST and as tools.
func TestShortNames(t *testing.T) {
	s := newServer(t)
	for target, to := range map[string]string{
		"/api/rooms/general": "t:acme.com|r:general ", "/api/rooms/general/history": "t:acme.com|r:general ",
		"/api/rooms/a%20b":                  "",
		"/api/workspaces/general/documents": "t:acme.com|w:general ", "/api/workspaces/k:vault/documents": "t:acme.com|k:vault ",
	} {
		w := s.do("GET", target, "")
		asked := strings.Join(s.takeAsked(), "\n")
		if !strings.HasPrefix(asked, to) || (to == "") != (w.Code == http.StatusBadRequest) {
			t.Errorf("%s answers %d and asks %q, want %q", target, w.Code, asked, to)
		}
	}
	if _, err := s.act(t, "messenger.history").Do(anaActs(), json.RawMessage(`{"room_id":"general"}`)); err != nil || !strings.HasPrefix(fmt.Sprint(s.takeAsked()), "[t:acme.com|r:general ") {
		t.Errorf("as a tool: %v", err)
	}
}

// TestDocumentIsKept: who has the OpenAPI document isn't sent it again, and who takes gzip is
// sent a fifth of it.
func TestDocumentIsKept(t *testing.T) {
	s := newServer(t)
	get := func(header ...string) *httptest.ResponseRecorder {
		r := httptest.NewRequest("GET", "/api/openapi.json", nil)
		for i := 0; i < len(header); i += 2 {
			r.Header.Set(header[i], header[i+1])
		}
		return s.serve(r)
	}
	plain := get()
	for accept, gzipped := range map[string]bool{"gzip": true, "br, gzip;q=0.5": true, "*": true, "GZIP": true, "identity": false, "gzip;q=0": false, "*;q=0": false, "gzip;q=0, *": false, "gzipped": false} {
		w := get("Accept-Encoding", accept)
		if (w.Header().Get("Content-Encoding") == "gzip") != gzipped || gzipped && w.Body.Len() > plain.Body.Len()/5 || w.Header().Get("Vary") != "Accept-Encoding" {
			t.Errorf("Accept-Encoding %s: %v, %d bytes of %d", accept, w.Header(), w.Body.Len(), plain.Body.Len())
		}
		tag := w.Header().Get("ETag")
		if again := get("Accept-Encoding", accept, "If-None-Match", tag); again.Code != http.StatusNotModified || again.Body.Len() > 0 || again.Header().Get("Content-Encoding") != "" {
			t.Errorf("Accept-Encoding %s: who has %s gets %d", accept, tag, again.Code)
		}
		if gzipped == (tag == plain.Header().Get("ETag")) {
			t.Errorf("both forms have the tag %s", tag)
		}
	}
}
