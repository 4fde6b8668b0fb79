package test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestContributingIsTrue: the tests and the files that CONTRIBUTING.md names are there. A name
// that ends in … stands for all that begin so.
func TestContributingIsTrue(t *testing.T) {
	text, err := os.ReadFile("../CONTRIBUTING.md")
	if err != nil {
		t.Fatal(err)
	}
	var tests strings.Builder
	err = fs.WalkDir(os.DirFS(".."), ".", func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && d.Name() == "node_modules" {
			return fs.SkipDir
		}
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		source, err := os.ReadFile(filepath.Join("..", path))
		tests.Write(source)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, found := range regexp.MustCompile("`(Test\\w+)([…*]?)").FindAllStringSubmatch(string(text), -1) {
		name := "func " + found[1]
		if found[2] == "" {
			name += "("
		}
		if !strings.Contains(tests.String(), name) {
			t.Errorf("there is no test %s", found[1])
		}
	}
	for _, found := range regexp.MustCompile("`([\\w*-]+/[\\w*/-]+\\.go)`").FindAllStringSubmatch(string(text), -1) {
		if files, err := filepath.Glob("../" + found[1]); err != nil || len(files) == 0 {
			t.Errorf("there is no file %s: %v", found[1], err)
		}
	}
}
