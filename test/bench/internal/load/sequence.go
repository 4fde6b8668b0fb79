package load

import "slices"

// Sequence tells whether no number comes twice and whether none is missing
// between the lowest and the highest. It sorts its argument.
func Sequence(seqs []uint64) (distinct, gapless bool) {
	if len(seqs) == 0 {
		return true, true
	}
	slices.Sort(seqs)
	all := len(seqs)
	once := len(slices.Compact(slices.Clone(seqs)))
	span := seqs[all-1] - seqs[0] + 1
	return once == all, uint64(once) == span
}
