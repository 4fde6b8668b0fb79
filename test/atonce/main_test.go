package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strings"
	"testing"
)

// TestAtOnce is what counts as doing something at once.
func TestAtOnce(t *testing.T) {
	for _, row := range []struct {
		what, code string
		want       bool
	}{
		{"one thing after another", `func TestX(t *testing.T) { ask(); ask() }; func ask() {}`, false},
		{"a goroutine", `func TestX(t *testing.T) { go func() { ask() }() }`, true},
		{"a goroutine of a function", `func TestX(t *testing.T) { go ask() }; func ask() {}`, true},
		{"a goroutine of another package's", `func TestX(t *testing.T) { go http.Serve(nil, nil) }`, true},
		{"a goroutine that calls back", `func TestX(t *testing.T) { fault(func(settled func(error)) { go settled(nil) }) }`, false},
		{"a wait group", `func TestX(t *testing.T) { var all sync.WaitGroup; all.Go(ask) }`, true},
		{"beside other tests", `func TestX(t *testing.T) { t.Run("x", func(t *testing.T) { t.Parallel() }) }`, true},
		{"in a bubble", `func TestX(t *testing.T) { synctest.Test(t, nil) }`, true},
		{"a wait for others", `func TestX(t *testing.T) { poll.Until(t, "it is so", nil) }`, true},
		{"the suite of stores", `func TestX(t *testing.T) { storetest.Run(t, nil) }`, true},
		{"a part of it", `func TestX(t *testing.T) { storetest.NewWriter(nil) }`, false},
		{"by a helper's helper", `func TestX(t *testing.T) { one() }; func one() { two() }; func two() { go func() {}() }`, true},
		{"by a method", `func TestX(t *testing.T) { w.world().many() }; func (w *world) many() { go func() {}() }`, true},
		{"a method of a helper's name", `func TestX(t *testing.T) { w.many() }; func many() { go func() {}() }`, false},
		{"a helper that is handed on", `func TestX(t *testing.T) { each(many) }; func many() { go func() {}() }`, true},
		{"a helper as a member", `func TestX(t *testing.T) { each(w.many) }; func (w *world) many() { go func() {}() }`, true},
	} {
		t.Run(row.what, func(t *testing.T) {
			p := newTested("x", parse(t, row.code))
			if got := p.atOnce()["TestX"]; got != row.want {
				t.Errorf("%s does something at once: %v, want %v", row.code, got, row.want)
			}
		})
	}
}

// TestTests: what go test runs by default is looked at, and nothing else.
func TestTests(t *testing.T) {
	p := newTested("x", parse(t, `func TestMain(m *testing.M) {}; func TestA(t *testing.T) {}; func FuzzB(f *testing.F) {}
		func ExampleC() {}; func BenchmarkD(b *testing.B) {}; func help() {}; func (w *world) TestE() {}`))
	got := p.tests()
	slices.Sort(got)
	if strings.Join(got, " ") != "ExampleC FuzzB TestA" {
		t.Errorf("the tests are %v", got)
	}
}

// TestThisRepository: the store's races are found where they are, and its matrices aren't taken for some.
func TestThisRepository(t *testing.T) {
	var names, packages strings.Builder
	if err := run([]string{"names", "ubl/storage", "ubl/schemas"}, &names); err != nil {
		t.Fatal(err)
	}
	if err := run([]string{"packages", "ubl/storage", "ubl/test/atonce"}, &packages); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(names.String(), "|TestNotesRace|") || strings.Contains(names.String(), "TestFlippedBit") {
		t.Errorf("the store's tests that do something at once are %s", names.String())
	}
	if packages.String() != "ubl/storage\n" {
		t.Errorf("packages with such tests are %q", packages.String())
	}
	names.Reset()
	if err := run([]string{"names", "-but=TestNotesRace|TestConformance", "ubl/storage"}, &names); err != nil || strings.Contains(names.String(), "TestNotesRace") {
		t.Errorf("without two of them there is %v, and %s", err, names.String())
	}
	for _, wrong := range [][]string{{"tests", "ubl/storage"}, {"names"}, {"names", "-but=TestFlippedBit", "ubl/storage"}, {"names", "-but=TestGone", "ubl/storage"}} {
		if err := run(wrong, &names); err == nil {
			t.Errorf("%v is taken", wrong)
		}
	}
}

func parse(t *testing.T, code string) *ast.File {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "x_test.go", "package x\n"+code, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	return file
}
