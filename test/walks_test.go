package test

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// walking are the files that list the tenants of a partition. Whatever else is to happen in every
// tenant has an alarm or follows its ledger.
var walking = []string{
	"actors/alarmlearn.go", // the alarms of a partition, once the node begins to lead it
	"storage/replica.go",   // whether a store that is to join a cluster holds anything, when it starts
}

// TestNothingWalksOverTenants: what takes time by the number of tenants is listed.
func TestNothingWalksOverTenants(t *testing.T) {
	var found []string
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		name := strings.TrimPrefix(filepath.ToSlash(path), "../")
		switch {
		case err != nil:
			return err
		case d.IsDir() && (name == "test" || d.Name() == "node_modules" || strings.HasPrefix(d.Name(), ".") && path != ".."):
			return filepath.SkipDir
		case d.IsDir() || filepath.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		text, err := os.ReadFile(path)
		if strings.Contains(string(text), ".GroupsOf(") {
			found = append(found, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(found, walking) {
		t.Errorf("all tenants of a partition are listed by %v, want %v", found, walking)
	}
}
