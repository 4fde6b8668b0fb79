//go:build linux

package chaos

import (
	"fmt"
	"maps"
	"slices"
)

// checkVersions wants the versions of every listed document without a gap, each of a
// text that was tried and not refused, none twice, and get to answer the last one. Of
// what is listed no more nothing is served.
func checkVersions(tried map[string]*wording, s *shelf) (wrong []string) {
	listed := make(map[string]version)
	for _, d := range s.listed {
		listed[d.DocumentID] = d
	}
	times := make(map[string]int)
	for _, id := range slices.Sorted(maps.Keys(s.versions)) {
		all := s.versions[id]
		for i, v := range all {
			words := tried[v.ContentHash]
			if times[v.ContentHash]++; words == nil || words.refused || times[v.ContentHash] > 1 || v.Version != int64(i+1) {
				wrong = append(wrong, fmt.Sprintf("version %d of %s, in place %d, has the text of %+v, for the %d. time", v.Version, id, i+1, words, times[v.ContentHash]))
			}
		}
		d, there := listed[id]
		got := s.newest[id]
		switch {
		case there && len(all) == 0:
			wrong = append(wrong, id+" has no versions")
		case !there && (got != nil || len(all) > 0):
			wrong = append(wrong, fmt.Sprintf("%s is listed nowhere, and served: get answers %+v, and there are %d versions", id, got, len(all)))
		case there && (got == nil || d.Version != int64(len(all)) || got.Version != d.Version ||
			got.ContentHash != all[len(all)-1].ContentHash || got.ContentHash != d.ContentHash || !got.has(got.Content)):
			wrong = append(wrong, fmt.Sprintf("%s has %d versions, the list has %+v, get answers %+v", id, len(all), d, got))
		}
	}
	return first(wrong)
}

// checkBooks wants documents listed unless they were deleted, each of their acknowledged
// versions as it was acknowledged, and every read of them to have seen what is stored.
func checkBooks(books map[string]*book, s *shelf) (wrong []string) {
	for _, id := range slices.Sorted(maps.Keys(books)) {
		b, stored := books[id], make(map[int64]version)
		listed := slices.ContainsFunc(s.listed, func(d version) bool { return d.DocumentID == id })
		if b.deleted && listed || b.doomed == 0 && !listed {
			wrong = append(wrong, fmt.Sprintf("%s is listed: %v, tried to delete: %d, deleted: %v", id, listed, b.doomed, b.deleted))
		}
		if !listed {
			continue // its versions are gone with it
		}
		for _, v := range s.versions[id] {
			stored[v.Version] = v
		}
		for n, acked := range b.acked {
			acked.Content = "" // as in a list
			if stored[n] != acked {
				wrong = append(wrong, fmt.Sprintf("version %d was acknowledged as %+v, stored is %+v", n, acked, stored[n]))
			}
		}
		for n, hash := range b.seen {
			if stored[n].ContentHash != hash {
				wrong = append(wrong, fmt.Sprintf("a read saw %s as version %d of %s, stored is %+v", hash, n, id, stored[n]))
			}
		}
	}
	return first(wrong)
}

// checkFound wants a search to find what it should, and nothing else.
func checkFound(word string, found, want []version) []string {
	brief := func(all []version) map[string]string {
		out := make(map[string]string)
		for _, v := range all {
			out[v.DocumentID] = v.ContentHash
		}
		return out
	}
	if got, want := brief(found), brief(want); !maps.Equal(got, want) || len(found) != len(got) {
		return []string{fmt.Sprintf("a search for %s found %d documents, want %d: %v, want %v", word, len(found), len(want), got, want)}
	}
	return nil
}
