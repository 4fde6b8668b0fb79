package harness

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime"
	"strings"

	"ubl"
)

// answers is how a command's doc comment says what it is answered: a type, nil, or in words a number.
var answers = regexp.MustCompile(`\bAnswers\s+(\S+?)[.,:;]*(\s+or\s+nil\b\S*)?(\s|$)`)

// Answered compares an answer with what the command's doc comment says of it ("Answers *Room.").
func Answered(cmd ubl.Command, answer any) error {
	doc, err := docOf(reflect.TypeOf(cmd))
	if err != nil {
		return err
	}
	said := answers.FindStringSubmatch(doc)
	if said == nil {
		return fmt.Errorf("the comment of %T doesn't say what it answers", cmd)
	}
	of := reflect.ValueOf(answer)
	isNil := !of.IsValid() || of.Kind() == reflect.Pointer && of.IsNil()
	want := strings.Replace(said[1], "ubl.", "", 1)
	switch {
	case isNil && (want == "nil" || said[2] != ""):
		return nil
	case !isNil && want == nameOf(of.Type()):
		return nil
	case !isNil && of.CanInt() && strings.ToLower(want) == want && want != "nil":
		return nil
	}
	return fmt.Errorf("%T is answered with a %T (%v), its comment says %s", cmd, answer, answer, want)
}

// nameOf is a type as the comments of its package call it.
func nameOf(t reflect.Type) string {
	return regexp.MustCompile(`\b\w+\.`).ReplaceAllString(t.String(), "")
}

// docOf is the doc comment of a type of this module, read from its source.
func docOf(t reflect.Type) (string, error) {
	_, file, _, _ := runtime.Caller(0)
	folder := filepath.Join(filepath.Dir(file), "../..", strings.TrimPrefix(t.PkgPath(), "ubl"))
	entries, err := os.ReadDir(folder)
	if err != nil {
		return "", err
	}
	for _, entry := range entries {
		if filepath.Ext(entry.Name()) != ".go" {
			continue
		}
		source, err := parser.ParseFile(token.NewFileSet(), filepath.Join(folder, entry.Name()), nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return "", err
		}
		for _, decl := range source.Decls {
			group, ok := decl.(*ast.GenDecl)
			if !ok {
				continue
			}
			for _, spec := range group.Specs {
				if spec, ok := spec.(*ast.TypeSpec); ok && spec.Name.Name == t.Name() {
					return spec.Doc.Text() + group.Doc.Text(), nil
				}
			}
		}
	}
	return "", fmt.Errorf("the source of %s isn't found", t)
}
