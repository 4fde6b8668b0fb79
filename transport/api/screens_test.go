package api

import (
	"cmp"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// offScreen are writes that the source of the app doesn't ask for by their path, and why.
var offScreen = map[string][]string{
	"the path is put together from a room's or a container's": {
		"room.member.update", "room.remove", "container.member.update", "container.remove", "container.leave",
	},
	"for agents and other programs":      {"messenger.form.create", "office.document.publish", "office.llm.complete"},
	"for operators, at the command line": {"deadletter.redrive", "deadletter.discard"},
	"the app has no screen for it so far": {"kind.set", "kind.remove", "office.file.put", "office.file.remove", "office.upload.begin",
		"webhook.create", "webhook.update", "webhook.remove", "webhook.rotate", "webhook.test", "webhook.redeliver"},
}

// TestEveryWriteIsOnAScreen of the app, or says why not.
func TestEveryWriteIsOnAScreen(t *testing.T) {
	asked := askedByTheApp(t)
	excused := slices.Concat(slices.Collect(maps.Values(offScreen))...)
	parameter := regexp.MustCompile(`\{[^}]*\}`)
	for _, tab := range newServer(t).api.table {
		if tab.method != http.MethodGet && asked[parameter.ReplaceAllString(tab.path, "{}")] == slices.Contains(excused, cmp.Or(tab.tool, tab.id)) {
			t.Errorf("%s is either on a screen of the app or off screen: %s %s", tab.id, tab.method, tab.path)
		}
	}
}

// askedByTheApp are the paths below /api in its source, with {} for each parameter.
func askedByTheApp(t *testing.T) map[string]bool {
	t.Helper()
	source, asked := os.DirFS("../web/app/src"), map[string]bool{}
	path, parameter := regexp.MustCompile("['`]/api(/[^'`?]*)"), regexp.MustCompile(`\$\{[^}]*\}`)
	err := fs.WalkDir(source, ".", func(name string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(name, ".ts") && !strings.HasSuffix(name, ".tsx") {
			return err
		}
		text, err := fs.ReadFile(source, name)
		for _, found := range path.FindAllSubmatch(text, -1) {
			asked[parameter.ReplaceAllString(string(found[1]), "{}")] = true
		}
		return err
	})
	if err != nil || len(asked) == 0 {
		t.Fatalf("the app asks for nothing: %v", err)
	}
	return asked
}
