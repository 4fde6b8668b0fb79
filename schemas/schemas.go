// Package schemas holds the published JSON Schemas (draft 2020-12): of every
// event, atom, export line and answer. Each lives in a file named after its
// $id; references between them are those names.
//
// The acts of families that bring their own are put into them by [With], as the program is wired.
//
// They are the contract with clients: a form may be added to, but what is
// valid under a name stays valid; what differs gets another name. Tests
// validate what the program writes against them.
package schemas

import (
	"embed"
	"io/fs"
	"strings"
)

// The files are part of the binary, so that reading them cannot fail.
//
//go:embed *.json
var files embed.FS

const suffix = ".json"

// FS is the files, named <$id>.json.
func FS() fs.FS { return files }

// List is the $id of every schema, in order.
func List() []string {
	entries, err := files.ReadDir(".")
	if err != nil { // impossible: the directory is embedded
		panic(err)
	}
	ids := make([]string, len(entries))
	for i, e := range entries {
		ids[i] = strings.TrimSuffix(e.Name(), suffix)
	}
	return ids
}

// Read is the schema with an $id, which may carry ".json" as in a URL.
func Read(id string) ([]byte, bool) {
	id = strings.TrimSuffix(id, suffix)
	if strings.Contains(id, "/") {
		return nil, false
	}
	data, err := files.ReadFile(id + suffix)
	return data, err == nil
}
