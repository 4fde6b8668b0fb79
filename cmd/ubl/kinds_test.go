package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ubl"
)

// TestKindsOfTheFile: the section kinds says what the API's kind.set does, and what is wrong
// with it.
func TestKindsOfTheFile(t *testing.T) {
	const good = `
kinds:
  - name: case
    ids: case-
    physics: {fungibility: versioned, topology: objects, permeability: collaborative, execution: sandboxed}
    content: [text/markdown]
    tools: [files.read]
    terms:
      permits: [{did: "*", to: [owners]}, {did: office.*, to: [entries]}]
      limits: [{did: office.document.*, per_minute: 60}]
      obligations: ["What is in a case stays in the case."]
`
	read := func(text string) ([]ubl.Kind, error) {
		path := filepath.Join(t.TempDir(), "ubl.yaml")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		file, err := readConfig(path)
		if err != nil {
			t.Fatal(err)
		}
		return takeKinds(file)
	}
	kinds, err := read(good)
	if err != nil || len(kinds) != 1 {
		t.Fatalf("%v: %+v", err, kinds)
	}
	k := kinds[0]
	if k.Agreement != "case_agreement" || k.Did != ubl.DidContainerCreate || k.Terms.Accept != ubl.AcceptProposer || k.Terms.Limits[0].PerMinute != 60 || k.IDs != "case-" {
		t.Errorf("the kind is %+v, its terms %+v", k, k.Terms)
	}
	for change, told := range map[string]string{
		"ids: case-=id: case-":            "unknown field",
		"name: case=name: wallet":         "kind.name",
		"name: case=name: tool":           "kind.name",
		"did: office.*=did: offce.*":      "terms.permits.did",
		"to: [entries]=to: [tenant]":      "physics",
		"topology: objects=topology: air": "physics",
		"tools: [files.read]=own: true":   "not for the file",
	} {
		was, now, _ := strings.Cut(change, "=")
		if _, err := read(strings.Replace(good, was, now, 1)); err == nil || !strings.Contains(err.Error(), told) {
			t.Errorf("%s: %v", now, err)
		}
	}
}
