package api

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"slices"
	"unicode/utf8"
)

// Every list is read page by page: with a limit, next_cursor in the answer is the cursor of
// the page after it, null on the last one. What is short by nature, such as the members of a
// room, comes whole where no limit is given, as it did before there were pages.

type (
	// PageQuery asks for a page of a list that may come whole.
	PageQuery struct {
		Cursor string `query:"cursor" json:"cursor,omitempty" maxLength:"700" doc:"The next_cursor of the page before."`
		Limit  int    `query:"limit" json:"limit,omitempty" minimum:"1" maximum:"500" doc:"At most so many; without one, all."`
	}
	// Paged is what an answer says of the rest of a list.
	Paged struct {
		NextCursor *string `json:"next_cursor"`
	}
)

// order is how a list is sorted by its keys.
type order int

const (
	ascending  order = 1
	descending order = -1
)

// cut is the page of a list that is asked for. The key of an entry is its own, and the list is
// in the order of the keys: the next page begins in the right place also where the entry at
// which the last one ended is gone.
func cut[T any](q PageQuery, all []T, by order, key func(T) string) ([]T, Paged, error) {
	rest, err := behind(q.Cursor, all, by, key)
	if err != nil || q.Limit == 0 || len(rest) <= q.Limit {
		return list(rest), Paged{}, err
	}
	next := base64.RawURLEncoding.EncodeToString([]byte(key(rest[q.Limit-1])))
	return rest[:q.Limit], Paged{&next}, nil
}

// behind is what comes after a cursor.
func behind[T any](cursor string, all []T, by order, key func(T) string) ([]T, error) {
	if cursor == "" {
		return all, nil
	}
	after, err := base64.RawURLEncoding.DecodeString(cursor)
	if err != nil || !utf8.Valid(after) {
		return nil, invalid("query.cursor", "not the next_cursor of a page of this list")
	}
	following := len(all)
	for i := len(all) - 1; i >= 0; i-- {
		switch k := key(all[i]); {
		case k == string(after):
			return all[i+1:], nil
		case by == ascending && k > string(after), by == descending && k < string(after):
			following = i
		}
	}
	return all[following:], nil
}

// pageOf is the page of a family's list that is asked for.
func (t *offered) pageOf(q PageQuery, answer any) (any, error) {
	by := ascending
	if t.Falling {
		by = descending
	}
	var p pageAnswer
	var err error
	p.part = t.Part(answer, func(keys []string) (from, to int) {
		var chosen []string
		chosen, p.rest, err = cut(q, keys, by, func(key string) string { return key })
		if len(chosen) > 0 {
			from = slices.Index(keys, chosen[0])
		}
		return from, from + len(chosen)
	})
	return p, err
}

// pageAnswer is an answer with a part of a list, and where the next begins.
type pageAnswer struct {
	part any // marshals to an object with members
	rest Paged
}

// MarshalJSON implements [json.Marshaler]. Both are objects, which it makes one.
func (p pageAnswer) MarshalJSON() ([]byte, error) {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(p.part); err != nil {
		return nil, err
	}
	part := bytes.TrimSuffix(out.Bytes(), []byte("}\n"))
	rest, err := json.Marshal(p.rest)
	return append(append(part, ','), rest[1:]...), err
}
