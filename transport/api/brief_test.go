package api

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"ubl"
)

// inFull asks for the whole answer, where the tool answers briefly.
func inFull(tool string, args json.RawMessage) json.RawMessage {
	if briefs[tool] == nil {
		return args
	}
	given := parse(args)
	given[fullArgument] = true
	return must(json.Marshal(given))
}

// TestBriefAnswersAreParts: what a brief answer says, the whole one says under the same names, but for
// what to call people; it is as the tool's schema promises; and it has nothing that only checks it.
func TestBriefAnswersAreParts(t *testing.T) {
	s := newServer(t)
	for i := range s.api.table {
		tab := &s.api.table[i]
		b := briefs[tab.tool]
		if b == nil {
			continue
		}
		t.Run(tab.tool, func(t *testing.T) {
			act, args := s.act(t, tab.tool), argumentsOf(t, tab, queries[tab.id], "")
			all, err := act.Do(anaActs(), inFull(tab.tool, args))
			if err != nil {
				t.Fatal(err)
			}
			short, err := act.Do(anaActs(), args)
			if err != nil {
				t.Fatal(err)
			}
			v, _ := jsonschema.UnmarshalJSON(bytes.NewReader(short))
			if err := compileSchema(t, act.Output).Validate(v); err != nil {
				t.Errorf("%s is not as promised: %v", short, err)
			}
			var added []string
			for _, name := range b.Names {
				added = append(added, name)
			}
			if tab.tool == "ledger.atoms" {
				added = append(added, "seq")
			}
			isPart(t, "", parse(short), parse(all), added)
			for _, word := range []string{`"b:`, `"c:`, `"h:`, `"salt"`, `"tenant_id"`, `"server_time"`} {
				if bytes.Contains(short, []byte(word)) {
					t.Errorf("%s has %s", short, word)
				}
			}
			if len(short) >= len(all) {
				t.Errorf("%d bytes, and whole %d", len(short), len(all))
			}
		})
	}
}

// TestBriefListsTellNoMetadata: a page of published documents, which may say 8 KiB of themselves each, is no burden to
// a model. The answer about one has it.
func TestBriefListsTellNoMetadata(t *testing.T) {
	for tool, tells := range map[string]bool{"office.document.list": false, "office.document.search": false, "office.document.versions": false, "office.document.get": true} {
		page := []byte(`{"documents":[{"document_id":"d:1","title":"Cells","published":{"type":"tag","id":"cells","path":"cells.md","metadata":{"tags":["x"]}}}]}`)
		short, err := briefs[tool].tell(anaActs(), newServer(t).api, page)
		if err != nil || bytes.Contains(short, []byte("metadata")) != tells || !bytes.Contains(short, []byte(`"path":"cells.md"`)) {
			t.Errorf("%s answers %s, %v", tool, short, err)
		}
	}
}

// isPart checks that a value is one of which parts were left out.
func isPart(t *testing.T, at string, part, all any, added []string) {
	t.Helper()
	switch part := part.(type) {
	case map[string]any:
		members, _ := all.(map[string]any)
		for name, v := range part {
			if _, there := members[name]; there || !slices.Contains(added, name) {
				isPart(t, at+"."+name, v, members[name], added)
			}
		}
	case []any:
		items, _ := all.([]any)
		if len(items) != len(part) {
			t.Fatalf("%s: %d of %d", at, len(part), len(items))
		}
		for i := range part {
			isPart(t, at, part[i], items[i], added)
		}
	case string:
		if whole, _ := all.(string); part != whole && part != strings.Replace(whole, ".000Z", "Z", 1) {
			t.Errorf("%s is %q, and %q in the whole answer", at, part, whole)
		}
	default:
		if part != all {
			t.Errorf("%s is %v, and %v in the whole answer", at, part, all)
		}
	}
}

// TestBriefPages: atoms come in short pages with their numbers, unless somebody says how many or wants
// them whole.
func TestBriefPages(t *testing.T) {
	s := newServer(t)
	atoms := s.act(t, "ledger.atoms")
	for args, want := range map[string]string{
		`{}`: "Limit:20", `{"limit":null}`: "Limit:20", `{"limit":7}`: "Limit:7", `{"full":true}`: "Limit:100", `{"full":false}`: "Limit:20",
	} {
		s.takeAsked()
		answer, err := atoms.Do(anaActs(), json.RawMessage(args))
		if asked := strings.Join(s.takeAsked(), " "); err != nil || !strings.Contains(asked, want) {
			t.Errorf("%s asks %s, %v; want %s", args, asked, err, want)
		}
		if numbered := bytes.Contains(answer, []byte(`{"seq":1,`)); numbered == strings.Contains(args, "true") {
			t.Errorf("%s answers %s", args, answer)
		}
	}
	_, err := atoms.Do(anaActs(), json.RawMessage(`{"full":"yes"}`))
	if e := ubl.AsError(err); err == nil || e.Code != ubl.CodeValidation || e.Details["full"] == "" {
		t.Errorf("full that is no truth: %v", err)
	}
}
