package envelope

import (
	"strings"
	"unicode"
)

// maxEchoed is the longest name that an error repeats.
const maxEchoed = 40

// Under is the place of a parameter or an argument that the sender made up. The name is
// shown where it is spelled as the API's own, so that a misspelt one is found; any other
// could be a value or a secret, and the place ends before it.
func Under(place, name string) string {
	if !PlainName(name) {
		return place
	}
	return place + "." + name
}

// Argument is the place of an argument of a tool in an error: its name, or all of them
// where the name can't be shown. Names that models carry over from other APIs are shown: roomId,
// Room, room-id.
func Argument(name string) string {
	if !PlainName(strings.ReplaceAll(strings.ToLower(name), "-", "_")) || strings.ContainsFunc(name, beyondASCII) {
		return "arguments"
	}
	return name
}

// beyondASCII tells letters that only look like ours when they are made small.
func beyondASCII(r rune) bool { return r > unicode.MaxASCII }

// PlainName reports whether a name is spelled as the API's own, and not too long.
func PlainName(name string) bool {
	return name != "" && len(name) <= maxEchoed && !strings.ContainsFunc(name, func(r rune) bool {
		return r != '_' && (r < 'a' || r > 'z') && (r < '0' || r > '9')
	})
}

// Prefixed is an id from a path with the prefix that was left out, as on the command line: the
// room general is r:general. One that has a prefix, whichever, stays as it is.
func Prefixed(prefix, id string) string {
	if id == "" || strings.Contains(id, ":") || strings.Contains(strings.ToUpper(id), "%3A") {
		return id
	}
	return prefix + id
}
