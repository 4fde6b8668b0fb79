package web

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// appFolder is a copy of the app's files that a test may change.
func appFolder(t *testing.T) string {
	t.Helper()
	from := os.Getenv("UBL_WEB_DIR")
	if from == "" {
		from = filepath.Join("..", "..", "transport", "web", "dist")
	}
	to := filepath.Join(t.TempDir(), "app")
	must(t, os.CopyFS(to, os.DirFS(from)))
	return to
}

// TestUpdate: when the server has a new version of the app, a person is told, goes on
// with the old one until they agree, and then has the new one; what they were writing
// is still there.
func TestUpdate(t *testing.T) {
	onScreen(t, phone, func(t *testing.T, v view) {
		dir := appFolder(t)
		s := oneNode(t, "--web-dir", dir)
		p := newcomer(t, s, v)
		p.installed()
		p.enter("general")
		p.fill("Message to general", "half a thought")
		p.until("the draft is kept", func() bool { return p.draft() == "half a thought" })

		renew(t, dir)
		eval[chromedp.Void](p, `void navigator.serviceWorker.getRegistration().then((r) => r.update())`)
		p.sees("A new version is ready")
		if p.isNew() {
			t.Error("the new version is there before anybody agreed")
		}
		p.press("button", "Update")
		p.until("the new version is there", p.isNew)
		p.find("log", "Messages in general")
		p.until("the draft is still there", func() bool { return p.draft() == "half a thought" })
		p.until("the old version's files are gone", func() bool { return len(eval[[]string](p, `caches.keys()`)) == 1 })
	})
}

func (p *person) draft() string {
	return eval[string](p, `document.querySelector('textarea')?.value ?? ''`)
}

func (p *person) isNew() bool {
	return eval[bool](p, `document.body?.classList.contains('new-version') ?? false`)
}

// renew puts another build of the app into a folder.
func renew(t *testing.T, dir string) {
	t.Helper()
	worker := filepath.Join(dir, "sw.js")
	old, err := os.ReadFile(worker)
	must(t, err)
	must(t, os.WriteFile(worker, []byte(newVersion(t, string(old))), 0o600))
	index := filepath.Join(dir, "index.html")
	content, err := os.ReadFile(index)
	must(t, err)
	must(t, os.WriteFile(index, []byte(strings.Replace(string(content), "<body>", `<body class="new-version">`, 1)), 0o600))
}

var versionForm = regexp.MustCompile("[\"'`][0-9a-f]{16}[\"'`]")

// newVersion is the worker of another build.
func newVersion(t *testing.T, worker string) string {
	t.Helper()
	found := versionForm.FindAllString(worker, -1)
	if len(found) != 1 {
		t.Fatalf("the worker has the versions %q", found)
	}
	return strings.Replace(worker, found[0], `"next"`, 1)
}

// TestWorkerKeepsNothingOfPeople: only the app's own files are in the cache that it
// fills; what people wrote isn't.
func TestWorkerKeepsNothingOfPeople(t *testing.T) {
	s := oneNode(t)
	p := newcomer(t, s, phone)
	p.enter("general")
	p.say("general", "not for the cache")
	p.hears("not for the cache")
	p.installed()
	p.reload()
	p.hears("not for the cache")
	files := eval[[]string](p, `caches.keys().then(async (names) => (await Promise.all(names.map(async (n) => (await (await caches.open(n)).keys()).map((r) => new URL(r.url).pathname)))).flat())`)
	if len(files) < 5 {
		t.Errorf("only %q is kept", files)
	}
	for _, path := range files {
		if !strings.HasPrefix(path, "/ui/") || !fs.ValidPath(strings.Trim(path, "/")) {
			t.Errorf("the cache has %s", path)
		}
	}
}
