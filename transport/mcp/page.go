package mcp

import (
	"encoding/base64"
	"slices"
	"strings"
)

// pageSize is how many entries of a list one answer has.
const pageSize = 500

// paged cuts the page after a cursor out of a list, which it puts in order of
// the key. The cursor is the last key of the page before.
func paged[T any](list []T, after string, key func(T) string) (page []T, next string, err error) {
	slices.SortFunc(list, func(a, b T) int { return strings.Compare(key(a), key(b)) })
	if after != "" {
		last, err := base64.RawURLEncoding.DecodeString(after)
		if err != nil {
			return nil, "", invalid("params.cursor", "not one that the server gave out")
		}
		first := slices.IndexFunc(list, func(t T) bool { return key(t) > string(last) })
		if first < 0 {
			first = len(list)
		}
		list = list[first:]
	}
	if len(list) <= pageSize {
		return list, "", nil
	}
	list = list[:pageSize]
	return list, base64.RawURLEncoding.EncodeToString([]byte(key(list[pageSize-1]))), nil
}
