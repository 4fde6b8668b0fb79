//go:build linux

package chaos

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// The checks take what the clients know and what is stored, and say what is
// wrong; nothing is what they should say.

// checkOnce wants no gap in room_seq and no message twice.
func checkOnce(final []message) (wrong []string) {
	texts, ids := make(map[string]bool), make(map[string]bool)
	for i, m := range final {
		if m.RoomSeq != int64(i+1) {
			wrong = append(wrong, fmt.Sprintf("message %d has room_seq %d", i+1, m.RoomSeq))
		}
		if ids[m.MsgID] || texts[m.Text] && !ofMembers(m) {
			wrong = append(wrong, fmt.Sprintf("%q is there twice", m.Text))
		}
		ids[m.MsgID], texts[m.Text] = true, true
		if i > 0 && m.Receipt.Seq <= final[i-1].Receipt.Seq {
			wrong = append(wrong, fmt.Sprintf("%q has receipt %d behind %d", m.Text, m.Receipt.Seq, final[i-1].Receipt.Seq))
		}
	}
	return first(wrong)
}

// checkAcknowledged wants every acknowledged message as it was acknowledged.
func checkAcknowledged(acked map[string]message, final []message) (wrong []string) {
	stored := make(map[string]message, len(final))
	for _, m := range final {
		stored[m.Text] = m
	}
	for _, said := range slices.Sorted(maps.Keys(acked)) {
		if m, there := stored[said]; !there {
			wrong = append(wrong, fmt.Sprintf("%q was acknowledged and is lost", said))
		} else if m != acked[said] {
			wrong = append(wrong, fmt.Sprintf("%q was acknowledged as %+v, stored is %+v", said, acked[said], m))
		}
	}
	return first(wrong)
}

// checkSeen wants that nobody saw what isn't stored.
func checkSeen(seen map[int64]string, final []message) (wrong []string) {
	for _, seq := range slices.Sorted(maps.Keys(seen)) {
		if seq < 1 || seq > int64(len(final)) {
			wrong = append(wrong, fmt.Sprintf("a read saw %s at %d, which isn't there", seen[seq], seq))
		} else if m := final[seq-1]; m.MsgID != seen[seq] {
			wrong = append(wrong, fmt.Sprintf("a read saw %s at %d, stored is %s", seen[seq], seq, m.MsgID))
		}
	}
	return first(wrong)
}

// checkStream wants the stored messages from the first that came on, each once
// and in order. whole says that the first stored one must have come.
func checkStream(got, final []message, gaps []string, whole bool) (wrong []string) {
	for _, gap := range gaps {
		wrong = append(wrong, "a gap was told: "+gap)
	}
	skipped := 0
	if len(got) > 0 && !whole {
		skipped = int(got[0].RoomSeq) - 1
	}
	if len(got)+skipped != len(final) {
		wrong = append(wrong, fmt.Sprintf("%d messages came from %d on, stored are %d", len(got), skipped+1, len(final)))
	}
	for i, m := range got {
		if at := i + skipped; at < len(final) && final[at] != m {
			wrong = append(wrong, fmt.Sprintf("at place %d came %+v, stored is %+v", at+1, m, final[at]))
			break // what follows is shifted
		}
	}
	return first(wrong)
}

// checkMembers wants each invitation greeted once, and those in the room who
// were left in it.
func checkMembers(joined map[string]int, left map[string]bool, final []message, now []string) (wrong []string) {
	for _, id := range slices.Sorted(maps.Keys(joined)) {
		greeted := 0
		for _, m := range final {
			if m.Text == greeting(id) {
				greeted++
			}
		}
		if greeted != joined[id] {
			wrong = append(wrong, fmt.Sprintf("%s was invited %d times and greeted %d times", id, joined[id], greeted))
		}
		if slices.Contains(now, id) != left[id] {
			wrong = append(wrong, fmt.Sprintf("%s was left in the room: %v, is in it: %v", id, left[id], !left[id]))
		}
	}
	return wrong
}

// checkEqual wants the same from every source.
func checkEqual[T comparable](what string, by map[string]T) []string {
	distinct := make(map[T][]string)
	for _, name := range slices.Sorted(maps.Keys(by)) {
		distinct[by[name]] = append(distinct[by[name]], name)
	}
	if len(distinct) <= 1 {
		return nil
	}
	return []string{fmt.Sprintf("%s differs: %v", what, distinct)}
}

// ofMembers: the same user may be added, greeted and removed again.
func ofMembers(m message) bool {
	return strings.HasPrefix(m.Text, "u:") && strings.HasSuffix(m.Text, greeting("")) ||
		strings.HasPrefix(m.Text, "added u:") || strings.HasPrefix(m.Text, "removed u:")
}

// short keeps a line readable.
func short(line string) string {
	const most = 600
	if len(line) > most {
		return line[:most] + "…"
	}
	return line
}

// first keeps a report readable.
func first(wrong []string) []string {
	const most = 5
	for i, line := range wrong {
		wrong[i] = short(line)
	}
	if len(wrong) > most {
		return append(wrong[:most:most], fmt.Sprintf("and %d more", len(wrong)-most))
	}
	return wrong
}
