// Package wired builds the program with the trial family in it: the list of families has a
// line for it, and nothing else knows it.
package wired

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// list is where the family's line goes, and line is that.
const (
	list      = "families.go"
	before    = "\n}\n\n// Places are"
	line      = "\n\tfunc(w World) actors.Family { return counter.Family(w.Store) },"
	imports   = "import ("
	andImport = imports + "\n\t\"ubl/test/counter\""
)

// Build builds it at a path, with what else go build is told.
func Build(path string, args ...string) error {
	dir, err := os.MkdirTemp("", "ubl-wired-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	overlay, err := overlay(dir)
	if err != nil {
		return fmt.Errorf("couldn't wire the trial family: %w", err)
	}
	args = append([]string{"build", "-overlay", overlay, "-o", path}, append(args, "ubl/cmd/ubl")...)
	build := exec.Command("go", args...)
	build.Env = append(os.Environ(), "GOGC=400") // compilers live for seconds
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("couldn't build the program: %w\n%s", err, out)
	}
	return nil
}

// overlay makes a list of families with one more, which go build takes in place of the product's.
func overlay(dir string) (string, error) {
	at, err := exec.Command("go", "list", "-f", "{{.Dir}}", "ubl/actors/families").Output()
	if err != nil {
		return "", err
	}
	path := filepath.Join(strings.TrimSpace(string(at)), list)
	source, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	wired := strings.Replace(string(source), before, line+before, 1)
	if wired = strings.Replace(wired, imports, andImport, 1); len(wired) != len(source)+len(line)+len(andImport)-len(imports) {
		return "", errors.New("the list of families has another shape; teach this package")
	}
	instead, overlay := filepath.Join(dir, list), filepath.Join(dir, "overlay.json")
	replace, err := json.Marshal(map[string]any{"Replace": map[string]string{path: instead}})
	return overlay, errors.Join(err, os.WriteFile(instead, []byte(wired), 0o600), os.WriteFile(overlay, replace, 0o600))
}
