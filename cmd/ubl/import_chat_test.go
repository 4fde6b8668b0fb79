package main

import (
	"archive/zip"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"ubl"
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
