package find

import (
	"slices"
	"strings"
	"unicode"
)

// groups are words that people use for one another when they ask for a tool. A word may
// be in several. Being alike isn't handed on from one group to another.
var groups = []string{
	"remove delete erase discard drop forget clear kick expel exclude ban",
	"delete redact retract unsend withdraw undo",
	"send post write say tell reply answer announce notify",
	"write create save put draft compose",
	"put upload attach add",
	"create make add new start begin open setup",
	"add invite bring include",
	"update change edit modify alter correct fix set rewrite",
	"get read show view fetch look display open see download",
	"list show all which what overview browse enumerate",
	"search find look locate query seek where",
	"history earlier previous past old recent latest last scroll backlog newest unread",
	"conversation history mention discuss talk said",
	"versions revisions history earlier previous restore",
	"member people person user who participant colleague team teammate everyone",
	"unread new missed miss news",
	"room channel chat conversation group thread space",
	"message chat text post note",
	"document doc page note article wiki report memo",
	"file attachment upload picture image pdf photo download",
	"content contents text",
	"workspace folder project",
	"react reaction emoji thumbs like",
	"leave quit exit",
	"join enter",
	"wait listen watch stream follow live subscribe poll",
	"receipt proof prove evidence audit ledger atom",
	"agreement contract terms rules license",
	"access permission allow deny permit rights forbid grant let",
	"token credential key secret service bot agent",
	"server upstream connector integration provider plugin",
	"budget spend spending cost money limit usage",
	"model llm ai gpt complete prompt generate summarize",
	"whoami myself identity account profile",
	"tenant organisation organization company",
	"domain dns mail email",
	"node cluster machine",
	"status health state",
	"credits coins points money balance wallet payment",
	"transfer move pay give hand send",
	"rename name nickname",
	"retry redrive again repeat",
	"role promote demote owner admin administrator",
	"revoke end cancel stop disable block",
	"log calls activity",
	"call use run invoke execute",
	"tool capability function",
	"approve accept confirm agree",
	"ask question",
	"bug issue ticket",
	"renew rotate refresh replace extend",
	"error failure failed problem",
	"program script code javascript loop batch",
	"public everybody everyone anyone anybody",
}

// alike has, by stem, the stems of words like it.
var alike = func() map[string][]string {
	out := map[string][]string{}
	for _, group := range groups {
		words := strings.Fields(group)
		for _, word := range words {
			for _, like := range words {
				if s, l := stem(word), stem(like); s != l && !slices.Contains(out[s], l) {
					out[s] = append(out[s], l)
				}
			}
		}
	}
	return out
}()

// phrases are words that mean a tool only together.
var phrases = strings.NewReplacer("who am i", "whoami", "take back", "retract", "set up", "setup", "sign in", "signin connect", "log in", "signin connect",
	"get rid of", "delete", "throw away", "delete", "look up", "find", "out of", "leave", "am i allowed", "whoami permission", "my permissions", "whoami permission",
	"my rights", "whoami permission", "dead letters", "deadletter", "dead letter", "deadletter",
	"employees", "employees people", "staff", "staff people member", "anything new", "unread rooms", "whats new", "unread rooms",
	"search messages", "read messages history", "find messages", "read messages history", "keep a secret", "create private workspace")

// idle words say nothing of a tool.
var idle = func() map[string]bool {
	out := map[string]bool{}
	for word := range strings.FieldsSeq(`a an and are as at be been by can could did do does for from had has have how i if in into is it its
		just me my need of off on or our please should so some than that the somebody someone something their them then there these they this those to up us want was we were
		will with would you your s t`) {
		out[word] = true
	}
	return out
}()

// maxAsked bounds a query's words.
const maxAsked = 64

// asked are the stems of a query, each once.
func asked(query string) []string {
	var out []string
	for _, word := range stems(phrases.Replace(strings.Join(words(query), " "))) {
		if !slices.Contains(out, word) && len(out) < maxAsked {
			out = append(out, word)
		}
	}
	return out
}

// stems are the words of a text that say something, each cut to its stem.
func stems(text string) []string {
	out := words(text)
	out = slices.DeleteFunc(out, func(word string) bool { return idle[word] })
	for i, word := range out {
		out[i] = stem(word)
	}
	return out
}

// words are those of a text, in small letters. Dots, underscores and the humps of
// camelCase divide them.
func words(text string) []string {
	var out []string
	var word strings.Builder
	end := func() {
		if word.Len() > 0 {
			out = append(out, word.String())
		}
		word.Reset()
	}
	small := false // the letter before
	for _, c := range text {
		switch {
		case c == '\'' || c == '’':
			continue // don't is one word
		case !unicode.IsLetter(c) && !unicode.IsDigit(c):
			end()
		case unicode.IsUpper(c) && small:
			end()
			fallthrough
		default:
			word.WriteRune(unicode.ToLower(c))
		}
		small = unicode.IsLower(c)
	}
	end()
	return out
}

// minStem is how many letters stay at least.
const minStem = 3

// stem cuts the endings of English words that ask for the same tool: plurals, -ed, -ing,
// -ion and a last e. So creates, created, creating and creation are one.
func stem(word string) string {
	if len(word) <= minStem {
		return word
	}
	word = singular(word)
	for _, ending := range []string{"ing", "ed", "ion", "e"} {
		cut, ok := strings.CutSuffix(word, ending)
		if !ok || len(cut) < minStem || !strings.ContainsAny(cut, "aeiouy") || ending == "ion" && cut[len(cut)-1] != 't' {
			continue
		}
		if n := len(cut); ending != "e" && cut[n-1] == cut[n-2] && !strings.ContainsRune("lsz", rune(cut[n-1])) {
			cut = cut[:n-1] // pinned
		}
		if shorter, ok := strings.CutSuffix(cut, "at"); ok && len(shorter) >= minStem {
			cut = shorter // invitation, invite
		}
		word = cut
		break
	}
	if cut, ok := strings.CutSuffix(word, "y"); ok && len(cut) >= minStem {
		word = cut + "i" // histories
	}
	return word
}

func singular(word string) string {
	switch {
	case strings.HasSuffix(word, "ies") && len(word) > 4:
		return word[:len(word)-3] + "y"
	case strings.HasSuffix(word, "sses"), strings.HasSuffix(word, "xes"), strings.HasSuffix(word, "ches"), strings.HasSuffix(word, "shes"):
		return word[:len(word)-2]
	case strings.HasSuffix(word, "ss"), strings.HasSuffix(word, "us"), strings.HasSuffix(word, "is"):
		return word
	case strings.HasSuffix(word, "s"):
		return word[:len(word)-1]
	}
	return word
}
