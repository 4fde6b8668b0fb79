package migrate

import (
	"regexp"
	"strings"
	"sync"

	"github.com/kyokomi/emoji/v2"
)

// emojiByName are Unicode's, by what products call them.
var emojiByName = sync.OnceValue(emoji.CodeMap)

// skinTones are what Slack calls the modifiers of Unicode.
var skinTones = map[string]string{
	"skin-tone-2": "\U0001F3FB", "skin-tone-3": "\U0001F3FC", "skin-tone-4": "\U0001F3FD", "skin-tone-5": "\U0001F3FE", "skin-tone-6": "\U0001F3FF",
}

// emojiOf is the emoji of a name, else :name:. The name of one with a tone is name::skin-tone-2.
func emojiOf(name string) string {
	name = strings.Trim(name, ":")
	base, tone, _ := strings.Cut(name, "::")
	if e := strings.TrimSpace(emojiByName()[":"+base+":"]); e != "" {
		return e + skinTones[tone]
	}
	return ":" + base + ":"
}

var shortcode = regexp.MustCompile(`:[a-zA-Z0-9_+'-]+:(:skin-tone-[2-6]:)?`)

// withEmoji has the emoji of a text in the place of their names. What it doesn't know stays.
func withEmoji(text string) string {
	if !strings.Contains(text, ":") {
		return text
	}
	return shortcode.ReplaceAllStringFunc(text, func(s string) string {
		name := strings.Trim(strings.ReplaceAll(s, "::", "\x00"), ":")
		if e := emojiOf(strings.ReplaceAll(name, "\x00", "::")); !strings.HasPrefix(e, ":") {
			return e
		}
		return s
	})
}
