package envelope

// Nearest is the name among those known that a misspelt one was probably meant to be, "" where
// none is near: at most a third of its letters differ.
func Nearest(given string, known []string) string {
	best, near := len(given)/3, ""
	if len(given) > maxEchoed {
		return ""
	}
	for _, name := range known {
		if d := Distance(given, name); d <= best && (near == "" || d < best) {
			best, near = d, name
		}
	}
	return near
}

// Meant asks whether the nearest known name was meant: the end of an error's reason, "" where
// none is near. It says nothing of the name that was given.
func Meant(given string, known []string) string {
	if near := Nearest(given, known); near != "" {
		return ": did you mean " + near + "?"
	}
	return ""
}

// Distance is in how many letters two words differ: changed, left out, put in, or swapped with
// the next one.
func Distance(a, b string) int {
	var before, last []int
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		before, last, row = last, row, make([]int, len(b)+1)
		row[0] = i
		for j := 1; j <= len(b); j++ {
			other := 1
			if a[i-1] == b[j-1] {
				other = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+other)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
	}
	return row[len(b)]
}
