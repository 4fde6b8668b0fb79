package main

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/txtar"

	"ubl"
	"ubl/migrate"
	"ubl/test/soak"
)

var updateImported = flag.Bool("update-imported", false, "write what exports of other products are imported as")

// exportOf is the zip file of an export that package migrate reads in its own tests, in which one of
// the people has the address of the n-th person here.
func exportOf(t *testing.T, product ubl.Product, n int) string {
	t.Helper()
	a, err := txtar.ParseFile("../../migrate/testdata/" + string(product) + ".txtar")
	if err != nil {
		t.Fatal(err)
	}
	for i, f := range a.Files {
		a.Files[i].Data = ana.ReplaceAll(f.Data, fmt.Appendf(nil, "P%d@of-%d.example", n, n))
	}
	return zipFile(t, a.Files)
}

var ana = regexp.MustCompile("(?i)p1@of-1.example")

func zipFile(t *testing.T, files []txtar.File) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "export.zip")
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	z := zip.NewWriter(f)
	for _, one := range files {
		w, err := z.Create(one.Name)
		if err == nil {
			_, err = w.Write(one.Data)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(z.Close(), f.Close()); err != nil {
		t.Fatal(err)
	}
	return name
}

// story is a room as it can be read: a line an entry that was imported.
func (w *importWorld) story(token, room string) string {
	w.t.Helper()
	var page struct {
		Entries []ubl.Entry `json:"entries"`
	}
	if err := w.client(token).call(w.t.Context(), "GET", "/api/rooms/"+room+"/entries?limit=200&from=1", nil, &page); err != nil {
		w.t.Fatal(err)
	}
	numbers := map[ubl.MessageID]int{}
	var b strings.Builder
	for _, e := range page.Entries {
		f := e.ImportedFrom
		if f == nil || f.Source == nil { // an archive's note is of no product
			continue
		}
		numbers[e.ID] = len(numbers) + 1
		fmt.Fprintf(&b, "%d %s by %s (%s)", numbers[e.ID], e.Type, f.AuthorName, f.AuthorID)
		if f.Source.MemberID != "" {
			b.WriteString(" who is here")
		}
		for _, of := range []struct {
			what string
			id   *ubl.MessageID
		}{{"about", e.Target}, {"in the thread of", e.Thread}, {"answers", e.ReplyTo}} {
			if of.id != nil {
				fmt.Fprintf(&b, ", %s %d", of.what, numbers[*of.id])
			}
		}
		if f.Source.EditedAt != 0 {
			b.WriteString(", edited there")
		}
		fmt.Fprintf(&b, ": %s", e.Body.Hashed())
		for _, a := range e.Attachments {
			fmt.Fprintf(&b, " [%s, %d bytes]", a.Name, a.Bytes)
		}
		b.WriteString("\n")
	}
	return strings.ReplaceAll(b.String(), "u:"+w.me(token), "u:me")
}

// me is the id of a token's person, without its kind.
func (w *importWorld) me(token string) string {
	w.t.Helper()
	var me myself
	if err := w.client(token).call(w.t.Context(), "GET", "/api/whoami", nil, &me); err != nil {
		w.t.Fatal(err)
	}
	return strings.TrimPrefix(string(me.Identity.UserID), "u:")
}

// TestImportProducts: what testdata/imported says of each product's export is there after it was
// imported, nothing twice after a second run, and nothing of others' direct messages. All of it
// goes on to another tenant, with its first authors.
func TestImportProducts(t *testing.T) {
	w := openImportWorld(t)
	for _, of := range []struct {
		product ubl.Product
		rooms   []string
		flags   []string
	}{
		{ubl.Slack, []string{"r:design", "r:board"}, nil},
		{ubl.Mattermost, []string{"r:town-square", "r:keys", "r:direct-ana-lima-bob"}, []string{"--direct"}},
		{ubl.Matrix, []string{"r:harbour"}, nil},
	} {
		t.Run(string(of.product), func(t *testing.T) {
			w.t = t
			owner := w.somebody()
			export := exportOf(t, of.product, w.next)
			people := filepath.Join(t.TempDir(), "people.csv")
			them := map[ubl.Product]string{ubl.Slack: "U1", ubl.Mattermost: "ana", ubl.Matrix: "@ana:example.org"}[of.product]
			if err := os.WriteFile(people, []byte("# there, here\n"+them+", u:"+w.me(owner)+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			args := append([]string{"import", string(of.product), export, "--people", people}, of.flags...)
			would := w.must(owner, append(args, "--dry-run")...)
			if rooms := w.must(owner, "rooms", "--json"); strings.Contains(rooms, of.rooms[0]) || !strings.HasPrefix(would, "would import from") {
				t.Errorf("a dry run says %q, and then there are %s", would, rooms)
			}
			did := w.must(owner, args...)
			if strings.TrimPrefix(did, "imported") != strings.TrimPrefix(would, "would import") {
				t.Errorf("it says %q, and before %q", did, would)
			}
			told := did
			for _, room := range of.rooms {
				told += "\n" + room + "\n" + w.story(owner, room)
			}
			want := filepath.Join("testdata", "imported", string(of.product)+".txt")
			if *updateImported {
				if err := errors.Join(os.MkdirAll(filepath.Dir(want), 0o755), os.WriteFile(want, []byte(told), 0o644)); err != nil {
					t.Fatal(err)
				}
			}
			if data, err := os.ReadFile(want); err != nil || string(data) != told {
				t.Errorf("imported it is\n%s", told)
			}
			again := w.must(owner, args...)
			if !strings.Contains(again, ": nothing new; ") {
				t.Errorf("a second run says %q", again)
			}
			w.archived(owner, of.product, args, of.rooms)
		})
	}
}

// archived has a tenant's whole archive go to another one, to which the first export adds nothing.
func (w *importWorld) archived(owner string, product ubl.Product, args, rooms []string) {
	w.t.Helper()
	dir := filepath.Join(w.t.TempDir(), "all")
	w.must(owner, "export", "--all", dir)
	other := w.somebody()
	w.must(other, "import", dir)
	for _, room := range rooms {
		there, here := strings.ReplaceAll(w.story(owner, room), " who is here", ""), w.story(other, room)
		me := "u:" + w.me(owner) // a mention names whom it named
		if strings.ReplaceAll(here, me, "u:me") != there {
			w.t.Errorf("in another tenant %s is\n%s, and was\n%s", room, here, there)
		}
	}
	args = slices.DeleteFunc(slices.Clone(args), func(a string) bool { return a == "--people" || strings.HasSuffix(a, "people.csv") })
	if out := w.must(other, slices.DeleteFunc(args, func(a string) bool { return a == "--direct" })...); !strings.Contains(out, ": nothing new; ") {
		w.t.Errorf("on top of the archive the export of %s says %q", product, out)
	}
}

// TestImportKeepsPrivate: what was private isn't put where others see it, direct messages of
// others aren't taken, and who isn't an owner imports nothing.
func TestImportKeepsPrivate(t *testing.T) {
	w := openImportWorld(t)
	owner := w.somebody()
	w.must(owner, "room", "create", "Board", "--join", "tenant")
	export := exportOf(t, ubl.Slack, w.next)
	if code, _, errs := w.ubl(t.Context(), w.url, owner, "import", "slack", export); code != 1 || !strings.Contains(errs, "board was private in Slack") {
		t.Errorf("it ends with %d: %s", code, errs)
	}
	out := w.must(owner, "import", "slack", export, "--direct", "--only", "design", "--only", "D1", "--only", "D2", "--only", "G2", "--json")
	var told struct {
		Imported map[string]int `json:"imported"`
		Left     map[string]int `json:"left_behind"`
		People   struct{ Unknown []string }
	}
	if err := json.Unmarshal([]byte(out), &told); err != nil {
		t.Fatal(err)
	}
	if told.Imported["rooms"] != 2 || told.Left["direct messages of others"] != 2 || !slices.Contains(told.People.Unknown, "Bob Stone bob@example.com") {
		t.Errorf("it says %s", out)
	}
	rooms := w.must(owner, "rooms", "--json")
	if !strings.Contains(rooms, "r:direct-ana-bob-stone") || strings.Contains(w.must(owner, "search", "Not for Ana", "--json"), "Not for Ana") {
		t.Errorf("then there are %s", rooms)
	}
	var room struct{ Room ubl.Room }
	for id, join := range map[string]string{"r:design": ubl.JoinTenant, "r:direct-ana-bob-stone": ubl.JoinInvite} {
		if err := w.client(owner).call(t.Context(), "GET", "/api/rooms/"+id, nil, &room); err != nil || room.Room.Policy.Join != join {
			t.Errorf("%s lets in %q: %v", id, room.Room.Policy.Join, err)
		}
	}
	agent := w.token("--service", "helper")
	w.must(agent, "rooms")
	if code, _, errs := w.ubl(t.Context(), w.url, agent, "import", "slack", export, "--only", "design"); code == 0 {
		t.Errorf("an agent imports: %s", errs)
	}
}

// TestImportCutOff: an import that is cut off at every seventh write goes on, and ends with what one
// that wasn't has made.
func TestImportCutOff(t *testing.T) {
	w := openImportWorld(t)
	for _, product := range []ubl.Product{ubl.Slack, ubl.Mattermost, ubl.Matrix} {
		t.Run(string(product), func(t *testing.T) {
			w.t = t
			whole := w.somebody()
			export := exportOf(t, product, 0)
			w.must(whole, "import", string(product), export)
			cut := w.somebody()
			cuts := 0
			for w.cut(cut, 7, string(product), export) {
				if cuts++; cuts > 50 {
					t.Fatal("it doesn't end")
				}
			}
			if cuts < 1 {
				t.Errorf("it was cut off %d times", cuts)
			}
			for _, room := range []string{"r:design", "r:board", "r:town-square", "r:keys", "r:harbour"} {
				if !strings.Contains(w.must(whole, "rooms", "--json"), room) {
					continue
				}
				if got, want := w.story(cut, room), w.story(whole, room); got != want {
					t.Errorf("%s is\n%s, and otherwise\n%s", room, got, want)
				}
			}
		})
	}
}

// TestImportSeatsMembers: who has a verified address of there is in their channels, and in no others;
// mentions name them. A second run doesn't fetch back who has left.
func TestImportSeatsMembers(t *testing.T) {
	w := openImportWorld(t, "--domain", "of-1.example", "--domain", "example.com=t:of-1.example")
	owner := w.somebody()
	var out, errs bytes.Buffer
	if code := Run(t.Context(), []string{"token", "bob@example.com", "--data", w.data}, nil, &out, &errs, nil); code != 0 {
		t.Fatal(errs.String())
	}
	bob := strings.TrimSpace(out.String())
	w.must(bob, "rooms")
	export := exportOf(t, ubl.Slack, 1)
	if told := w.must(owner, "import", "slack", export); !strings.Contains(told, "1 member,") {
		t.Errorf("it says %s", told)
	}
	if story := w.story(bob, "r:design"); !strings.Contains(story, `"mentions":["@room","u:me"]`) || !strings.Contains(story, "by Bob Stone (u:slack.U2) who is here") {
		t.Errorf("bob reads\n%s", story)
	}
	if code, _, _ := w.ubl(t.Context(), w.url, bob, "history", "board"); code == 0 {
		t.Error("bob reads what was private")
	}
	if told := w.must(bob, "rooms", "--json"); strings.Contains(told, "r:board") {
		t.Errorf("bob sees %s", told)
	}
	w.must(bob, "room", "leave", "design")
	w.must(owner, "import", "slack", export)
	if members := w.must(owner, "member", "list", "design"); strings.Contains(members, "bob") {
		t.Errorf("after a second run there are %s", members)
	}
	if code, _, _ := w.ubl(t.Context(), w.url, bob, "import", "slack", export, "--merge"); code == 0 {
		t.Error("who is no owner imports")
	}
}

// answers is a way to Slack, which tells what it was asked.
type answers func(*http.Request) *http.Response

func (a answers) RoundTrip(r *http.Request) (*http.Response, error) { return a(r), nil }

// TestSlackFiles: the token goes to Slack's own servers alone, over TLS, and what isn't the file
// isn't taken for it.
func TestSlackFiles(t *testing.T) {
	var asked []string
	m := &moving{from: &migrate.Export{Product: ubl.Slack}, token: "xoxp-secret"}
	m.fetch = &http.Client{CheckRedirect: stay, Transport: answers(func(r *http.Request) *http.Response {
		asked = append(asked, r.URL.String()+" "+r.Header.Get("Authorization"))
		status, kind := http.StatusOK, "text/plain"
		switch r.URL.Path {
		case "/gone":
			status = http.StatusNotFound
		case "/moved":
			status = http.StatusFound
		case "/login":
			kind = "text/html; charset=utf-8"
		}
		return &http.Response{StatusCode: status, Header: http.Header{"Content-Type": {kind}, "Location": {"https://evil.example"}}, Body: io.NopCloser(strings.NewReader("content"))}
	})}
	for address, want := range map[string]bool{
		"https://files.slack.com/a": true, "https://slack.com/a": true, "http://files.slack.com/a": false, "https://evil.example/slack.com": false,
		"https://evilslack.com/a": false, "https://me@files.slack.com/a": false, "https://files.slack.com:8443/a": false, "file:///etc/passwd": false, "": false, "://": false,
	} {
		if got := m.fetches(migrate.File{URL: address}); got != want {
			t.Errorf("%q is fetched: %t", address, got)
		}
	}
	for path, want := range map[string]bool{"/a": true, "/gone": false, "/moved": false, "/login": false} {
		body, err := m.get(t.Context(), migrate.File{Name: "a.txt", URL: "https://files.slack.com" + path})
		if (err == nil) != want {
			t.Errorf("%s is answered %v", path, err)
		}
		if err == nil {
			_ = body.Close()
		} else if strings.Contains(err.Error(), "secret") {
			t.Errorf("the token is told: %v", err)
		}
	}
	if len(asked) != 4 || !strings.HasSuffix(asked[0], " Bearer xoxp-secret") {
		t.Errorf("Slack is asked %q", asked)
	}
	m.token = ""
	if m.fetches(migrate.File{URL: "https://files.slack.com/a"}) {
		t.Error("without a token a file is fetched")
	}
}

// TestParts: a long message is cut behind a line, else a word, else a character, and nothing is lost.
func TestParts(t *testing.T) {
	m := &moving{from: &migrate.Export{Product: ubl.Slack}}
	for _, of := range []struct {
		text string
		want int
	}{{"short", 1}, {strings.Repeat("a line\n", 2000), 2}, {strings.Repeat("word ", 4000), 3}, {strings.Repeat("é", 8000), 2}, {"", 0}, {"\x00\xff", 0}} {
		list := m.parts(&migrate.Message{ID: "1", Text: of.text})
		got := ""
		for _, p := range list {
			if got += p.text; len(p.text) > ubl.MaxMessageBytes || !utf8.ValidString(p.text) {
				t.Errorf("a part has %d bytes", len(p.text))
			}
		}
		squeezed := func(s string) string { return strings.Join(strings.Fields(legible(s)), "") }
		if len(list) != of.want || squeezed(got) != squeezed(of.text) {
			t.Errorf("%.10q has %d parts, not %d, or lost something", of.text, len(list), of.want)
		}
	}
	files := make([]migrate.File, 23)
	for i := range files {
		files[i] = migrate.File{Name: "a", Path: "a"}
	}
	if list := m.parts(&migrate.Message{ID: "1", Text: "x", Files: files}); len(list) != 3 || len(list[0].files) != 10 || len(list[2].files) != 3 || list[1].id != "1/part/2" {
		t.Errorf("with many files it is %+v", list)
	}
}

// TestImportProductRefusals: what is wrong with a file or a flag is said before anything is written.
func TestImportProductRefusals(t *testing.T) {
	w := openImportWorld(t)
	owner := w.somebody()
	people := func(lines string) string {
		name := filepath.Join(t.TempDir(), "people.csv")
		if err := os.WriteFile(name, []byte(lines), 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	slack := exportOf(t, ubl.Slack, w.next)
	for name, of := range map[string]struct {
		args []string
		code int
		want string
	}{
		"another product's":      {[]string{"mattermost", slack}, 1, "couldn't read the export"},
		"a name that leads out":  {[]string{"slack", zipFile(t, []txtar.File{{Name: "../channels.json"}})}, 1, "leads out"},
		"people in one column":   {[]string{"slack", slack, "--people", people("U1\n")}, 2, "two columns"},
		"people of nowhere":      {[]string{"slack", slack, "--people", people("U7,u:" + w.me(owner) + "\n")}, 2, "line 1 of --people names nobody who is in the export"},
		"people who aren't here": {[]string{"slack", slack, "--people", people("U1,eve@example.com\n")}, 2, "line 1 of --people names nobody who is a member here"},
		"no such channel":        {[]string{"slack", slack, "--only", "nothing"}, 2, "--only"},
	} {
		t.Run(name, func(t *testing.T) {
			code, _, errs := w.ubl(t.Context(), w.url, owner, append([]string{"import"}, of.args...)...)
			if code != of.code || !strings.Contains(errs, of.want) {
				t.Errorf("it ends with %d: %s", code, errs)
			}
		})
	}
	if rooms := w.must(owner, "rooms", "--json"); strings.Contains(rooms, "design") {
		t.Errorf("there are %s", rooms)
	}
}

// TestImportSlackMany measures an import of many messages (UBL_SOAK=1, -v).
func TestImportSlackMany(t *testing.T) {
	n := soak.Of(300, 10_000)
	var day []map[string]any
	for i := range n {
		day = append(day, map[string]any{"type": "message", "user": "U1", "ts": fmt.Sprintf("%d.%06d", 1_700_000_000+i, i), "text": fmt.Sprintf("Message %d %s", i, strings.Repeat("x", i%3*4000))})
	}
	data, err := json.Marshal(day)
	if err != nil {
		t.Fatal(err)
	}
	export := zipFile(t, []txtar.File{
		{Name: "users.json", Data: []byte(`[{"id":"U1","team_id":"T1","name":"ana"}]`)},
		{Name: "channels.json", Data: []byte(`[{"id":"C1","name":"many"}]`)}, {Name: "many/2023-11-14.json", Data: data},
	})
	w := openImportWorld(t)
	owner := w.somebody()
	start := time.Now()
	out := w.must(owner, "import", "slack", export)
	t.Logf("%s, in %s: %.0f messages of there a second", strings.TrimSpace(out), time.Since(start), float64(n)/time.Since(start).Seconds())
	if !strings.Contains(w.must(owner, "import", "slack", export), "nothing new") {
		t.Error("a second run adds something")
	}
}
