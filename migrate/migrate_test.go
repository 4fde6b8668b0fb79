package migrate

import (
	"archive/zip"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/txtar"

	"ubl"
)

var update = flag.Bool("update", false, "write what the exports are read as")

// zipOf is a zip file of an export in testdata, which were written by hand after the
// documentation of each form.
func zipOf(t testing.TB, files []txtar.File) string {
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

func filesOf(t testing.TB, product ubl.Product) []txtar.File {
	t.Helper()
	a, err := txtar.ParseFile("testdata/" + string(product) + ".txtar")
	if err != nil {
		t.Fatal(err)
	}
	return a.Files
}

var products = []ubl.Product{ubl.Slack, ubl.Mattermost, ubl.Matrix}

// TestExports: testdata/*.want say what each export is read as, from a zip file and from a folder.
func TestExports(t *testing.T) {
	for _, product := range products {
		t.Run(string(product), func(t *testing.T) {
			files := filesOf(t, product)
			got := tell(t, product, zipOf(t, files))
			want := "testdata/" + string(product) + ".want"
			if *update {
				if err := os.WriteFile(want, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if data, err := os.ReadFile(want); err != nil || string(data) != got {
				t.Errorf("it is read as\n%s", got)
			}
			folder := t.TempDir()
			for _, f := range files {
				p := filepath.Join(folder, f.Name)
				if err := errors.Join(os.MkdirAll(filepath.Dir(p), 0o755), os.WriteFile(p, f.Data, 0o644)); err != nil {
					t.Fatal(err)
				}
			}
			if product == ubl.Matrix { // the exporter's order of files is the zip file's
				return
			}
			if again := tell(t, product, folder); again != got {
				t.Errorf("from a folder it is\n%s", again)
			}
		})
	}
}

// tell is all that an export is read as.
func tell(t *testing.T, product ubl.Product, name string) string {
	e, err := Open(product, name, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	var b strings.Builder
	fmt.Fprintf(&b, "workspace %q\n", e.Workspace)
	for _, id := range slices.Sorted(maps.Keys(e.People)) {
		p := e.People[id]
		fmt.Fprintf(&b, "person %q %q, mail %q, bot %t\n", p.ID, p.Name, p.Email, p.Bot)
	}
	for _, r := range e.Rooms {
		fmt.Fprintf(&b, "\nroom %q %q, topic %q, private %t, direct %t, members %q\n", r.ID, r.Name, r.Topic, r.Private, r.Direct, r.Members)
		for m, err := range e.Messages(r) {
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&b, "  %s %s by %q (%s)", m.ID, m.At, m.AuthorName, m.Author)
			if m.Thread != "" {
				fmt.Fprintf(&b, ", in the thread of %s", m.Thread)
			}
			if m.ReplyTo != "" {
				fmt.Fprintf(&b, ", answers %s", m.ReplyTo)
			}
			if m.EditedAt != 0 {
				fmt.Fprintf(&b, ", edited %s", m.EditedAt)
			}
			if m.Pinned {
				b.WriteString(", pinned")
			}
			if len(m.Mentions) > 0 || m.MentionsAll {
				fmt.Fprintf(&b, ", mentions %q, all %t", m.Mentions, m.MentionsAll)
			}
			b.WriteString("\n")
			for line := range strings.Lines(m.Text) {
				fmt.Fprintf(&b, "    | %s\n", strings.TrimSuffix(line, "\n"))
			}
			for _, edit := range m.Edits {
				fmt.Fprintf(&b, "    edit %s %s: %q\n", edit.ID, edit.At, edit.Text)
			}
			for _, by := range m.Reactions {
				fmt.Fprintf(&b, "    %s by %s\n", by.Key, by.Author)
			}
			for _, f := range m.Files {
				content := "which isn't there"
				if f.Path != "" {
					r, err := e.File(f)
					if err != nil {
						t.Fatal(err)
					}
					data, err := io.ReadAll(r)
					_ = r.Close()
					if content = fmt.Sprintf("%q", data); err != nil {
						t.Fatal(err)
					}
				}
				fmt.Fprintf(&b, "    file %q %q %s\n", f.Name, f.URL, content)
			}
		}
	}
	b.WriteString("\n")
	for _, why := range slices.Sorted(maps.Keys(e.Left)) {
		fmt.Fprintf(&b, "left: %d %s\n", e.Left[why], why)
	}
	return b.String()
}

// TestMarkdown: mrkdwn as people write it, and as it would be abused.
func TestMarkdown(t *testing.T) {
	e := &Export{People: map[string]*Person{"U1": {ID: "U1", Name: "A*n*a"}}}
	for mrkdwn, want := range map[string]string{
		"*bold* and 2*3*4":                 "**bold** and 2*3*4",
		"* no* and *no *":                  "* no* and *no *",
		"~gone~, a~b~c":                    "~~gone~~, a~b~c",
		"_slanted_":                        "_slanted_",
		"`*code* &amp; <@U1>` *x*":         "`*code* & @U1` **x**",
		"```\n*a*\n```":                    "```\n*a*\n```",
		"```a``` then *b*":                 "```\na\n``` then **b**",
		"open ``` and *b*":                 "open ``` and **b**",
		"one ` and *b*":                    "one ` and **b**",
		"<https://x.example>":              "https://x.example",
		"<https://x.example|x.example>":    "https://x.example",
		"<https://x.example/a b|y [z]>":    `[y \[z\]](https://x.example/a%20b)`,
		"<mailto:a@b.example|a@b.example>": "a@b.example",
		"hi <@U1>, <@U9|nine>, <@U8>":      "hi @A*n*a, @nine, @U8",
		"<!here> <!subteam^S1|@crew>":      "@room @crew",
		"<!date^1700000000^{date}|then>":   "then",
		"&lt;@U1&gt; is text":              "<@U1> is text",
		"&amp;lt;":                         "&lt;",
		":tada: :our_logo: 10:30:45":       "🎉 :our_logo: 10:30:45",
		":wave::skin-tone-4:":              "👋🏽",
		"• one\n• two":                     "- one\n- two",
		"*a\nb*":                           "*a\nb*",
		"":                                 "",
	} {
		if got := e.markdown(mrkdwn).text.String(); got != want {
			t.Errorf("%q becomes %q, not %q", mrkdwn, got, want)
		}
	}
	if got := e.markdown("`<@U1>` &lt;@U1&gt; <@U9>").mentions; !slices.Equal(got, []string{"U9"}) {
		t.Errorf("it mentions %q", got)
	}
}

// TestHostileArchives: an archive that is made to hurt is refused before anything of it is used.
func TestHostileArchives(t *testing.T) {
	users, channels := txtar.File{Name: "users.json", Data: []byte("[]")}, txtar.File{Name: "channels.json", Data: []byte(`[{"id":"C1","name":"a"}]`)}
	day := func(text string) txtar.File { return txtar.File{Name: "a/2024-01-01.json", Data: []byte(text)} }
	few := Limits{Files: 4, JSON: 1 << 20, Lines: 1 << 20, Line: 1 << 10, File: 1 << 10}
	long := strings.Repeat(" ", 2<<20)
	for name, of := range map[string]struct {
		product ubl.Product
		files   []txtar.File
		want    string
	}{
		"a name that leads out":     {ubl.Slack, []txtar.File{users, channels, {Name: "../../etc/cron.d/x"}}, "leads out"},
		"a name from the root":      {ubl.Slack, []txtar.File{users, channels, {Name: "/etc/passwd"}}, "leads out"},
		"a name of Windows":         {ubl.Slack, []txtar.File{users, channels, {Name: `a\..\..\x`}}, "leads out"},
		"two files of one name":     {ubl.Slack, []txtar.File{users, channels, channels}, "two files of one name"},
		"many files":                {ubl.Slack, []txtar.File{users, channels, {Name: "b"}, {Name: "c"}, {Name: "d"}}, "more than 4 files"},
		"a bomb":                    {ubl.Slack, []txtar.File{users, {Name: "channels.json", Data: []byte("[" + long + "]")}}, "larger than an import reads"},
		"a bomb of a day":           {ubl.Slack, []txtar.File{users, channels, day("[" + long + "]")}, "larger than an import reads"},
		"a day in depth":            {ubl.Slack, []txtar.File{users, channels, day(strings.Repeat("[", 20_000))}, "max depth"},
		"a day of another form":     {ubl.Slack, []txtar.File{users, channels, day(`{"a":1}`)}, `"a/2024-01-01.json" can't be read`},
		"a day cut off":             {ubl.Slack, []txtar.File{users, channels, day(`[{"ts":"1`)}, "can't be read"},
		"nothing of Slack's":        {ubl.Slack, []txtar.File{users}, "no export of Slack's"},
		"a long line":               {ubl.Mattermost, []txtar.File{{Name: "x.jsonl", Data: []byte(`{"type":"version","version":1}` + "\n" + long[:2000])}}, "larger than an import reads"},
		"many lines":                {ubl.Mattermost, []txtar.File{{Name: "x.jsonl", Data: []byte(`{"type":"version","version":1}` + "\n" + strings.Repeat(long[:500]+"\n", 3000))}}, "larger than an import reads"},
		"another version":           {ubl.Mattermost, []txtar.File{{Name: "x.jsonl", Data: []byte(`{"type":"version","version":2}`)}}, "version 1"},
		"lines of two exports":      {ubl.Mattermost, []txtar.File{{Name: "x.jsonl"}, {Name: "y.jsonl"}}, "or several"},
		"a room of no room":         {ubl.Matrix, []txtar.File{{Name: "export.json", Data: []byte(`{"messages":[null]}`)}}, "room_id"},
		"nothing at all":            {ubl.Matrix, nil, "no file"},
		"a room that is two things": {ubl.Matrix, []txtar.File{{Name: "a.json"}, {Name: "b.json"}}, "several JSON files"},
	} {
		t.Run(name, func(t *testing.T) {
			e, err := Open(of.product, zipOf(t, of.files), few)
			if err == nil {
				defer e.Close()
				for _, r := range e.Rooms {
					for _, wrong := range e.Messages(r) {
						err = errors.Join(err, wrong)
					}
				}
			}
			if err == nil || !strings.Contains(err.Error(), of.want) {
				t.Errorf("it is answered %v", err)
			}
		})
	}
}

// TestLongFile: what a file says of its size doesn't count, and a link in a folder leads nowhere.
func TestLongFile(t *testing.T) {
	files := append(filesOf(t, ubl.Slack), txtar.File{Name: "__uploads/F9/long", Data: make([]byte, 4096)})
	e, err := Open(ubl.Slack, zipOf(t, files), Limits{File: 1024})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	f, err := e.File(File{Path: "__uploads/F9/long"})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if n, err := io.Copy(io.Discard, f); !errors.Is(err, ErrTooLarge) || n > 1025 {
		t.Errorf("%d bytes were read, and then %v", n, err)
	}
	folder := t.TempDir()
	outside := filepath.Join(t.TempDir(), "users.json")
	if err := errors.Join(os.WriteFile(outside, []byte("[]"), 0o600), os.Symlink(outside, filepath.Join(folder, "users.json")), os.WriteFile(filepath.Join(folder, "channels.json"), []byte("[]"), 0o600)); err != nil {
		t.Fatal(err)
	}
	linked, err := Open(ubl.Slack, folder, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	defer linked.Close()
	if linked.archive.has("users.json") {
		t.Error("a link is followed out of the folder")
	}
}

// FuzzMarkdown: any text becomes one that is valid UTF-8 where it was, and of no other size.
func FuzzMarkdown(f *testing.F) {
	for _, s := range []string{"*a* <@U1|b> `c` ```d``` ~e~ :tada::skin-tone-2:", "<<<>>>&lt;", "*_~`", "<!a|b|c>"} {
		f.Add(s)
	}
	e := &Export{People: map[string]*Person{}}
	f.Fuzz(func(t *testing.T, s string) {
		got := e.markdown(s).text.String()
		if utf8.ValidString(s) && !utf8.ValidString(got) || len(got) > 8*len(s)+16 {
			t.Errorf("%q becomes %q", s, got)
		}
	})
}

// FuzzExport: whatever an export holds, reading it ends, and no panic.
func FuzzExport(f *testing.F) {
	for i, product := range products {
		for _, one := range filesOf(f, product) {
			f.Add(byte(i), one.Name, one.Data)
		}
	}
	f.Fuzz(func(t *testing.T, i byte, name string, data []byte) {
		if strings.Contains(name, "\x00") || len(name) > 1000 {
			return
		}
		product := products[int(i)%len(products)]
		files := slices.DeleteFunc(filesOf(t, product), func(f txtar.File) bool { return f.Name == name })
		e, err := Open(product, zipOf(t, append(files, txtar.File{Name: name, Data: data})), Limits{JSON: 1 << 20, Lines: 1 << 20})
		if err != nil {
			return
		}
		defer e.Close()
		for _, r := range e.Rooms {
			for m, err := range e.Messages(r) {
				if err == nil && (m.At <= 0 || m.ID == "") {
					t.Errorf("a message is %+v", m)
				}
			}
		}
	})
}
