package auth

import "strings"

// sign is a word of a User-Agent with what it stands for.
type sign struct{ word, means string }

// deviceOf tells a person's sessions apart by their browser and machine, as
// "Safari on iPhone". Of what was sent it takes none over: only words of the
// tables below get into the list.
func deviceOf(userAgent string) string {
	browser, machine := first(browsers(), userAgent), first(machines(), userAgent)
	switch {
	case browser == "" && machine == "":
		return ""
	case machine == "":
		return browser
	case browser == "":
		return "Browser on " + machine
	}
	return browser + " on " + machine
}

func first(signs []sign, userAgent string) string {
	for _, s := range signs {
		if strings.Contains(userAgent, s.word) {
			return s.means
		}
	}
	return ""
}

// browsers are ordered: each one's User-Agent names those below it as well.
func browsers() []sign {
	return []sign{
		{"Edg", "Edge"}, {"OPR/", "Opera"}, {"SamsungBrowser/", "Samsung Internet"},
		{"FxiOS/", "Firefox"}, {"Firefox/", "Firefox"}, {"CriOS/", "Chrome"},
		{"Chrome/", "Chrome"}, {"Safari/", "Safari"},
	}
}

// machines are ordered likewise.
func machines() []sign {
	return []sign{
		{"iPhone", "iPhone"}, {"iPad", "iPad"}, {"Android", "Android"}, {"CrOS", "ChromeOS"},
		{"Windows", "Windows"}, {"Macintosh", "Mac"}, {"Linux", "Linux"},
	}
}
